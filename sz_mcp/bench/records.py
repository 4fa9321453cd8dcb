"""The bench's own rows of the ledger, and what a bench that is started again reads back of them."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from results_db.files import LedgerFiles
from results_db.ledger import Ledger
from results_db.queries import query
from results_db.rows import BenchCellRow, BenchRow, UsageRow
from results_db.runs import literal
from sz_mcp import __version__
from sz_mcp.bench.agents.desk import Usage
from sz_mcp.bench.cells import Cell
from sz_mcp.bench.prompting import digests
from sz_mcp.bench.spec import Spec

Event = Literal["started", "finished", "failed", "skipped", "stopped"]
ENDS: tuple[Event, ...] = ("finished", "failed", "skipped", "stopped")
"""After these a cell is not begun again."""
_EVENTS: Mapping[str, Event] = {event: event for event in ENDS}
_LIBRARIES = ("mcp", "numba", "numpy", "duckdb", "optuna", "pydantic-ai-slim", "openai")
_MOST_ROWS = 1_000_000
_REASON = 500
"""Characters."""


@dataclass(frozen=True)
class Spent:
    """What was used, of a cell or of all."""

    calls: int = 0
    seconds: float = 0.0
    tokens: int = 0
    dollars: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.calls + other.calls,
            self.seconds + other.seconds,
            self.tokens + other.tokens,
            self.dollars + other.dollars,
        )


@dataclass(frozen=True)
class Before:
    """What earlier starts of a bench have left."""

    starts: Mapping[str, int] = field(default_factory=dict)
    """cell_id → how often it was begun."""
    ended: Mapping[str, Event] = field(default_factory=dict)
    """cell_id → how it ended."""
    spent: Spent = Spent()
    seconds: Mapping[tuple[str, str], tuple[float, int]] = field(default_factory=dict)
    """(agent, target) → seconds of its ended cells together, and how many there are."""


def read_before(home: Path, bench_id: str) -> Before:
    """What the ledger says of a bench. Raises QueryError."""
    if not LedgerFiles(home).home.exists():
        return Before()
    named = f"bench_id = {literal(bench_id)}"
    cells = query(
        home,
        "SELECT cell_id, event, agent, target, coalesce(calls, 0), coalesce(seconds, 0) "
        f"FROM bench_cells WHERE {named} ORDER BY recorded_at",
        _MOST_ROWS,
    ).rows
    starts: dict[str, int] = {}
    ended: dict[str, Event] = {}
    seconds: dict[tuple[str, str], tuple[float, int]] = {}
    whole = 0.0
    for cell_id, event, agent, target, _, took in cells:
        cell, key = str(cell_id), (str(agent), str(target))
        if event == "started":
            starts[cell] = starts.get(cell, 0) + 1
            continue
        ended[cell] = _EVENTS[str(event)]
        if event != "skipped":
            whole += float(str(took))
            before = seconds.get(key, (0.0, 0))
            seconds[key] = (before[0] + float(str(took)), before[1] + 1)
    return Before(starts, ended, _spent(home, bench_id, whole), seconds)


def _spent(home: Path, bench_id: str, seconds: float) -> Spent:
    """Sessions that were cut short have cost something too."""
    mine = f"session IN (SELECT session FROM bench_cells WHERE bench_id = {literal(bench_id)})"
    ((calls,),) = query(
        home, f"SELECT count(*) FROM calls WHERE attempt IS NOT NULL AND {mine}", drain_first=False
    ).rows
    ((tokens, dollars),) = query(
        home,
        "SELECT coalesce(sum(input_tokens + output_tokens), 0)::BIGINT, "
        f"coalesce(sum(dollars), 0)::DOUBLE FROM usage WHERE {mine}",
        drain_first=False,
    ).rows
    return Spent(int(str(calls)), seconds, int(str(tokens)), float(str(dollars)))


class Records:
    """Writes rows of one bench. Every method returns once its row is on disk."""

    def __init__(self, ledger: Ledger, spec: Spec) -> None:
        self._ledger, self._spec = ledger, spec
        self._turns: dict[str, int] = {}

    def begun(self, cells: int) -> None:
        """The bench was started, or started again."""
        self._ledger.bench(
            BenchRow(
                bench_id=self._spec.bench_id,
                name=self._spec.name,
                spec=self._spec.plain(),
                spec_hash=self._spec.digest,
                cells=cells,
                versions=versions(),
            )
        )

    def event(
        self, cell: Cell, session: str, event: Event, reason: str = "", spent: Spent | None = None
    ) -> None:
        """Something happened to a cell."""
        self._ledger.bench_cell(
            BenchCellRow(
                bench_id=self._spec.bench_id,
                cell_id=cell.cell_id,
                session=session,
                agent=cell.agent,
                agent_kind=cell.kind,
                task=cell.task,
                target=cell.target,
                prompt_tier=cell.prompt_tier or "",
                feedback_level=cell.feedback_level,
                repeat=cell.repeat,
                event=event,
                reason=reason[:_REASON],
                calls=None if spent is None else spent.calls,
                seconds=None if spent is None else spent.seconds,
            )
        )

    def used(self, cell: Cell, session: str, usage: Usage) -> None:
        """An agent reported what it used."""
        turn = self._turns[session] = self._turns.get(session, 0) + 1
        self._ledger.usage(
            UsageRow(
                session=session,
                agent=cell.agent,
                turn=turn,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cached_tokens=usage.cached_tokens,
                dollars=usage.dollars,
                source=usage.source,
            )
        )


def versions() -> dict[str, str]:
    """What it takes to repeat a bench, beside its spec and the host's row."""
    found = {"sz-mcp": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {**found, **{f"prompt {name}": digest for name, digest in digests().items()}}
