"""What a failure means and what to do next: one table per toolchain, plus one for bounds."""

from __future__ import annotations

from kernels.records import Failure, Guidance

from . import bound_rules, numba_rules
from .performance_rules import performance_guidance
from .rules import Rule, first_match

TABLES: dict[str, tuple[Rule, ...]] = {
    "numba": numba_rules.RULES,
}
"""By the part of a target before the colon."""

__all__ = ["TABLES", "guidance_for", "performance_guidance"]


def guidance_for(failure: Failure | None, target: str) -> tuple[Guidance, ...]:
    """What the tables say of a failure; empty without one."""
    if failure is None:
        return ()
    table = TABLES.get(target.partition(":")[0], ())
    rule = first_match((*bound_rules.RULES, *table), failure)
    return (rule.guidance(),) if rule else ()
