"""Sums over plain parts of an original and what was decoded: what `metrics` are computed from.

An element counts if it is finite in both arrays and is not the fill value. Sums of a block may be
reassociated, so that they vectorise; nothing here decides about a bound.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from kernels.records import Array

_BLOCK = 1024

Doubles = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

# Columns of a part's sums. An error is x − x'; "shifted" is less the centre, see `centre`.
(
    COUNTED,
    LARGEST,
    LARGEST_POINTWISE,
    SQUARES,
    LOWEST,
    HIGHEST,
    SHIFTED,
    SHIFTED_SQUARES,
    X,
    Y,
    XX,
    YY,
    XY,
    PAIRS,
    PRODUCTS,
    LEFT,
    RIGHT,
    FIRST,
    FIRST_COUNTS,
    LAST,
    LAST_COUNTS,
    COLUMNS,
) = range(22)


@njit(nogil=True, cache=True, fastmath={"reassoc"})
def _dot(a: Doubles, b: Doubles) -> float:
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@njit(nogil=True, cache=True, fastmath={"reassoc"})
def _total(a: Doubles) -> float:
    total = 0.0
    for i in range(a.size):
        total += a[i]
    return total


@njit(nogil=True, cache=True)
def _largest(a: Doubles) -> float:
    """Of a block of values that are not negative, by their bits."""
    bits, top = a.view(np.int64), np.int64(0)
    for i in range(bits.size):
        top = max(top, bits[i])
    return float(np.array([top]).view(np.float64)[0])


@njit(nogil=True, cache=True)
def counts(x: float, y: float, fill: float) -> bool:
    """Whether an element is looked at; `fill` is NaN if there is none."""
    return (abs(x) < math.inf) & (abs(y) < math.inf) & (x != fill)


@njit(nogil=True, cache=True)
def centre(x: Array, y: Array, fill: float) -> tuple[float, float, float]:
    """Mean original, decoded value and error of a part.

    Sums are taken from there, lest they lose digits where a mean is large beside the deviations.
    """
    count, mean_x, mean_y, mean_error = 0, 0.0, 0.0, 0.0
    for i in range(x.size):
        a, b = np.float64(x[i]), np.float64(y[i])
        if counts(a, b, fill):
            count += 1
            mean_x += (a - mean_x) / count
            mean_y += (b - mean_y) / count
            mean_error += ((a - b) - mean_error) / count
    return mean_x, mean_y, mean_error


@njit(nogil=True, cache=True, error_model="numpy")
def add_up(  # noqa: C901, PLR0913, PLR0915 - a hot loop
    x: Array,
    y: Array,
    fill: float,
    centres: tuple[float, float, float],
    sums: Doubles,
    histogram: Counts,
    bound: float,
) -> None:
    """Add a part to its zeroed sums, and to a histogram of errors over ±bound.

    The last bin is for errors outside.
    """
    mean_x, mean_y, mean_error = centres
    bins = histogram.size - 1
    per_bin = bins / (2.0 * bound) if bound > 0.0 else 0.0
    errors, relative = np.empty(_BLOCK), np.empty(_BLOCK)
    shifted, counted = np.zeros(_BLOCK + 1), np.zeros(_BLOCK + 1)
    low, high = np.empty(_BLOCK), np.empty(_BLOCK)
    dx, dy = np.empty(_BLOCK), np.empty(_BLOCK)
    lowest, highest = math.inf, -math.inf
    for at in range(0, x.size, _BLOCK):
        m = min(_BLOCK, x.size - at)
        xs, ys = x[at : at + m], y[at : at + m]
        for i in range(m):
            a, b = np.float64(xs[i]), np.float64(ys[i])
            good = counts(a, b, fill)
            error = a - b if good else 0.0
            errors[i] = error
            quotient = abs(error) / abs(a)
            relative[i] = quotient if good & (a != 0.0) else 0.0
            shifted[i + 1] = error - mean_error if good else 0.0
            counted[i + 1] = 1.0 if good else 0.0
            dx[i] = a - mean_x if good else 0.0
            dy[i] = b - mean_y if good else 0.0
            low[i] = a if good else math.inf
            high[i] = a if good else -math.inf
        for i in range(m):
            lowest = low[i] if low[i] < lowest else lowest
            highest = high[i] if high[i] > highest else highest
        e, p, q = errors[:m], shifted[:m], shifted[1 : m + 1]
        v, w = counted[:m], counted[1 : m + 1]
        sums[COUNTED] += _total(w)
        sums[SQUARES] += _dot(e, e)
        sums[SHIFTED] += _total(q)
        sums[SHIFTED_SQUARES] += _dot(q, q)
        sums[X] += _total(dx[:m])
        sums[Y] += _total(dy[:m])
        sums[XX] += _dot(dx[:m], dx[:m])
        sums[YY] += _dot(dy[:m], dy[:m])
        sums[XY] += _dot(dx[:m], dy[:m])
        sums[PAIRS] += _dot(v, w)
        sums[PRODUCTS] += _dot(p, q)
        sums[LEFT] += _dot(p, w)
        sums[RIGHT] += _dot(v, q)
        if at == 0:
            sums[FIRST], sums[FIRST_COUNTS] = shifted[1], counted[1]
        if per_bin > 0.0:
            for i in range(m):
                if counted[i + 1] != 0.0:
                    inside = abs(errors[i]) <= bound
                    place = int((errors[i] + bound) * per_bin) if inside else bins
                    histogram[bins if not inside else min(place, bins - 1)] += 1
        for i in range(m):
            errors[i] = abs(errors[i])
        sums[LARGEST] = max(sums[LARGEST], _largest(errors[:m]))
        sums[LARGEST_POINTWISE] = max(sums[LARGEST_POINTWISE], _largest(relative[:m]))
        shifted[0], counted[0] = shifted[m], counted[m]
    sums[LOWEST], sums[HIGHEST] = lowest, highest
    sums[LAST], sums[LAST_COUNTS] = shifted[0], counted[0]


@njit(nogil=True, cache=True)
def runs_entropy(ordered: Array) -> float:
    """Shannon entropy of sorted values in bits: log₂ n − Σ c·log₂ c / n over counts c."""
    n, total, count = ordered.size, 0.0, 1
    for i in range(1, n):
        if ordered[i] == ordered[i - 1]:
            count += 1
        else:
            total += count * math.log2(count)
            count = 1
    total += count * math.log2(count)
    return math.log2(n) - total / n
