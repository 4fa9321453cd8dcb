"""Forgetting old kernels, with everything that was measured of them.

A kernel goes as a whole, once nothing has been done with it since the cut-off, unless something is
being done with it now, it holds a place on the leaderboard or a suspect result of it awaits review:
rows of all tables in one transaction, then its stored source, if no other kernel has the same, and
its pictures. Calls that touched no kernel go by their own age, marks of operators never: what they
hide may come back with a merge. The database is then rewritten, because DuckDB does not give
room back.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from results_db import database, drain, scores
from results_db.backup import WAIT_S, WHY_NOT
from results_db.blobs import BlobStore
from results_db.drain import Outcome
from results_db.errors import BlobError, DatabaseError, UpkeepError
from results_db.files import LedgerFiles, sync_folder
from results_db.transactions import remedy, transaction
from results_db.usage import usage

BY_KERNEL = (
    "builds", "diagnostics", "runs_started", "runs_finished", "verdicts", "violations", "profiles",
    "metrics", "comparisons", "kernels",
)  # fmt: skip
"""Tables whose rows are about a kernel."""


@dataclass(frozen=True)
class Wish:
    """What is to be forgotten."""

    before: datetime
    """Aware; what was last touched before it."""
    agent: str | None = None
    """What this agent sent, and its calls."""
    keep_best: bool = True
    """Whether kernels on the leaderboard stay, and those that await review."""


@dataclass(frozen=True)
class PruneReport:
    """What was forgotten, or would have been."""

    rows: Mapping[str, int]
    """Table → rows, where there were any."""
    kernels: int
    sources: int
    """Stored sources that no kernel has any more."""
    pictures: int
    freed_bytes: int
    """By which the home became smaller; 0 for a dry run."""


@dataclass(frozen=True)
class _Doomed:
    """What is known of the kernels before their rows are gone."""

    kernels: Sequence[tuple[str, str]]
    """kernel_id, source."""
    runs: Sequence[str]


def prune(home: Path, wish: Wish, *, dry_run: bool = False, wait_s: float = WAIT_S) -> PruneReport:
    """Forget; a dry run says what would go and leaves it.

    Raises: UpkeepError, DatabaseError. Nothing was forgotten then.
    """
    files, before = LedgerFiles(home), usage(home).total
    try:
        # In this order, so that every source that is stored has its row in the database.
        with BlobStore(home).pruning(), database.locked(files, wait_s) as held:
            report = drain.drain_locked(files) if held else drain.DrainReport(Outcome.LOCKED)
            if report.outcome is not Outcome.DRAINED:
                raise UpkeepError(WHY_NOT[report.outcome])
            doomed, rows, orphaned = _forget(files, wish, dry_run)
            pictures = [p for run in doomed.runs if (p := _picture(files, run)).exists()]
            if not dry_run:
                _unlink(home, doomed, orphaned, pictures)
                if rows:
                    _rewrite(files)
                # Publishes what is left, and takes archived segments away.
                drain.drain_locked(files)
    except (OSError, BlobError, duckdb.Error) as error:
        text = f"can't prune {files.database}: {error}{remedy(error)}"
        raise DatabaseError(text) from error
    freed = 0 if dry_run else max(0, before - usage(home).total)
    return PruneReport(rows, len(doomed.kernels), len(orphaned), len(pictures), freed)


def _forget(
    files: LedgerFiles, wish: Wish, dry_run: bool
) -> tuple[_Doomed, Mapping[str, int], Sequence[str]]:
    """Delete the rows in one transaction: what went, rows per table, sources nobody has now."""
    with _opened(files) as connection:
        cut = wish.before.astimezone(UTC).replace(tzinfo=None)
        connection.execute("CREATE TEMP TABLE doomed AS " + _DOOMED, {
            "before": cut, "agent": wish.agent, "keep_best": wish.keep_best
        })  # fmt: skip
        doomed = _doomed(connection)
        with transaction(connection, commit=not dry_run):
            rows = _delete(connection, cut, wish.agent)
            left = connection.execute("SELECT DISTINCT blob FROM kernels").fetchall()
        if not dry_run:
            connection.execute("CHECKPOINT ledger")
    orphaned = sorted({blob for _, blob in doomed.kernels if blob} - {blob for (blob,) in left})
    return doomed, rows, orphaned


def _doomed(connection: duckdb.DuckDBPyConnection) -> _Doomed:
    kernels = connection.execute(
        "SELECT DISTINCT kernel_id, blob FROM kernels SEMI JOIN doomed USING (kernel_id)"
    ).fetchall()
    runs = connection.execute(
        "SELECT run_id FROM runs_started SEMI JOIN doomed USING (kernel_id)"
    ).fetchall()
    return _Doomed([(kernel, blob) for kernel, blob in kernels], [run for (run,) in runs])


_DOOMED = """
WITH
busy AS (
  -- A run that still goes on, or a compilation, which has no row of its beginning.
  SELECT unnest([kernel_id, coalesce(against, kernel_id)]) AS kernel_id
  FROM runs WHERE status = 'running' AND kernel_id IS NOT NULL
  UNION ALL
  SELECT kernel_id FROM kernels SEMI JOIN (
    SELECT segment FROM journal_segments WHERE NOT closed) USING (segment)
  WHERE kernel_id IS NOT NULL AND kernel_id NOT IN (
    SELECT kernel_id FROM builds WHERE kernel_id IS NOT NULL)),
touched AS (
  SELECT kernel_id, agent, recorded_at FROM kernels
  UNION ALL SELECT kernel_id, NULL, recorded_at FROM runs_started
  UNION ALL SELECT kernel_id, NULL, recorded_at FROM runs_finished
  UNION ALL SELECT kernel_id, NULL, recorded_at FROM builds
  UNION ALL SELECT against, NULL, recorded_at FROM runs_started)
SELECT kernel_id FROM touched
WHERE kernel_id IS NOT NULL
GROUP BY kernel_id
HAVING max(recorded_at) < $before
  AND ($agent IS NULL OR any_value(agent) = $agent)
  AND NOT ($keep_best AND kernel_id IN (
    SELECT kernel_id FROM leaderboard
    UNION ALL SELECT kernel_id FROM review WHERE decision IS NULL))
  AND kernel_id NOT IN (SELECT kernel_id FROM busy)
"""

_CALLS = """
DELETE FROM calls WHERE recorded_at < $before AND ($agent IS NULL OR agent = $agent)
AND (kernel_id IS NULL OR kernel_id NOT IN (SELECT kernel_id FROM kernels))
"""

_SESSIONS = """
DELETE FROM sessions WHERE recorded_at < $before AND ($agent IS NULL OR agent = $agent)
AND session NOT IN (
  SELECT session FROM calls WHERE session IS NOT NULL
  UNION SELECT session FROM kernels WHERE session IS NOT NULL
  UNION SELECT session FROM runs_started WHERE session IS NOT NULL)
"""

_HOSTS = """
DELETE FROM hosts WHERE recorded_at < $before AND $agent IS NULL AND id NOT IN (
  SELECT arg_max(id, recorded_at) FROM hosts GROUP BY fingerprint)
"""


def _delete(
    connection: duckdb.DuckDBPyConnection, before: datetime, agent: str | None
) -> dict[str, int]:
    wish = {"before": before, "agent": agent}
    counts = {
        table: _count(
            connection, f"DELETE FROM {table} WHERE kernel_id IN (SELECT kernel_id FROM doomed)", {}
        )
        for table in BY_KERNEL
    }
    # Calls look at which kernels are left, sessions at which calls.
    for table, statement in (("calls", _CALLS), ("sessions", _SESSIONS), ("hosts", _HOSTS)):
        counts[table] = _count(connection, statement, wish)
    scores.rebuild(connection)
    return {table: count for table, count in counts.items() if count}


def _unlink(home: Path, doomed: _Doomed, orphaned: Sequence[str], pictures: Sequence[Path]) -> None:
    """Files go after their rows: a crash in between leaves files that nobody misses."""
    store = BlobStore(home)
    for kernel_id, digest in doomed.kernels:
        record, source = store.paths_of(kernel_id, digest)
        record.unlink(missing_ok=True)
        if digest in orphaned:
            source.unlink(missing_ok=True)
    for picture in pictures:
        picture.unlink(missing_ok=True)


def _rewrite(files: LedgerFiles) -> None:
    """Copy the database into a new file that takes its place."""
    fresh = files.database.with_name(f"{files.database.name}.{secrets.token_hex(8)}.tmp")
    try:
        with _opened(files) as connection:
            database.attach(connection, str(fresh), "fresh")
            connection.execute("COPY FROM DATABASE ledger TO fresh")
            connection.execute("CHECKPOINT fresh")
        fresh.replace(files.database)
        sync_folder(files.home)
    finally:
        fresh.unlink(missing_ok=True)
        fresh.with_name(f"{fresh.name}.wal").unlink(missing_ok=True)


@contextlib.contextmanager
def _opened(files: LedgerFiles) -> Iterator[duckdb.DuckDBPyConnection]:
    connection = database.connect(files)
    if connection is None:
        raise UpkeepError(WHY_NOT[Outcome.HELD])
    with contextlib.closing(connection):
        yield connection


def _picture(files: LedgerFiles, run_id: str) -> Path:
    return files.pictures / f"{Path(run_id).name}.png"


def _count(
    connection: duckdb.DuckDBPyConnection, statement: str, values: Mapping[str, object]
) -> int:
    found = connection.execute(statement, dict(values)).fetchone()
    return int(found[0]) if found else 0
