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
_BYTES_PER_ROW = 16_384
"""Rows that work on less of the field than this have no bytes of their own."""
_ARGUMENTS = 64
"""Values that launches and options may carry, and more by `_VALUES_PER_ARGUMENT` of the field."""
_VALUES_PER_ARGUMENT = 1024
_BREAKS, _WORDS_PER_BREAK = 128, 64
"""Places at which the order of words may change, beside one per so many words of what is moved.

Order can carry what words may not: with a table of all words on the device, whoever chooses which
comes next has computed. Strides are no breaks; the start of a piece of its own length is one.
"""
_STRIDES = 16
"""Distances at which a rearrangement may take one word after the other: of axes, and back."""
_VOTERS, _PLACES = 256, 128
"""Pairs of words that tell them, and places of a word that are looked at."""
_SHOWN = 3


Wide = npt.NDArray[np.uint64]


@dataclass
class Traffic:
    """What went between host and device in one call."""

    to_device: list[bytes] = field(default_factory=list)
    to_host: list[bytes] = field(default_factory=list)
    arguments: int = 0
    """Values given to launches and, as options, to programs."""
    narrow: bool = False
    """Some copies were of 16-bit values."""
    rows: int = 0
    columns: int = 0


def misuse(traffic: Traffic, inputs: Sequence[Arg], outputs: Sequence[Array]) -> str:
    """Why the call computed on the host; empty if it did not."""
    given = [value for value in inputs if isinstance(value, np.ndarray)]
    count = sum(value.size for value in given)
    nbytes = sum(array.nbytes for array in (*given, *outputs))
    rows = min(traffic.rows, 1 + nbytes // _BYTES_PER_ROW)
    room = HEADER_BYTES + ROW_BYTES * rows
    foreign = _foreign(traffic, given, room)
    if foreign:
        return foreign
    most = _ARGUMENTS + count // _VALUES_PER_ARGUMENT
    if traffic.arguments > most:
        return (
            f"launches and options carried {traffic.arguments} values, more than {most}: data goes "
            "to the device by memcpy_h2d or streams"
        )
    return _made_here(traffic, outputs, room) or _chosen(traffic, given, outputs)


def _chosen(traffic: Traffic, given: Sequence[Array], outputs: Sequence[Array]) -> str:
    """Words that were moved one by one, in an order that no reshaping gives."""
    dtype = _width(traffic, given)
    sources = [_words(np.ascontiguousarray(array).tobytes(), dtype) for array in given]
    small = [array for array in given if array.dtype.itemsize < dtype.itemsize]
    sources += [array.reshape(-1).astype(dtype) for array in small if array.dtype.kind in "ui"]
    sent = [_words(content, dtype) for content in traffic.to_device]
    told = _breaks(sent, sources, "copied to the device", "in which the call was given them")
    if told:
        return told
    dtype = _width(traffic, outputs)
    back = [_words(content, dtype) for content in traffic.to_host]
    returned = [_words(np.ascontiguousarray(array).tobytes(), dtype) for array in outputs]
    return _breaks(returned, back, "returned", "in which they came back from the device")


def _breaks(
    moved: Sequence[npt.NDArray[np.generic]],
    sources: Sequence[npt.NDArray[np.generic]],
    how: str,
    order: str,
) -> str:
    pairs = np.concatenate([np.zeros(0, np.uint64), *map(_pairs, moved)])
    whole = np.concatenate([np.zeros(0, np.uint64), *(part.astype(np.uint64) for part in sources)])
    known = [_joined(whole, stride) for stride in _strides(pairs, whole)]
    broken = int(np.count_nonzero(~np.isin(pairs, np.concatenate([_pairs(whole), *known]))))
    words = sum(part.size for part in (moved if how == "returned" else sources))
    most = _BREAKS + words // _WORDS_PER_BREAK
    if broken <= most:
        return ""
    return (
        f"words {how} follow each other in another order than that {order}, at {broken} places, "
        f"more than {most}: the host part may reshape and permute, not choose words"
    )


def _strides(pairs: Wide, source: Wide) -> list[int]:
    """The distances in the source that neighbours most often have.

    Told by the rarest pairs: of each, every distance between a place of the one word and a place of
    the other has a vote, and those of a rearrangement get one from nearly every pair.
    """
    order = np.argsort(source, kind="stable")
    ordered = source[order]
    halves = (pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF))
    begin = [np.searchsorted(ordered, half, "left") for half in halves]
    end = [np.searchsorted(ordered, half, "right") for half in halves]
    often = (end[0] - begin[0]) * (end[1] - begin[1])
    there = np.flatnonzero(often)
    rarest = there[np.argsort(often[there], kind="stable")[:_VOTERS]]
    votes = [np.zeros(0, np.int64)]
    for at in rarest:
        first, second = (
            order[low[at] : high[at]][:_PLACES] for low, high in zip(begin, end, strict=True)
        )
        votes.append((second[:, None] - first).reshape(-1))
    strides, often = np.unique(np.concatenate(votes), return_counts=True)
    return [int(stride) for stride in strides[np.argsort(-often, kind="stable")][:_STRIDES]]


def _joined(source: Wide, stride: int) -> Wide:
    """Every word and the one `stride` further on, in one number."""
    low, high = max(0, -stride), min(source.size, source.size - stride)
    first, second = source[low:high], source[low + stride : high + stride]
    return np.asarray((first << np.uint64(32)) | second, np.uint64)


def _pairs(words: npt.NDArray[np.generic]) -> Wide:
    """Neighbours in one number each, without padding: zeros, and what is repeated."""
    plain = np.asarray(words[words != 0], np.uint64)
    if plain.size == 0:
        return plain
    changed = np.append(True, plain[1:] != plain[:-1])
    return _joined(np.asarray(plain[changed], np.uint64), 1)


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
