"""Whether every decoded element is within its bound of the original: exact, in one pass.

Original + decoded + absolute bound → Comparison. The pass works on blocks that fit in cache. Only
a block that holds a non-finite difference, or one that reaches the bound, is looked at element by
element, there with an error-free difference: in double 1 − (−2⁻⁶⁰) rounds to 1, so the rounded
difference alone would let that pass a bound of 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from numba import njit

from kernels.records import Array, Comparison, Counterexample, Point

WINDOW = 32
"""Most values shown in a counterexample."""

_BLOCK = 2048
_ABSOLUTE = 0x7FFFFFFFFFFFFFFF
"""Everything but the sign of a double. Bit patterns of magnitudes order as the magnitudes do."""


@njit(nogil=True, cache=True)
def _error(x: float, y: float) -> float:
    """|x − y| in double; a non-finite x costs 0 if it came back and inf if not."""
    if math.isfinite(x):
        return abs(x - y) if math.isfinite(y) else math.inf
    return 0.0 if x == y or (math.isnan(x) and math.isnan(y)) else math.inf


@njit(nogil=True, cache=True)
def _exceeds(x: float, y: float, bound: float) -> bool:
    """Whether |x − y| > bound, exactly.

    The remainder of the rounded difference decides a tie. Taking the smaller magnitude from the
    larger keeps it exact (Dekker 1971); an overflowing difference is above any finite bound.
    """
    error = _error(x, y)
    if error != bound:
        return error > bound
    large, small = (x, y) if abs(x) >= abs(y) else (y, x)
    high = large - small
    low = (large - high) - small
    return low > 0.0 if high >= 0.0 else low < 0.0


@njit(nogil=True, cache=True)
def _judge(x: Array, y: Array, bound: float, errors: npt.NDArray[np.float64]) -> tuple[int, int]:
    """Exact errors of one block into `errors`; how many exceed the bound, and the first of them."""
    count, first = 0, -1
    for i in range(x.size):
        original, decoded = np.float64(x[i]), np.float64(y[i])
        errors[i] = _error(original, decoded)
        if _exceeds(original, decoded, bound):
            if count == 0:
                first = i
            count += 1
    return count, first


@njit(nogil=True, cache=True)
def _largest(error_bits: npt.NDArray[np.int64]) -> int:
    """Bits of the largest magnitude in a block."""
    top = 0
    for i in range(_BLOCK):
        top = max(top, error_bits[i] & _ABSOLUTE)
    return top


@njit(nogil=True, cache=True)
def _sum_of_squares(errors: npt.NDArray[np.float64]) -> float:
    """Of one block, folded in halves, since halves may be added in vectors; overwrites it."""
    half = _BLOCK // 2
    for i in range(half):
        errors[i] = errors[i] * errors[i] + errors[i + half] * errors[i + half]
    while half > 1:
        half //= 2
        for i in range(half):
            errors[i] += errors[i + half]
    return float(errors[0])


@njit(nogil=True, cache=True)
def _scan(  # noqa: PLR0913 - one hot loop: everything it needs, unpacked
    x: Array,
    y: Array,
    x_bits: Array,
    y_bits: Array,
    bound: float,
    threshold: int,
    marks: Array,
    errors: npt.NDArray[np.float64],
    error_bits: npt.NDArray[np.int64],
) -> tuple[int, int, int, int, int, int, float]:
    """One pass over two flat arrays; `marks`: the largest integer, infinity's bits, fill's bits.

    Loops are elementwise or integer reductions: those vectorise without licence to reassociate.
    Returns violations, the first, the worst block, lowest and highest key, signs, squares.
    """
    magnitude, infinity, fill = marks[0], marks[1], marks[2]
    none = x_bits.dtype.type(0)
    one = x_bits.dtype.type(1)
    lowest, highest, signs = magnitude, ~magnitude, 0
    violations, first, worst_block, peak, squares = 0, -1, 0, -1, 0.0
    for at in range(0, x.size, _BLOCK):
        m = min(_BLOCK, x.size - at)
        xs, ys = x[at : at + m], y[at : at + m]
        xb, yb = x_bits[at : at + m], y_bits[at : at + m]
        for i in range(m):
            errors[i] = np.float64(xs[i]) - np.float64(ys[i])
        errors[m:] = 0.0
        top = _largest(error_bits)
        if top >= threshold:
            count, where = _judge(xs, ys, bound, errors)
            if violations == 0 and count > 0:
                first = at + where
            violations += count
            top = _largest(error_bits)
        if top > peak:
            peak, worst_block = top, at

        low, high, changed = magnitude, ~magnitude, none
        for i in range(m):
            v, w = xb[i], yb[i]
            key = v if v >= 0 else v ^ magnitude
            left_out = ((v & magnitude) >= infinity) | (v == fill)
            low = min(low, magnitude if left_out else key)
            high = max(high, ~magnitude if left_out else key)
            changed += one if (((v | w) & magnitude) == 0) & (v != w) else none
        lowest, highest, signs = min(lowest, low), max(highest, high), signs + changed
        squares += _sum_of_squares(errors)
    return violations, first, worst_block, lowest, highest, signs, squares


@dataclass(frozen=True)
class _Layout:
    """How a data type's bit patterns are read as integers whose order is that of the values."""

    signed: type[np.int32] | type[np.int64]
    real: type[np.float32] | type[np.float64]
    infinity: int


_LAYOUTS: dict[np.dtype[np.generic], _Layout] = {
    np.dtype(np.float32): _Layout(np.int32, np.float32, 0x7F800000),
    np.dtype(np.float64): _Layout(np.int64, np.float64, 0x7FF0000000000000),
}


def compare(
    original: Array, decoded: Array, abs_bound: float, fill_value: float | None = None
) -> Comparison:
    """Check every element of `decoded` against `original`.

    Floating-point data may differ by `abs_bound`; integers must be equal. `fill_value` only keeps
    that value out of `value_range`. Raises ValueError if shapes or dtypes differ.
    """
    if original.shape != decoded.shape or original.dtype != decoded.dtype:
        raise ValueError(
            f"decoded is {decoded.dtype}{list(decoded.shape)}, "
            f"the original {original.dtype}{list(original.shape)}"
        )
    if not (math.isfinite(abs_bound) and abs_bound >= 0.0):
        raise ValueError(f"abs_bound {abs_bound!r}: it must be finite and ≥ 0")
    if original.dtype.kind in "iub":
        return _compare_integers(original, decoded)
    if original.dtype not in _LAYOUTS:
        raise ValueError(f"{original.dtype} data: only float32, float64 and integers are compared")
    return _compare_real(original, decoded, float(abs_bound), fill_value)


def _compare_real(
    original: Array, decoded: Array, abs_bound: float, fill_value: float | None
) -> Comparison:
    layout = _LAYOUTS[original.dtype]
    signed = layout.signed
    x, y = _flat(original), _flat(decoded)
    errors = np.zeros(_BLOCK, np.float64)
    threshold = np.array([abs_bound]).view(np.int64)[0]
    marks = np.array([np.iinfo(signed).max, layout.infinity, layout.infinity], signed)
    if fill_value is not None:
        marks.view(layout.real)[2] = fill_value
    violations, first, worst_block, lowest, highest, signs, squares = _scan(
        x,
        y,
        x.view(signed),
        y.view(signed),
        abs_bound,
        max(int(threshold), 1),
        marks,
        errors,
        errors.view(np.int64),
    )
    worst = None if x.size == 0 else _worst(x, y, worst_block, original.shape, abs_bound, first)
    return Comparison(
        checked=x.size,
        violations=violations,
        max_abs_error=0.0 if worst is None else float(worst.error),
        abs_bound=abs_bound,
        worst=worst,
        first=None if first < 0 else _point(x, y, first, original.shape, abs_bound),
        zero_signs_changed=int(signs),
        sum_squared_error=squares,
        value_range=_span(int(lowest), int(highest), layout),
    )


def value_range(data: Array, fill_value: float | None = None) -> float:
    """fl64(max − min) over finite values that are not the fill value; 0.0 if there are none."""
    return compare(data, data, 0.0, fill_value).value_range


def _flat(array: Array) -> Array:
    """Read-only, so that one compiled specialisation serves fields and copies alike."""
    flat = np.ascontiguousarray(array).reshape(-1)
    flat.flags.writeable = False
    return flat


def _span(lowest: int, highest: int, layout: _Layout) -> float:
    """The values of two ordered keys, subtracted; 0.0 if no value was counted."""
    if lowest > highest:
        return 0.0
    largest = int(np.iinfo(layout.signed).max)
    low, high = (
        float(layout.signed(key if key >= 0 else key ^ largest).view(layout.real))
        for key in (lowest, highest)
    )
    return high - low


def _worst(
    x: Array, y: Array, block: int, shape: tuple[int, ...], bound: float, first: int
) -> Point:
    """The largest error; where only ties with the bound violate it, the first that does."""
    part = slice(block, block + _BLOCK)
    errors = np.zeros(_BLOCK, np.float64)
    _judge(x[part], y[part], bound, errors)
    at = int(errors.argmax())
    if first >= 0 and errors[at] <= bound:
        return _point(x, y, first, shape, bound)
    return _point(x, y, block + at, shape, bound)


def _point(x: Array, y: Array, flat: int, shape: tuple[int, ...], bound: float) -> Point:
    """Describe one element; an error that exceeds the bound by less than an ulp is rounded up."""
    original, decoded = float(x[flat]), float(y[flat])
    error = _error(original, decoded)
    if error == bound and _exceeds(original, decoded, bound):
        error = math.nextafter(error, math.inf)
    return Point(flat, _index(flat, shape), repr(original), repr(decoded), repr(error))


def _compare_integers(original: Array, decoded: Array) -> Comparison:
    """Equality; the error is the difference of the values, 0 only where they are equal."""
    x, y = original.reshape(-1), decoded.reshape(-1)
    differing = np.flatnonzero(x != y)
    gaps = np.abs(x[differing].astype(np.float64) - y[differing].astype(np.float64))
    gaps = np.maximum(gaps, 1.0)
    first = worst = None
    if x.size:
        first = None if differing.size == 0 else int(differing[0])
        worst = 0 if first is None else int(differing[gaps.argmax()])
    return Comparison(
        checked=x.size,
        violations=int(differing.size),
        max_abs_error=float(gaps.max(initial=0.0)),
        abs_bound=0.0,
        worst=None if worst is None else _integer_point(original, decoded, worst),
        first=None if first is None else _integer_point(original, decoded, first),
        zero_signs_changed=0,
        sum_squared_error=float(np.square(gaps).sum()),
        value_range=float(int(x.max()) - int(x.min())) if x.size else 0.0,
    )


def _integer_point(original: Array, decoded: Array, flat: int) -> Point:
    x, y = int(original.reshape(-1)[flat]), int(decoded.reshape(-1)[flat])
    return Point(flat, _index(flat, original.shape), repr(x), repr(y), repr(float(abs(x - y))))


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(flat, shape))


def counterexample(
    case: str,
    original: Array,
    decoded: Array,
    comparison: Comparison,
    given: Array | None = None,
) -> Counterexample:
    """The neighbourhood of the worst element; the whole array if it is short.

    given: what a stage was given; shown at the same places if it has the same shape.
    """
    point = comparison.worst
    if point is None:
        raise ValueError(f"case {case!r} is an empty array: it has no worst element to show")
    x, y = original.reshape(-1), decoded.reshape(-1)
    start = min(max(point.flat - WINDOW // 2, 0), max(x.size - WINDOW, 0))
    part = slice(start, start + WINDOW)
    return Counterexample(
        case=case,
        shape=original.shape,
        dtype=str(original.dtype),
        abs_bound=comparison.abs_bound,
        values=tuple(repr(value) for value in x[part].tolist()),
        decoded=tuple(repr(value) for value in y[part].tolist()),
        start=start,
        point=point,
        inputs=(
            tuple(repr(value) for value in given.reshape(-1)[part].tolist())
            if given is not None and given.shape == original.shape
            else ()
        ),
    )


def in_hexadecimal(shown: Counterexample) -> Counterexample:
    """The same with its unsigned integers as hexadecimal numbers of their type's width."""
    digits = 2 * np.dtype(shown.dtype).itemsize

    def written(number: str) -> str:
        return f"0x{int(number):0{digits}x}"

    point = shown.point
    return replace(
        shown,
        values=tuple(map(written, shown.values)),
        decoded=tuple(map(written, shown.decoded)),
        point=replace(point, original=written(point.original), decoded=written(point.decoded)),
    )
