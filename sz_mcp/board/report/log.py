"""The experiment log: who did what under which conditions, on what, and how to do it again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sz_mcp.board.copy import Copy
from sz_mcp.board.report.measured import Measured, Scope


@dataclass(frozen=True)
class SessionEntry:
    """Sessions that worked under one set of conditions."""

    agent: str
    model: str
    client: str
    prompt_tier: str
    feedback: str
    sessions: int
    calls: int
    first: datetime
    last: datetime


@dataclass(frozen=True)
class HostEntry:
    """A machine and its software; one entry per state that it was in."""

    fingerprint: str
    cpu: str
    gpu: str
    cores: int | None
    os: str
    python: str
    versions: str
    commit: str
    harness: str


@dataclass(frozen=True)
class BenchEntry:
    """One bench and its specification."""

    bench_id: str
    name: str
    spec: str
    spec_hash: str
    cells: int
    versions: str
    starts: int


@dataclass(frozen=True)
class CellEntry:
    """How the cells of one agent of a bench ended."""

    bench_id: str
    agent: str
    event: str
    """The last one: `started` of a cell that has not ended."""
    cells: int
    reasons: tuple[str, ...]
    """Some that were given."""


@dataclass(frozen=True)
class KernelEntry:
    """A kernel that is in the report, and the hashes of its source."""

    kernel_id: str
    run_id: str
    content_hash: str
    blob: str


@dataclass(frozen=True)
class Log:
    """All of it."""

    benches: tuple[BenchEntry, ...]
    cells: tuple[CellEntry, ...]
    sessions: tuple[SessionEntry, ...]
    hosts: tuple[HostEntry, ...]
    kernels: tuple[KernelEntry, ...]


def log(copy: Copy, scope: Scope, best: Sequence[Measured]) -> Log:
    """Read it. Raises duckdb.Error."""
    return Log(
        benches=_benches(copy, scope),
        cells=cells(copy, scope),
        sessions=_sessions(copy, scope),
        hosts=_hosts(copy, best),
        kernels=_kernels(copy, best),
    )


def _sessions(copy: Copy, scope: Scope) -> tuple[SessionEntry, ...]:
    rows = copy.rows(
        """
        WITH
          called AS (
            SELECT session, agent, count(*) AS calls, min(started_at) AS first,
              max(started_at) AS last
            FROM calls GROUP BY ALL),
          told AS (
            SELECT session, agent, any_value(model) AS model, any_value(client) AS client,
              any_value(prompt_tier) AS prompt_tier, any_value(feedback_level) AS feedback_level,
              min(recorded_at) AS began
            FROM sessions GROUP BY ALL)
        SELECT agent, coalesce(model, ''), coalesce(client, ''), coalesce(prompt_tier, ''),
          coalesce(feedback_level, ''), count(*), coalesce(sum(calls), 0)::BIGINT,
          min(coalesce(first, began)), max(coalesce(last, began))
        FROM told LEFT JOIN called USING (session, agent)
        WHERE ? = '' OR starts_with(session, ? || '/')
        GROUP BY 1, 2, 3, 4, 5 ORDER BY ALL
        """,
        [scope.bench, scope.bench],
    )
    return tuple(SessionEntry(*row) for row in rows)


def _hosts(copy: Copy, best: Sequence[Measured]) -> tuple[HostEntry, ...]:
    rows = copy.rows(
        """
        SELECT DISTINCT fingerprint, coalesce(cpu, ''), coalesce(gpu, ''), cores, coalesce(os, ''),
          coalesce(python, ''), coalesce(versions::VARCHAR, ''), coalesce(commit_hash, ''),
          coalesce(harness, '')
        FROM hosts WHERE fingerprint IN (SELECT unnest(?::VARCHAR[])) ORDER BY ALL
        """,
        [sorted({one.board.host for one in best})],
    )
    return tuple(HostEntry(*row) for row in rows)


def _kernels(copy: Copy, best: Sequence[Measured]) -> tuple[KernelEntry, ...]:
    hashes = {
        row[0]: (row[1], row[2])
        for row in copy.rows(
            "SELECT kernel_id, content_hash, blob FROM kernels"
            " WHERE kernel_id IN (SELECT unnest(?::VARCHAR[]))",
            [sorted({one.kernel_id for one in best})],
        )
    }
    return tuple(
        KernelEntry(one.kernel_id, one.run_id, *hashes.get(one.kernel_id, ("", "")))
        for one in sorted(best, key=lambda one: (one.kernel_id, one.run_id))
    )


def _benches(copy: Copy, scope: Scope) -> tuple[BenchEntry, ...]:
    rows = copy.rows(
        """
        SELECT bench_id, arg_max(name, recorded_at), arg_max(spec::VARCHAR, recorded_at),
          arg_max(spec_hash, recorded_at), arg_max(cells, recorded_at),
          arg_max(versions::VARCHAR, recorded_at), count(*)
        FROM benches WHERE ? = '' OR bench_id = ? GROUP BY bench_id ORDER BY bench_id
        """,
        [scope.bench, scope.bench],
    )
    return tuple(BenchEntry(*row) for row in rows)


def cells(copy: Copy, scope: Scope) -> tuple[CellEntry, ...]:
    """How cells ended, per bench and agent; those that did not finish among them."""
    rows = copy.rows(
        """
        WITH last AS (
          SELECT * FROM bench_cells WHERE ? = '' OR bench_id = ?
          QUALIFY row_number() OVER (
            PARTITION BY bench_id, cell_id
            ORDER BY recorded_at DESC, event = 'started', id) = 1)
        SELECT bench_id, agent, event, count(*),
          list_slice(list_sort(list(DISTINCT reason) FILTER (reason <> '')), 1, 3)
        FROM last GROUP BY ALL ORDER BY ALL
        """,
        [scope.bench, scope.bench],
    )
    return tuple(
        CellEntry(bench_id, agent, event, count, tuple(reasons or ()))
        for bench_id, agent, event, count, reasons in rows
    )


def indented(spec: str) -> str:
    """JSON as people read it."""
    try:
        return json.dumps(json.loads(spec), indent=2, ensure_ascii=False)
    except ValueError:
        return spec
