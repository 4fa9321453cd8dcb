"""The hot loops of the bound check: two plain parts and a bound → counts, places and sums.

They work on blocks that fit in cache. Loops are elementwise or integer reductions, since those
vectorise without licence to reassociate; so a block is read several times, and arrays of a block's
length hold what is between. Bit patterns of magnitudes order as the magnitudes do.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from kernels.records import Array

BLOCK = 2048
_LANES = 256
"""Squares are added up to here without compensation: three additions deep."""
_ABSOLUTE = 0x7FFFFFFFFFFFFFFF
"""Everything but the sign of a double."""
_LARGEST = 1.7976931348623157e308
_ABOVE_ONE = 1.0 + 2.0**-52
_NEARLY_ONE = 1.0 - 2.0**-40

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Found = tuple[int, int, int, float, int, int, int, float, float]
"""Violations, the first, the worst and its rank; lowest and highest key; signs of zero changed;
squared errors as a sum and what it lacks. Places count from the part's start, −1 for none."""


@njit(nogil=True, cache=True)
def error_of(x: float, y: float) -> float:
    """|x − y| rounded to double; a non-finite x costs 0 if it came back and inf if not."""
    error = abs(x - y)
    if error == error:
        return error
    return 0.0 if (x == y) | ((x != x) & (y != y)) else math.inf


@njit(nogil=True, cache=True)
def exceeds(x: float, y: float, error: float, bound: float) -> bool:
    """Whether |x − y|, which rounds to `error`, is above `bound`, exactly.

    The remainder of the rounded difference decides a tie. Taking the smaller magnitude from the
    larger keeps it exact (Dekker 1971); an overflowing difference is above any finite bound.
    """
    swap = abs(x) < abs(y)
    large = y if swap else x
    small = x if swap else y
    high = large - small
    low = (large - high) - small
    beyond = low > 0.0 if high >= 0.0 else low < 0.0
    return (error > bound) | ((error == bound) & beyond)


@njit(nogil=True, cache=True)
def _sign_lost(x: float, y: float) -> bool:
    """Whether y has another sign; zero is a sign of its own, or rather two: +0 and −0."""
    zero_lost = (y != 0.0) | (math.copysign(1.0, x) != math.copysign(1.0, y))
    return ((x > 0.0) & (y <= 0.0)) | ((x < 0.0) & (y >= 0.0)) | ((x == 0.0) & zero_lost)


@njit(nogil=True, cache=True)
def bound_of(x: float, eps: float) -> float:
    """fl64(eps · |x|), the largest double at most; 0 for a non-finite x, which has to come back."""
    return min(eps * abs(x), _LARGEST) if abs(x) < math.inf else 0.0


@njit(nogil=True, cache=True)
def breaks_pointwise(x: float, y: float, error: float, bound: float) -> bool:
    """Whether y breaks the bound of x, or has another sign."""
    return exceeds(x, y, error, bound) | _sign_lost(x, y)


@njit(nogil=True, cache=True)
def _judge(x: Array, y: Array, bound: float, errors: Doubles) -> int:
    """Exact errors of one block into `errors`; how many exceed the bound."""
    count = 0
    for i in range(x.size):
        original, decoded = np.float64(x[i]), np.float64(y[i])
        error = error_of(original, decoded)
        errors[i] = error
        count += 1 if exceeds(original, decoded, error, bound) else 0
    return count


@njit(nogil=True, cache=True)
def _first(x: Array, y: Array, bound: float) -> int:
    """The first of a block that exceeds the bound."""
    for i in range(x.size):
        original, decoded = np.float64(x[i]), np.float64(y[i])
        if exceeds(original, decoded, error_of(original, decoded), bound):
            return i
    return -1


@njit(nogil=True, cache=True)
def _largest(bits: Longs) -> int:
    """Bits of the largest magnitude in a block."""
    top = 0
    for i in range(BLOCK):
        top = max(top, bits[i] & _ABSOLUTE)
    return top


@njit(nogil=True, cache=True)
def _place(bits: Longs, top: int) -> int:
    """Where the magnitude with these bits is first."""
    for i in range(BLOCK):
        if bits[i] & _ABSOLUTE == top:
            return i
    return 0


@njit(nogil=True, cache=True)
def _squares(errors: Doubles, lacks: Doubles, scale: float) -> tuple[float, float]:
    """Sum of squares of a block, and what it lacks; overwrites `errors`.

    Folded in halves, which may be added in vectors; from `_LANES` on with the error of each
    addition (Knuth's TwoSum). Terms are positive, so at most six roundings of an element's
    difference, square and first additions are left: 6.7e-16 of the sum.
    """
    half = BLOCK // 2
    for i in range(half):
        a, b = errors[i] * scale, errors[i + half] * scale
        errors[i] = a * a + b * b
    while half > _LANES:
        half //= 2
        for i in range(half):
            errors[i] += errors[i + half]
    lacks[:_LANES] = 0.0
    while half > 1:
        half //= 2
        for i in range(half):
            a, b = errors[i], errors[i + half]
            total = a + b
            part = total - a
            errors[i] = total
            lacks[i] += lacks[i + half] + ((a - (total - part)) + (b - part))
    return float(errors[0]), float(lacks[0])


@njit(nogil=True, cache=True)
def _added(total: float, lack: float, more: float, more_lack: float) -> tuple[float, float]:
    """Two sums, each with what it lacks, as one."""
    new = total + more
    part = new - total
    return new, lack + more_lack + ((total - (new - part)) + (more - part))


@njit(nogil=True, cache=True)
def _keys(x_bits: Array, y_bits: Array, marks: Array) -> tuple[int, int, int]:
    """Lowest and highest key of finite values that are not the fill value; zeros of changed sign.

    marks: the largest integer, infinity's bits, the fill value's bits.
    """
    magnitude, infinity, fill = marks[0], marks[1], marks[2]
    none, one = x_bits.dtype.type(0), x_bits.dtype.type(1)
    low, high, changed = magnitude, ~magnitude, none
    for i in range(x_bits.size):
        v, w = x_bits[i], y_bits[i]
        key = v if v >= 0 else v ^ magnitude
        left_out = ((v & magnitude) >= infinity) | (v == fill)
        low = min(low, magnitude if left_out else key)
        high = max(high, ~magnitude if left_out else key)
        changed += one if (((v | w) & magnitude) == 0) & (v != w) else none
    return low, high, changed


@njit(nogil=True, cache=True)
def scan_reals(x: Array, y: Array, bound: float, scale: float, marks: Array) -> Found:
    """Floating-point data against an absolute bound; the worst ranks by its error.

    Only a block with a difference that is not finite, or that reaches the bound, is looked at
    exactly. `scale`: a power of two that squares are taken of, against underflow.
    """
    x_bits, y_bits = x.view(marks.dtype), y.view(marks.dtype)
    errors, lacks = np.zeros(BLOCK, np.float64), np.empty(_LANES, np.float64)
    bits = errors.view(np.int64)
    threshold = max(np.array([bound]).view(np.int64)[0], 1)
    lowest, highest, signs = marks[0], ~marks[0], 0
    violations, first, worst, peak, total, lack = 0, -1, -1, -1, 0.0, 0.0
    for at in range(0, x.size, BLOCK):
        m = min(BLOCK, x.size - at)
        xs, ys = x[at : at + m], y[at : at + m]
        for i in range(m):
            errors[i] = np.float64(xs[i]) - np.float64(ys[i])
        errors[m:] = 0.0
        top = _largest(bits)
        if top >= threshold:
            count = _judge(xs, ys, bound, errors)
            if violations == 0 and count > 0:
                first = at + _first(xs, ys, bound)
            violations += count
            top = _largest(bits)
        if top > peak:
            peak, worst = top, at + _place(bits, top)
        low, high, changed = _keys(x_bits[at : at + m], y_bits[at : at + m], marks)
        lowest, highest, signs = min(lowest, low), max(highest, high), signs + changed
        more, more_lack = _squares(errors, lacks, scale)
        total, lack = _added(total, lack, more, more_lack)
    rank = np.array([peak]).view(np.float64)[0]
    return violations, first, worst, rank, lowest, highest, signs, total, lack


@njit(nogil=True, cache=True)
def _calm(  # noqa: PLR0913 - a hot loop
    x: Array, y: Array, x_bits: Array, y_bits: Array, eps: float, near: float, errors: Doubles
) -> bool:
    """Whether each error of a block is 0, or surely below `near` of its bound and of its sign.

    Writes the errors.
    """
    doubts = 0
    for i in range(x.size):
        original, decoded = np.float64(x[i]), np.float64(y[i])
        error = abs(original - decoded)
        errors[i] = error
        small = (error < near * (eps * abs(original))) | (error == 0.0)
        good = small & ((x_bits[i] ^ y_bits[i]) >= 0) & ((decoded != 0.0) | (original == 0.0))
        doubts += 0 if good else 1
    return doubts == 0


@njit(nogil=True, cache=True, error_model="numpy")
def _judge_pointwise(x: Array, y: Array, eps: float, errors: Doubles, ranks: Doubles) -> int:
    """Errors of one block, and how many times the bound each is: above 1 if it breaks it."""
    count = 0
    for i in range(x.size):
        original, decoded = np.float64(x[i]), np.float64(y[i])
        error, bound = error_of(original, decoded), bound_of(original, eps)
        wrong = breaks_pointwise(original, decoded, error, bound)
        # A wrong zero's error may be 0, a bound that is not 0 may be kept with a wrong sign.
        least = math.inf if bound == 0.0 else _ABOVE_ONE
        quotient = error / bound
        ratio = 0.0 if error == 0.0 else quotient
        ranks[i] = least if wrong & (ratio < least) else ratio
        errors[i] = error
        count += 1 if wrong else 0
    return count


@njit(nogil=True, cache=True)
def _first_above_one(ranks: Doubles) -> int:
    for i in range(BLOCK):
        if ranks[i] > 1.0:
            return i
    return -1


@njit(nogil=True, cache=True)
def scan_pointwise(x: Array, y: Array, eps: float, scale: float, marks: Array) -> Found:
    """Floating-point data against a bound per element; the worst ranks by error over bound."""
    x_bits, y_bits = x.view(marks.dtype), y.view(marks.dtype)
    errors, lacks = np.zeros(BLOCK, np.float64), np.empty(_LANES, np.float64)
    ranks = np.zeros(BLOCK, np.float64)
    bits = ranks.view(np.int64)
    lowest, highest, signs = marks[0], ~marks[0], 0
    violations, first, worst, peak, total, lack = 0, -1, -1, -1.0, 0.0, 0.0
    for at in range(0, x.size, BLOCK):
        m = min(BLOCK, x.size - at)
        xs, ys = x[at : at + m], y[at : at + m]
        xb, yb = x_bits[at : at + m], y_bits[at : at + m]
        errors[m:] = 0.0
        near = min(peak, 1.0) * _NEARLY_ONE
        if peak < 0.0 or not _calm(xs, ys, xb, yb, eps, near, errors):
            ranks[m:] = 0.0
            count = _judge_pointwise(xs, ys, eps, errors, ranks)
            if violations == 0 and count > 0:
                first = at + _first_above_one(ranks)
            violations += count
            place = _place(bits, _largest(bits))
            if ranks[place] > peak:
                peak, worst = ranks[place], at + place
        low, high, changed = _keys(xb, yb, marks)
        lowest, highest, signs = min(lowest, low), max(highest, high), signs + changed
        more, more_lack = _squares(errors, lacks, scale)
        total, lack = _added(total, lack, more, more_lack)
    return violations, first, worst, peak, lowest, highest, signs, total, lack


@njit(nogil=True, cache=True)
def scan_integers(  # noqa: C901 - a hot loop
    x: Array, y: Array, marks: Array
) -> tuple[int, int, int, int, int, int, int, float, float]:
    """Unsigned data against the largest difference allowed; the worst ranks by its difference.

    marks: what is turned in every value, so that signed numbers order as unsigned ones; the
    difference allowed; the largest integer; the fill value, turned, and 1 if there is one.
    """
    turn, most, fill, filled = marks[0], marks[1], marks[3], marks[4] != marks[2] ^ marks[2]
    lowest, highest, none = marks[2], marks[2] ^ marks[2], marks[2] ^ marks[2]
    gaps, errors = np.zeros(BLOCK, x.dtype), np.zeros(BLOCK, np.float64)
    lacks = np.empty(_LANES, np.float64)
    violations, first, worst, peak, total, lack = 0, -1, 0, none, 0.0, 0.0
    for at in range(0, x.size, BLOCK):
        m = min(BLOCK, x.size - at)
        xs, ys = x[at : at + m], y[at : at + m]
        changed = none
        for i in range(m):
            changed |= xs[i] ^ ys[i]
        if filled:
            for i in range(m):
                key = xs[i] ^ turn
                lowest = min(lowest, marks[2] if key == fill else key)
                highest = max(highest, none if key == fill else key)
        else:
            for i in range(m):
                lowest, highest = min(lowest, xs[i] ^ turn), max(highest, xs[i] ^ turn)
        if changed == none:
            continue
        gaps[m:] = none
        errors[m:] = 0.0
        top = none
        for i in range(m):
            a, b = xs[i] ^ turn, ys[i] ^ turn
            gaps[i] = a - b if a > b else b - a
            top = max(top, gaps[i])
            errors[i] = np.float64(gaps[i])
        if top > most:
            for i in range(m):
                if gaps[i] > most:
                    if violations == 0:
                        first = at + i
                    violations += 1
        if top > peak:
            peak = top
            for i in range(m):
                if gaps[i] == top:
                    worst = at + i
                    break
        more, more_lack = _squares(errors, lacks, 1.0)
        total, lack = _added(total, lack, more, more_lack)
    return violations, first, worst, peak, lowest, highest, 0, total, lack


@njit(nogil=True, cache=True)
def mark_reals(x: Array, y: Array, bound: float, wrong: npt.NDArray[np.bool_]) -> None:
    """Which elements exceed an absolute bound."""
    for i in range(x.size):
        original, decoded = np.float64(x[i]), np.float64(y[i])
        wrong[i] = exceeds(original, decoded, error_of(original, decoded), bound)


@njit(nogil=True, cache=True)
def mark_pointwise(x: Array, y: Array, eps: float, wrong: npt.NDArray[np.bool_]) -> None:
    """Which elements break their own bound."""
    for i in range(x.size):
        original, decoded = np.float64(x[i]), np.float64(y[i])
        error, bound = error_of(original, decoded), bound_of(original, eps)
        wrong[i] = breaks_pointwise(original, decoded, error, bound)


@njit(nogil=True, cache=True)
def span_reals(x: Array, marks: Array) -> tuple[int, int]:
    """Lowest and highest key of finite values that are not the fill value."""
    bits = x.view(marks.dtype)
    low, high, _ = _keys(bits, bits, marks)
    return low, high
