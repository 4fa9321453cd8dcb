"""Whether a stream is too small to be believed: five times smaller than every reference's.

A kernel's stream of a field at a bound goes in, with a way to run our own codecs on the same; the
reason to have it reviewed comes out, or None (contract §7). References are the golden `szp` and
`szx`, made here, and the worked `tuned` and `sz` of sz-open, which run in children like any kernel.
They are asked in the order of what they cost, and only until one of them is small too: for most
kernels the first answers, or none is needed. What was measured is kept in memory and on disk.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kernels import baselines
from kernels.records import Array, Failure, FailureKind, Status, Submission
from kernels.tasks import TASKS
from kernels.tasks.base import CodecTask
from toolchains.base import Cancellation, Session
from toolchains.children.pool import ChildrenUnavailable

from .requests import Watch
from .roundtrip import compress
from .sessions import further

TIMES_SMALLER = 5
LEAST_BYTES = 4096
"""A smaller reference is mostly header, and what is near it says nothing."""
_GOLDEN = ("szp", "szx")
_WORKED = ("tuned", "sz")
"""Styles of sz-open: the first compiles in about 2 s, the second in 10 to 20."""
_REMEMBERED = 4096

Load = Callable[[Submission, int, Cancellation], Session | Failure]


@dataclass(frozen=True)
class Made:
    """What a kernel made of an array, and what tells that array from others."""

    stream_bytes: int
    data: Array
    abs_bound: float
    content: str
    """Names the array's values: arrays of the same are the same."""
    constant: bool
    """All values are equal: then no size is too small."""

    def believable(self, reference_bytes: int) -> bool:
        """Whether a reference of that size makes the stream nothing to wonder about."""
        least = TIMES_SMALLER * self.stream_bytes
        return least >= reference_bytes or reference_bytes < LEAST_BYTES


class References:
    """Sizes of the references' streams, measured when they are needed. Thread-safe."""

    def __init__(self, load: Load, folder: Path | None = None) -> None:
        """load: as `Toolchain.load`. folder: where sizes are kept, if anywhere."""
        self._load, self._folder = load, folder
        self._known: dict[str, int] = {}
        self._lock = threading.Lock()

    def doubt(self, made: Made, watch: Watch) -> Failure | None:
        """Why the stream should be reviewed; None if a reference is small too, or refuses the data.

        What can't be told now, since a reference did not answer in time, is inconclusive: else a
        kernel would be believed that is measured while the machine is busy.
        """
        raw = made.data.nbytes
        if made.constant or made.believable(raw):
            return None
        sizes: dict[str, int] = {}
        for name, size in self._sizes(made, watch):
            if isinstance(size, Failure):
                # Without the strongest reference nothing can be said.
                return None if size.status is Status.REFUSED else _untold(name, size)
            if made.believable(size):
                return None
            sizes[name] = size
        return _suspect(made, sizes)

    def _sizes(self, made: Made, watch: Watch) -> Iterator[tuple[str, int | Failure]]:
        """Each reference with its stream's bytes, or why it made none; cheapest first."""
        for name in _GOLDEN:
            yield name, self._size(name, made, partial(_golden, name, made))
        for style in _WORKED:
            measure = partial(self._worked, style, made, watch)
            yield f"sz-open {style}", self._size(style, made, measure)

    def _size(self, name: str, made: Made, measure: Callable[[], int | Failure]) -> int | Failure:
        key = _key(name, made)
        with self._lock:
            known = self._known.get(key) or self._read(key)
        size = known or measure()
        if not isinstance(size, Failure):
            self._keep(key, size, write=known is None)
        return size

    def _worked(self, style: str, made: Made, watch: Watch) -> int | Failure:
        """By children of its own. Raises PoolClosed."""
        watch.progress(0.08, f"comparing the size with the reference {style}, which is compiled")
        submission = baselines.read("sz-open", style)
        try:
            with further(lambda: self._load(submission, 1, watch.cancellation), watch) as session:
                if isinstance(session, Failure):
                    return session
                packed = compress(session, [made.data], made.abs_bound)
        except ChildrenUnavailable as error:
            return Failure(Status.ERROR, Status.LOADS, FailureKind.CRASH, str(error))
        return packed if isinstance(packed, Failure) else packed.streams[0].nbytes

    def _keep(self, key: str, size: int, *, write: bool) -> None:
        with self._lock:
            self._known[key] = size
            while len(self._known) > _REMEMBERED:
                del self._known[next(iter(self._known))]
            if write:
                self._write(key, size)

    def _read(self, key: str) -> int | None:
        if self._folder is None:
            return None
        with suppress(OSError, ValueError):
            size = json.loads((self._folder / key).read_text(encoding="ascii"))
            return size if isinstance(size, int) and size > 0 else None
        return None

    def _write(self, key: str, size: int) -> None:
        """Best effort: a home that can't be written costs a measurement per process."""
        if self._folder is None:
            return
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            draft = self._folder / f"{key}.{os.getpid()}"
            draft.write_text(json.dumps(size), encoding="ascii")
            draft.replace(self._folder / key)


def _golden(name: str, made: Made) -> int:
    task = TASKS[name]
    form = task.stream_format if isinstance(task, CodecTask) else None
    if form is None:
        raise TypeError(f"{name} has no golden stream")
    return form.encode(made.data, made.abs_bound).nbytes


def _key(name: str, made: Made) -> str:
    """Of a size; another version of the reference is another one."""
    source = baselines.read("sz-open", name).exact_hash if name in _WORKED else ""
    shape = f"{made.data.shape}{made.data.dtype}"
    text = f"{name}\0{source}\0{made.content}\0{shape}\0{made.abs_bound!r}"
    return hashlib.blake2b(text.encode(), digest_size=20).hexdigest()


def _untold(name: str, failure: Failure) -> Failure:
    if failure.kind is FailureKind.CANCELLED:
        return failure
    text = (
        f"the stream is {TIMES_SMALLER} times smaller than that of szp and szx, and the reference "
        f"{name} could not be asked: {failure.message}; try again later"
    )
    return Failure(Status.INCONCLUSIVE, Status.TIMED, FailureKind.BUSY, text)


def _suspect(made: Made, sizes: dict[str, int]) -> Failure:
    name, least = min(sizes.items(), key=lambda one: one[1])
    times = math.inf if made.stream_bytes == 0 else least / made.stream_bytes
    text = (
        f"the stream of {made.stream_bytes} bytes is {times:.3g} times smaller than that of the "
        f"best reference ({name}: {least} bytes), and from {TIMES_SMALLER} times on a result is "
        "reviewed before it counts: what a decoder knows of a field, in its source or otherwise, "
        "is not compression"
    )
    return Failure(Status.SUSPECT, Status.TIMED, FailureKind.INTEGRITY, text)
