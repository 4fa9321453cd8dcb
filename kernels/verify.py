"""Whether every decoded element is within its bound of the original: exact, in one pass.

Original + decoded + bound → Comparison, of arrays in memory or mapped files of any size, byte order
and strides (`parts`). Only a block that holds a non-finite difference, or one that reaches the
bound, is looked at element by element, there with an error-free difference: in double 1 − (−2⁻⁶⁰)
rounds to 1, so the rounded difference alone would let that pass a bound of 1. The result does not
depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels import verify_loops as loops
from kernels.parts import Effort, Pair, Progress, over_parts, quiet
from kernels.records import Array, Comparison, Counterexample, Point

WINDOW = 32
"""Most values shown in a counterexample."""

_UNDERFLOW = 2.0**-900
"""Sums of squares below this may have lost digits of single squares."""
_SCALE = 2.0**537
"""Of errors then: the square of the least double becomes the least double."""


@dataclass(frozen=True)
class _Layout:
    """How a data type's bit patterns are read as integers whose order is that of the values."""

    signed: type[np.int32] | type[np.int64]
    real: type[np.float32] | type[np.float64]
    infinity: int

    def marks(self, fill_value: float | None) -> Array:
        """The largest integer, infinity's bits, the fill value's bits."""
        marks = np.array([np.iinfo(self.signed).max, self.infinity, self.infinity], self.signed)
        if fill_value is not None:
            with np.errstate(over="ignore"):
                marks.view(self.real)[2] = fill_value
        return marks

    def span(self, lowest: int, highest: int) -> float:
        """The values of two ordered keys, subtracted; 0.0 if no value was counted."""
        if lowest > highest:
            return 0.0
        largest = int(np.iinfo(self.signed).max)
        low, high = (
            float(self.signed(key if key >= 0 else key ^ largest).view(self.real))
            for key in (lowest, highest)
        )
        return high - low


_LAYOUTS: dict[np.dtype[np.generic], _Layout] = {
    np.dtype(np.float32): _Layout(np.int32, np.float32, 0x7F800000),
    np.dtype(np.float64): _Layout(np.int64, np.float64, 0x7FF0000000000000),
}

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Rule:
    """What a bound is for one data type, over plain parts and over single elements."""

    scan: Callable[[Array, Array, float], loops.Found]
    """The last is what squares are scaled by."""
    mark: Callable[[Array, Array], Mask]
    """Which elements violate it."""
    error: Callable[[Any, Any], float]
    """Of one element; above its bound exactly if it violates it."""
    bound: Callable[[Any], float]
    """Of one element, with that original."""
    span: Callable[[int, int], float]
    """Of the lowest and the highest key."""


@dataclass(frozen=True)
class _Tally:
    """What is known of the parts so far; places as they are gone through, −1 for none."""

    violations: int = 0
    first: int = -1
    worst: int = -1
    rank: float = -1.0
    lowest: int | None = None
    highest: int | None = None
    signs: int = 0
    total: float = 0.0
    lack: float = 0.0

    def and_then(self, start: int, found: loops.Found) -> _Tally:
        """With the part that begins at `start`, which comes after all others."""
        violations, first, worst, rank, lowest, highest, signs, more, more_lack = found
        larger = worst >= 0 and rank > self.rank
        total = self.total + more
        part = total - self.total
        rest = (self.total - (total - part)) + (more - part)
        return _Tally(
            violations=self.violations + violations,
            first=start + first if self.first < 0 <= first else self.first,
            worst=start + worst if larger else self.worst,
            rank=rank if larger else self.rank,
            lowest=lowest if self.lowest is None else min(self.lowest, lowest),
            highest=highest if self.highest is None else max(self.highest, highest),
            signs=self.signs + signs,
            total=total,
            lack=self.lack + more_lack + rest,
        )

    @property
    def squares(self) -> float:
        """Sum of squared errors."""
        return self.total if math.isinf(self.total) else self.total + self.lack


def compare(
    original: Array,
    decoded: Array,
    abs_bound: float,
    fill_value: float | None = None,
    threads: int = 1,
    progress: Progress = quiet,
) -> Comparison:
    """Check every element of `decoded` against `original`: |x − x'| ≤ abs_bound, exactly.

    Floating-point data as contract §2 says; integers of any width by their exact difference, so
    that a bound of 0 asks for equality; bool data must be equal. `fill_value` only keeps that value
    out of `value_range`. Byte order is no difference. `worst` is, of equally large errors, the
    first as the arrays lie in memory. `progress` hears of elements done.
    Raises ValueError if shapes or dtypes differ.
    """
    _check(original, decoded, "abs_bound", abs_bound)
    dtype = original.dtype.newbyteorder("=")
    if dtype.kind == "b":
        rule, bound = _integer_rule(np.dtype(np.uint8), 0.0, None), 0.0
        original, decoded = original.view(np.uint8), decoded.view(np.uint8)
    elif dtype.kind in "iu":
        rule, bound = _integer_rule(dtype, float(abs_bound), fill_value), float(abs_bound)
    else:
        rule, bound = _real_rule(_layout(dtype), float(abs_bound), fill_value), float(abs_bound)
    found = _compared(rule, original, decoded, Effort(threads, progress))
    return replace(found, abs_bound=bound)


def compare_pointwise(
    original: Array,
    decoded: Array,
    eps: float,
    fill_value: float | None = None,
    threads: int = 1,
    progress: Progress = quiet,
) -> Comparison:
    """Check every element against its own bound fl64(eps · |x|), exactly (PW_REL, contract §5).

    A finite x may differ by its bound and must keep its sign, where 0 is a sign of its own; a zero
    must come back as the same zero, NaN as any NaN, an infinity as itself. `worst` is the element
    of the largest error over bound, `abs_bound` and `max_abs_error` are its bound and its error; an
    error that is within the bound but of the wrong sign counts as just above it.
    Raises ValueError as `compare` does, and for data that is not float32 or float64.
    """
    _check(original, decoded, "eps", eps)
    rule = _pointwise_rule(_layout(original.dtype.newbyteorder("=")), float(eps), fill_value)
    return _compared(rule, original, decoded, Effort(threads, progress))


def value_range(data: Array, fill_value: float | None = None, threads: int = 1) -> float:
    """fl64(max − min) over finite values that are not the fill value; 0.0 if there are none."""
    dtype = data.dtype.newbyteorder("=")
    if dtype.kind in "iub":
        return compare(data, data, 0.0, fill_value, threads).value_range
    layout = _layout(dtype)
    marks = layout.marks(fill_value)

    def work(pair: Pair) -> tuple[int, int]:
        low, high = loops.span_reals(pair.x, marks)
        return low, high

    lowest, highest = int(marks[0]), ~int(marks[0])
    for low, high in over_parts(work, data, data, Effort(threads)):
        lowest, highest = min(lowest, low), max(highest, high)
    return layout.span(lowest, highest)


def _check(original: Array, decoded: Array, name: str, bound: float) -> None:
    """Raises ValueError if these can't be compared so."""
    dtypes = {array.dtype.newbyteorder("=") for array in (original, decoded)}
    if original.shape != decoded.shape or len(dtypes) > 1:
        raise ValueError(
            f"decoded is {decoded.dtype}{list(decoded.shape)}, "
            f"the original {original.dtype}{list(original.shape)}"
        )
    if not (math.isfinite(bound) and bound >= 0.0):
        raise ValueError(f"{name} {bound!r}: it must be finite and ≥ 0")


def _layout(dtype: np.dtype[np.generic]) -> _Layout:
    if dtype not in _LAYOUTS:
        raise ValueError(f"{dtype} data: only float32, float64 and integers are compared")
    return _LAYOUTS[dtype]


def _real_rule(layout: _Layout, bound: float, fill_value: float | None) -> _Rule:
    marks = layout.marks(fill_value)

    def scan(x: Array, y: Array, scale: float) -> loops.Found:
        found: loops.Found = loops.scan_reals(x, y, bound, scale, marks)
        return found

    def mark(x: Array, y: Array) -> Mask:
        wrong = np.empty(x.size, np.bool_)
        loops.mark_reals(x, y, bound, wrong)
        return wrong

    def error(x: float, y: float) -> float:
        plainly: float = loops.error_of(x, y)
        beyond = plainly == bound and loops.exceeds(x, y, plainly, bound)
        return math.nextafter(plainly, math.inf) if beyond else plainly

    return _Rule(scan, mark, error, lambda _: bound, layout.span)


def _pointwise_rule(layout: _Layout, eps: float, fill_value: float | None) -> _Rule:
    marks = layout.marks(fill_value)

    def scan(x: Array, y: Array, scale: float) -> loops.Found:
        found: loops.Found = loops.scan_pointwise(x, y, eps, scale, marks)
        return found

    def mark(x: Array, y: Array) -> Mask:
        wrong = np.empty(x.size, np.bool_)
        loops.mark_pointwise(x, y, eps, wrong)
        return wrong

    def bound(x: float) -> float:
        return float(loops.bound_of(x, eps))

    def error(x: float, y: float) -> float:
        plainly, most = float(loops.error_of(x, y)), bound(x)
        beyond = plainly <= most and loops.breaks_pointwise(x, y, plainly, most)
        return math.nextafter(most, math.inf) if beyond else plainly

    return _Rule(scan, mark, error, bound, layout.span)


def _integer_rule(dtype: np.dtype[Any], bound: float, fill_value: float | None) -> _Rule:
    unsigned = np.dtype(f"u{dtype.itemsize}")
    info, full = np.iinfo(dtype), int(np.iinfo(unsigned).max)
    limit = min(math.floor(bound), full)
    marks = np.array([-int(info.min), limit, full, 0, 0], unsigned)
    if fill_value is not None and info.min <= fill_value <= info.max and fill_value % 1 == 0:
        marks[3:] = int(fill_value) - int(info.min), 1

    def scan(x: Array, y: Array, _scale: float) -> loops.Found:
        found: loops.Found = loops.scan_integers(x.view(unsigned), y.view(unsigned), marks)
        return found

    def mark(x: Array, y: Array) -> Mask:
        a, b = x.view(unsigned) ^ marks[0], y.view(unsigned) ^ marks[0]
        wrong: Mask = np.where(a > b, a - b, b - a) > limit
        return wrong

    def error(x: int, y: int) -> float:
        gap = abs(x - y)
        beyond = gap > limit and float(gap) <= bound
        return math.nextafter(bound, math.inf) if beyond else float(gap)

    def span(lowest: int, highest: int) -> float:
        return float(max(highest - lowest, 0))

    return _Rule(scan, mark, error, lambda _: bound, span)


def _compared(rule: _Rule, original: Array, decoded: Array, effort: Effort) -> Comparison:
    """The comparison of two arrays, and in it the bound of the worst element."""
    # Arrays in Fortran order are gone through as they lie: in C order every page of a mapped file
    # would be read again and again.
    pair = (original.flags, decoded.flags)
    turned = all(f.f_contiguous for f in pair) and not all(f.c_contiguous for f in pair)
    x, y = (original.T, decoded.T) if turned else (original, decoded)
    wrong_parts: list[int] = []
    tally = _Tally()
    for start, found in _scanned(rule, x, y, 1.0, effort):
        tally = tally.and_then(start, found)
        if found[0] and turned:
            wrong_parts.append(start)
    squares = tally.squares
    if tally.rank > 0 and squares < _UNDERFLOW:
        squares = _tiny_squares(rule, x, y, effort.threads)
    first, worst = tally.first, tally.worst
    if turned:
        first = _first_in_c_order(rule, x, y, wrong_parts)
        worst = worst if worst < 0 else int(_in_c_order(np.array([worst]), x.shape)[0])

    def point(flat: int) -> Point:
        a, b = original.flat[flat].item(), decoded.flat[flat].item()
        index = tuple(int(i) for i in np.unravel_index(flat, original.shape))
        return Point(flat, index, repr(a), repr(b), repr(rule.error(a, b)))

    at_worst = point(worst) if worst >= 0 else None
    bound = rule.bound(original.flat[worst].item()) if worst >= 0 else 0.0
    at_first = point(first) if first >= 0 else None
    if at_first is not None and at_worst is not None and float(at_worst.error) <= bound:
        # Where only ties with the bound violate it, the largest rounded error may be none.
        at_worst = at_first
        bound = rule.bound(original.flat[first].item())
    return Comparison(
        checked=original.size,
        violations=tally.violations,
        max_abs_error=0.0 if at_worst is None else float(at_worst.error),
        abs_bound=bound,
        worst=at_worst,
        first=at_first,
        zero_signs_changed=tally.signs,
        sum_squared_error=squares,
        value_range=rule.span(tally.lowest or 0, tally.highest or 0) if original.size else 0.0,
    )


def _scanned(
    rule: _Rule, x: Array, y: Array, scale: float, effort: Effort
) -> Iterator[tuple[int, loops.Found]]:
    def work(pair: Pair) -> tuple[int, loops.Found]:
        return pair.start, rule.scan(pair.x, pair.y, scale)

    return over_parts(work, x, y, effort)


def _tiny_squares(rule: _Rule, x: Array, y: Array, threads: int) -> float:
    """The sum again where squares underflow; not 0, since there are errors."""
    tally = _Tally()
    for start, found in _scanned(rule, x, y, _SCALE, Effort(threads)):
        tally = tally.and_then(start, found)
    return max(math.ldexp(tally.squares, -1074), 5e-324)


def _first_in_c_order(rule: _Rule, x: Array, y: Array, starts: list[int]) -> int:
    """The violation that comes first in C order, of transposed arrays; −1 without any."""
    wanted, firsts = set(starts), [-1]

    def work(pair: Pair) -> int:
        if pair.start not in wanted:
            return -1
        at = np.flatnonzero(rule.mark(pair.x, pair.y)) + pair.start
        return int(_in_c_order(at, x.shape).min())

    if wanted:
        firsts += over_parts(work, x, y, Effort())
    return min((first for first in firsts if first >= 0), default=-1)


def _in_c_order(flat: npt.NDArray[np.int64], shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Flat indices of a transposed array as those of the array itself."""
    index = np.unravel_index(flat, shape)
    turned: npt.NDArray[np.int64] = np.ravel_multi_index(index[::-1], shape[::-1])
    return turned


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
    start = min(max(point.flat - WINDOW // 2, 0), max(original.size - WINDOW, 0))
    part = slice(start, start + WINDOW)
    return Counterexample(
        case=case,
        shape=original.shape,
        dtype=str(original.dtype),
        abs_bound=comparison.abs_bound,
        values=tuple(repr(value) for value in original.flat[part].tolist()),
        decoded=tuple(repr(value) for value in decoded.flat[part].tolist()),
        start=start,
        point=point,
        inputs=(
            tuple(repr(value) for value in given.flat[part].tolist())
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
