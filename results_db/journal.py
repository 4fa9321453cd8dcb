"""The append side of the ledger: one file per process, one durable line per event.

An event is acknowledged (`append` returns) only after its whole line is on disk. A segment is
locked (shared) for as long as its process may write, so that the drain can tell a live writer from
a dead one, and is never touched by anyone else until then.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from results_db import encoding
from results_db.errors import JournalError
from results_db.files import LedgerFiles, sync_folder

SEGMENT_LIMIT = 64 << 20
"""Bytes after which a process goes on in a new segment, so that a drained one can be archived."""

_OPEN_TRIES = 8


class Journal:
    """The segment of one process. Thread-safe; a forked child gets a segment of its own."""

    def __init__(self, home: Path, *, segment_limit: int = SEGMENT_LIMIT) -> None:
        self._files = LedgerFiles(home)
        self._limit = segment_limit
        self._lock = threading.Lock()
        self._descriptor = -1
        self._owner = 0
        self._size = 0
        self._closed = False

    def append(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Make one event durable: all its rows or, if this raises, possibly none.

        Raises: JournalError when the disk refuses; nothing may then be acknowledged.
        """
        line = encoding.line(rows)
        with self._lock:
            if self._closed:
                raise JournalError("the journal is closed: the server is shutting down")
            try:
                self._ensure_segment()
                self._write(line)
                if os.fstat(self._descriptor).st_nlink == 0:
                    # Somebody removed the folder: what was written is gone with it.
                    self._release()
                    self._ensure_segment()
                    self._write(line)
            except OSError as error:
                raise JournalError(
                    f"can't append to the journal in {self._files.journal}: {error}. "
                    "Free space or mend permissions there, then repeat the call."
                ) from error

    def close(self) -> None:
        """Release the segment, which the next drain then archives. Idempotent."""
        with self._lock:
            self._closed = True
            self._release()

    def _write(self, line: bytes) -> None:
        written = 0
        try:
            while written < len(line):
                written += os.write(self._descriptor, memoryview(line)[written:])
            os.fdatasync(self._descriptor)
        except OSError:
            # Half a line would swallow the next one, and after a failed sync Linux drops the pages
            # but reports success on the next sync: only a new segment can be trusted.
            if written:
                self._release()
            raise
        self._size += written

    def _ensure_segment(self) -> None:
        if self._owner != os.getpid():
            # After a fork the parent's lock is shared: close our copy only, never write to it.
            self._release()
        if self._descriptor >= 0 and self._size >= self._limit:
            self._release()
        if self._descriptor < 0:
            self._open()

    def _open(self) -> None:
        self._files.make()
        for _ in range(_OPEN_TRIES):
            name = f"{time.time_ns()}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
            path = self._files.journal / name
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
            descriptor = os.open(path, flags, 0o644)
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if is_still_named(path, descriptor):
                sync_folder(self._files.journal)
                sync_folder(self._files.home)
                self._descriptor, self._owner = descriptor, os.getpid()
                self._size = 0
                return
            os.close(descriptor)
        raise OSError(f"{_OPEN_TRIES} new segments were taken away before they could be locked")

    def _release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


def is_still_named(path: Path, descriptor: int) -> bool:
    """Whether no drain took the empty segment for a dead one between its creation and its lock."""
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    ours = os.fstat(descriptor)
    return ours.st_nlink > 0 and (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino)
