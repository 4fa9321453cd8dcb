"""What a wrong array equals instead: the right values elsewhere, or the answer to another question.

A wanted and a received array flow in, words flow out, empty where nothing is recognised.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from kernels.records import Array

_LOOKED_AT = 1 << 16
"""Values of an integer array that are compared."""
_NEARLY_ALL = 0.99
_DIFFERENCES = "differences of neighbours"


def real_resemblance(x: Array, y: Array, shape: tuple[int, ...], bound: float) -> str:
    """Of decoded values `y`, flat, which should be `x`."""
    if x.size < 4 or (x == x[0]).all():
        return ""
    for name, other in _real_candidates(x, shape):
        # Two values were rounded for each difference.
        apart = 2 * bound if name == _DIFFERENCES else bound
        if _close(other, y[: other.size], apart) and not _close(x[: other.size], other, apart):
            return name
    return ""


def _real_candidates(x: Array, shape: tuple[int, ...]) -> Iterator[tuple[str, Array]]:
    size = int(np.prod(shape))
    yield "zeros", np.zeros_like(x)
    yield "the values one place late", np.concatenate((x[:1], x[:-1]))
    yield "the values one place early", x[1:]
    yield "the bytes of every value in reverse order", x.byteswap()
    yield _DIFFERENCES, np.diff(x, prepend=x.dtype.type(0))
    if x.size == size:
        yield "the values in reverse order", x[::-1]
        if sum(n > 1 for n in shape) > 1:
            yield "the values in Fortran order", x.reshape(shape).reshape(-1, order="F")
            yield "the values in Fortran order", x.reshape(shape, order="F").reshape(-1)


def _close(x: Array, y: Array, bound: float) -> bool:
    with np.errstate(all="ignore"):
        near = (np.abs(x.astype(np.float64) - y) <= 1.01 * bound) | (x == y)
    return bool((near | (np.isnan(x) & np.isnan(y))).mean() >= _NEARLY_ALL)


def whole_resemblance(wanted: Array, got: Array, first_input: Array | None) -> str:
    """Of a stage's integers; first_input: its first array."""
    wanted, got = _leading(wanted), _leading(got)
    if (wanted == got).all():
        # Only the part looked at is right.
        return ""
    for name, other in _whole_candidates(wanted, first_input):
        if _explains(other, wanted, got) and not _equal(other, wanted):
            return name
    alike = wanted.size > 3 and np.array_equal(np.sort(wanted, axis=None), np.sort(got, axis=None))
    return "the right values in another order" if alike else ""


def _leading(array: Array) -> Array:
    """Its first rows: what is summed or differenced along axes depends on nothing beyond them."""
    row = int(np.prod(array.shape[1:])) if array.ndim else 1
    return array[: max(1, _LOOKED_AT // max(1, row))] if array.ndim else array


def _explains(other: Array, wanted: Array, got: Array) -> bool:
    """Whether `got` is the other answer, above all where it is not the wanted one.

    Where most values are the same in both answers, equality on nearly all says little.
    """
    if not _equal(other, got):
        return False
    wrong = wanted != got
    return bool((other == got)[wrong].mean() >= _NEARLY_ALL)


def _equal(a: Array, b: Array) -> bool:
    return a.shape == b.shape and bool((a == b).mean() >= _NEARLY_ALL)


def _whole_candidates(wanted: Array, first_input: Array | None) -> Iterator[tuple[str, Array]]:
    flat = wanted.reshape(-1)
    if flat.size > 3:
        yield "zeros", np.zeros_like(wanted)
        yield "the negative of the right answer", (~wanted + wanted.dtype.type(1))
        yield "the right answer one place late", _late(flat).reshape(wanted.shape)
        yield "the right answer one place early", _early(flat).reshape(wanted.shape)
        yield "the right answer in reverse order", flat[::-1].reshape(wanted.shape)
        if wanted.dtype.itemsize > 1:
            yield "the right words with their bytes reversed", wanted.byteswap()
        yield "the right words with their bits reversed", _bits_reversed(wanted)
    if first_input is not None and first_input.size and first_input.dtype == wanted.dtype:
        given = _leading(first_input)
        if given.shape == wanted.shape:
            yield from _scans(given)


def _late(flat: Array) -> Array:
    return np.concatenate((np.zeros(1, flat.dtype), flat[:-1]))


def _early(flat: Array) -> Array:
    return np.concatenate((flat[1:], flat[-1:]))


def _bits_reversed(words: Array) -> Array:
    raw = np.ascontiguousarray(words).view(np.uint8).reshape(-1, words.dtype.itemsize)
    reversed_ = np.packbits(np.unpackbits(raw, axis=1)[:, ::-1], axis=1)
    return np.ascontiguousarray(reversed_).view(words.dtype).reshape(words.shape)


def _scans(given: Array) -> Iterator[tuple[str, Array]]:
    """Differences and sums along some of the axes: what a stage of Lorenzo's kind may mix up."""
    yield "the input itself", given
    axes = range(given.ndim)
    for count in axes:
        for chosen in itertools.combinations(axes, count + 1):
            along = f"axis {chosen[0]}" if count == 0 else f"axes {', '.join(map(str, chosen))}"
            difference = total = given
            for axis in chosen:
                difference = _differences(difference, axis)
                total = np.cumsum(total, axis=axis, dtype=given.dtype)
            yield f"differences along {along} alone", difference
            yield f"sums along {along} alone", total
    flat = given.reshape(-1)
    sums = np.cumsum(flat, dtype=given.dtype)
    yield "exclusive sums, each without its own value", (sums - flat).reshape(given.shape)
    if given.ndim > 1:
        flat_difference = np.diff(flat, prepend=flat.dtype.type(0))
        yield (
            "differences along the flat array, over row ends",
            flat_difference.reshape(given.shape),
        )
        yield "sums along the flat array, over row ends", sums.reshape(given.shape)
        yield "the input minus the neighbour on each axis", _without_corners(given)


def _without_corners(given: Array) -> Array:
    """The predictor with its first neighbours alone: those across corners are left out."""
    result = given.copy()
    for axis in range(given.ndim):
        result -= given - _differences(given, axis)
    return result


def _differences(given: Array, axis: int) -> Array:
    return np.diff(given, axis=axis, prepend=np.zeros_like(np.take(given, [0], axis)))
