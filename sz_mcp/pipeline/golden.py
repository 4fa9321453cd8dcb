"""Golden streams of the formats with a specification, made once per field and bound."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

import numpy as np

from kernels.records import Array, Failure, FailureKind, Status
from kernels.streams.errors import StreamError
from kernels.tasks.base import StreamFormat
from kernels.verify import compare

_CAPACITY_BYTES = 256 << 20


class GoldenStreams:
    """Remembers golden streams, and which streams the golden decoder has read. Thread-safe."""

    def __init__(self) -> None:
        self._streams: OrderedDict[tuple[str, str, float], Array] = OrderedDict()
        self._read: OrderedDict[tuple[str, str, str, float], None] = OrderedDict()
        self._lock = threading.Lock()

    def stream(self, form: StreamFormat, name: str, data: Array, abs_bound: float) -> Array:
        """The golden stream of `data`; arrays of the same `name` are the same."""
        key = (form.name, name, abs_bound)
        with self._lock:
            if key in self._streams:
                self._streams.move_to_end(key)
                return self._streams[key]
        stream = form.encode(data, abs_bound)
        with self._lock:
            self._streams[key] = stream
            while sum(s.nbytes for s in self._streams.values()) > _CAPACITY_BYTES:
                self._streams.popitem(last=False)
        return stream

    def unreadable(
        self,
        form: StreamFormat,
        stream: Array,
        data: Array,
        abs_bound: float,
        *,
        remember: bool = True,
    ) -> Failure | None:
        """Why the golden decoder does not get `data` back from a kernel's stream, if so."""
        key = (form.name, _digest(stream), _digest(data), abs_bound) if remember else None
        with self._lock:
            if key in self._read:
                return None
        try:
            decoded = form.decode(stream, data.shape, data.dtype)
        except StreamError as error:
            return format_failure(f"the golden {form.name} decoder refuses this stream: {error}")
        if not compare(data, decoded, abs_bound).holds:
            return format_failure(
                f"the golden {form.name} decoder reads this stream, but what it decodes breaks the "
                "bound: the stream says something else than its encoder's own decoder reads"
            )
        if key is None:
            return None
        with self._lock:
            self._read[key] = None
            while len(self._read) > 1000:
                self._read.popitem(last=False)
        return None


def _digest(array: Array) -> str:
    # BLAKE2b takes about half of SHA-256's time; nothing is stored by it.
    head = f"{array.shape}{array.dtype}".encode()
    return hashlib.blake2b(np.ascontiguousarray(array).data, salt=b"", key=head[:64]).hexdigest()


def misread(form: StreamFormat, golden: Array, decoded: Array) -> Failure | None:
    """How a kernel's decoder differs from what the format says of the golden stream, if it does."""
    wanted = form.decode(golden, decoded.shape, decoded.dtype)
    point = compare(wanted, decoded, 0.0).first
    if point is None:
        return None
    return format_failure(
        f"decompress misreads the golden {form.name} stream: index {point.index} is "
        f"{point.decoded}, not {point.original}"
    )


def format_failure(message: str) -> Failure:
    """A stream that is not what the task's format says."""
    return Failure(Status.ERROR, Status.BOUND_OK, FailureKind.FORMAT, message)
