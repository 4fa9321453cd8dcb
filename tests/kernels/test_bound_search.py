"""Searches for the bound that reaches a target, with made-up compressors in place of a kernel."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.modes.errors import BoundError
from kernels.modes.search import (
    GRID,
    MOST_TRIES,
    Found,
    noise_bound,
    norm_bound,
    ratio_grid,
    search_norm,
    search_psnr,
    search_ratio,
)

RANGE = 8.0


class Recorded:
    """A measurement that remembers the bounds it was asked for."""

    def __init__(self, measure: Callable[[float], float]) -> None:
        self._measure = measure
        self.bounds: list[float] = []

    def __call__(self, abs_bound: float) -> float:
        self.bounds.append(abs_bound)
        return self._measure(abs_bound)


def psnr_with(rms_over_bound: Callable[[float], float]) -> Recorded:
    """Of a compressor whose root mean squared error is this part of the bound."""

    def measure(bound: float) -> float:
        rms = rms_over_bound(bound) * bound
        return 20 * math.log10(RANGE / rms) if rms else math.inf

    return Recorded(measure)


def look_for_psnr(measure: Recorded, target: float = 60.0) -> Found:
    return search_psnr(target, noise_bound(target, RANGE), measure)


def test_errors_that_are_spread_evenly_reach_the_target_at_the_first_try() -> None:
    measure = psnr_with(lambda _bound: 0.9999 / math.sqrt(3))

    found = look_for_psnr(measure)

    assert (found.tries, found.reached) == (1, True)
    assert found.abs_bound == pytest.approx(math.sqrt(3) * RANGE * 1e-3, rel=1e-8)


def test_the_bound_goes_down_by_what_is_missing() -> None:
    measure = psnr_with(lambda _bound: 0.8)

    found = look_for_psnr(measure)

    assert (found.tries, found.reached) == (2, True)
    assert 60.0 <= found.achieved < 60.02
    assert found.abs_bound == pytest.approx(RANGE * 1e-3 / 0.8, rel=2e-3)


def test_the_worst_compressor_ends_at_the_guarantee() -> None:
    measure = psnr_with(lambda _bound: 1.0)

    found = look_for_psnr(measure)

    assert found.abs_bound == noise_bound(60.0, RANGE)
    assert found.reached
    assert found.achieved >= 60.0


def test_a_compressor_that_creeps_ends_at_the_guarantee_after_a_few_tries() -> None:
    guarantee = noise_bound(60.0, RANGE)
    measure = psnr_with(lambda bound: 1.0001 * guarantee / bound if bound > guarantee else 1.0)

    found = look_for_psnr(measure)

    assert found.abs_bound == guarantee
    assert found.tries == 8
    assert measure.bounds == sorted(measure.bounds, reverse=True)


@given(parts=st.lists(st.floats(0, 1), min_size=8, max_size=8), target=st.floats(1, 200))
@settings(max_examples=200, deadline=None)
def test_any_compressor_within_its_bound_reaches_any_psnr(
    parts: list[float], target: float
) -> None:
    left = iter(parts)
    measure = psnr_with(lambda _bound: next(left))

    found = look_for_psnr(measure, target)

    assert found.reached
    assert found.achieved >= target
    assert noise_bound(target, RANGE) <= found.abs_bound


def test_a_sum_of_squares_that_overflows_still_ends_at_the_guarantee() -> None:
    found = search_psnr(60.0, 1e300, lambda _bound: -math.inf)

    assert (found.abs_bound, found.reached) == (1e300, True)


def test_no_range_asks_for_lossless_once() -> None:
    found = search_psnr(60.0, 0.0, lambda _bound: math.inf)

    assert found == Found(0.0, math.inf, 1, reached=True)


@given(parts=st.lists(st.floats(0, 1), min_size=8, max_size=8), target=st.floats(1e-6, 1e6))
@settings(max_examples=200, deadline=None)
def test_any_compressor_within_its_bound_keeps_any_norm(parts: list[float], target: float) -> None:
    left, count = iter(parts), 1000

    found = search_norm(
        target, norm_bound(target, count), lambda bound: next(left) * bound * math.sqrt(count)
    )

    assert found.reached
    assert found.achieved <= target


def test_the_norm_begins_at_what_it_takes_if_errors_are_spread_evenly() -> None:
    measure = Recorded(lambda bound: bound * math.sqrt(1000 / 3) * 0.9999)

    found = search_norm(2.0, norm_bound(2.0, 1000), measure)

    assert found.tries == 1
    assert found.abs_bound == pytest.approx(math.sqrt(3 / 1000) * 2.0, rel=1e-8)


def test_a_target_that_overflows_is_refused() -> None:
    with pytest.raises(BoundError, match="too large for the range"):
        search_norm(1.0, 1.7e308, lambda _bound: 0.0)


def test_the_grid_of_a_ratio_goes_up_to_the_range_in_even_steps() -> None:
    grid = ratio_grid(RANGE, 4)

    steps = [b / a for a, b in itertools.pairwise(grid)]
    assert len(grid) == GRID
    assert grid[-1] == pytest.approx(RANGE)
    assert grid[0] == pytest.approx(RANGE * 2.0**-26)
    assert max(steps) == pytest.approx(min(steps))


def test_a_ratio_that_grows_is_reached_by_the_smallest_bound() -> None:
    measure = Recorded(lambda bound: 1 + 100 * bound / RANGE)

    found = search_ratio(10.0, RANGE, 4, measure)

    assert found.reached
    assert found.tries == len(measure.bounds) <= MOST_TRIES
    assert RANGE * 0.09 <= found.abs_bound <= RANGE * 0.09 * 1.002


def test_a_ratio_with_a_dip_is_reached_by_the_smallest_bound_that_was_tried() -> None:
    """Above 0.01 it reaches the target, but not between 0.1 and 1."""
    measure = Recorded(lambda bound: 12.0 if 0.01 <= bound < 0.1 or bound > 1 else 3.0)

    found = search_ratio(10.0, RANGE, 4, measure)

    assert found.reached
    assert 0.01 <= found.abs_bound <= 0.01 * 1.002


def test_a_ratio_out_of_reach_returns_the_nearest() -> None:
    measure = Recorded(lambda bound: 5 - abs(math.log10(bound / 0.37)))

    found = search_ratio(10.0, RANGE, 4, measure)

    assert not found.reached
    assert len(measure.bounds) == found.tries <= MOST_TRIES
    assert found.achieved == max(5 - abs(math.log10(b / 0.37)) for b in measure.bounds)
    assert found.abs_bound == pytest.approx(0.37, rel=0.1)


def test_a_peak_between_two_bounds_of_the_grid_is_found() -> None:
    measure = Recorded(lambda bound: 10.5 - abs(math.log10(bound / 0.37)))

    found = search_ratio(10.49, RANGE, 4, measure)

    assert found.reached
    assert 0.37 / 1.03 <= found.abs_bound <= 0.37 * 1.03


def test_a_ratio_that_needs_no_loss_is_lossless() -> None:
    measure = Recorded(lambda _bound: 20.0)

    found = search_ratio(10.0, RANGE, 4, measure)

    assert (found.abs_bound, found.reached, found.tries) == (0.0, True, 2)


@pytest.mark.parametrize("span", [5e-324, 1e-45, 1e300])
@pytest.mark.parametrize("itemsize", [4, 8])
def test_ranges_at_the_ends_of_double_are_searched_too(span: float, itemsize: int) -> None:
    found = search_ratio(10.0, span, itemsize, lambda bound: 1 + 20 * min(bound / span, 1))

    assert found.reached
    assert 0 <= found.abs_bound <= span * 1.0001


@given(levels=st.lists(st.floats(0.5, 30), min_size=40, max_size=40), target=st.floats(1, 25))
@settings(max_examples=200, deadline=None)
def test_of_any_ratio_the_smallest_bound_tried_that_reaches_is_returned(
    levels: list[float], target: float
) -> None:
    seen: dict[float, float] = {}

    def measure(bound: float) -> float:
        place = int(-math.log2(bound / RANGE)) if bound else 39
        return seen.setdefault(bound, levels[min(max(place, 0), 39)])

    found = search_ratio(target, RANGE, 4, measure)

    reaching = [bound for bound, ratio in seen.items() if ratio >= target]
    assert found.tries == len(seen) <= MOST_TRIES
    assert found.reached == bool(reaching)
    assert found.abs_bound == min(reaching) if reaching else found.achieved == max(seen.values())
