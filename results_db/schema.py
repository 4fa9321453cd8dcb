"""Bringing a database to this version of the schema: tables, migrations, views, comments.

`schema.sql` is the newest form of the tables, for a new database. An older database gets the
scripts `migrations/NNNN.sql` after its version instead; both end with the same views and comments.
A newer database is refused: `database.connect` says so, and journals keep what an older server
writes until a newer one drains it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from results_db import scores
from results_db.transactions import transaction

VERSION = 6

_FOLDER = Path(__file__).parent

STAMPED_COMMENTS: Mapping[str, str] = {
    "id": "Uuid of the row: decides whether two ledgers hold the same one",
    "recorded_at": "When the row was written to the journal (UTC)",
    "host": "Fingerprint of the machine: see hosts",
    "writer": "Server process that wrote it: stdio, http, eval, cli",
    "segment": "Journal file it came from",
    "extra": "What a newer server wrote that this schema has no column for",
}


@dataclass(frozen=True)
class Schema:
    """The scripts of one version."""

    version: int
    tables: str
    views: str
    migrations: Mapping[int, str]
    """Version → script that brings the version before to it."""


def packaged() -> Schema:
    """The schema that this package ships."""
    return Schema(
        version=VERSION,
        tables=(_FOLDER / "schema.sql").read_text("utf-8"),
        views=(_FOLDER / "views.sql").read_text("utf-8"),
        migrations={
            int(path.stem): path.read_text("utf-8")
            for path in sorted((_FOLDER / "migrations").glob("[0-9]*.sql"))
        },
    )


def upgrade(connection: duckdb.DuckDBPyConnection, schema: Schema) -> bool:
    """Create or migrate the current catalog in one transaction; whether anything changed."""
    found = installed_version(connection)
    if found >= schema.version:
        return False
    with transaction(connection):
        _apply(connection, schema, found)
    return True


def installed_version(connection: duckdb.DuckDBPyConnection) -> int:
    """Version of the current catalog; 0 if it is empty."""
    known = connection.execute(
        "SELECT 1 FROM duckdb_tables() WHERE table_name = 'schema_version'"
        " AND database_name = current_database()"
    ).fetchone()
    if known is None:
        return 0
    newest = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    return int(newest[0]) if newest and newest[0] is not None else 0


def _apply(connection: duckdb.DuckDBPyConnection, schema: Schema, found: int) -> None:
    if found == 0:
        _run(connection, schema.tables)
    else:
        for version in range(found + 1, schema.version + 1):
            _run(connection, schema.migrations[version])
    _run(connection, schema.views)
    if found:
        scores.rebuild(connection)
    _comment(connection, schema)
    now = datetime.now(UTC).replace(tzinfo=None)
    connection.execute("INSERT INTO schema_version VALUES (?, ?)", [schema.version, now])


def _run(connection: duckdb.DuckDBPyConnection, script: str) -> None:
    """One statement at a time: binding a whole script at once takes twice as long."""
    code = "\n".join(line for line in script.splitlines() if not line.lstrip().startswith("--"))
    for statement in code.split(";\n"):
        if statement.strip():
            connection.execute(statement)


def _comment(connection: duckdb.DuckDBPyConnection, schema: Schema) -> None:
    """Comment the columns that every table has, and view columns named like a table's.

    Views mostly show columns of runs_finished, so its comments come first, then those of the others
    as the scripts have them: in an upgraded database they were created in another order.
    """
    scripts = schema.tables + schema.views
    order = ["runs_finished", *re.findall(r"^CREATE [A-Z ]*(?:TABLE|VIEW) (\w+)", scripts, re.M)]
    columns = connection.execute(
        "SELECT table_name, column_name, comment FROM duckdb_columns()"
        " WHERE NOT internal AND database_name = current_database()"
        " ORDER BY coalesce(list_position(?, table_name), 9999), table_name, column_index",
        [order],
    ).fetchall()
    known: dict[str, str] = dict(STAMPED_COMMENTS)
    for _, column, comment in columns:
        if comment is not None:
            known.setdefault(column, comment)
    for table, column, comment in columns:
        if comment is None and column in known:
            text = known[column].replace("'", "''")
            connection.execute(f"COMMENT ON COLUMN {table}.{column} IS '{text}'")
