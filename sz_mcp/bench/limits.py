"""Which limit a running cell, or the whole bench, has reached: pure functions on numbers."""

from __future__ import annotations

from sz_mcp.bench.records import Spent
from sz_mcp.bench.spec import Budget, Plateau
from sz_mcp.bench.tail import Standing


def spent_of(budget: Budget, spent: Spent) -> str:
    """Which part of a budget is used up; empty if none is."""
    limits = {
        "calls on kernels": (budget.calls, spent.calls),
        "minutes": (budget.minutes, spent.seconds / 60),
        "tokens": (budget.tokens, spent.tokens),
        "dollars": (budget.dollars, spent.dollars),
    }
    for what, (most, used) in limits.items():
        if most is not None and used >= most:
            return f"budget: {most:g} {what}"
    return ""


def flat(plateau: Plateau | None, standing: Standing) -> str:
    """Why a cell gets no better any more; empty if it may. It counts from the first result on."""
    if plateau is None or standing.rung < 0:
        return ""
    since = standing.calls - standing.best_at
    if since < plateau.calls:
        return ""
    return (
        f"plateau: nothing better by {100 * plateau.gain:g}% in {since} calls "
        f"since call {standing.best_at}"
    )
