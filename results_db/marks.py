"""Decisions of operators on what may be ranked: hidden from rankings, or cleared. Never deleted.

A mark is one more row of the journal, like everything else; the last one on a subject counts. What
it touches follows from the views `decisions` and `scored_runs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import duckdb

from results_db import drain
from results_db.backup import WAIT_S, WHY_NOT
from results_db.errors import QueryError
from results_db.files import LedgerFiles
from results_db.ledger import Ledger
from results_db.rows import MarkRow

About = Literal["kernel", "run", "agent", "session", "likeness"]
Decision = Literal["hidden", "cleared"]

_SUBJECTS = {
    "kernel": "SELECT DISTINCT kernel_id AS subject, kernel_id, agent, session FROM kernels"
    " WHERE starts_with(kernel_id, $subject)",
    "run": "SELECT r.run_id AS subject, r.kernel_id, k.agent, k.session FROM runs r"
    " LEFT JOIN kernels k USING (kernel_id) WHERE starts_with(r.run_id, $subject)",
    "agent": "SELECT DISTINCT agent AS subject, NULL, agent, NULL FROM kernels"
    " WHERE agent = $subject",
    "session": "SELECT session AS subject, NULL,"
    " CASE WHEN count(DISTINCT agent) = 1 THEN any_value(agent) END, session FROM kernels"
    " WHERE session = $subject GROUP BY session",
    "likeness": "SELECT DISTINCT likeness AS subject, NULL, NULL, NULL FROM kernels"
    " WHERE starts_with(likeness, $subject)",
}
"""What a mark is about → its subject in full, and the kernel, agent and session that it concerns,
where it is one alone."""


@dataclass(frozen=True)
class Mark:
    """What an operator decides, and of what."""

    about: About
    subject: str
    """A name, or of a kernel, run or likeness an unambiguous beginning of it."""
    verdict: Decision
    reason: str
    marked_by: str


@dataclass(frozen=True)
class Marked:
    """A mark that was recorded."""

    row: MarkRow
    places: tuple[int, int]
    """Rows of the leaderboard before and after."""
    delayed: str
    """Why rankings don't show it yet; empty if they do."""


def add(home: Path, mark: Mark) -> Marked:
    """Record a mark; rankings follow it at once, unless the database can't be had now.

    Raises: QueryError if there is no such subject, or several begin so; JournalError;
    DatabaseError, and then the mark may be in the journal.
    """
    drain.drain(home, wait_s=WAIT_S)
    row, before = _row(home, mark), _places(home)
    ledger = Ledger(home, writer="cli")
    try:
        ledger.mark(row)
    finally:
        ledger.close()
    outcome = drain.drain(home, wait_s=WAIT_S).outcome
    return Marked(row, (before, _places(home)), WHY_NOT.get(outcome, ""))


def _row(home: Path, mark: Mark) -> MarkRow:
    with _snapshot(home) as connection:
        rows = connection.execute(
            f"{_SUBJECTS[mark.about]} ORDER BY subject LIMIT 5", {"subject": mark.subject}
        ).fetchall()
    chosen = [row for row in rows if row[0] == mark.subject] or rows
    if not chosen:
        raise QueryError(f"no kernel in {home} is of {mark.about} {mark.subject!r}")
    if len(chosen) > 1:
        names = ", ".join(str(row[0]) for row in chosen)
        raise QueryError(f"{mark.subject!r} begins several: {names}")
    ((subject, kernel_id, agent, session),) = chosen
    return MarkRow(
        about=mark.about,
        subject=subject,
        verdict=mark.verdict,
        reason=mark.reason,
        marked_by=mark.marked_by,
        kernel_id=kernel_id,
        agent=agent,
        session=session,
    )


def _places(home: Path) -> int:
    with _snapshot(home) as connection:
        found = connection.execute("SELECT count(*) FROM leaderboard").fetchone()
    return int(found[0]) if found else 0


def _snapshot(home: Path) -> duckdb.DuckDBPyConnection:
    path = LedgerFiles(home).snapshot
    try:
        return duckdb.connect(str(path), read_only=True)
    except duckdb.Error as error:
        raise QueryError(f"can't read {path}: {error}") from error
