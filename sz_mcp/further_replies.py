"""What a reply of verify_bounds says beyond its cases: of the search, and of damaged streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from kernels.records import Verdict
from sz_mcp.replies import DamageReply, SearchReply, VerifyReply


class FurtherFields(TypedDict):
    """The fields of a reply that a codec on which all cases held has."""

    search: SearchReply | None
    damage: DamageReply | None


def further_fields(verdict: Verdict, *, told: bool) -> FurtherFields:
    """told: whether the agent hears more than numbers."""
    search, damage = verdict.search, verdict.damage
    return FurtherFields(
        search=SearchReply(
            seed=search.seed,
            random_cases=search.random_cases,
            values=search.values,
            worst_over_bound=search.worst_over_bound,
        )
        if search
        else None,
        damage=DamageReply(
            tried=damage.tried,
            detected=damage.detected,
            undetected=damage.undetected,
            harmless=damage.harmless,
            examples=list(damage.examples) if told else [],
        )
        if damage
        else None,
    )


def further_lines(reply: VerifyReply) -> Iterator[str]:
    """One for the search, one for the damage."""
    search, damage = reply.search, reply.damage
    if search is not None and search.values:
        cases = f"{search.random_cases} random cases and " if search.random_cases else ""
        worst = f"{search.worst_over_bound:.6g}"
        yield (
            f"also tried: {cases}{search.values} values around the worst ones, the largest error "
            f"{worst} of the bound (seed {search.seed})"
        )
    if damage is not None and damage.tried:
        quiet = f"{damage.undetected} decoded to other values unnoticed"
        if damage.examples:
            quiet += f" (such as {damage.examples[0]}), which a checksum would tell"
        if not damage.undetected:
            quiet = "none decoded to other values unnoticed"
        yield (
            f"damaged streams: {damage.detected} of {damage.tried} noticed, "
            f"{damage.harmless} harmless, {quiet}"
        )
