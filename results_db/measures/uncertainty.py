"""How sure a ranking is: bootstrap over tasks then sessions, intervals of ranks, ties.

Sessions of one task are alike, so tasks are drawn first and sessions within each, with replacement
(cluster bootstrap; A. C. Davison and D. V. Hinkley, Bootstrap Methods and their Application, 1997,
section 3.8). All agents get the same draws of tasks, so that a hard task is hard for all of them.
Means are not assumed normal: tens of tasks are too few (arXiv 2503.01747).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST_SESSIONS = 5
"""Sessions per task below which nothing is ranked."""
TOO_FEW = "too few to rank"
DRAWS = 2000
_MISSED = 0.05

Outcomes = Mapping[str, Sequence[float]]
"""Task → one number per session, higher is better; a session that failed has 0."""


@dataclass(frozen=True)
class Standing:
    """One agent among others."""

    agent: str
    mean: float
    """Over tasks, of the mean over sessions."""
    low: float
    high: float
    """95% interval of `mean`."""
    rank: int
    """1 + how many agents are better in `mean`."""
    best_rank: int
    worst_rank: int
    """95% interval of the rank, over the same draws."""
    tied_with: tuple[str, ...]
    """Agents whose interval of ranks overlaps this one's: no order between them is claimed."""
    sessions: int
    """Of the task that has fewest."""

    @property
    def verdict(self) -> str:
        """What may be said: a rank, a tie, or nothing yet."""
        if self.sessions < LEAST_SESSIONS:
            return TOO_FEW
        return f"tied {self.best_rank}-{self.worst_rank}" if self.tied_with else f"{self.rank}"


def standings(
    outcomes: Mapping[str, Outcomes], seed: int = 0, draws: int = DRAWS
) -> tuple[Standing, ...]:
    """Agents by falling mean, those with too few sessions after all others.

    outcomes: agent → outcomes. A task that an agent never tried counts 0 for it, so that leaving
    hard tasks out gains nothing. Ranks are among agents with enough sessions; of one without them
    rank and its interval are 0. Raises: ValueError without an agent or a task.
    """
    tasks = sorted({task for per_task in outcomes.values() for task in per_task})
    if not tasks:
        raise ValueError("no agent has tried a task")
    names = sorted(outcomes)
    fewest = {name: min(len(outcomes[name].get(task, ())) for task in tasks) for name in names}
    table = {name: [_numbers(outcomes[name].get(task, ())) for task in tasks] for name in names}
    means = {name: float(np.mean([one.mean() for one in table[name]])) for name in names}
    sampled = _sampled(table, np.random.default_rng(seed), draws)
    ranked = [name for name in names if fewest[name] >= LEAST_SESSIONS]
    ranks = _rank_intervals({name: sampled[name] for name in ranked})
    found = []
    for name in names:
        low, high = np.quantile(sampled[name], [_MISSED / 2, 1 - _MISSED / 2])
        first, last = ranks.get(name, (0, 0))
        others = [other for other in ranked if other != name and name in ranks]
        ties = tuple(o for o in others if ranks[o][0] <= last and first <= ranks[o][1])
        rank = 1 + sum(means[other] > means[name] for other in others) if name in ranks else 0
        found.append(
            Standing(
                name, means[name], float(low), float(high), rank, first, last, ties, fewest[name]
            )
        )
    return tuple(sorted(found, key=lambda one: (one.agent not in ranks, -one.mean, one.agent)))


def interval(outcomes: Outcomes, seed: int = 0, draws: int = DRAWS) -> tuple[float, float]:
    """95% interval of the mean over tasks of the mean over sessions. Raises: ValueError."""
    if not outcomes:
        raise ValueError("no task")
    table = {"": [_numbers(values) for _, values in sorted(outcomes.items())]}
    sampled = _sampled(table, np.random.default_rng(seed), draws)[""]
    low, high = np.quantile(sampled, [_MISSED / 2, 1 - _MISSED / 2])
    return float(low), float(high)


def paired_gain(
    before: Outcomes, after: Outcomes, seed: int = 0, draws: int = DRAWS
) -> tuple[float, float, float]:
    """Mean gain from one condition to another (prompt tier, feedback level) and its 95% interval.

    Paired by task: only tasks tried under both count. Raises: ValueError if there is none.
    """
    tasks = sorted(set(before) & set(after))
    if not tasks:
        raise ValueError("no task was tried under both conditions")
    table = {
        "before": [_numbers(before[task]) for task in tasks],
        "after": [_numbers(after[task]) for task in tasks],
    }
    gain = float(
        np.mean([a.mean() - b.mean() for b, a in zip(table["before"], table["after"], strict=True)])
    )
    sampled = _sampled(table, np.random.default_rng(seed), draws)
    low, high = np.quantile(sampled["after"] - sampled["before"], [_MISSED / 2, 1 - _MISSED / 2])
    return gain, float(low), float(high)


def _numbers(values: Sequence[float]) -> NDArray[np.float64]:
    return np.asarray(values if len(values) else [0.0], np.float64)


def _sampled(
    table: Mapping[str, Sequence[NDArray[np.float64]]], rng: np.random.Generator, draws: int
) -> dict[str, NDArray[np.float64]]:
    """Name → a mean per draw; tasks are drawn once for all names, sessions for each."""
    count = len(next(iter(table.values())))
    drawn = rng.integers(0, count, (draws, count))
    # The draws that took a task, once for each time: every time it gets sessions of its own.
    takers = [np.nonzero(drawn == at)[0] for at in range(count)]
    found = {}
    for name, values in table.items():
        total = np.zeros(draws)
        for own, takes in zip(values, takers, strict=True):
            total += np.bincount(takes, _resampled(own, takes.size, rng), draws)
        found[name] = total / count
    return found


def _resampled(
    own: NDArray[np.float64], times: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """As often as said, the mean of as many sessions as there are, drawn with replacement."""
    if (own == own[0]).all():
        return np.full(times, own[0])
    return np.asarray(own[rng.integers(0, own.size, (times, own.size))].mean(axis=1))


def _rank_intervals(
    sampled: Mapping[str, NDArray[np.float64]],
) -> dict[str, tuple[int, int]]:
    if not sampled:
        return {}
    names = list(sampled)
    means = np.stack([sampled[name] for name in names])
    better = (means[None, :, :] > means[:, None, :]).sum(axis=1)
    equal = (means[None, :, :] == means[:, None, :]).sum(axis=1) - 1
    # Of equals each may come first or last.
    first = np.quantile(1 + better, _MISSED / 2, axis=1, method="lower")
    last = np.quantile(1 + better + equal, 1 - _MISSED / 2, axis=1, method="higher")
    return {name: (int(first[at]), int(last[at])) for at, name in enumerate(names)}
