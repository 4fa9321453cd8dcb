"""Rankings that claim no more than what the sessions show."""

from __future__ import annotations

import numpy as np
import pytest

from results_db.measures.uncertainty import (
    TOO_FEW,
    Outcomes,
    Standing,
    interval,
    paired_gain,
    standings,
)


def outcomes(mean: float, seed: int, tasks: int = 6, sessions: int = 5) -> Outcomes:
    rng = np.random.default_rng(seed)
    return {f"t{task}": (mean + rng.normal(0, 0.2, sessions)).tolist() for task in range(tasks)}


def by_name(found: tuple[Standing, ...]) -> dict[str, Standing]:
    return {one.agent: one for one in found}


def test_agents_far_apart_have_ranks_of_their_own() -> None:
    found = standings({"a": outcomes(1, 1), "b": outcomes(3, 2), "c": outcomes(2, 3)})

    assert [(one.agent, one.verdict) for one in found] == [("b", "1"), ("c", "2"), ("a", "3")]
    assert all(one.low < one.mean < one.high for one in found)


def test_agents_alike_are_a_tie() -> None:
    found = by_name(standings({"a": outcomes(1, 1), "b": outcomes(1, 2), "c": outcomes(5, 3)}))

    assert found["a"].tied_with == ("b",)
    assert found["b"].verdict == "tied 2-3"
    assert found["c"].verdict == "1"


def test_two_agents_with_the_same_numbers_are_tied_whoever_is_named_first() -> None:
    same = outcomes(1, 7)
    found = by_name(standings({"a": same, "b": {**same}, "z": {task: [0.0] * 5 for task in same}}))

    assert (found["a"].best_rank, found["a"].worst_rank) == (1, 2)
    assert (found["b"].best_rank, found["b"].worst_rank) == (1, 2)
    assert found["z"].rank == 3


def test_fewer_than_five_sessions_of_a_task_are_too_few_to_rank() -> None:
    short = {**outcomes(9, 1), "t0": [9.0] * 4}
    found = standings({"a": short, "b": outcomes(1, 2)})

    assert [(one.agent, one.verdict) for one in found] == [("b", "1"), ("a", TOO_FEW)]
    assert found[1].rank == 0


def test_leaving_a_hard_task_out_gains_nothing() -> None:
    whole = {"easy": [1.0] * 5, "hard": [0.5] * 5}
    found = by_name(standings({"a": whole, "b": {"easy": [1.0] * 5}}))

    assert (found["a"].mean, found["b"].mean) == (0.75, 0.5)
    assert found["b"].verdict == TOO_FEW


def test_the_same_seed_gives_the_same_intervals() -> None:
    data = {"a": outcomes(1, 1), "b": outcomes(1.2, 2)}

    assert standings(data, seed=3) == standings(data, seed=3)
    assert standings(data, seed=3) != standings(data, seed=4)


def test_the_interval_holds_the_true_mean_about_as_often_as_it_says() -> None:
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        tasks = rng.normal(0, 1, 12)
        data = {f"t{i}": (task + rng.normal(0, 0.5, 5)).tolist() for i, task in enumerate(tasks)}
        low, high = interval(data, seed=seed, draws=400)
        held += low <= 0 <= high
    # The bootstrap of a mean of twelve is a little narrow: about 92 of 100.
    assert 0.86 <= held / 200 <= 0.98


def test_a_gain_is_paired_by_task() -> None:
    before = {"easy": [10.0] * 5, "hard": [1.0] * 5, "only": [100.0] * 5}
    after = {"easy": [11.0] * 5, "hard": [2.0] * 5}

    gain, low, high = paired_gain(before, after)

    assert (gain, low, high) == (1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="both"):
        paired_gain(before, {"else": [1.0]})


def test_nothing_to_rank_is_an_error() -> None:
    with pytest.raises(ValueError, match="task"):
        standings({})
