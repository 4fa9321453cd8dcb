"""One file that holds a whole ledger: unpacked into an empty folder it is a home again.

A tar archive of ledger.duckdb as a drain leaves it, the stored sources, the pictures and the
attempt counters. Rows first, sources after: every row finds its source, whatever is written
meanwhile. The read-only copy is made anew by the first drain of the restored home.
"""

from __future__ import annotations

import os
import secrets
import tarfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb

from results_db import database, drain
from results_db.drain import Outcome
from results_db.errors import UpkeepError
from results_db.files import LedgerFiles, sync_folder
from results_db.transactions import remedy

WAIT_S = 30.0
"""How long to wait for another process's drain to end."""


@dataclass(frozen=True)
class BackupReport:
    """What a backup holds."""

    path: Path
    bytes: int
    as_of: datetime
    """Everything acknowledged before this moment is in it."""


def backup(home: Path, target: Path, *, wait_s: float = WAIT_S) -> BackupReport:
    """Write the archive; `target` ends with .tar, .tar.gz or .tgz and must not exist.

    Raises: UpkeepError, DatabaseError. `target` is then not there.
    """
    if target.exists():
        raise UpkeepError(f"{target} exists: choose another name, or move it away")
    if not target.name.endswith((".tar", ".tar.gz", ".tgz")):
        raise UpkeepError(f"{target.name}: a backup is a .tar, .tar.gz or .tgz file")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        as_of = _write(LedgerFiles(home), temporary, wait_s, packed=target.suffix != ".tar")
        temporary.replace(target)
        sync_folder(target.absolute().parent)
    except (OSError, duckdb.Error) as error:
        raise UpkeepError(f"can't write {target}: {error}{remedy(error)}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return BackupReport(target, target.stat().st_size, as_of)


def _write(files: LedgerFiles, path: Path, wait_s: float, *, packed: bool) -> datetime:
    files.make()
    with path.open("xb") as raw:
        with tarfile.open(fileobj=raw, mode="w:gz" if packed else "w") as archive:
            as_of = _add_database(files, archive, wait_s)
            for folder in (files.blobs, files.pictures, files.attempts):
                if folder.is_dir():
                    archive.add(folder, folder.name, filter=_finished)
        raw.flush()
        os.fsync(raw.fileno())
    return as_of


def _add_database(files: LedgerFiles, archive: tarfile.TarFile, wait_s: float) -> datetime:
    with database.locked(files, wait_s) as held:
        report = drain.drain_locked(files) if held else drain.DrainReport(Outcome.LOCKED)
        if report.as_of is None:
            raise UpkeepError(WHY_NOT[report.outcome])
        archive.add(files.database, files.database.name)
        return report.as_of


def _finished(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leaves out what is being written, under a hidden name, and locks."""
    name = Path(entry.name).name
    return None if name.startswith(".") or name == "lock" else entry


WHY_NOT = {
    Outcome.LOCKED: "another process has been draining the journal for long: try again",
    Outcome.HELD: "ledger.duckdb: somebody has it open; close it (people read ledger-read.duckdb) "
    "and try again",
    Outcome.PARTIAL: "the journal could not be drained in time: try again",
}
"""Why the database can't be had for upkeep."""
