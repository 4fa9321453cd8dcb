"""Smaller and plainer arrays to try in place of one on which a bound breaks.

An array flows in, candidates flow out, in a fixed order, the most promising first. Which of them
break the bound too only the kernel can say: `sz_mcp.pipeline.shrinking` asks it. Removal by halves
is delta debugging (Zeller and Hildebrandt 2002).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from kernels.records import Array

LARGEST = 1 << 16
"""Values of a candidate at most: a fault that needs more is not looked into."""
_LEADS = (0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 256, 512, 1024, 4096, 16384)
"""Values kept before the worst one: what is at index 32 then is at the border of a block of 32."""
_TRAILS = (0, 1, 2, 3, 8, 31, 128, 1024)
"""Values kept after it."""
_BOX_LEADS = (0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32)
_DIGITS = range(1, 10)

Candidates = Callable[[Array, int], Iterator[Array]]
"""Of an array and a length: what to try with pieces of that length."""


def cost(data: Array) -> tuple[int, ...]:
    """What a smaller array has less of: values, axes, values not 0, runs of equal ones, digits."""
    flat = data.reshape(-1)
    starts = run_starts(flat)
    digits = sum(map(_digits, flat[starts].tolist())) if starts.size <= 4096 else flat.size
    return flat.size, data.ndim, int(np.count_nonzero(flat)), starts.size, digits


def run_starts(flat: Array) -> Array:
    """Indices at which runs of equal values begin; every NaN equals any other, −0 not 0."""
    bits = flat.view(f"u{flat.dtype.itemsize}")
    changes = (bits[1:] != bits[:-1]) & ~(np.isnan(flat[1:]) & np.isnan(flat[:-1]))
    return np.concatenate((np.zeros(min(1, flat.size), np.int64), np.flatnonzero(changes) + 1))


def _digits(value: float) -> int:
    """How much there is to read of a number: 0 for 0, 1 for 1 or 100."""
    if value == 0 or not np.isfinite(value):
        return int(str(value)[0] == "-")
    mantissa, _, exponent = f"{abs(value):.8e}".partition("e")
    far = 0 if -5 < int(exponent) < 6 else 3
    return len(mantissa.replace(".", "").rstrip("0")) + far + 2 * (value < 0)


def windows(data: Array, flat: int) -> Iterator[Array]:
    """Parts that hold the element at flat index `flat`, shortest first.

    Runs of the flat array, then boxes around it.
    """
    pieces = [*_runs(data, flat), *_boxes(data, flat)]
    fitting = (piece for piece in pieces if 0 < piece.size < data.size and piece.size <= LARGEST)
    for piece in sorted(fitting, key=lambda piece: (piece.size, piece.ndim)):
        yield np.array(piece, order="C")


def _runs(data: Array, flat: int) -> Iterator[Array]:
    values = data.reshape(-1)
    starts = {max(0, flat - lead) for lead in _LEADS}
    starts |= {flat // block * block for block in (32, 128, 4096)}
    for start, trail in itertools.product(sorted(starts, reverse=True), _TRAILS):
        stop = flat + 1 + trail
        if stop <= values.size:
            yield values[start:stop]


def _boxes(data: Array, flat: int) -> Iterator[Array]:
    if data.ndim < 2:
        return
    index = np.unravel_index(flat, data.shape)
    for leads in itertools.product(_BOX_LEADS, repeat=min(data.ndim, 3)):
        every = (0,) * (data.ndim - len(leads)) + leads
        if len(set(leads)) > 2 or any(lead > i for lead, i in zip(every, index, strict=True)):
            continue
        for trail in (0, 1):
            yield data[
                tuple(
                    slice(int(i) - lead, int(i) + 1 + trail)
                    for i, lead in zip(index, every, strict=True)
                )
            ]


def lone(data: Array, flat: int) -> Iterator[Array]:
    """With nothing but the element at flat index `flat`, or that and the one before it."""
    values = data.reshape(-1)
    for first in (flat, max(flat - 1, 0)):
        kept = np.zeros_like(values)
        kept[first : flat + 1] = values[first : flat + 1]
        yield kept.reshape(data.shape)


def fewer_dimensions(data: Array, _length: int = 0) -> Iterator[Array]:
    """The same values along one axis, or without axes of length 1."""
    if data.ndim > 1:
        yield data.reshape(-1)
        squeezed = data.squeeze()
        if 1 < squeezed.ndim < data.ndim:
            yield squeezed
    if data.ndim > 2:
        yield data.reshape(-1, data.shape[-1])
        yield data.reshape(data.shape[0], -1)


def without(data: Array, length: int) -> Iterator[Array]:
    """Without a piece of `length` along an axis: the last, then each from the start on."""
    for axis in range(data.ndim):
        size = data.shape[axis]
        if length >= size:
            continue
        starts = range(0, size - length + 1, length)
        for start in (size - length, *starts):
            yield np.delete(data, slice(start, start + length), axis)


def plainer(data: Array, length: int) -> Iterator[Array]:
    """With one piece of `length` in C order made 0, or equal to the value before or after it."""
    flat = data.reshape(-1)
    for start in range(0, flat.size, length):
        part = slice(start, min(start + length, flat.size))
        around = [0]
        around += [flat[start - 1]] if start else []
        around += [flat[part.stop]] if part.stop < flat.size else []
        for value in around:
            yield _with(data, part, value)


def alike(data: Array, _length: int = 0) -> Iterator[Array]:
    """With all values but one kind made 0 or equal, most of them at once first."""
    flat = data.reshape(-1)
    values = flat[run_starts(flat)]
    for value in dict.fromkeys(values.tolist()):
        same = (flat == value) | (np.isnan(flat) & np.isnan(value))
        yield np.where(same, flat, flat.dtype.type(0)).reshape(data.shape)
        yield np.full_like(data, value)


def rounder(data: Array, _length: int = 0) -> Iterator[Array]:
    """With one value, wherever it stands, made a number of fewer digits, or positive."""
    flat = data.reshape(-1)
    values = dict.fromkeys(flat[run_starts(flat)].tolist())
    real = [value for value in values if np.isfinite(value) and value != 0]
    largest = float(np.finfo(flat.dtype).max)
    for value in real:
        for other in (0.0, 1.0, *_rounded(value), -value):
            if abs(other) <= largest:
                yield np.where(flat == value, flat.dtype.type(other), flat).reshape(data.shape)


def _rounded(value: float) -> Iterator[float]:
    for digits in _DIGITS:
        yield float(f"{value:.{digits - 1}e}")


def _with(data: Array, part: slice, value: object) -> Array:
    changed = data.copy()
    changed.reshape(-1)[part] = value
    return changed
