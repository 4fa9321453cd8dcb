"""One ledger into another: whatever another home has that this one lacks, and nothing twice.

Rows are told apart by their uuid, so a home restored from a backup takes from the old one what came
after it, and two homes of two machines become one. The other home is drained and then only read.
Sources go first, rows after: every row finds its source.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from results_db import database, drain, ingest, scores
from results_db.attempts import Attempts
from results_db.backup import WAIT_S, WHY_NOT
from results_db.blobs import BlobStore
from results_db.drain import Outcome
from results_db.errors import DatabaseError, UpkeepError
from results_db.files import LedgerFiles
from results_db.transactions import remedy, transaction


@dataclass(frozen=True)
class MergeReport:
    """What was new."""

    rows: Mapping[str, int]
    """Table → rows, where there were any."""
    blobs: int
    """Sources and kernels."""
    pictures: int


def merge(home: Path, other: Path, *, wait_s: float = WAIT_S) -> MergeReport:
    """Take into `home` what `other` has; may be repeated.

    Raises: UpkeepError, DatabaseError, BlobError, JournalError. No row was taken then.
    """
    files, theirs = LedgerFiles(home), LedgerFiles(other)
    if home.resolve() == other.resolve():
        raise UpkeepError(f"{other} is the home itself: name the one to take from")
    if not (theirs.database.exists() or theirs.journal.is_dir()):
        raise UpkeepError(f"no ledger in {other}: give the folder that was --home")
    try:
        _drained(theirs, wait_s)
        files.make()
        # A pruning in between would take sources that no row names yet.
        with BlobStore(home).kept():
            blobs = BlobStore(home).take_from(BlobStore(other))
            pictures = _take_pictures(files, theirs)
            Attempts(home).take_from(Attempts(other))
            with database.locked(files, wait_s) as held:
                _check(drain.drain_locked(files).outcome if held else Outcome.LOCKED)
                rows = _take_rows(files, theirs)
                # Publishes them.
                drain.drain_locked(files)
    except (OSError, duckdb.Error) as error:
        text = f"can't merge {other} into {home}: {error}{remedy(error)}"
        raise DatabaseError(text) from error
    return MergeReport(rows, blobs, pictures)


def _drained(files: LedgerFiles, wait_s: float) -> None:
    """Bring a home's snapshot up to date; its servers must have ended."""
    _check(drain.drain(files.home, wait_s=wait_s).outcome)
    with duckdb.connect(str(files.snapshot), read_only=True) as connection:
        found = connection.execute("SELECT segment FROM journal_segments WHERE NOT closed")
        if found.fetchone():
            raise UpkeepError(f"a server still works in {files.home}: stop it first")


def _check(outcome: Outcome) -> None:
    if outcome is not Outcome.DRAINED:
        raise UpkeepError(WHY_NOT[outcome])


def _take_pictures(files: LedgerFiles, theirs: LedgerFiles) -> int:
    files.pictures.mkdir(exist_ok=True)
    missing = [p for p in theirs.pictures.glob("*.png") if not (files.pictures / p.name).exists()]
    for path in missing:
        shutil.copy2(path, files.pictures / path.name)
    return len(missing)


def _take_rows(files: LedgerFiles, theirs: LedgerFiles) -> dict[str, int]:
    connection = database.connect(files)
    if connection is None:
        raise UpkeepError(WHY_NOT[Outcome.HELD])
    with contextlib.closing(connection):
        quoted = str(theirs.snapshot).replace("'", "''")
        connection.execute(f"ATTACH '{quoted}' AS theirs (READ_ONLY)")
        with transaction(connection):
            counts = {
                table: _insert(connection, table)
                for table in (*ingest.catalog(connection), "journal_damage")
            }
            # Further drained there than here: what is in between has just been taken.
            connection.execute(
                "INSERT OR REPLACE INTO journal_segments SELECT t.* FROM theirs.journal_segments t"
                " LEFT JOIN journal_segments o USING (segment)"
                " WHERE o.segment IS NULL OR t.drained_bytes >= o.drained_bytes"
            )
            scores.rebuild(connection)
        connection.execute("CHECKPOINT ledger")
    return {table: count for table, count in counts.items() if count}


def _insert(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    found = connection.execute(
        f'INSERT OR IGNORE INTO "{table}" BY NAME SELECT * FROM theirs."{table}"'
    ).fetchone()
    return int(found[0]) if found else 0
