"""The matrix of a spec as cells: what one agent does once, in one session.

Searches and replays read no prompt and no guidance, so they are not repeated for tiers and feedback
levels. Repeats are the outermost loop: a bench that is cut short has compared all agents alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sz_mcp.bench.spec import Bound, Kind, LeftOut, Spec, Tier
from sz_mcp.settings import FeedbackLevel

READERS: frozenset[Kind] = frozenset({"model", "command"})
"""Kinds of agents that read prompts."""


@dataclass(frozen=True)
class Cell:
    """One agent, one task, once."""

    agent: str
    kind: Kind
    task: str
    target: str
    field: str
    bound: Bound
    prompt_tier: Tier | None
    """None: its agent reads no prompt."""
    feedback_level: FeedbackLevel
    repeat: int
    """From 1."""

    @property
    def cell_id(self) -> str:
        """Distinct within a bench."""
        asked = f"{self.bound.mode}_{self.bound.value:g}"
        told = [self.prompt_tier, self.feedback_level] if self.prompt_tier is not None else []
        parts = [self.agent, self.task, self.target, self.field, asked, *told, f"r{self.repeat}"]
        return ".".join(map(str, parts))

    @property
    def waits(self) -> bool:
        """Whether its agent mostly waits for something other than the server."""
        return self.kind in READERS


def cells_of(spec: Spec) -> tuple[Cell, ...]:
    """All cells, in the order in which they are begun."""
    return tuple(cell for cell in _all(spec) if not any(_agrees(cell, o) for o in spec.leave_out))


def _all(spec: Spec) -> Iterator[Cell]:
    for repeat in range(1, spec.repeats + 1):
        for target in spec.targets:
            for task in spec.tasks:
                for field in spec.fields_of(task):
                    for bound in spec.bounds:
                        for agent in spec.agents:
                            yield from _told(spec, agent, (task, target, field, bound, repeat))


def _told(spec: Spec, agent: str, place: tuple[str, str, str, Bound, int]) -> Iterator[Cell]:
    task, target, field, bound, repeat = place
    kind = spec.agents[agent].kind
    if kind not in READERS:
        yield Cell(agent, kind, task, target, field, bound, None, "none", repeat)
        return
    for tier in spec.prompt_tiers:
        for level in spec.feedback_levels:
            yield Cell(agent, kind, task, target, field, bound, tier, level, repeat)


def _agrees(cell: Cell, left: LeftOut) -> bool:
    asked = {name: getattr(left, name) for name in type(left).model_fields}
    return all(value is None or getattr(cell, name) == value for name, value in asked.items())
