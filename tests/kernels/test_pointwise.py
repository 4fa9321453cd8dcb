"""PW_REL: whatever a kernel makes of the logarithms within δ, every value keeps its own bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

from kernels.modes.errors import BoundError
from kernels.modes.pointwise import (
    EXACT_EPS,
    LEAST_EPS,
    log_bound,
    log_dtype,
    restore,
    transform,
)
from kernels.records import Array
from kernels.verify import compare_pointwise

STRIDE = 1021
"""A prime: every so manyth of all float32 bit patterns, 4.2 million of them."""
EPSILONS = [1e-11, 1e-8, EXACT_EPS, 3e-8, 1e-7, 1e-6, 1e-5, 1e-3, 0.3, 1.0, 1e30]


def patterns(stride: int) -> Array:
    return np.arange(0, 2**32, stride).astype(np.uint32).view(np.float32)


def doubles(count: int) -> Array:
    bits = np.random.default_rng(7).integers(0, 2**64, count, np.uint64)
    return bits.view(np.float64)


def at_the_limit(values: Array, bound: float, sign: int) -> Array:
    """The furthest y' that a kernel may return: |y − y'| ≤ bound, exactly."""
    furthest = (values.astype(np.longdouble) + sign * np.longdouble(bound)).astype(values.dtype)
    gap = np.abs(furthest.astype(np.longdouble) - values.astype(np.longdouble))
    return np.where(gap > bound, np.nextafter(furthest, values), furthest)


def violations(data: Array, eps: float, bound: float | None = None) -> int:
    """Of both furthest answers."""
    made = transform(data, eps)
    limit = made.abs_bound if bound is None else bound
    total = 0
    for sign in (-1, 1):
        decoded = restore(at_the_limit(made.values, limit, sign), made.side, data)
        total += compare_pointwise(data, decoded, eps).violations
    return total


def same_bits(x: Array, y: Array) -> bool:
    return x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes()


@pytest.mark.parametrize("eps", EPSILONS)
def test_no_float32_breaks_its_bound_at_the_worst_allowed_error(eps: float) -> None:
    assert violations(patterns(STRIDE * 16), eps) == 0


@pytest.mark.slow
@pytest.mark.parametrize("eps", [*EPSILONS, 1e-4, 9.9e-6, 2e-7, 6e-8])
def test_no_float32_of_four_million_does(eps: float) -> None:
    assert violations(patterns(STRIDE), eps) == 0


@pytest.mark.parametrize("eps", [1e-11, 1e-9, 1e-5, 1e-3, 2.0])
def test_no_float64_breaks_its_bound_at_the_worst_allowed_error(eps: float) -> None:
    assert violations(doubles(200_000), eps) == 0


def test_without_the_margin_a_third_of_floats_fail() -> None:
    data = patterns(STRIDE * 16)
    data = data[np.isfinite(data) & (np.abs(data) >= np.finfo(np.float32).smallest_normal)]

    failed = violations(data, 1e-3, bound=math.log2(1 + 1e-3))

    assert 0.3 < failed / (2 * data.size) < 0.4


@given(
    data=st.one_of(
        hn.arrays(np.float32, hn.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6)),
        hn.arrays(np.float64, hn.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6)),
    ),
    exponent=st.floats(-10.9, 2),
    sign=st.sampled_from([-1, 0, 1]),
)
@example(data=np.array([-0.0, 0.0, np.nan, -np.inf, 1e-45, -3e38], np.float32), exponent=-3, sign=1)
@settings(max_examples=150, deadline=None)
def test_any_array_comes_back_within_its_bounds(data: Array, exponent: float, sign: int) -> None:
    eps = 10.0**exponent
    made = transform(data, eps)

    decoded = restore(at_the_limit(made.values, made.abs_bound, sign), made.side, data)

    assert made.values.shape == data.shape
    assert np.isfinite(made.values).all()
    assert compare_pointwise(data, decoded, eps).holds


def test_zeros_and_what_has_no_logarithm_come_back_to_the_bit() -> None:
    payload = np.array([0x7FC01234, 0xFFC00001], np.uint32).view(np.float32)
    odd = np.array([0.0, -0.0, np.inf, -np.inf, 1e-45, -1e-40, *payload], np.float32)
    data = np.concatenate([np.array([3, -4], np.float32), odd, np.ones(1, np.float32)])

    made = transform(data, 1e-2)
    decoded = restore(made.values, made.side, data)

    assert same_bits(decoded[2:-1], odd)
    assert (np.sign(decoded[:2]) == [1, -1]).all()


def test_holes_take_the_logarithm_before_them() -> None:
    data = np.array([0, 8, np.nan, -0.0, 2, 1e-45], np.float32)

    made = transform(data, 1e-2)

    assert made.values.tolist() == [0, 3, 3, 3, 1, 1]


def test_holes_in_later_parts_take_the_logarithm_before_them_too() -> None:
    data = np.full(600_000, 4.0, np.float32)
    data[1 << 18 :] = 0

    made = transform(data, 1e-2)

    assert (made.values == 2).all()
    assert same_bits(restore(made.values, made.side, data), data)


@pytest.mark.parametrize("sign", [1, -1])
def test_signs_that_are_all_alike_cost_nothing(sign: int) -> None:
    rng = np.random.default_rng(3)
    data = (sign * rng.lognormal(size=100_000)).astype(np.float32)

    made = transform(data, 1e-3)

    assert made.side.nbytes < 20
    assert (np.sign(restore(made.values, made.side, data)) == sign).all()


def test_signs_cost_a_bit_each_at_most() -> None:
    data = np.random.default_rng(4).standard_normal(80_000).astype(np.float32)

    made = transform(data, 1e-3)

    assert 9_900 < made.side.nbytes < 10_100


def test_masked_data_cost_little() -> None:
    data = np.full(100_000, 280.0, np.float32)
    data[20_000:60_000] = np.nan

    assert transform(data, 1e-3).side.nbytes < 2_000


def test_logarithms_are_single_only_where_that_leaves_room() -> None:
    single, double = np.dtype(np.float32), np.dtype(np.float64)

    assert log_dtype(single, 1e-5) == single
    assert log_dtype(single, 0.99e-5) == double
    assert log_dtype(double, 1e-2) == double


def test_the_bound_is_that_of_the_contract() -> None:
    single, double = np.dtype(np.float32), np.dtype(np.float64)

    assert log_bound(single, 1e-3) == math.log1p(1e-3) / math.log(2) - 2**-18 - 2**-23
    assert log_bound(double, 1e-3) == math.log1p(1e-3) / math.log(2) - 2**-42


def test_rounding_to_single_has_room_where_the_logarithm_is_double() -> None:
    """The margin of double alone would let 1e-7 through, which rounding to float32 exceeds."""
    data = patterns(STRIDE * 64)

    assert violations(data, 1e-7, bound=math.log1p(1e-7) / math.log(2) - 2**-42) > 0
    assert violations(data, 1e-7) == 0


@pytest.mark.parametrize("eps", [1e-9, EXACT_EPS])
def test_a_bound_below_half_an_ulp_gives_float32_back_exactly(eps: float) -> None:
    data = patterns(STRIDE * 64)
    data = data[np.isfinite(data)]
    made = transform(data, eps)

    decoded = restore(at_the_limit(made.values, made.abs_bound, 1), made.side, data)

    assert same_bits(decoded, data)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_too_small_a_bound_is_refused(dtype: npt.DTypeLike) -> None:
    with pytest.raises(BoundError, match="at least 1e-11"):
        transform(np.ones(3, dtype), 0.99 * LEAST_EPS)


def test_a_kernel_that_returns_nonsense_gets_numbers_or_nan_back() -> None:
    data = np.ones(4, np.float32)
    made = transform(data, 1e-3)
    nonsense: npt.NDArray[Any] = np.array([np.nan, np.inf, -np.inf, 1e30], np.float32)

    decoded = restore(nonsense, made.side, data)

    largest = np.finfo(np.float32).max
    assert np.isnan(decoded[0])
    assert decoded[1:].tolist() == [largest, 2**-149, largest]


def test_side_data_of_other_data_are_refused() -> None:
    data = np.array([1, -1, 0, np.nan] * 10, np.float32)
    made = transform(data, 1e-3)

    with pytest.raises(ValueError, match="ends too early"):
        restore(np.zeros(300_000, np.float32), made.side, np.zeros(300_000, np.float32))
