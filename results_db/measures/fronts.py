"""Ratio against throughput: which kernels no other one beats in both, and how much they cover.

The hypervolume is in log2 ρ × log2 speed (contract: reported beside the score of `sz-open`): the
area that the front dominates above a point of reference, so that it does not depend on units.
Source: E. Zitzler and L. Thiele, Multiobjective Evolutionary Algorithms, IEEE TEC 3(4), 1999.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Trade:
    """One kernel at one bound."""

    ratio: float
    speed: float
    """GB/s, or values per cycle; of one kind within a front."""
    name: str = ""


def pareto(trades: Iterable[Trade]) -> tuple[Trade, ...]:
    """Those that no other one reaches in both; by rising ratio. Of equals the first."""
    kept: list[Trade] = []
    fastest = -math.inf
    for trade in sorted(trades, key=lambda one: (-one.ratio, -one.speed)):
        if trade.speed > fastest:
            kept.append(trade)
            fastest = trade.speed
    return tuple(reversed(kept))


def hypervolume(trades: Iterable[Trade], ratio: float = 1.0, speed: float = 1.0) -> float:
    """Area in log2 ratio × log2 speed between the front and a point of reference.

    ratio, speed: the point; what is not above it in both counts nothing.
    Raises: ValueError if the point is not positive.
    """
    if not (ratio > 0 and speed > 0):
        raise ValueError("the point of reference is not positive")
    area, left = 0.0, 0.0
    for trade in pareto(one for one in trades if one.ratio > ratio and one.speed > speed):
        # By rising ratio speeds fall: each strip has the height of its right end.
        right = math.log2(trade.ratio / ratio)
        area += (right - left) * math.log2(trade.speed / speed)
        left = right
    return area
