"""Replays: calls that were made before, made again in order.

What is replayed is a `Step` per call. Kernels get new ids; a step names its kernel by the number of
the compile that sent it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernels import baselines
from results_db.blobs import BlobStore
from results_db.errors import BlobError, QueryError
from results_db.queries import query
from results_db.runs import literal
from sz_mcp.bench.agents.desk import ON_KERNELS, Caller, Desk, calling
from sz_mcp.bench.errors import CellFailed
from sz_mcp.bench.spec import ReplayAgent
from sz_mcp.errors import StepFailed
from sz_mcp.scripted import STOPPED

_MOST_STEPS = 10_000
_KEPT = ("field", "mode", "bound", "repeats", "threads")
"""Arguments that are made again."""


@dataclass(frozen=True)
class Step:
    """One call."""

    tool: str
    kernel: int
    """Which compile of the session its kernel is of, from 0; of a compile its own number."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Of compile_kernel."""
    parent: int | None = None
    arguments: Mapping[str, object] = field(default_factory=dict)
    """Of the other tools; without any, as the cell asks."""


async def work(agent: ReplayAgent, desk: Desk) -> str:
    """Make all calls; returns how it ended.

    Raises:
        CellFailed: there is nothing to replay.
        CellStopped: the budget is spent.
    """
    steps = await asyncio.to_thread(_steps, agent, desk)
    ids: dict[int, str] = {}
    dead: set[int] = set()
    refused = 0
    async with calling(desk) as caller:
        for step in steps:
            if step.tool != "compile_kernel" and step.kernel in dead:
                continue
            try:
                status = await _make(step, caller, desk, ids)
            except StepFailed:
                # What was refused then may be refused now; the rest goes on.
                refused += 1
                status = "error" if step.tool == "compile_kernel" else ""
            if step.tool == "compile_kernel" and status in STOPPED and not agent.session:
                dead.add(step.kernel)
    return f"{len(steps)} calls replayed" + (f", {refused} of them refused" if refused else "")


async def _make(step: Step, caller: Caller, desk: Desk, ids: dict[int, str]) -> str:
    """Make one call; its status."""
    cell = desk.cell
    if step.tool == "compile_kernel":
        told: dict[str, object] = {"task": cell.task, "target": cell.target}
        told["files"] = dict(step.files)
        if step.parent is not None and step.parent in ids:
            told["parent"] = ids[step.parent]
        reply = await caller.call(step.tool, told)
        ids[step.kernel] = str(reply.structured["kernel_id"])
        return str(reply.structured["status"])
    if step.kernel not in ids:
        raise StepFailed(f"{step.tool}: its kernel was refused")
    at = desk.at_suite() if step.tool == "verify_bounds" else desk.at_field()
    reply = await caller.call(step.tool, {"kernel_id": ids[step.kernel], **(step.arguments or at)})
    return str(reply.structured["status"])


def _steps(agent: ReplayAgent, desk: Desk) -> Sequence[Step]:
    cell = desk.cell
    if agent.session:
        found = list(_recorded(agent.session, agent.home or desk.home, cell.task, cell.target))
    elif agent.styles:
        family = cell.target.partition(":")[0]
        there = [one for one in agent.styles if one in baselines.styles(cell.task, family)]
        found = list(_attempts([baselines.read(cell.task, one, family).files for one in there]))
    else:
        found = list(_attempts([_folder(path) for path in agent.folders]))
    if not found:
        raise CellFailed(f"there is nothing to replay for {cell.task} on {cell.target}")
    return found


def _attempts(sources: Sequence[Mapping[str, str]]) -> Iterator[Step]:
    """As a diligent agent does: each is compiled, verified and run."""
    for at, files in enumerate(sources):
        yield Step("compile_kernel", at, files, parent=at - 1 if at else None)
        yield Step("verify_bounds", at)
        yield Step("run_compress", at)


def _folder(path: Path) -> dict[str, str]:
    try:
        return {
            one.name: one.read_text(encoding="utf-8")
            for one in sorted(path.iterdir())
            if one.is_file() and not one.name.startswith(".")
        }
    except (OSError, UnicodeDecodeError) as error:
        raise CellFailed(f"{path} can't be replayed: {error}") from error


def _recorded(session: str, home: Path, task: str, target: str) -> Iterator[Step]:
    """The calls of a session on kernels of a task and target."""
    tools = ", ".join(literal(name) for name in sorted(ON_KERNELS))
    statement = (
        "SELECT c.tool, c.kernel_id, k.blob, k.parent, c.arguments FROM calls c "
        f"JOIN kernels k USING (kernel_id) WHERE c.session = {literal(session)} "
        f"AND c.tool IN ({tools}) AND k.task = {literal(task)} AND k.target = {literal(target)} "
        "ORDER BY c.started_at"
    )
    blobs, numbers = BlobStore(home), dict[str, int]()
    try:
        for tool, kernel_id, blob, parent, told in query(home, statement, _MOST_STEPS).rows:
            if tool == "compile_kernel":
                number = numbers.setdefault(str(kernel_id), len(numbers))
                source = blobs.get_source(str(blob))
                yield Step(str(tool), number, source, parent=numbers.get(str(parent)))
            elif str(kernel_id) in numbers:
                yield Step(str(tool), numbers[str(kernel_id)], arguments=_kept(told))
    except (QueryError, BlobError) as error:
        raise CellFailed(f"the session {session!r} of {home} can't be replayed: {error}") from error


def _kept(told: Any) -> dict[str, object]:
    arguments: dict[str, object] = json.loads(told) if isinstance(told, str) else dict(told or {})
    return {name: arguments[name] for name in _KEPT if name in arguments}
