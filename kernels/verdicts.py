"""What a verification of a codec tells beyond its cases: of a search, and of damaged streams."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Search:
    """Random cases, and values around those that this kernel handled worst; nothing was found."""

    seed: int
    """Of both: `kernels.random_cases.random_case` makes the case of a name again."""
    random_cases: int
    values: int
    """Tried around the worst ones."""
    worst_over_bound: float
    """Largest error among those, in bounds."""


@dataclass(frozen=True)
class Damage:
    """What a kernel's decoder made of its own streams once they were damaged."""

    tried: int
    detected: int
    """It raised, or returned another shape or type than asked for."""
    undetected: int
    """It returned other values than of the whole stream, as if nothing had happened."""
    harmless: int
    """It returned the same values as of the whole stream."""
    examples: tuple[str, ...] = ()
    """Some that went undetected: which stream, and what was done to it."""
    bounds_checked: bool = False
    """Whether those were decoded again with every index checked, now or before."""
