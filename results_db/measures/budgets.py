"""The best verified so far against what was spent: calls, minutes, tokens or dollars.

The area under the curve rewards being good early, as budgets differ between users; the paper on
agents for SZ kernels (arXiv 2606.17058) reports trajectories over at most 100 iterations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One attempt."""

    spent: float
    """Calls, minutes, tokens or dollars of the session up to and with this attempt."""
    score: float | None
    """None if it can't be ranked."""


def best_so_far(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps at which the best score rose, in the order of what was spent."""
    kept: list[Step] = []
    for step in sorted(steps, key=lambda one: one.spent):
        if step.score is not None and (not kept or step.score > (kept[-1].score or 0.0)):
            kept.append(step)
    return tuple(kept)


def area_under(steps: Iterable[Step], budget: float) -> float:
    """Mean over the budget of the best score so far, which is 0 before the first.

    In the unit of the score: the same for an agent that has its best from the beginning. What was
    reached beyond the budget does not count. Raises: ValueError unless the budget is positive.
    """
    if not budget > 0:
        raise ValueError(f"a budget of {budget}")
    rises = [one for one in best_so_far(steps) if one.spent < budget]
    ends = [*(one.spent for one in rises[1:]), budget][: len(rises)]
    return (
        sum(
            (one.score or 0.0) * (end - max(0.0, one.spent))
            for one, end in zip(rises, ends, strict=True)
        )
        / budget
    )


def calls_until(reached: Sequence[bool]) -> int | None:
    """1-based number of the first attempt that got there (first runnable, …); None if none did."""
    return next((number for number, one in enumerate(reached, 1) if one), None)
