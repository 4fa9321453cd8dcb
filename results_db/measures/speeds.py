"""Speed where it is compared: with a baseline, with an author, with the physical limit.

Sources: fast_p is that of KernelBench (A. Ouyang et al., arXiv 2502.10517): failures stay in the
denominator. win@p is flashinfer-bench's: relative to a named author. The SOL score is that of
NVIDIA's SOL-ExecBench: 1/2 at the baseline, 1 at the limit, so that it compares across machines.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def fast_p(speedups: Sequence[float | None], p: float) -> float:
    """Share of tasks solved right and more than p times as fast as the baseline.

    speedups: speed over the baseline's, one per task; None: no kernel that holds.
    Raises: ValueError if there is no task.
    """
    if not speedups:
        raise ValueError("fast_p of no task")
    return sum(one is not None and one > p for one in speedups) / len(speedups)


def win_at_p(
    speeds: Sequence[float | None], author: Sequence[float | None], p: float = 1.0
) -> float:
    """Share of tasks on which an agent is more than p times as fast as a named author.

    One speed per task, of the same tasks in the same order; None: no kernel that holds. A task that
    the author did not solve is won by solving it. Raises: ValueError as in `fast_p`.
    """
    ratios: list[float | None] = [
        None if ours is None else math.inf if theirs is None else ours / theirs
        for ours, theirs in zip(speeds, author, strict=True)
    ]
    return fast_p(ratios, p)


def sol_score(time: float, limit: float, baseline: float) -> float:
    """1 / (1 + (T - T_limit) / (T_baseline - T_limit)): 0.5 at the baseline, 1 at the limit.

    Times of one kind: seconds on one machine, or cycles; never both. A time below the limit is
    scored as the limit: whether it can be believed is for the review, not for the score.
    Raises: ValueError unless 0 < limit < baseline, and time > 0.
    """
    if not 0 < limit < baseline:
        raise ValueError(f"the limit {limit} is not below the baseline {baseline}")
    if not time > 0:
        raise ValueError(f"a time of {time}")
    return 1.0 / (1.0 + max(0.0, time - limit) / (baseline - limit))


def paired_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Geometric mean of ours / theirs over pairs of the same conditions.

    Raises: ValueError if there is no pair, or a number that is not positive.
    """
    if not ours or len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} numbers against {len(theirs)}")
    if min(*ours, *theirs) <= 0:
        raise ValueError("ratios are of positive numbers")
    logs = [math.log(one / other) for one, other in zip(ours, theirs, strict=True)]
    return math.exp(statistics.fmean(logs))
