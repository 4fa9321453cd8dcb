"""One transaction of DuckDB, and what is said when its disk refuses."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import duckdb

_FULL_SIGNS = (
    "No space left",
    "Disk quota exceeded",
    "File too large",
    "Could not write all bytes",
)
"""How the system and DuckDB say that a file could not grow."""
_DAMAGE_SIGNS = ("Corrupt", "not a valid DuckDB database file", "checksum")
"""How DuckDB says that a file is not as it wrote it."""


@contextlib.contextmanager
def transaction(connection: duckdb.DuckDBPyConnection, *, commit: bool = True) -> Iterator[None]:
    """Commit what is done while this lasts, or undo it: after a failure, or if told so."""
    connection.execute("BEGIN")
    try:
        yield
        connection.execute("COMMIT" if commit else "ROLLBACK")
    except BaseException:
        # DuckDB ends a transaction by itself when the disk refuses; that there is none to roll
        # back would hide why.
        with contextlib.suppress(duckdb.Error):
            connection.execute("ROLLBACK")
        raise


def remedy(error: BaseException | str) -> str:
    """What helps against an error of the disk; empty if nothing is known to."""
    if any(sign in str(error) for sign in _FULL_SIGNS):
        return (
            "\nThe disk is full: free space on it, or move the home to a larger one; then repeat."
        )
    if any(sign in str(error) for sign in _DAMAGE_SIGNS):
        return (
            "\nThe file is damaged. Move ledger.duckdb away: the next drain makes it again from its"
            " published copy, ledger-read.duckdb, and the journals. If that is damaged too, restore"
            " a backup; journals that were not drained yet are kept and will go there."
        )
    return ""
