"""What a failure means and what to do next: one table per toolchain, plus those for results."""

from __future__ import annotations

from kernels.records import Failure, Guidance

from . import (
    bound_rules,
    child_rules,
    contract_rules,
    cuda_rules,
    damage_rules,
    hip_rules,
    numba_rules,
    order_rules,
    stage_rules,
    task_rules,
    timing_rules,
    tripwire_rules,
    wafer_rules,
)
from .performance_rules import Facts, performance_guidance
from .rules import Rule, first_guidance

RESULTS: tuple[Rule, ...] = (
    *damage_rules.RULES,
    *task_rules.QUANTIZE,
    *stage_rules.RULES,
    *bound_rules.RULES,
    *contract_rules.RULES,
)
"""About what a kernel made, whatever its target."""
TABLES: dict[str, tuple[Rule, ...]] = {
    "numba": (
        *tripwire_rules.RULES,
        *timing_rules.RULES,
        *numba_rules.RULES,
        *child_rules.RULES,
    ),
    "cuda": (
        *tripwire_rules.RULES,
        *cuda_rules.RULES,
        *order_rules.RULES,
        *child_rules.RULES,
    ),
    "rocm": (
        *tripwire_rules.RULES,
        *hip_rules.RULES,
        *order_rules.RULES,
        *child_rules.RULES,
    ),
    "wafer": (
        *tripwire_rules.RULES,
        *wafer_rules.RULES,
        *child_rules.RULES,
    ),
}
"""About how it ran, by the part of a target before the colon."""

__all__ = ["RESULTS", "TABLES", "Facts", "guidance_for", "performance_guidance"]


def guidance_for(failure: Failure | None, target: str) -> tuple[Guidance, ...]:
    """What the tables say of a failure; empty without one."""
    if failure is None:
        return ()
    table = TABLES.get(target.partition(":")[0], ())
    said = first_guidance((*RESULTS, *table), failure)
    return (said,) if said else ()
