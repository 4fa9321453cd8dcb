"""Journal files as the drain sees them: which there are, whose writer lives, what is new."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from results_db.encoding import Json
from results_db.files import LedgerFiles, sync_folder


@dataclass(frozen=True)
class Progress:
    """How far a segment was drained, as the database says."""

    drained_bytes: int
    closed: bool


@dataclass(frozen=True)
class Damage:
    """A piece of a journal that is no event."""

    segment: str
    byte_offset: int
    bytes: int
    reason: str
    content: str


@dataclass(frozen=True)
class EventRow:
    """One row as it was journalled."""

    table: str
    id: str
    values: dict[str, Json]
    segment: str


@dataclass(frozen=True)
class Portion:
    """What a segment holds beyond its drained bytes."""

    segment: str
    end: int
    """Offset up to which it will have been drained."""
    closed: bool
    """Whether nothing will follow: its writer has ended and it was read to the end."""
    more: bool
    """Whether the limit was reached before its end."""
    rows: tuple[EventRow, ...]
    damage: tuple[Damage, ...]


@dataclass(frozen=True)
class OpenSegment:
    """A segment held open by the drain; an ended writer's also exclusively locked."""

    path: Path
    descriptor: int
    closed: bool

    @property
    def name(self) -> str:
        """File name, which identifies the segment in the database."""
        return self.path.name


DAMAGE_KEPT = 4096
"""Bytes of a damaged piece that are kept."""


def paths(files: LedgerFiles) -> list[Path]:
    """Every segment, oldest first; archived ones too, in case the database lost their rows."""
    found = [*files.archive.glob("*.jsonl"), *files.journal.glob("*.jsonl")]
    return sorted(found, key=lambda path: path.name)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[OpenSegment]:
    """Open a segment and find out whether its writer has ended.

    The lock is taken before anything is read, so that a closed segment is read to its real end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield OpenSegment(path, descriptor, _lock(descriptor))
    finally:
        os.close(descriptor)


def read(segment: OpenSegment, start: int, limit: int) -> Portion:
    """New events, up to the last whole line; the torn tail of an ended writer becomes damage.

    limit: bytes after which it stops, if they hold a whole line.
    """
    data, more = _read_from(segment.descriptor, start, limit)
    whole = data.rfind(b"\n") + 1
    rows: list[EventRow] = []
    damage: list[Damage] = []
    offset = start
    for line in data[:whole].split(b"\n")[:-1]:
        event = _parse(line, segment.name)
        if isinstance(event, str):
            damage.append(_damaged(segment.name, offset, line, event))
        else:
            rows.extend(event)
        offset += len(line) + 1
    tail = data[whole:]
    closed = segment.closed and not more
    if tail and closed:
        damage.append(_damaged(segment.name, offset, tail, "torn: cut short while it was written"))
        offset += len(tail)
    return Portion(segment.name, offset, closed, more, tuple(rows), tuple(damage))


def archive(drained: Sequence[OpenSegment], files: LedgerFiles) -> int:
    """Move drained segments out of the journal, still locked; how many were there."""
    journalled = [segment for segment in drained if segment.path.parent == files.journal]
    for segment in journalled:
        segment.path.rename(files.archive / segment.name)
    if journalled:
        sync_folder(files.archive)
        sync_folder(files.journal)
    return len(journalled)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read_from(descriptor: int, start: int, limit: int) -> tuple[bytes, bool]:
    """At least `limit` bytes with a whole line in them, else all; whether there may be more."""
    data = bytearray()
    while piece := os.pread(descriptor, 1 << 20, start + len(data)):
        data += piece
        if len(data) >= limit and b"\n" in piece:
            return bytes(data), True
    return bytes(data), False


def _parse(line: bytes, segment: str) -> Sequence[EventRow] | str:
    """Rows of a line, or what is wrong with it."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    rows = event.get("rows") if isinstance(event, dict) else None
    if not isinstance(rows, list):
        return "not an event: it has no rows"
    parsed = []
    for row in rows:
        fault = _fault(row)
        if fault is not None:
            return fault
        values = {key: value for key, value in row.items() if key != "table"}
        parsed.append(EventRow(row["table"], row["id"], values, segment))
    return parsed


def _fault(row: Json) -> str | None:
    if not isinstance(row, dict) or not isinstance(row.get("table"), str):
        return "not an event: a row names no table"
    try:
        uuid.UUID(str(row.get("id")))
    except ValueError:
        return "not an event: a row has no uuid"
    return None


def _damaged(segment: str, offset: int, data: bytes, reason: str) -> Damage:
    content = data[:DAMAGE_KEPT].decode("utf-8", "backslashreplace").replace("\0", "\\x00")
    return Damage(segment, offset, len(data), reason, content)
