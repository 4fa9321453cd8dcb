"""What a machine offers a bench: tasks, targets that can run, fields; and why a cell can't be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kernels import baselines
from kernels.fields import Catalogue
from kernels.tasks import TASKS
from sz_mcp.bench.cells import Cell, cells_of
from sz_mcp.bench.reading import Names
from sz_mcp.bench.spaces import SpaceError, space_for
from sz_mcp.bench.spec import ReplayAgent, SearchAgent, Spec
from sz_mcp.pipeline import Pipeline


@dataclass(frozen=True)
class World:
    """Names that a spec may use."""

    names: Names
    missing: Mapping[str, str]
    """Target that can't run here → why."""


@dataclass(frozen=True)
class Plan:
    """A spec as cells."""

    spec: Spec
    cells: tuple[Cell, ...]
    skipped: Mapping[str, str]
    """cell_id → why it can't be."""

    @property
    def possible(self) -> tuple[Cell, ...]:
        """Cells that can be."""
        return tuple(cell for cell in self.cells if cell.cell_id not in self.skipped)


def survey(home: Path) -> World:
    """Look at this machine; takes about a second."""
    catalogue = Catalogue(home)
    pipeline = Pipeline(catalogue, warm_children=0, home=home)
    try:
        targets = pipeline.targets()
    finally:
        pipeline.close()
    names = Names(tuple(TASKS), tuple(info.target for info in targets), catalogue.names())
    return World(names, {info.target: info.reason for info in targets if not info.available})


def plan(spec: Spec, world: World) -> Plan:
    """All cells, and which of them can't be."""
    cells = cells_of(spec)
    found: dict[tuple[str, str, str], str] = {}
    for cell in cells:
        key = (cell.agent, cell.task, cell.target)
        if key not in found:
            found[key] = _impossible(spec, world, cell)
    skipped = {c.cell_id: why for c in cells if (why := found[c.agent, c.task, c.target])}
    return Plan(spec, cells, skipped)


def _impossible(spec: Spec, world: World, cell: Cell) -> str:
    """Why; empty if it is possible."""
    if cell.target in world.missing:
        return f"{cell.target} can't run here: {world.missing[cell.target]}"
    agent = spec.agents[cell.agent]
    match agent:
        case SearchAgent():
            try:
                space_for(cell.task, cell.target, agent.space)
            except SpaceError as error:
                return str(error)
        case ReplayAgent() if agent.styles:
            family = cell.target.partition(":")[0]
            if not set(agent.styles) & set(baselines.styles(cell.task, family)):
                told = " or ".join(agent.styles)
                return f"no worked submission {told} for {cell.task} on {family}"
    return ""
