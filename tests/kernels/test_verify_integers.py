"""Integers against an absolute bound, and against exact integer arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.records import Array
from kernels.verify import compare, value_range

DTYPES = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)]


def integers(dtype: np.dtype[np.generic]) -> st.SearchStrategy[int]:
    """Any value of the type, often its ends and what is near 2⁵³."""
    info = np.iinfo(str(dtype))
    special = [info.min, info.min + 1, -1, 0, 1, 2**53, 2**53 + 1, info.max - 1, info.max]
    inside = [value for value in special if info.min <= value <= info.max]
    return st.one_of(st.integers(info.min, info.max), st.sampled_from(inside))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Array, Array, float]:
    """Two arrays of one integer type, and a bound that is often a difference or beside one."""
    dtype = draw(st.sampled_from(DTYPES))
    size = draw(st.integers(1, 8))
    x, y = (draw(st.lists(integers(dtype), min_size=size, max_size=size)) for _ in "xy")
    gaps = [float(abs(a - b)) for a, b in zip(x, y, strict=True)]
    near = st.sampled_from(gaps).flatmap(
        lambda gap: st.sampled_from([gap, math.nextafter(gap, 0.0), math.nextafter(gap, math.inf)])
    )
    bound = draw(st.one_of(st.just(0.0), near, st.floats(0, 1e20)))
    return np.array(x, dtype), np.array(y, dtype), bound


@given(case=cases())
@settings(max_examples=400, deadline=None)
def test_verdicts_are_those_of_exact_integers(case: tuple[Array, Array, float]) -> None:
    x, y, bound = case

    result = compare(x, y, bound)

    gaps = [abs(a - b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    wrong = [gap > math.floor(bound) for gap in gaps]
    assert result.violations == sum(wrong)
    assert (result.first.flat if result.first else None) == (
        wrong.index(True) if any(wrong) else None
    )
    assert result.worst is not None
    assert gaps[result.worst.flat] == max(gaps)
    assert (result.max_abs_error > bound) == any(wrong)
    assert result.max_abs_error == pytest.approx(max(gaps), rel=2**-52)
    assert result.sum_squared_error == pytest.approx(sum(gap * gap for gap in gaps), rel=1e-15)
    assert result.value_range == float(max(x.tolist()) - min(x.tolist()))
    assert result.abs_bound == bound


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_a_difference_of_one_beyond_two_to_the_53_is_seen(dtype: type[np.int64]) -> None:
    large = 2**62

    result = compare(np.array([large], dtype), np.array([large + 1], dtype), 0.0)

    assert result.violations == 1
    assert result.max_abs_error == 1.0
    assert result.worst is not None
    assert (result.worst.original, result.worst.decoded) == (str(large), str(large + 1))


def test_a_difference_that_rounds_to_the_bound_is_still_a_violation() -> None:
    x, y = np.array([0], np.int64), np.array([2**53 + 1], np.int64)

    assert not compare(x, y, 2.0**53).holds
    assert compare(x, y, 2.0**53).max_abs_error > 2.0**53
    assert compare(x, y - 1, 2.0**53).holds


def test_the_largest_differences_of_64_bits_do_not_wrap() -> None:
    ends = np.iinfo(np.int64)
    x, y = np.array([ends.min]), np.array([ends.max])

    assert compare(x, y, 2.0**64).holds
    assert compare(x, y, 2.0**63).violations == 1
    assert compare(x, y, 2.0**63).max_abs_error == 2.0**64


def test_a_bound_below_one_asks_for_equality() -> None:
    x = np.arange(5000, dtype=np.int16)

    assert compare(x, x.copy(), 0.99).holds
    assert compare(x, x + np.int16(1), 0.99).violations == 5000
    assert compare(x, x + np.int16(1), 1.0).holds


def test_bool_data_must_be_equal_whatever_the_bound() -> None:
    x, y = np.array([True, False, True]), np.array([True, True, True])

    result = compare(x, y, 10.0)

    assert (result.violations, result.abs_bound, result.max_abs_error) == (1, 0.0, 1.0)
    assert result.first is not None
    assert (result.first.flat, result.first.original, result.first.decoded) == (1, "0", "1")


def test_the_first_and_the_worst_are_found_in_a_large_array() -> None:
    original = np.random.default_rng(3).integers(0, 1000, (700, 900), np.int32)
    decoded = original.copy()
    decoded.reshape(-1)[[100_000, 400_000, 600_000]] += np.array([5, 9, 9], np.int32)

    result = compare(original, decoded, 4.0, threads=2)

    assert result.violations == 3
    assert result.first is not None
    assert result.worst is not None
    assert (result.first.flat, result.worst.flat) == (100_000, 400_000)
    assert result.worst.index == (444, 400)


def test_range_leaves_the_fill_value_of_integers_out() -> None:
    data = np.array([3, -7, 32767, 12], np.int16)

    assert value_range(data, 32767) == 19.0
    assert value_range(data) == 32774.0
    assert value_range(data, 1e20) == 32774.0
    assert value_range(data, 0.5) == 32774.0
    assert value_range(data, math.nan) == 32774.0
    assert value_range(np.array([32767], np.int16), 32767) == 0.0
