"""Where the ledger of one home keeps its files."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class LedgerFiles:
    """The paths under one `$SZ_MCP_HOME`."""

    home: Path

    @property
    def journal(self) -> Path:
        """Segments that some process may still be writing."""
        return self.home / "journal"

    @property
    def archive(self) -> Path:
        """Drained segments of ended processes, kept until the database is checkpointed."""
        return self.home / "archive"

    @property
    def blobs(self) -> Path:
        """Sources by hash, and kernel records."""
        return self.home / "blobs"

    @property
    def database(self) -> Path:
        """The database that drains write."""
        return self.home / "ledger.duckdb"

    @property
    def write_ahead_log(self) -> Path:
        """DuckDB's own log beside the database; absent after a checkpoint."""
        return self.home / "ledger.duckdb.wal"

    @property
    def snapshot(self) -> Path:
        """The copy that people and queries read."""
        return self.home / "ledger-read.duckdb"

    @property
    def pictures(self) -> Path:
        """Pictures of profiles, by run."""
        return self.home / "pictures"

    @property
    def attempts(self) -> Path:
        """How many attempts each named session has made."""
        return self.home / "attempts"

    @property
    def shared(self) -> Path:
        """Empty files named after kernels that every agent may see."""
        return self.home / "shared"

    @property
    def cancel(self) -> Path:
        """Empty files named after runs that somebody wants cancelled."""
        return self.home / "cancel"

    def before(self, version: int) -> Path:
        """The copy of a database of an older version that its upgrade leaves."""
        return self.home / f"ledger.duckdb.v{version}.bak"

    @property
    def drain_lock(self) -> Path:
        """Whoever holds it exclusively is the drainer."""
        return self.home / "drain.lock"

    def make(self) -> None:
        """Create the folders."""
        for folder in (self.journal, self.archive, self.blobs):
            folder.mkdir(parents=True, exist_ok=True)


def replace_file(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Give a file new content as a whole: whoever reads it finds the old one or the new one.

    mode: of the file, less the umask. Raises OSError, and the file is as it was.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Make names created in or moved to `folder` survive a power loss."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
