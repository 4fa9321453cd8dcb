"""The copy of the database that people and queries read, replaced whole by an atomic rename.

A reader that has the old copy open keeps it; one that opens now gets the new one. The copy is made
while the drain still holds the database, right after a checkpoint, so that it needs no log.
"""

from __future__ import annotations

import os
import secrets
import shutil
from typing import BinaryIO

from results_db.files import LedgerFiles, sync_folder


def is_current(files: LedgerFiles) -> bool:
    """Whether the snapshot is newer than the last change of the database."""
    try:
        return files.snapshot.stat().st_mtime_ns > files.database.stat().st_mtime_ns
    except FileNotFoundError:
        return False


def publish(files: LedgerFiles, database: BinaryIO) -> None:
    """Replace the snapshot by a copy of the checkpointed database. Only under the drain lock."""
    _remove_leftovers(files)
    temporary = files.snapshot.with_name(f"{files.snapshot.name}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as copy:
            shutil.copyfileobj(database, copy, 1 << 22)
            copy.flush()
            os.fdatasync(copy.fileno())
    except OSError:
        # Half a copy must not keep a full disk full.
        temporary.unlink(missing_ok=True)
        raise
    # Left by someone who opened the snapshot for writing; DuckDB would apply it to the new one.
    files.snapshot.with_name(f"{files.snapshot.name}.wal").unlink(missing_ok=True)
    temporary.replace(files.snapshot)
    sync_folder(files.home)


def _remove_leftovers(files: LedgerFiles) -> None:
    """Copies of drains that were killed: none can be in use, because we hold the drain lock."""
    for stale in files.home.glob(f"{files.snapshot.name}.*.tmp"):
        stale.unlink(missing_ok=True)
