"""`sz-mcp bench`: read a spec, say what it comes to, run it."""

from __future__ import annotations

import asyncio
import fnmatch
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from results_db.errors import QueryError
from sz_mcp.bench import progress, reading, shipped, world
from sz_mcp.bench.cells import Cell
from sz_mcp.bench.records import Before, read_before
from sz_mcp.bench.runner import Bench, Outcome, only_one
from sz_mcp.bench.spec import Budget, Spec
from sz_mcp.errors import SettingsError, StepFailed
from sz_mcp.serving import log_to_stderr

_AGAIN = ("failed", "skipped")


@dataclass(frozen=True)
class Wish:
    """What was asked for."""

    spec: str
    home: Path
    only: str | None = None
    retry: bool = False


@dataclass(frozen=True)
class _Ready:
    """A spec with what there is to do."""

    plan: world.Plan
    before: Before
    todo: tuple[Cell, ...]


def show_specs() -> None:
    """List the specs that come with the package."""
    table = Table("spec", "about", box=None)
    for name in shipped.names():
        text = shipped.find(name).read_text(encoding="utf-8")
        about = next((x.partition(":")[2] for x in text.splitlines() if x.startswith("about:")), "")
        table.add_row(name, about.strip().strip("\"'"))
    Console().print(table)


def check(wish: Wish) -> None:
    """Say what a spec comes to. Raises SettingsError."""
    ready, console = _ready(wish), Console(soft_wrap=True)
    spec, plan, todo = ready.plan.spec, ready.plan, ready.todo
    console.print(f"{spec.bench_id}: {len(plan.cells)} cells, {len(todo)} to do", highlight=False)
    table = Table("agent", "kind", "target", "cells", "cannot be", box=None)
    counts = Counter((cell.agent, cell.target) for cell in plan.cells)
    cannot = Counter((c.agent, c.target) for c in plan.cells if c.cell_id in plan.skipped)
    for (agent, target), count in counts.items():
        row = (agent, spec.agents[agent].kind, target, str(count), str(cannot[agent, target] or ""))
        table.add_row(*row)
    console.print(table)
    for reason, count in Counter(plan.skipped.values()).items():
        console.print(f"skipped, {count} cells: {reason}", markup=False, highlight=False)
    for line in _estimates(ready):
        console.print(line, markup=False, highlight=False)
    for cell in todo:
        console.print(cell.cell_id, markup=False, highlight=False)


def run(wish: Wish) -> None:
    """Run what is left of a bench.

    Raises:
        SettingsError: the spec can't be used.
        StepFailed: the server could not be had.
    """
    log_to_stderr()
    ready = _ready(wish)
    spec, plan = ready.plan.spec, ready.plan
    with only_one(wish.home, spec.bench_id):
        # Read again: another process may just have ended it.
        ready = _of(plan, wish)
        outcome = _run(ready, wish.home)
    console = Console(soft_wrap=True)
    spent = outcome.spent
    console.print(
        f"{spec.bench_id}: {progress.summary(outcome.events)}; in all {spent.calls} calls, "
        f"{progress.spoken(spent.seconds)} of agents' time, {spent.tokens} tokens, "
        f"${spent.dollars:.2f}",
        markup=False,
        highlight=False,
    )
    if outcome.left:
        told = f"{outcome.left} cells were not begun ({outcome.why_left}): raise it and go on"
        console.print(told, markup=False, highlight=False)


def _run(ready: _Ready, home: Path) -> Outcome:
    spec = ready.plan.spec
    estimate = progress.Estimate(ready.todo, ready.before, spec.parallel)
    done = sum(cell.cell_id in ready.before.ended for cell in ready.plan.cells)
    total = done + len(ready.todo)
    with progress.watching(done, total, estimate) as watcher:
        bench = Bench(ready.plan, home, ready.before, watcher)
        try:
            return asyncio.run(bench.run(ready.todo))
        except ExceptionGroup as group:
            failed = group.subgroup(StepFailed)
            while isinstance(failed, ExceptionGroup):
                failed = failed.exceptions[0]  # type: ignore[assignment]
            if failed is None:
                raise
            raise failed from None


def _ready(wish: Wish) -> _Ready:
    seen = world.survey(wish.home)
    spec: Spec = reading.read(shipped.find(wish.spec), seen.names)
    return _of(world.plan(spec, seen), wish)


def _of(plan: world.Plan, wish: Wish) -> _Ready:
    try:
        before = read_before(wish.home, plan.spec.bench_id)
    except QueryError as error:
        raise SettingsError(str(error)) from error
    again = _AGAIN if wish.retry else ()
    todo = tuple(
        cell
        for cell in plan.cells
        if (cell.cell_id not in before.ended or before.ended[cell.cell_id] in again)
        and (wish.only is None or fnmatch.fnmatchcase(cell.cell_id, wish.only))
    )
    return _Ready(plan, before, todo)


def _estimates(ready: _Ready) -> list[str]:
    """What it may cost at most, and how long it will take as far as that is known."""
    spec = ready.plan.spec
    possible = [cell for cell in ready.todo if cell.cell_id not in ready.plan.skipped]
    most = progress.most_s(possible, spec.budget.cell, spec.parallel)
    known = progress.Estimate(possible, ready.before, spec.parallel).left_s()
    lines = [f"time: at most {progress.spoken(most)}" if most is not None else "time: no limit"]
    if known is not None:
        lines.append(f"time, by the cells that ended: {progress.spoken(known)}")
    readers = [cell for cell in possible if cell.waits]
    for name, count in (
        ("calls", len(possible)),
        ("tokens", len(readers)),
        ("dollars", len(readers)),
    ):
        lines.append(f"{name}: {_most(name, count, spec.budget.cell, spec.budget.total)}")
    return lines


def _most(name: str, cells: int, each: Budget, whole: Budget) -> str:
    limits = [cells * getattr(each, name)] if getattr(each, name) is not None else []
    limits += [getattr(whole, name)] if getattr(whole, name) is not None else []
    return f"at most {min(limits):g}" if limits else "no limit"
