"""SQL over the ledger's snapshot: read-only, one statement, limited in time, memory and rows."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

from results_db import drain
from results_db.encoding import Json
from results_db.errors import DatabaseError, QueryError
from results_db.files import LedgerFiles
from results_db.transactions import remedy
from results_db.viewing import Shared, Viewer

TIMEOUT_S = 10.0
"""Default time of a query."""

DRAIN_WAIT_S = 1.0
"""How long a query waits for another process's drain to end before it reads what there is."""

FIRST_WAIT_S = 10.0
"""The same where there is nothing to read yet: making a database takes a second or two."""

SQL_LIMIT = 100_000
"""Characters of one query."""

_GRACE_S = 3.0
"""Time beyond a query's own in which its process must have started, replied and ended."""

_CHILD = Path(__file__).with_name("sql_child.py")


@dataclass(frozen=True)
class QueryResult:
    """A table. Values are JSON: NaN and infinities are None, times ISO text in UTC."""

    columns: tuple[str, ...]
    """Distinct names."""
    rows: tuple[tuple[Json, ...], ...]
    truncated: bool
    """Whether there were more rows than asked for, or than a reply may hold."""
    as_of: datetime
    """Everything acknowledged before this moment was there to be read."""
    warning: str = ""
    """Why newer rows are missing, if they are."""


def query(
    home: Path,
    sql: str,
    max_rows: int = 1000,
    *,
    drain_first: bool = True,
    timeout_s: float = TIMEOUT_S,
    viewer: Viewer | None = None,
) -> QueryResult:
    """Run one statement that only reads.

    viewer: an agent that sees its own rows, shared ones, and of all others the scores; None: the
    operator.
    Raises: QueryError with DuckDB's message, or with what is wrong with the request.
    """
    if max_rows < 1:
        raise QueryError(f"max_rows must be at least 1, not {max_rows}")
    if len(sql) > SQL_LIMIT:
        raise QueryError(f"the query has {len(sql)} characters; {SQL_LIMIT} are allowed")
    files = LedgerFiles(home)
    # Started first: it loads DuckDB while this process drains.
    with _child() as child:
        try:
            as_of, warning = _refresh(files, drain_first)
            request = {
                "path": str(files.snapshot),
                "sql": sql.encode("utf-8", "backslashreplace").decode("utf-8"),
                "max_rows": max_rows,
                "timeout_s": timeout_s,
                "viewer": None if viewer is None else _view_of(files.home, viewer),
            }
            reply = _ask(child, json.dumps(request), timeout_s)
        finally:
            child.kill()
    if "error" in reply:
        raise QueryError(reply["error"] + remedy(reply["error"]))
    return QueryResult(
        columns=tuple(reply["columns"]),
        rows=tuple(tuple(row) for row in reply["rows"]),
        truncated=reply["truncated"],
        as_of=as_of or datetime.fromisoformat(reply["published"]).replace(tzinfo=UTC),
        warning=warning,
    )


def _view_of(home: Path, viewer: Viewer) -> dict[str, Json]:
    return {
        "agent": viewer.agent,
        "session": viewer.session,
        "shared": list[Json](Shared(home).all()),
    }


class _Reply(TypedDict, total=False):
    """What the child says: an error, or everything else."""

    error: str
    columns: list[str]
    rows: list[list[Json]]
    truncated: bool
    published: str


def _child() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", str(_CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def _refresh(files: LedgerFiles, drain_first: bool) -> tuple[datetime | None, str]:
    """Bring the snapshot up to date if that can be had soon.

    Returns the moment it is up to date with, and why newer rows can't be had, if so.
    """
    exists = files.snapshot.exists()
    if exists and not drain_first:
        return None, ""
    try:
        wait_s = DRAIN_WAIT_S if exists else FIRST_WAIT_S
        report = drain.drain(files.home, wait_s=wait_s, limit_s=DRAIN_WAIT_S)
    except DatabaseError as error:
        # A home that may only be read, such as an analyst's, or a database that needs mending: what
        # was published can still be read.
        if exists:
            return None, f"rows newer than the snapshot are missing: {error}"
        raise QueryError(f"no ledger at {files.home}, and none can be made: {error}") from error
    if files.snapshot.exists():
        return report.as_of, ""
    raise QueryError(
        f"nothing was published in {files.home} yet: "
        f"{_WHY_NOT.get(report.outcome, 'the drain did not end')}"
    )


_WHY_NOT = {
    drain.Outcome.LOCKED: "another process is making it; try again in a second",
    drain.Outcome.HELD: "somebody has ledger.duckdb open; close it and try again",
}


def _ask(child: subprocess.Popen[str], request: str, timeout_s: float) -> _Reply:
    try:
        output, complaint = child.communicate(request, timeout=timeout_s + _GRACE_S)
    except subprocess.TimeoutExpired:
        raise QueryError(f"the query took longer than {timeout_s} s and was stopped") from None
    if child.returncode < 0:
        raise QueryError("the query needed more memory or time than it may have")
    if child.returncode > 0:
        raise QueryError(f"the query could not be run: {complaint.strip()[-500:]}")
    reply: _Reply = json.loads(output)
    return reply
