"""Opening ledger.duckdb for writing: one process at a time, of this schema, older ones upgraded.

Whoever writes holds the drain lock first. A database of an older version is copied aside before its
upgrade begins; one of a newer version is refused.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import secrets
import shutil
import time
from collections.abc import Iterator

import duckdb

from results_db import schema
from results_db.errors import DatabaseError, NewerDatabaseError
from results_db.files import LedgerFiles, sync_folder
from results_db.transactions import remedy

STORAGE_VERSION = "v1.5.0"
"""Oldest DuckDB that must be able to read the database: the command line that pip installs."""

_POLL_S = 0.01
_LOG = logging.getLogger(__name__)

_HELD_SIGNS = ("Could not set lock", "Unique file handle conflict")
"""How DuckDB says that another process, or a connection of this one, has the database open."""


@contextlib.contextmanager
def locked(files: LedgerFiles, wait_s: float) -> Iterator[bool]:
    """Hold the drain lock if it can be had in time; whether it could."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    descriptor = os.open(files.drain_lock, flags, 0o644)
    deadline = time.monotonic() + wait_s
    try:
        held = _try_lock(descriptor)
        while not held and time.monotonic() < deadline:
            time.sleep(_POLL_S)
            held = _try_lock(descriptor)
        yield held
    finally:
        os.close(descriptor)


def connect(files: LedgerFiles) -> duckdb.DuckDBPyConnection | None:
    """The database with the newest schema; None if somebody else has it open.

    Only under the drain lock. Raises: NewerDatabaseError, DatabaseError if it is damaged.
    """
    connection = _attached(files)
    if connection is None:
        return None
    found = schema.installed_version(connection)
    if found > schema.VERSION:
        connection.close()
        raise NewerDatabaseError(
            f"{files.database} has schema {found}, made by a newer sz-mcp; this one knows "
            f"{schema.VERSION}: upgrade sz-mcp, or use another home. Calls are still recorded in "
            "the journal, and a newer sz-mcp will take them from there."
        )
    if 0 < found < schema.VERSION:
        connection.execute("CHECKPOINT ledger")
        # Closing any descriptor of a file drops this process's locks on it (POSIX), DuckDB's too:
        # it must let go before the file is copied.
        connection.close()
        _copy_aside(files, found)
        connection = _attached(files)
        if connection is None:
            return None
    try:
        schema.upgrade(connection, schema.packaged())
    except BaseException:
        connection.close()
        raise
    return connection


def attach(connection: duckdb.DuckDBPyConnection, path: str, name: str) -> None:
    """Attach a database file that old DuckDB versions can read too, made if it is not there."""
    quoted = path.replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS {name} (STORAGE_VERSION '{STORAGE_VERSION}')")


def has_free_blocks(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the file has blocks that belong to nothing."""
    found = connection.execute(
        "SELECT free_blocks FROM pragma_database_size() WHERE database_name = 'ledger'"
    ).fetchone()
    return bool(found and found[0])


def read_all(connection: duckdb.DuckDBPyConnection) -> None:
    """Read every value of every table. Raises duckdb.Error if one can't be read."""
    tables = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()"
    ).fetchall()
    for (name,) in tables:
        connection.execute(f'SELECT count(hash(t)) FROM "{name}" AS t').fetchall()


def _attached(files: LedgerFiles) -> duckdb.DuckDBPyConnection | None:
    if not files.database.exists() and files.snapshot.exists():
        _make_again(files)
    connection, existed = duckdb.connect(":memory:"), files.database.exists()
    try:
        attach(connection, str(files.database), "ledger")
        connection.execute("USE ledger")
    except duckdb.Error as error:
        connection.close()
        if any(sign in str(error) for sign in _HELD_SIGNS):
            return None
        if not existed:
            # What the disk had no room for is no database, and would be refused for good.
            files.database.unlink(missing_ok=True)
        advice = remedy(error) or (
            "\nMove it away to start a new one; journals that were not drained yet are kept and "
            "will go there."
        )
        raise DatabaseError(f"can't open {files.database}: {error}{advice}") from error
    return connection


def _make_again(files: LedgerFiles) -> None:
    """Put the published copy in the place of a database that is gone.

    It has every row whose segment was deleted, and says how far it has those that are there.
    """
    # What only the log had is still in archived segments.
    files.write_ahead_log.unlink(missing_ok=True)
    temporary = files.database.with_name(f"{files.database.name}.{secrets.token_hex(8)}.tmp")
    try:
        shutil.copyfile(files.snapshot, temporary)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(files.database)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(files.home)
    _LOG.warning("%s was gone: it was made again from %s", files.database, files.snapshot)


def _copy_aside(files: LedgerFiles, version: int) -> None:
    """Keep the database as it is before an upgrade; a copy of this very state is left alone."""
    copy = files.before(version)
    if copy.exists() and copy.stat().st_mtime_ns >= files.database.stat().st_mtime_ns:
        return
    temporary = copy.with_name(f"{copy.name}.{secrets.token_hex(8)}.tmp")
    try:
        shutil.copyfile(files.database, temporary)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(copy)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(files.home)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
