"""Measures against counting by hand and by brute force."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from results_db.measures.budgets import Step, area_under, best_so_far, calls_until
from results_db.measures.chances import at_k
from results_db.measures.fronts import Trade, hypervolume, pareto
from results_db.measures.integrity import rate, retained
from results_db.measures.speeds import fast_p, paired_ratio, sol_score, win_at_p


@pytest.mark.parametrize("sessions", range(1, 8))
def test_at_k_is_the_share_of_draws_in_which_one_got_there(sessions: int) -> None:
    for reached in range(sessions + 1):
        for k in range(1, sessions + 1):
            draws = list(itertools.combinations(range(sessions), k))
            hits = sum(any(one < reached for one in draw) for draw in draws)

            assert at_k(sessions, reached, k) == pytest.approx(hits / len(draws))


@pytest.mark.parametrize(
    ("sessions", "reached", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 4), (3, 1, 0)]
)
def test_at_k_refuses_what_can_not_be(sessions: int, reached: int, k: int) -> None:
    with pytest.raises(ValueError, match="sessions"):
        at_k(sessions, reached, k)


def test_failures_stay_in_the_denominator() -> None:
    speedups = [3.0, 1.0, None, 0.5]

    assert [fast_p(speedups, p) for p in (0, 0.5, 1, 2.5, 3)] == [0.75, 0.5, 0.25, 0.25, 0]


def test_a_task_the_author_did_not_solve_is_won_by_solving_it() -> None:
    assert win_at_p([2.0, 1.0, None, None], [1.0, None, 1.0, None]) == 0.5
    assert win_at_p([2.0], [1.0], p=2) == 0


def test_the_sol_score_is_half_at_the_baseline_and_one_at_the_limit() -> None:
    assert sol_score(10, 1, 10) == 0.5
    assert sol_score(1, 1, 10) == 1
    assert sol_score(0.5, 1, 10) == 1
    assert sol_score(19, 1, 10) == pytest.approx(1 / 3)
    for wrong in ((1, 10, 10), (1, 0, 10), (0, 1, 10), (math.nan, 1, 10)):
        with pytest.raises(ValueError, match=r"limit|time"):
            sol_score(*wrong)


def test_paired_ratios_are_of_pairs() -> None:
    assert paired_ratio([2, 8], [1, 1]) == pytest.approx(4)
    for ours, theirs in (([], []), ([1.0], [1.0, 2.0]), ([0.0], [1.0])):
        with pytest.raises(ValueError):  # noqa: PT011 - three messages of one kind
            paired_ratio(ours, theirs)


@pytest.mark.parametrize("seed", range(20))
def test_the_front_and_its_area_are_those_of_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    trades = [
        Trade(2 ** rng.randint(-1, 6), 2 ** rng.randint(-1, 6), str(i))
        for i in range(rng.randint(0, 12))
    ]

    front = pareto(trades)

    beaten = {
        (a.ratio, a.speed)
        for a in trades
        for b in trades
        if (b.ratio >= a.ratio and b.speed >= a.speed) and (a.ratio, a.speed) != (b.ratio, b.speed)
    }
    assert {(one.ratio, one.speed) for one in front} == {
        (one.ratio, one.speed) for one in trades
    } - beaten
    assert [one.ratio for one in front] == sorted({one.ratio for one in front})
    # Powers of two: the area is a number of unit squares.
    squares = sum(
        any(math.log2(one.ratio) > x and math.log2(one.speed) > y for one in trades)
        for x in range(6)
        for y in range(6)
    )
    assert hypervolume(trades) == pytest.approx(squares)


def test_the_curve_rises_only_and_its_area_is_a_mean_over_the_budget() -> None:
    steps = [Step(3, 1.0), Step(1, None), Step(5, 0.5), Step(7, 4.0), Step(20, 9.0)]

    assert best_so_far(steps) == (Step(3, 1.0), Step(7, 4.0), Step(20, 9.0))
    # 0 until 3, 1 until 7, 4 until 10.
    assert area_under(steps, 10) == pytest.approx((4 * 1 + 3 * 4) / 10)
    assert area_under([], 10) == 0
    assert area_under([Step(0, 2.0)], 5) == 2
    with pytest.raises(ValueError, match="budget"):
        area_under(steps, 0)


def test_calls_until_the_first_that_got_there() -> None:
    assert calls_until([False, False, True, True]) == 3
    assert calls_until([False]) is None


def test_a_rate_has_an_interval_also_where_nothing_was_found() -> None:
    nothing = rate(0, 31)

    assert (nothing.share, nothing.low) == (0, 0)
    assert nothing.high == pytest.approx(0.1103, abs=1e-4)
    assert rate(31, 31).low == pytest.approx(1 - nothing.high)
    with pytest.raises(ValueError, match="0 of 0"):
        rate(0, 0)


def test_retention_asks_of_what_was_right_on_shown_fields() -> None:
    shown = {"a": 2.0, "b": 1.0, "c": None, "d": 5.0}
    hidden = {"a": (True, 1.0), "b": (False, None), "c": (True, None), "x": (True, 9.0)}

    found = retained(shown, hidden)

    assert found is not None
    assert (found.kernels, found.speed) == (3, 0.5)
    assert found.held == pytest.approx(2 / 3)
    assert retained(shown, {}) is None
