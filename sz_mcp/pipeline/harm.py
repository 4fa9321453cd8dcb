"""Ways to damage a stream: cut, changed in one bit or in many bytes, or read for something else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kernels.records import Array

_HEADER = 72
"""Bytes of the header that the specified formats begin with; others rarely have more."""
_FIELDS = (0, 4, 8, 9, 10, 12, 16, 20, 23, 24, 48, 55, 56, 64, 71, 72, 73, 76)
"""Where its fields begin or end."""
_FLIPS = 20
"""Of random bits of a stream."""


@dataclass(frozen=True)
class Harm:
    """A damaged stream, and what it is to be decoded to."""

    what: str
    """What was done, so that it can be done again."""
    stream: Array
    like: Array
    """Shape and dtype that are asked of the decoder."""


def harms(stream: Array, whole: Array, rng: np.random.Generator) -> Iterator[Harm]:
    """All damage of one stream of the array `whole`; nothing that leaves it as it was."""
    changed = (*_flips(stream, rng), *_ranges(stream, rng), *_moved(stream))
    for what, damaged in (*_cuts(stream), *changed):
        if damaged.tobytes() != stream.tobytes():
            yield Harm(what, damaged, whole)
    yield from _read_otherwise(stream, whole)


def _cuts(stream: Array) -> Iterator[tuple[str, Array]]:
    n = stream.size
    lengths = {0, 1, 3, 4, 40, _HEADER - 1, _HEADER, n // 3, n // 2 // 4 * 4, n - 8, n - 4, n - 1}
    for length in sorted(one for one in lengths if 0 <= one < n):
        yield f"cut to its first {length} bytes", stream[:length].copy()


def _flips(stream: Array, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    n = stream.size
    places = [(at, int(rng.integers(8))) for at in (*_FIELDS, n // 2, n - 4, n - 1)]
    places += [(at, 7) for at in (8, 19, 23, _HEADER, n // 2)]
    places += [(int(rng.integers(max(n, 1))), int(rng.integers(8))) for _ in range(_FLIPS)]
    for at, bit in dict.fromkeys(places):
        if 0 <= at < n:
            changed = stream.copy()
            changed[at] ^= 1 << bit
            yield f"bit {bit} of byte {at} flipped", changed


def _ranges(stream: Array, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    n = stream.size
    for begin, end in ((0, 4), (8, 16), (16, 48), (48, _HEADER), (n // 4, n // 2), (0, n)):
        for value in (0x00, 0xFF):
            changed = stream.copy()
            changed[begin:end] = value
            yield f"bytes {begin} to {end - 1} set to 0x{value:02X}", changed
    changed = stream.copy()
    changed[_HEADER:] = rng.integers(0, 256, changed[_HEADER:].size)
    yield f"all bytes from {_HEADER} on replaced by random ones", changed


def _moved(stream: Array) -> Iterator[tuple[str, Array]]:
    half = stream.size // 2
    yield "its halves swapped", np.concatenate([stream[half:], stream[:half]])
    for count in (1, 4, 64):
        yield f"{count} zero bytes appended", np.append(stream, np.zeros(count, np.uint8))


def _read_otherwise(stream: Array, whole: Array) -> Iterator[Harm]:
    """Asked for other shapes and types than it was made of."""
    n = whole.size
    shapes = [(n + 1,), (2 * n,), (n // 2,), whole.shape[::-1], (1, *whole.shape)]
    for shape in dict.fromkeys(shapes):
        if shape != whole.shape and len(shape) <= 4:
            yield Harm(f"decoded to shape {shape}", stream, np.empty(shape, whole.dtype))
    other = np.dtype(np.float64 if whole.dtype == np.float32 else np.float32)
    yield Harm(f"decoded to {other}", stream, np.empty(whole.shape, other))
