"""The verifier against exact rational arithmetic, and against cases that fooled other verifiers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.records import Array
from kernels.verify import WINDOW, compare, counterexample, value_range

DTYPES = [np.float32, np.float64]


def exceeds(x: float, y: float, bound: float) -> bool:
    """The contract's rule in exact arithmetic."""
    if not math.isfinite(x):
        return not (x == y or (math.isnan(x) and math.isnan(y)))
    return not math.isfinite(y) or abs(Fraction(x) - Fraction(y)) > Fraction(bound)


def singles(*values: float) -> Array:
    return np.array(values, np.float32)


def test_an_error_that_rounds_to_the_bound_is_still_a_violation() -> None:
    for dtype in DTYPES:
        result = compare(np.array([1], dtype), np.array([-(2.0**-60)], dtype), 1.0)

        assert result.violations == 1
        assert result.max_abs_error > 1.0


def test_an_error_that_rounds_up_to_the_bound_is_none() -> None:
    for dtype in DTYPES:
        result = compare(np.array([1], dtype), np.array([2.0**-60], dtype), 1.0)

        assert result.holds
        assert result.max_abs_error == 1.0


def test_an_error_of_exactly_the_bound_is_none() -> None:
    assert compare(singles(1, 2, 3, -8), singles(1.5, 1.5, 3.5, -8.5), 0.5).holds


def test_the_sz2_case_of_ten_millionths_is_flagged() -> None:
    result = compare(np.array([116.322559]), np.array([116.322549]), 1e-5)

    assert result.violations == 1
    assert 1e-5 < result.max_abs_error < 1.00001e-5


def test_the_dark_matter_case_of_two_to_the_minus_44_is_flagged() -> None:
    assert not compare(np.array([1.0]), np.array([1.0 + 7.6e-14]), 2.0**-44).holds


def test_a_tolerance_of_a_tenth_above_the_bound_fails() -> None:
    rng = np.random.default_rng(1)
    original = rng.standard_normal(5000)
    decoded = original + 1.1e-3 * rng.choice([-1, 1], 5000)

    assert compare(original, decoded, 1e-3).violations == 5000


def test_the_bound_is_the_double_that_was_asked_not_its_float32() -> None:
    # float32(1e-3) is larger than 1e-3, and zero is as far as that from it.
    assert not compare(singles(0), singles(1e-3), 1e-3).holds
    assert compare(singles(0), singles(1e-3), 0.0010000000475).holds


def test_half_bins_hold_and_the_next_float_does_not() -> None:
    original = np.arange(0, 200, dtype=np.float32) / 8
    away = np.nextafter(original + singles(1 / 16), np.float32(np.inf))

    assert compare(original, original + singles(1 / 16), 1 / 16).holds
    assert compare(original, away, 1 / 16).violations == 200


def test_nan_matches_any_nan_and_infinities_match_themselves() -> None:
    original = singles(np.nan, np.inf, -np.inf, 5)
    decoded = original.copy()
    decoded.view(np.uint32)[0] = 0xFFC12345

    result = compare(original, decoded, 1.0)

    assert result.holds
    assert result.max_abs_error == 0.0


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.nan, 0.0),
        (np.nan, np.inf),
        (np.inf, -np.inf),
        (np.inf, np.nan),
        (-np.inf, 3e38),
        (1.0, np.nan),
        (1.0, np.inf),
        (3e38, np.inf),
    ],
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_non_finite_value_that_does_not_match_is_an_infinite_error(
    x: float, y: float, dtype: type[np.float32]
) -> None:
    result = compare(np.array([0, x], dtype), np.array([0, y], dtype), 1e300)

    assert result.violations == 1
    assert result.max_abs_error == math.inf
    assert result.worst == result.first
    assert result.worst is not None
    assert result.worst.index == (1,)


def test_a_difference_beyond_the_largest_double_is_a_violation() -> None:
    result = compare(np.array([1.7e308]), np.array([-1.7e308]), 1.79e308)

    assert result.violations == 1
    assert result.max_abs_error == math.inf


def test_no_intermediate_overflows_at_the_largest_double() -> None:
    largest = np.finfo(np.float64).max
    small = 2.0**-1074

    assert compare(np.array([largest, -largest]), np.array([small, -small]), largest).holds
    assert compare(np.array([largest]), np.array([-small]), largest).violations == 1


def test_a_bound_of_zero_wants_equal_values() -> None:
    tiny = 2.0**-149

    assert compare(singles(1, tiny, -0.0), singles(1, tiny, 0.0), 0.0).holds
    assert compare(singles(1, tiny), singles(1, 0), 0.0).violations == 1
    assert compare(np.array([5e-324]), np.array([0.0]), 0.0).violations == 1


def test_subnormal_bounds_are_exact() -> None:
    tiny = 5e-324

    assert compare(np.array([3 * tiny]), np.array([tiny]), 2 * tiny).holds
    assert not compare(np.array([4 * tiny]), np.array([tiny]), 2 * tiny).holds


def test_changed_signs_of_zero_are_counted_and_allowed() -> None:
    result = compare(singles(0.0, -0.0, 0.0, 1, -1), singles(-0.0, 0.0, 0.0, 1, -1), 0.0)

    assert result.holds
    assert result.zero_signs_changed == 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_worst_and_the_first_violation_are_found_in_a_large_array(
    dtype: type[np.float32],
) -> None:
    original = np.random.default_rng(2).random((41, 43, 47)).astype(dtype)
    decoded = original.copy()
    decoded.reshape(-1)[[7001, 70001, 80000]] += np.array([0.25, 0.5, 0.25], dtype)

    result = compare(original, decoded, 0.1)

    assert result.checked == original.size
    assert result.violations == 3
    assert result.first is not None
    assert result.worst is not None
    assert (result.first.flat, result.worst.flat) == (7001, 70001)
    assert result.worst.index == tuple(np.unravel_index(70001, original.shape))
    assert float(result.worst.error) == result.max_abs_error == pytest.approx(0.5)
    assert result.worst.original == repr(float(original.reshape(-1)[70001]))


def test_the_first_of_equal_errors_is_the_worst() -> None:
    result = compare(np.zeros(9000), np.ones(9000), 0.5)

    assert result.worst is not None
    assert result.worst.flat == 0


def test_where_only_ties_violate_the_worst_is_a_violation() -> None:
    original, decoded = np.array([1.0, 1.0, 1.0]), np.array([2.0**-60, -(2.0**-60), 0.5])

    result = compare(original, decoded, 1.0)

    assert result.violations == 1
    assert result.worst == result.first
    assert result.worst is not None
    assert result.worst.flat == 1


def test_no_position_in_a_block_escapes() -> None:
    original = np.zeros(5000, np.float32)
    for at in [0, 1, 2046, 2047, 2048, 2049, 4095, 4096, 4999]:
        decoded = original.copy()
        decoded[at] = 1

        result = compare(original, decoded, 0.5)

        assert result.violations == 1
        assert result.first is not None
        assert result.first.flat == at


def test_an_empty_array_holds_and_has_no_worst() -> None:
    result = compare(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), 0.1)

    assert result.holds
    assert (result.checked, result.worst, result.first) == (0, None, None)


def test_a_scalar_has_an_empty_index() -> None:
    result = compare(np.array(2.0), np.array(2.5), 0.1)

    assert result.first is not None
    assert result.first.index == ()


def test_range_is_over_finite_values_and_leaves_the_fill_value_out() -> None:
    data = singles(np.nan, -3, np.inf, 1e20, 4, -np.inf, 0)

    assert value_range(data, 1e20) == 7.0
    assert value_range(data) == 1e20 + 3 - (1e20 - float(np.float32(1e20)))
    assert value_range(singles(np.nan, np.inf)) == 0.0
    assert value_range(singles(1e20, 1e20), 1e20) == 0.0
    assert value_range(np.array([-1.7e308, 1.7e308])) == math.inf
    assert value_range(singles(-5, -7)) == 2.0


def test_range_is_exact_for_float32_extremes() -> None:
    largest = float(np.finfo(np.float32).max)

    assert value_range(singles(-largest, largest)) == 2 * largest


def test_squared_errors_are_summed_and_values_that_are_lost_make_the_sum_infinite() -> None:
    original, lost = singles(1, 1, 2), singles(1, np.inf, 2)

    assert compare(original, singles(1.5, 1, 1.75), 1.0).sum_squared_error == 0.3125
    assert compare(original, original, 1.0).sum_squared_error == 0.0
    assert compare(original, lost, 1.0).sum_squared_error == math.inf
    assert compare(lost, lost, 1.0).sum_squared_error == 0.0


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.uint16, np.uint8])
def test_integers_must_be_equal(dtype: type[np.int32]) -> None:
    original = np.array([[1, 2], [3, 4]], dtype)
    decoded = np.array([[1, 2], [9, 5]], dtype)

    result = compare(original, decoded, 0.0)

    assert compare(original, original.copy(), 0.0).holds
    assert result.violations == 2
    assert result.max_abs_error == 6.0
    assert result.worst == result.first
    assert result.worst is not None
    assert (result.worst.index, result.worst.original, result.worst.decoded) == ((1, 0), "3", "9")


def test_integer_errors_do_not_wrap() -> None:
    ends = np.iinfo(np.int32)

    result = compare(np.array([ends.min], np.int32), np.array([ends.max], np.int32), 0.0)

    assert result.max_abs_error == 2.0**32 - 1


@pytest.mark.parametrize(
    "decoded",
    [np.zeros(4, np.float32), np.zeros((3, 1), np.float32), np.zeros(3)],
    ids=["longer", "other shape", "float64"],
)
def test_another_shape_or_dtype_is_an_error(decoded: Array) -> None:
    with pytest.raises(ValueError, match="the original float32"):
        compare(np.zeros(3, np.float32), decoded, 0.1)


def test_arrays_and_bounds_that_cannot_be_compared_are_errors() -> None:
    halves = np.zeros(3, np.float16)

    with pytest.raises(ValueError, match="float16"):
        compare(halves, halves, 0.1)
    for bound in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="finite and ≥ 0"):
            compare(np.zeros(3), np.zeros(3), bound)


def test_neither_array_is_changed_or_locked() -> None:
    original, decoded = singles(1, 2), singles(1, 3)

    compare(original, decoded, 0.1)

    assert original.flags.writeable
    assert decoded.flags.writeable
    assert decoded.tolist() == [1, 3]


def test_non_contiguous_arrays_are_compared_in_c_order() -> None:
    original = np.arange(5000, dtype=np.float32).reshape(50, 100).T
    decoded = original.copy()
    decoded[70, 20] += 1

    result = compare(original, decoded, 0.5)

    assert result.first is not None
    assert result.first.index == (70, 20)


def test_a_counterexample_shows_the_neighbourhood_of_the_worst_element() -> None:
    original = np.arange(1000, dtype=np.float32)
    decoded = original.copy()
    decoded[500] = np.nan

    shown = counterexample("ramp", original, decoded, compare(original, decoded, 0.5))

    assert len(shown.values) == len(shown.decoded) == WINDOW
    assert shown.values[500 - shown.start] == "500.0"
    assert shown.decoded[500 - shown.start] == "nan"
    assert (shown.case, shown.shape, shown.dtype) == ("ramp", (1000,), "float32")


@pytest.mark.parametrize("at", [0, 5, 39])
def test_a_counterexample_near_an_end_is_a_full_window(at: int) -> None:
    original = np.zeros(40)
    decoded = original.copy()
    decoded[at] = 1

    shown = counterexample("ends", original, decoded, compare(original, decoded, 0.5))

    assert len(shown.values) == WINDOW
    assert shown.decoded[at - shown.start] == "1.0"


def test_a_short_array_is_shown_whole() -> None:
    shown = counterexample(
        "two", np.zeros((1, 2)), np.ones((1, 2)), compare(np.zeros((1, 2)), np.ones((1, 2)), 0.5)
    )

    assert shown.start == 0
    assert shown.values == ("0.0", "0.0")


LADDER = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 2.0**-60, -(2.0**-60), 0.5, 1.5, 3e38, -3e38, math.inf, math.nan, 1e-45]
)


@given(
    pairs=st.lists(
        st.tuples(st.one_of(st.floats(), LADDER), st.one_of(st.floats(), LADDER)),
        min_size=1,
        max_size=12,
    ),
    bound=st.one_of(st.floats(0, allow_infinity=False), st.sampled_from([0.0, 0.5, 1.0, 5e-324])),
)
@settings(max_examples=300, deadline=None)
def test_float64_verdicts_are_those_of_exact_arithmetic(
    pairs: list[tuple[float, float]], bound: float
) -> None:
    x, y = np.array(pairs).T.copy()

    result = compare(x, y, bound)

    expected = [exceeds(a, b, bound) for a, b in pairs]
    assert result.violations == sum(expected)
    assert (result.first.flat if result.first else None) == (
        expected.index(True) if any(expected) else None
    )
    assert (result.max_abs_error > bound) == any(expected)


@given(
    x=st.floats(width=32, allow_nan=False, allow_infinity=False),
    y=st.floats(width=32, allow_nan=False, allow_infinity=False),
    nudge=st.sampled_from([-1, 0, 1]),
)
@settings(max_examples=300, deadline=None)
def test_float32_verdicts_at_the_rounded_difference_are_exact(
    x: float, y: float, nudge: int
) -> None:
    bound = abs(x - y)
    for _ in range(abs(nudge)):
        bound = max(0.0, math.nextafter(bound, nudge * math.inf))

    result = compare(singles(x), singles(y), bound)

    assert result.holds == (not exceeds(x, y, bound))
