"""Opening the published copy of the ledger for one page, read-only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from results_db import drain, schema
from results_db.errors import DatabaseError, QueryError
from results_db.files import LedgerFiles

Row = tuple[Any, ...]
FIRST_WAIT_S = 10.0
"""How long making a first copy may take."""


@dataclass(frozen=True)
class Copy:
    """The copy as one page sees it."""

    connection: duckdb.DuckDBPyConnection
    as_of: datetime | None
    """When the drain that last put something into it began; None: never."""

    def rows(self, sql: str, given: Sequence[object] = ()) -> list[Row]:
        """What a query finds. Raises duckdb.Error."""
        return self.connection.execute(sql, list(given)).fetchall()

    def has(self, table: str) -> bool:
        """Whether there is such a table or view."""
        found = self.rows(
            "SELECT 1 FROM information_schema.tables WHERE table_name = ?"
            " AND table_catalog = current_database()",
            [table],
        )
        return bool(found)


@contextmanager
def opened(home: Path) -> Iterator[Copy]:
    """The newest copy there is.

    Raises: QueryError if there is none, or if it is of another version.
    """
    path = LedgerFiles(home).snapshot
    if not path.exists():
        raise QueryError(f"no ledger was published in {home} yet")
    # Attached to a database in memory: a connection to the file itself would be shared with
    # whoever still has the copy open that this one has replaced.
    with duckdb.connect(":memory:", config={"threads": 2}) as connection:
        quoted = str(path).replace("'", "''")
        connection.execute(f"ATTACH '{quoted}' AS ledger (READ_ONLY)")
        connection.execute("USE ledger")
        connection.execute("SET TimeZone = 'UTC'")
        found = schema.installed_version(connection)
        if found != schema.VERSION:
            raise QueryError(
                f"{path} has schema {found}, and this sz-mcp reads {schema.VERSION}: "
                "`sz-mcp ledger stats` brings an older one up to date"
            )
        yield Copy(connection, _as_of(connection))


def stamp(home: Path) -> tuple[int, int]:
    """Differs between any two copies."""
    try:
        found = LedgerFiles(home).snapshot.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_mtime_ns, found.st_ino


def refresh(home: Path) -> str:
    """Publish what the journals hold, as far as that can be; why newer rows are missing, if so."""
    files = LedgerFiles(home)
    if not home.is_dir():
        raise QueryError(f"there is no ledger in {home}: nothing was evaluated there")
    try:
        report = drain.drain(home, wait_s=FIRST_WAIT_S)
    except DatabaseError as error:
        if files.snapshot.exists():
            return str(error)
        raise QueryError(str(error)) from error
    if report.outcome is drain.Outcome.DRAINED:
        return ""
    return f"newer rows are missing: the database is {report.outcome.value}"


def _as_of(connection: duckdb.DuckDBPyConnection) -> datetime | None:
    found = connection.execute("SELECT max(drained_at) FROM journal_segments").fetchone()
    moment: datetime | None = found[0] if found else None
    return None if moment is None else moment.replace(tzinfo=UTC)
