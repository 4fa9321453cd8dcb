"""Intervals of ratios: how often they miss, and what they see."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from results_db.statistics import (
    FEWEST_PAIRS,
    Interval,
    contrast,
    paired_ratio,
    unpaired_ratio,
)

DRAWS = 400


def times(random: np.random.Generator, n: int) -> list[float]:
    """Skewed, with outliers, as times on a shared machine are."""
    quiet = np.exp(np.abs(random.normal(0, 0.03, n)))
    return list(quiet * np.where(random.random(n) < 0.1, random.uniform(1, 2, n), 1.0))


def steady(random: np.random.Generator, median: float, n: int) -> list[float]:
    return list(random.normal(median, 0.01, n))


def product(*factors: Sequence[float]) -> list[float]:
    return [math.prod(row) for row in zip(*factors, strict=True)]


@pytest.mark.parametrize("pairs", [7, 15, 50])
def test_a_kernel_against_itself_is_inconclusive_in_about_95_of_100_cases(pairs: int) -> None:
    random = np.random.default_rng(pairs)

    verdicts = [
        paired_ratio(times(random, pairs), times(random, pairs)).verdict for _ in range(DRAWS)
    ]

    share = verdicts.count("inconclusive") / DRAWS
    assert 0.90 <= share <= 0.99
    assert verdicts.count("faster") > 0
    assert verdicts.count("slower") > 0


def test_the_interval_holds_the_true_ratio_in_about_95_of_100_cases() -> None:
    random = np.random.default_rng(1)

    held = 0
    for _ in range(DRAWS):
        drift = times(random, 11)
        over = product([1.3] * 11, drift, times(random, 11))
        found = paired_ratio(over, product(drift, times(random, 11)))
        held += found.low <= 1.3 <= found.high

    assert 0.90 <= held / DRAWS <= 0.99


def test_unpaired_runs_of_one_kernel_agree_in_about_95_of_100_cases() -> None:
    random = np.random.default_rng(2)

    found = [unpaired_ratio(times(random, 7), times(random, 9)).verdict for _ in range(DRAWS)]

    assert 0.90 <= found.count("inconclusive") / DRAWS <= 0.99


def test_a_tenth_more_speed_is_seen_and_its_ratio_is_of_speeds() -> None:
    random = np.random.default_rng(3)
    seconds, other = steady(random, 1.0, 9), steady(random, 1.1, 9)

    faster, slower = contrast("run", seconds, other), contrast("run", other, seconds)

    assert faster.speedup.verdict == "faster"
    assert faster.speedup.ratio == pytest.approx(1.1, abs=0.02)
    assert slower.speedup.verdict == "slower"
    assert slower.speedup.ratio == pytest.approx(1 / faster.speedup.ratio)


def test_drift_that_both_share_does_not_hide_a_difference() -> None:
    random = np.random.default_rng(4)
    drift = [3 ** (i / 8) for i in range(9)]
    seconds = product(drift, steady(random, 1.0, 9))
    other = product(drift, steady(random, 1.1, 9))

    assert contrast("run", seconds, other).speedup.verdict == "faster"
    assert unpaired_ratio(other, seconds).verdict == "inconclusive"


@pytest.mark.parametrize("pairs", range(1, FEWEST_PAIRS))
def test_too_few_pairs_say_nothing_however_far_apart(pairs: int) -> None:
    found = paired_ratio([2.0] * pairs, [1.0] * pairs)

    assert found == Interval(2.0, 0.0, math.inf)
    assert found.verdict == "inconclusive"


def test_the_fewest_pairs_that_say_something_are_six() -> None:
    assert paired_ratio([2.0] * FEWEST_PAIRS, [1.0] * FEWEST_PAIRS).verdict == "faster"


def test_no_pairs_at_all_are_inconclusive() -> None:
    assert paired_ratio([], []).verdict == "inconclusive"
    assert unpaired_ratio([], [1.0]).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("pairs", "dropped"),
    # Hollander and Wolfe, table A.4: the largest sum whose chance is at most 2.5% is this less 1.
    [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (12, 13), (20, 52)],
)
def test_the_ends_are_those_of_the_signed_rank_table(pairs: int, dropped: int) -> None:
    logs = [0.01 * i**1.7 for i in range(1, pairs + 1)]
    averages = sorted((x + y) / 2 for i, x in enumerate(logs) for y in logs[i:])

    found = paired_ratio([math.exp(x) for x in logs], [1.0] * pairs)

    assert math.log(found.low) == pytest.approx(averages[dropped])
    assert math.log(found.high) == pytest.approx(averages[-1 - dropped])
