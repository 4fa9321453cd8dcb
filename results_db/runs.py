"""Questions about runs that the command line and resources ask: lists, one run, its samples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from results_db.encoding import Json
from results_db.errors import QueryError
from results_db.queries import QueryResult, query

LISTED = (
    "run_id, status, tool, task, target, field, mode, bound, threads, agent, session, kernel_id, "
    "against, reproduces, ratio, compress_gbps, decompress_gbps, run_gbps, started_at, finished_at"
)
"""Columns of a list of runs."""


@dataclass(frozen=True)
class Asked:
    """Which runs to list."""

    agent: str | None = None
    session: str | None = None
    status: str | None = None
    limit: int = 20


def list_runs(home: Path, asked: Asked) -> QueryResult:
    """The latest runs, running ones among them. Raises QueryError."""
    wanted = {"agent": asked.agent, "session": asked.session, "status": asked.status}
    where = "".join(f" AND runs.{k} = {literal(v)}" for k, v in wanted.items() if v is not None)
    columns = ", ".join(
        f"kernels.{name}" if name in ("task", "target") else f"runs.{name}"
        for name in LISTED.split(", ")
    )
    return query(
        home,
        f"SELECT {columns} FROM runs LEFT JOIN kernels USING (kernel_id) WHERE true{where}"
        f" ORDER BY runs.started_at DESC NULLS LAST, runs.run_id LIMIT {asked.limit}",
        asked.limit,
    )


def one_run(home: Path, run_id: str) -> dict[str, Json]:
    """Everything about a run, named in full or by an unambiguous beginning.

    Raises: QueryError if there is none, or several.
    """
    found = query(
        home,
        "SELECT runs.*, kernels.task, kernels.target FROM runs LEFT JOIN kernels"
        f" USING (kernel_id) WHERE starts_with(run_id, {literal(run_id)}) ORDER BY run_id",
        5,
    )
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    exact = [row for row in rows if row["run_id"] == run_id] or rows
    if not exact:
        raise QueryError(f"no run {run_id!r} in {home}: see `sz-mcp runs list`")
    if len(exact) > 1:
        names = ", ".join(str(row["run_id"]) for row in exact)
        raise QueryError(f"{run_id!r} begins several runs: {names}")
    return exact[0]


def one_kernel(home: Path, kernel_id: str) -> str:
    """The whole kernel_id that begins so.

    Raises: QueryError if there is none, or several.
    """
    found = query(
        home,
        f"SELECT kernel_id FROM kernels WHERE starts_with(kernel_id, {literal(kernel_id)})",
        5,
    )
    names = [str(name) for (name,) in found.rows]
    if kernel_id in names:
        return kernel_id
    if not names:
        raise QueryError(f"no kernel {kernel_id!r} in {home}: see `sz-mcp runs list`")
    if len(names) > 1:
        raise QueryError(f"{kernel_id!r} begins several kernels: {', '.join(names)}")
    return names[0]


def literal(text: str) -> str:
    """A SQL string."""
    return "'" + text.replace("'", "''").replace("\0", "") + "'"
