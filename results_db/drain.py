"""Journals → ledger.duckdb → ledger-read.duckdb. Any process may call it at any time.

One drainer at a time, by a file lock. Rows and the offset up to which a segment was read are
committed in one transaction, so a drain that is killed anywhere is repeated without a loss or a
double. Segments of ended processes move to the archive after that commit, and are deleted by a
later drain once a freshly opened, checkpointed database says that it has them: a transaction that
DuckDB loses with its log is then drained again.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

import duckdb

from results_db import database, ingest, pages, segments, snapshot
from results_db.errors import DatabaseError
from results_db.files import LedgerFiles
from results_db.segments import Damage, OpenSegment, Portion, Progress
from results_db.transactions import remedy

BATCH_BYTES = 4 << 20
BATCH_SEGMENTS = 128
"""Limits of one transaction, in memory and in open files."""


class Outcome(StrEnum):
    """How a drain ended."""

    DRAINED = "drained"
    """Everything that was journalled when it began is in the database and in the snapshot."""
    PARTIAL = "partial"
    """The time limit came first; the rest is for the next drain."""
    LOCKED = "locked"
    """Another drain was at work."""
    HELD = "held"
    """Somebody has ledger.duckdb open; the journals keep everything until they close it."""


@dataclass(frozen=True)
class DrainReport:
    """What a drain did."""

    outcome: Outcome
    rows: int = 0
    """Rows that were new."""
    archived: int = 0
    """Segments of ended processes that were moved away."""
    damage: tuple[Damage, ...] = ()
    """Torn tails and garbage met for the first time; also in the table journal_damage."""
    published: bool = False
    as_of: datetime | None = None
    """Everything acknowledged before this moment can be read; None unless drained."""


def drain(home: Path, *, wait_s: float = 0.0, limit_s: float = math.inf) -> DrainReport:
    """Move what the journals hold into the database and publish it.

    wait_s: how long to wait for another drain to end.
    limit_s: time after which no further transaction is begun.
    Raises: DatabaseError if the database is damaged or the home can't be written.
    """
    files = LedgerFiles(home)
    try:
        files.make()
        with database.locked(files, wait_s) as held:
            return drain_locked(files, limit_s) if held else DrainReport(Outcome.LOCKED)
    except (OSError, duckdb.Error) as error:
        raise DatabaseError(
            f"can't drain into {files.database}: {error}\nThe journals keep everything."
            f"{remedy(error)}"
        ) from error


def drain_locked(files: LedgerFiles, limit_s: float = math.inf) -> DrainReport:
    """The same for a caller that holds the drain lock."""
    as_of = datetime.now(UTC)
    had_log = files.write_ahead_log.exists()
    connection = database.connect(files)
    if connection is None:
        return DrainReport(Outcome.HELD)
    with contextlib.closing(connection):
        return _Drain(files, connection, as_of, had_log).run(time.monotonic() + limit_s)


@dataclass
class _Drain:
    """The state of one drain, under the lock and with the database open."""

    files: LedgerFiles
    connection: duckdb.DuckDBPyConnection
    as_of: datetime
    had_log: bool
    changed: bool = False
    rows: int = 0
    archived: int = 0
    damage: list[Damage] = field(default_factory=list)

    def run(self, deadline: float) -> DrainReport:
        progress = self._progress()
        self._forget_archived(progress)
        pending = segments.paths(self.files)
        self._close_missing(progress, {path.name for path in pending})
        while pending and time.monotonic() < deadline:
            pending = self._batch(pending, progress)
        return DrainReport(
            outcome=Outcome.PARTIAL if pending else Outcome.DRAINED,
            rows=self.rows,
            archived=self.archived,
            damage=tuple(self.damage),
            published=self._publish(),
            as_of=None if pending else self.as_of,
        )

    def _progress(self) -> dict[str, Progress]:
        found = self.connection.execute(
            "SELECT segment, drained_bytes, closed FROM journal_segments"
        ).fetchall()
        return {name: Progress(int(size), bool(closed)) for name, size, closed in found}

    def _forget_archived(self, progress: Mapping[str, Progress]) -> None:
        """Delete archived segments that the checkpointed database is seen to hold."""
        if self.had_log:
            return
        for path in self.files.archive.glob("*.jsonl"):
            known = progress.get(path.name)
            if known and known.closed and known.drained_bytes >= path.stat().st_size:
                path.unlink()

    def _close_missing(self, progress: Mapping[str, Progress], there: Set[str]) -> None:
        """A segment that is no longer there has no writer: a restored home has none of the old."""
        missing = [name for name, one in progress.items() if not one.closed and name not in there]
        if missing:
            self.connection.execute(
                "UPDATE journal_segments SET closed = true WHERE list_contains(?, segment)",
                [missing],
            )
            self.changed = True

    def _batch(self, pending: list[Path], progress: dict[str, Progress]) -> list[Path]:
        """Drain segments up to the limits of a transaction; returns those that are left."""
        with contextlib.ExitStack() as stack:
            drained: list[OpenSegment] = []
            unfinished: list[Path] = []
            portions: list[Portion] = []
            room, taken = BATCH_BYTES, 0
            for path in pending[:BATCH_SEGMENTS]:
                if room <= 0:
                    break
                taken += 1
                known = progress.get(path.name, Progress(0, closed=False))
                segment = stack.enter_context(segments.opened(path))
                portion = segments.read(segment, known.drained_bytes, room)
                room -= portion.end - known.drained_bytes
                if portion.end > known.drained_bytes or portion.closed > known.closed:
                    portions.append(portion)
                if portion.more:
                    unfinished.append(path)
                if portion.closed:
                    drained.append(segment)
            self._insert(portions, progress)
            # The locks of ended segments are held until here, so nobody else takes them meanwhile.
            self.archived += segments.archive(drained, self.files)
        return [*unfinished, *pending[taken:]]

    def _insert(self, portions: list[Portion], progress: dict[str, Progress]) -> None:
        if not portions:
            return
        self.rows += ingest.insert(self.connection, ingest.Batch(portions, self.as_of))
        self.changed = True
        for portion in portions:
            progress[portion.segment] = Progress(portion.end, portion.closed)
            self.damage.extend(portion.damage)

    def _check(self, checkpointed: BinaryIO) -> None:
        """The published copy is what a damaged database is made again from: damage stays out of it.

        Raises: DatabaseError, or an error of DuckDB.
        """
        offset = pages.damaged_at(checkpointed)
        if offset is None:
            return
        # A drain that was killed may leave a torn block that belongs to nothing.
        if not database.has_free_blocks(self.connection):
            text = f"Corrupt database file {self.files.database}: the block at {offset} was changed"
            raise DatabaseError(f"{text}{remedy(text)}")
        database.read_all(self.connection)

    def _publish(self) -> bool:
        """Checkpoint, copy, and close the database; whether a new snapshot was made."""
        self.connection.execute("CHECKPOINT ledger")
        if not self.changed and snapshot.is_current(self.files):
            return False
        with self.files.database.open("rb") as checkpointed:
            self._check(checkpointed)
            snapshot.publish(self.files, checkpointed)
            # Closing any descriptor of a file drops this process's locks on it (POSIX), DuckDB's
            # too: it must let go first.
            self.connection.close()
        return True
