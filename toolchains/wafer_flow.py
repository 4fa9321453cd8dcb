"""Whether a wafer submission's computation is the device's (contract §1).

The host part may reshape, pad and permute. So the words that go to the device are those that the
call was given, and what the call returns are words that came back, each at most once; beside them a
header, and what little the host must tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kernels.records import Arg, Array

HEADER_BYTES, ROW_BYTES = 72, 64
"""That may come from the host itself: a header, and so many per row of PEs."""
_ARGUMENTS = 64
"""Values that launches may carry, beside one per `_VALUES_PER_ARGUMENT` of the field."""
_VALUES_PER_ARGUMENT = 64
_SHOWN = 3


@dataclass
class Traffic:
    """What went between host and device in one call."""

    to_device: list[bytes] = field(default_factory=list)
    to_host: list[bytes] = field(default_factory=list)
    arguments: int = 0
    """Values given to launches."""
    narrow: bool = False
    """Some copies were of 16-bit values."""
    rows: int = 0
    columns: int = 0


def misuse(traffic: Traffic, inputs: Sequence[Arg], outputs: Sequence[Array]) -> str:
    """Why the call computed on the host; empty if it did not."""
    given = [value for value in inputs if isinstance(value, np.ndarray)]
    room = HEADER_BYTES + ROW_BYTES * traffic.rows
    foreign = _foreign(traffic, given, room)
    if foreign:
        return foreign
    count = sum(value.size for value in given)
    most = _ARGUMENTS + count // _VALUES_PER_ARGUMENT
    if traffic.arguments > most:
        return (
            f"launches carried {traffic.arguments} values, more than {most}: data goes to the "
            "device by memcpy_h2d or streams"
        )
    return _made_here(traffic, outputs, room)


def _words(content: bytes, dtype: np.dtype[np.generic]) -> npt.NDArray[np.generic]:
    return np.frombuffer(content + bytes(-len(content) % dtype.itemsize), dtype)


def _width(traffic: Traffic, arrays: Sequence[Array]) -> np.dtype[np.generic]:
    narrow = traffic.narrow or any(array.dtype.itemsize == 2 for array in arrays)
    return np.dtype("<u2") if narrow else np.dtype("<u4")


def _foreign(traffic: Traffic, given: Sequence[Array], room: int) -> str:
    """Words that went to the device and are not the call's."""
    dtype = _width(traffic, given)
    sent = np.unique(
        np.concatenate([np.zeros(0, dtype), *(_words(b, dtype) for b in traffic.to_device)])
    )
    known = [np.zeros(1, dtype)]
    for array in given:
        known.append(_words(np.ascontiguousarray(array).tobytes(), dtype))
        if array.dtype.itemsize < dtype.itemsize and array.dtype.kind in "ui":
            # A small integer in a word of its own.
            known.append(array.reshape(-1).astype(dtype))
    strange = np.setdiff1d(sent, np.unique(np.concatenate(known)))
    if strange.size * dtype.itemsize <= room:
        return ""
    listed = ", ".join(f"0x{int(word):08x}" for word in strange[:_SHOWN])
    return (
        f"{strange.size} different words copied to the device are none that the call was given "
        f"({listed}, ...): the host part may reshape, pad with zeros and permute, not compute"
    )


def _made_here(traffic: Traffic, outputs: Sequence[Array], room: int) -> str:
    """Words that are returned and did not come from the device."""
    dtype = _width(traffic, outputs)
    back = np.concatenate([np.zeros(0, dtype), *(_words(b, dtype) for b in traffic.to_host)])
    found, counts = np.unique(back, return_counts=True)
    missing = 0
    for array in outputs:
        content = np.ascontiguousarray(array).tobytes()
        words, wanted = np.unique(_words(content, dtype), return_counts=True)
        _, ours, theirs = np.intersect1d(words, found, assume_unique=True, return_indices=True)
        left = wanted.astype(np.int64)
        left[ours] -= counts[theirs]
        missing += int(np.maximum(left, 0).sum())
    if missing * dtype.itemsize <= room:
        return ""
    return (
        f"{missing} of the words returned did not come back from the device (beside a header of "
        f"{HEADER_BYTES} bytes and {ROW_BYTES} per row of PEs): copy back what the device has "
        "computed, each word once"
    )
