"""Bounds as asked, and what is derived from them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.bounds import BoundError, derive
from kernels.modes.names import MODES, SEARCHED
from kernels.modes.pointwise import log_bound

DATA = np.array([[1, 5], [-3, 2]], np.float32)


def test_abs_is_the_value_itself() -> None:
    bound = derive(DATA, None, "abs", 0.1)

    assert (bound.mode, bound.value, bound.absolute) == ("abs", 0.1, 0.1)


def test_rel_is_the_value_times_the_range() -> None:
    bound = derive(DATA, None, "rel", 1e-3)

    assert (bound.mode, bound.value, bound.absolute) == ("rel", 1e-3, 1e-3 * 8.0)


def test_rel_rounds_range_and_product_to_double() -> None:
    data = np.array([0.1, 0.7])

    assert derive(data, None, "rel", 0.3).absolute == 0.3 * (0.7 - 0.1)


def test_the_mode_may_be_written_in_any_case() -> None:
    assert derive(DATA, None, "REL", 1e-3) == derive(DATA, None, "rel", 1e-3)
    assert derive(DATA, None, "Abs", 1).mode == "abs"


def test_rel_leaves_out_fill_and_non_finite_values() -> None:
    data = np.array([np.nan, 1e20, 2, 6, np.inf, -np.inf], np.float32)

    assert derive(data, 1e20, "rel", 0.5).absolute == 2.0
    assert derive(data, float(np.float32(1e20)), "rel", 0.5).absolute == 2.0


@pytest.mark.parametrize(
    "data",
    [
        np.full(5, 3.0),
        np.full(4, np.nan),
        np.zeros((0, 2), np.float32),
        np.array([1e20, 7, 1e20, np.inf], np.float32),
        np.array([0.0, -0.0], np.float32),
    ],
    ids=["constant", "all NaN", "empty", "one value beside fill", "zeros"],
)
def test_rel_of_no_range_is_lossless(
    data: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
) -> None:
    assert derive(data, 1e20, "rel", 1e-3).absolute == 0.0


def test_rel_of_a_range_that_overflows_is_refused_in_double_only() -> None:
    with pytest.raises(BoundError, match="overflows"):
        derive(np.array([-1.7e308, 1.7e308]), None, "rel", 1e-3)
    with pytest.raises(BoundError, match="overflows"):
        derive(np.array([0, 1e300]), None, "rel", 1e10)

    singles = np.array([-3e38, 3e38], np.float32)
    assert derive(singles, None, "rel", 1e-3).absolute == 1e-3 * (2 * float(np.float32(3e38)))


@pytest.mark.parametrize("value", [0, 0.0, -1e-3, math.nan, math.inf, -math.inf, 10**400])
@pytest.mark.parametrize("mode", MODES)
def test_a_value_that_is_not_positive_and_finite_is_refused(mode: str, value: float) -> None:
    with pytest.raises(BoundError, match="above 0 and finite"):
        derive(DATA, None, mode, value)


@pytest.mark.parametrize("value", [True, "1e-3", None, 1j])
def test_a_value_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(BoundError, match="not a number"):
        derive(DATA, None, "abs", value)


def test_an_unknown_mode_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BoundError, match="choose one of abs, rel, pw_rel, psnr, l2norm, ratio"):
        derive(DATA, None, "snr", 60.0)


def test_pw_rel_is_the_bound_of_the_logarithms() -> None:
    assert derive(DATA, None, "pw_rel", 1e-2).absolute == log_bound(DATA.dtype, 1e-2)


def test_a_searched_mode_begins_with_a_bound_that_follows_from_range_and_size() -> None:
    psnr = derive(DATA, None, "psnr", 60.0).absolute
    norm = derive(DATA, None, "l2norm", 0.5).absolute
    ratio = derive(DATA, None, "ratio", 10.0).absolute

    assert psnr == pytest.approx(math.sqrt(3) * 8 * 1e-3, rel=1e-8)
    assert norm == pytest.approx(math.sqrt(3 / 4) * 0.5, rel=1e-8)
    assert ratio == pytest.approx(8 * 2.0**-26)


@pytest.mark.parametrize("mode", SEARCHED)
def test_a_searched_mode_is_lossless_without_a_range(mode: str) -> None:
    for data in (np.full(5, 3.0), np.zeros((0, 2), np.float32), np.full(4, np.nan)):
        assert derive(data, None, mode, 20.0).absolute == 0.0


@pytest.mark.parametrize("mode", SEARCHED)
def test_a_searched_mode_is_refused_where_the_range_overflows(mode: str) -> None:
    with pytest.raises(BoundError, match="overflows"):
        derive(np.array([-1.7e308, 1.7e308]), None, mode, 20.0)


def test_a_target_so_high_that_no_bound_is_left_is_lossless() -> None:
    assert derive(DATA, None, "psnr", 1e5).absolute == 0.0


@given(
    values=st.lists(st.floats(width=32), max_size=50),
    value=st.floats(1e-10, 1e3),
)
@settings(max_examples=100, deadline=None)
def test_rel_follows_its_definition_for_any_values(values: list[float], value: float) -> None:
    finite = [x for x in values if math.isfinite(x)]

    bound = derive(np.array(values, np.float32), None, "rel", value)

    assert bound.absolute == value * (max(finite, default=0.0) - min(finite, default=0.0))
