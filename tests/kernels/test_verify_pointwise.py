"""The check of PW_REL against exact rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.records import Array
from kernels.verify import compare_pointwise

LARGEST = np.finfo(np.float64).max


def breaks(x: float, y: float, eps: float) -> bool:
    """The contract's rule in exact arithmetic."""
    if math.isnan(x):
        return not math.isnan(y)
    if math.isinf(x):
        return x != y
    if x == 0.0:
        return y != 0.0 or math.copysign(1, x) != math.copysign(1, y)
    if not math.isfinite(y) or y == 0.0 or (x > 0) != (y > 0):
        return True
    return abs(Fraction(x) - Fraction(y)) > Fraction(min(eps * abs(x), LARGEST))


def check(x: Array, y: Array, eps: float) -> None:
    result = compare_pointwise(x, y, eps)

    wrong = [breaks(a, b, eps) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert result.violations == sum(wrong)
    assert (result.first.flat if result.first else None) == (
        wrong.index(True) if any(wrong) else None
    )
    assert (result.max_abs_error > result.abs_bound) == any(wrong)
    assert result.worst is not None
    assert wrong[result.worst.flat] == any(wrong)


SPECIAL = st.sampled_from(
    [0.0, -0.0, 5e-324, -5e-324, 1.0, -1.0, LARGEST, -LARGEST, math.inf, -math.inf, math.nan, 1e-45]
)
VALUES = st.one_of(st.floats(), SPECIAL)
EPS = st.one_of(
    st.sampled_from([0.0, 1e-3, 0.5, 1.0, 2.0, 1e300, 2.0**-53]),
    st.floats(0, 1),
    st.floats(0, allow_infinity=False),
)


@given(pairs=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=8), eps=EPS)
@settings(max_examples=400, deadline=None)
def test_float64_verdicts_are_those_of_exact_arithmetic(
    pairs: list[tuple[float, float]], eps: float
) -> None:
    x, y = np.array(pairs).T.copy()

    check(x, y, eps)


@given(
    values=st.lists(
        st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=8
    ),
    eps=st.floats(1e-9, 0.5),
    steps=st.integers(-3, 3),
)
@settings(max_examples=400, deadline=None)
def test_float32_verdicts_beside_the_bound_are_exact(
    values: list[float], eps: float, steps: int
) -> None:
    x = np.array(values, np.float32)
    with np.errstate(over="ignore"):
        y = (x.astype(np.float64) * (1 + eps)).astype(np.float32)
    for _ in range(abs(steps)):
        y = np.nextafter(y, np.float32(math.copysign(math.inf, steps)))

    check(x, y, eps)


@given(x=st.floats(1e-300, 1e300), eps=st.floats(1e-12, 0.9), nudge=st.integers(-2, 2))
@settings(max_examples=300, deadline=None)
def test_float64_ties_are_exact(x: float, eps: float, nudge: int) -> None:
    y = x - eps * x
    for _ in range(abs(nudge)):
        y = math.nextafter(y, nudge * math.inf)

    check(np.array([x, -x]), np.array([y, -y]), eps)


def test_the_worst_is_the_largest_error_over_bound_not_the_largest_error() -> None:
    original = np.array([1000.0, 1.0, 0.001])
    decoded = original * (1 + np.array([1e-4, 2e-4, 9e-4]))

    result = compare_pointwise(original, decoded, 1e-3)

    assert result.holds
    assert result.worst is not None
    assert result.worst.flat == 2
    assert result.abs_bound == 1e-3 * 0.001
    assert result.max_abs_error / result.abs_bound == pytest.approx(0.9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("x", "y"), [(0.0, -0.0), (-0.0, 0.0), (0.0, 1e-30), (1.0, -1.0), (1.0, 0.0), (-1.0, 0.0)]
)
def test_signs_and_zeros_must_be_kept(x: float, y: float, dtype: type[np.float32]) -> None:
    result = compare_pointwise(np.array([2, x], dtype), np.array([2, y], dtype), 5.0)

    assert result.violations == 1
    assert result.worst == result.first
    assert result.first is not None
    assert result.first.flat == 1
    assert result.max_abs_error > result.abs_bound


def test_a_zero_of_the_other_sign_is_counted_as_changed_too() -> None:
    result = compare_pointwise(np.array([0.0, 1.0]), np.array([-0.0, 1.0]), 1e-3)

    assert (result.violations, result.zero_signs_changed) == (1, 1)
    assert result.max_abs_error == 5e-324


def test_zeros_and_sign_changes_are_flagged_in_the_sz2_case() -> None:
    rng = np.random.default_rng(16)
    original = rng.standard_normal(5000).astype(np.float32)
    original[::7] = 0
    good = original * np.float32(1.005)
    bad = good.copy()
    bad[::7] = 1e-9
    bad[1] *= -1

    assert compare_pointwise(original, good, 1e-2).holds
    assert compare_pointwise(original, bad, 1e-2).violations == original[::7].size + 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_position_in_a_large_array_escapes(dtype: type[np.float32]) -> None:
    rng = np.random.default_rng(4)
    original = np.exp(rng.standard_normal(600_000)).astype(dtype)
    decoded = (original * (1 + 9e-4 * rng.uniform(-1, 1, original.size))).astype(dtype)
    assert compare_pointwise(original, decoded, 1e-3, threads=2).holds
    for at in (0, 2047, 2048, 262_143, 262_144, 599_999):
        broken = decoded.copy()
        broken[at] = original[at] * dtype(1.00101)

        result = compare_pointwise(original, broken, 1e-3, threads=2)

        assert result.violations == 1
        assert result.first is not None
        assert result.worst == result.first
        assert result.first.flat == at


def test_every_violation_after_a_large_one_is_counted() -> None:
    original = np.ones(100_000)
    decoded = original.copy()
    decoded[10] = 100.0
    decoded[5000::5000] = 1.0011

    result = compare_pointwise(original, decoded, 1e-3)

    assert result.violations == 20
    assert result.worst is not None
    assert result.worst.flat == 10


def test_an_empty_array_holds() -> None:
    result = compare_pointwise(np.zeros(0), np.zeros(0), 1e-3)

    assert (result.holds, result.worst, result.checked, result.abs_bound) == (True, None, 0, 0.0)


def test_the_range_and_the_squares_are_those_of_the_absolute_check() -> None:
    original, decoded = np.array([1.0, 4.0, 1e20]), np.array([1.5, 4.25, 1e20])

    result = compare_pointwise(original, decoded, 1.0, 1e20)

    assert (result.value_range, result.sum_squared_error) == (3.0, 0.3125)


def test_what_has_no_relative_bound_is_an_error() -> None:
    whole = np.arange(3)

    with pytest.raises(ValueError, match="int64"):
        compare_pointwise(whole, whole, 0.1)
    for eps in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="eps"):
            compare_pointwise(np.zeros(3), np.zeros(3), eps)


def test_signs_are_seen_anywhere_though_the_bound_is_wide() -> None:
    original, decoded = np.ones(20_000), np.ones(20_000)
    original[9000] = decoded[9000] = 0.0
    decoded[3] = 2.9
    assert compare_pointwise(original, decoded, 2.0).holds
    decoded[5000], decoded[7000], decoded[9000] = 0.0, -0.5, -0.0

    result = compare_pointwise(original, decoded, 2.0)

    assert result.violations == 3
    assert result.first is not None
    assert result.first.flat == 5000
