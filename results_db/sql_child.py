"""The process that runs one query of an agent or a person, with limits that SQL can't lift.

A program of its own, started by queries.py and importing nothing of ours: DuckDB checks for an
interrupt, and its memory limit, only between chunks, so one bad expression can hold a process for
minutes or take all its memory; this one can be killed. The request is JSON on stdin, the reply on
stdout.

What an agent may not see is not there: before its statement is even parsed, the rows it may see are
copied into a database in memory and the ledger is let go of. So no name, function or statistic can
lead to the rest. After that nothing more can be opened.
"""

from __future__ import annotations

import json
import math
import resource
import sys
import threading
from collections.abc import Callable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal

import duckdb

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

ADDRESS_SPACE_BYTES = 3 << 30
MEMORY_LIMIT = "1GB"
THREADS = 2

TEXT_LIMIT = 100_000
"""Characters of one value that are returned."""

REPLY_LIMIT = 5_000_000
"""Characters of all values together, roughly; what is beyond it is left out, of one value too."""

DEPTH_LIMIT = 50
"""Levels of a value that are returned as such; what is deeper is text."""

ALLOWED = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
"""SHOW, DESCRIBE, SUMMARIZE, VALUES, FROM and WITH are SELECT to DuckDB."""


class RefusedError(Exception):
    """The text is not one statement that only reads."""


Seal = Callable[[], None]
"""What is done once everything that must be opened is open."""


def main() -> None:
    """Answer the request on stdin."""
    request = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Ends a child whose parent died; DuckDB's own interrupt comes long before.
    seconds = math.ceil(request["timeout_s"]) * THREADS + 5
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    json.dump(answer(request, seal), sys.stdout)


def seal() -> None:
    """From now on this process can open no file, folder or socket, and write to no file."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    # The number of the highest descriptor plus one; those that are open stay open.
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def answer(request: dict[str, Json], seal: Seal = lambda: None) -> dict[str, Json]:
    """{"columns", "rows", "truncated", "published"} or {"error"}."""
    connection = duckdb.connect(":memory:", config={"threads": THREADS})
    timer = threading.Timer(float(str(request["timeout_s"])), connection.interrupt)
    timer.start()
    try:
        published = open_ledger(connection, request)
        seal()
        reply = _run(connection, str(request["sql"]), int(str(request["max_rows"])))
        return {**reply, "published": published}
    except RefusedError as error:
        return {"error": str(error)}
    except duckdb.InterruptException:
        return {"error": f"the query took longer than {request['timeout_s']} s and was stopped"}
    except duckdb.CatalogException as error:
        connection.rollback()
        return {"error": f"{error}\nTables and views: {', '.join(_names(connection))}"}
    except (duckdb.OutOfMemoryException, MemoryError):
        return {"error": f"the query needs more than {MEMORY_LIMIT}: ask for less of it at once"}
    except duckdb.Error as error:
        return {"error": str(error)}
    finally:
        timer.cancel()
        timer.join()
        connection.close()


def open_ledger(connection: duckdb.DuckDBPyConnection, request: dict[str, Json]) -> Json:
    """Make the connection read what the request may see and nothing else; when it is from."""
    connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
    for setting in _BEFORE:
        connection.execute(setting)
    quoted = str(request["path"]).replace("'", "''")
    viewer = request.get("viewer")
    source = "ledger" if viewer is None else "whole"
    connection.execute(f"ATTACH '{quoted}' AS {source} (READ_ONLY)")
    connection.execute(f"USE {source}")
    published = _published(connection)
    if isinstance(viewer, dict):
        connection.execute("ATTACH ':memory:' AS ledger")
        connection.execute("USE ledger")
        copy_visible(connection, viewer)
        connection.execute("DETACH whole")
    for setting in _AFTER:
        connection.execute(setting)
    # Values of these types import modules of Python, which can't be opened later.
    connection.execute(_ODD_TYPES).fetchall()
    connection.execute("BEGIN TRANSACTION READ ONLY")
    return published


_BEFORE = (
    "SET TimeZone = 'UTC'",
    "SET temp_directory = ''",
    "SET home_directory = '/'",
    "SET secret_directory = '/'",
    "SET allow_persistent_secrets = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
)
_AFTER = (
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
_ODD_TYPES = (
    "SELECT 1::DECIMAL(4, 1), DATE '2026-01-01', TIME '00:00', now(), now()::TIMESTAMP, uuid(),"
    " INTERVAL 1 SECOND, '00:00:00+01'::TIMETZ, ''::BLOB, MAP {'a': 1}, {'a': [1]}, 1::HUGEINT"
)


# What a viewer may see


SCORES = (
    "rank", "task", "target", "execution", "host", "threads", "field", "mode", "bound", "score",
    "score_unit",
)  # fmt: skip
"""Columns of the leaderboard that show a run of somebody else."""
_PUBLIC = ("hosts", "schema_version")
"""Tables that tell of the machine and not of anybody's work."""
_REFERENCES = {"parent": "seen_kernels", "against": "seen_kernels", "reproduces": "seen_runs"}
"""Columns that may name what somebody else sent; there it becomes NULL."""


def copy_visible(connection: duckdb.DuckDBPyConnection, viewer: dict[str, Json]) -> None:
    """Copy what a viewer may see from the catalog `whole` into the current one.

    A table that is not known here is copied by its agent, run_id or kernel_id, and is empty if it
    has none of them: what is added to the schema stays hidden until somebody thought of it.
    """
    shared = [[one] for one in _list(viewer["shared"])]
    connection.execute("CREATE TEMP TABLE viewer (agent VARCHAR, session VARCHAR)")
    connection.execute("INSERT INTO viewer VALUES (?, ?)", [viewer["agent"], viewer["session"]])
    connection.execute("CREATE TEMP TABLE shared (kernel_id VARCHAR)")
    if shared:
        connection.executemany("INSERT INTO shared VALUES (?)", shared)
    for statement in _SEEN:
        connection.execute(statement)
    for table, columns in _tables(connection).items():
        chosen = ", ".join(_column(name, table) for name in columns)
        connection.execute(
            f"CREATE TABLE {table} AS SELECT {chosen} FROM whole.{table}"
            f" WHERE {_rows(columns, table)}"
        )
    connection.execute(_leaderboard(connection))
    _make_views(connection)
    for name in ("viewer", "shared", "seen_kernels", "seen_runs"):
        connection.execute(f"DROP TABLE temp.{name}")


_OWN = (
    "EXISTS (SELECT 1 FROM temp.viewer v WHERE {row}.agent = v.agent"
    " AND (v.session IS NULL OR {row}.session = v.session))"
)
_SEEN = (
    "CREATE TEMP TABLE seen_kernels AS SELECT kernel_id FROM whole.kernels k"
    f" WHERE {_OWN.format(row='k')} OR kernel_id IN (FROM temp.shared)",
    # Of a shared kernel, what its owner measured, unless it was beside one that is not shared.
    "CREATE TEMP TABLE seen_runs AS SELECT s.run_id"
    " FROM whole.runs_started s LEFT JOIN whole.kernels k USING (kernel_id)"
    f" WHERE {_OWN.format(row='s')} OR (s.agent = k.agent AND kernel_id IN (FROM temp.shared)"
    " AND (s.against IS NULL OR s.against IN (FROM temp.seen_kernels)))",
)


def _rows(columns: Sequence[str], table: str) -> str:
    """Which rows of a table of the ledger may be seen, as a condition."""
    has_run, has_kernel = "run_id" in columns, "kernel_id" in columns
    if table in _PUBLIC:
        return "true"
    if table == "journal_segments":
        return (
            "segment IN (SELECT segment FROM whole.runs_started"
            " WHERE run_id IN (FROM temp.seen_runs))"
        )
    if table in ("runs_started", "scored_runs", "best_runs"):
        return "run_id IN (FROM temp.seen_runs)"
    if table in ("kernels", "ladder"):
        return "kernel_id IN (FROM temp.seen_kernels)"
    if "agent" in columns and "session" in columns:
        return _OWN.format(row=table)
    if has_run and has_kernel:
        return (
            "run_id IN (FROM temp.seen_runs)"
            " OR (run_id IS NULL AND kernel_id IN (FROM temp.seen_kernels))"
        )
    if has_run:
        return "run_id IN (FROM temp.seen_runs)"
    return "kernel_id IN (FROM temp.seen_kernels)" if has_kernel else "false"


def _column(name: str, table: str) -> str:
    if name in _REFERENCES:
        return (
            f'CASE WHEN "{name}" IN (FROM temp.{_REFERENCES[name]}) THEN "{name}" END AS "{name}"'
        )
    if table == "journal_segments" and name == "drained_bytes":
        return f'NULL::BIGINT AS "{name}"'
    return f'"{name}"'


def _leaderboard(connection: duckdb.DuckDBPyConnection) -> str:
    """Everybody's ranks; of runs that may not be seen, conditions and score only."""
    columns = [
        str(name)
        for (name,) in connection.execute(
            "SELECT column_name FROM duckdb_columns() WHERE database_name = 'whole'"
            " AND table_name = 'leaderboard' ORDER BY column_index"
        ).fetchall()
    ]
    seen = "kernel_id IN (FROM temp.seen_kernels) AND run_id IN (FROM temp.seen_runs)"
    chosen = ", ".join(
        f'"{name}"' if name in SCORES else f'CASE WHEN {seen} THEN "{name}" END AS "{name}"'
        for name in columns
    )
    return f"CREATE TABLE leaderboard AS SELECT {chosen} FROM whole.leaderboard"


def _tables(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for table, column in connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() JOIN duckdb_tables()"
        " USING (database_name, table_name) WHERE database_name = 'whole' ORDER BY column_index"
    ).fetchall():
        found.setdefault(str(table), []).append(str(column))
    return found


def _make_views(connection: duckdb.DuckDBPyConnection) -> None:
    """The ledger's views over what was copied, each after those that it reads."""
    views = connection.execute(
        "SELECT sql FROM duckdb_views() WHERE database_name = 'whole' AND NOT internal"
        " AND view_name <> 'leaderboard'"
    ).fetchall()
    waiting = [str(sql) for (sql,) in views]
    while waiting:
        left = [sql for sql in waiting if not _made(connection, sql)]
        if len(left) == len(waiting):
            connection.execute(left[0])
        waiting = left


def _made(connection: duckdb.DuckDBPyConnection, view: str) -> bool:
    try:
        connection.execute(view)
    except duckdb.CatalogException:
        return False
    return True


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


# The statement


def _run(connection: duckdb.DuckDBPyConnection, sql: str, max_rows: int) -> dict[str, Json]:
    statements = connection.extract_statements(sql)
    if len(statements) != 1 or statements[0].type not in ALLOWED:
        raise RefusedError(
            "send one statement that only reads: SELECT, WITH, FROM, VALUES, SHOW, DESCRIBE, "
            "SUMMARIZE or EXPLAIN"
        )
    if statements[0].named_parameters:
        raise RefusedError("parameters ($name, ?) have no value here: write the values out")
    result = connection.execute(statements[0])
    columns = distinct_names([str(column[0]) for column in result.description])
    rows: list[Json] = []
    room = Room()
    while room.left > 0 and len(rows) <= max_rows:
        row = result.fetchone()
        if row is None:
            return {"columns": list[Json](columns), "rows": rows, "truncated": False}
        rows.append([plain(value, room) for value in row])
    return {"columns": list[Json](columns), "rows": rows[:max_rows], "truncated": True}


class Room:
    """Characters that a reply may still hold."""

    def __init__(self, left: int = REPLY_LIMIT) -> None:
        self.left = left

    def taken(self, text: str) -> str:
        """The text, clipped, once it was counted."""
        clipped = _clipped(text)
        self.left -= len(clipped)
        return clipped


def plain(value: object, room: Room, depth: int = 0) -> Json:
    """A value of DuckDB as JSON; what is not finite becomes null.

    depth: levels of the value that it stands in.
    """
    room.left -= 8
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case str():
            return room.taken(value)
        case Decimal():
            return plain(float(value), room)
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case dict() | list() | tuple() if depth < DEPTH_LIMIT:
            return _nested(value, room, depth + 1)
        case _:
            return room.taken(value.hex() if isinstance(value, bytes) else str(value))


def _nested(
    value: dict[object, object] | list[object] | tuple[object, ...], room: Room, depth: int
) -> Json:
    """As much of it as there is room for."""
    if isinstance(value, dict):
        entries: dict[str, Json] = {}
        for key, item in value.items():
            if room.left <= 0:
                return {**entries, _CUT: len(value) - len(entries)}
            entries[room.taken(str(key))] = plain(item, room, depth)
        return entries
    items: list[Json] = []
    for item in value:
        if room.left <= 0:
            return [*items, f"{_CUT}: {len(value) - len(items)}"]
        items.append(plain(item, room, depth))
    return items


_CUT = "… [items cut]"


def distinct_names(names: Sequence[str]) -> list[str]:
    """Column names, a repeated one with a number."""
    taken: dict[str, int] = {}
    for name in names:
        unique, number = name, taken.get(name, 1)
        while unique in taken:
            number += 1
            unique = f"{name}_{number}"
        taken[name] = number
        taken.setdefault(unique, 1)
    return list(taken)


def _clipped(text: str) -> str:
    if len(text) <= TEXT_LIMIT:
        return text
    return f"{text[:TEXT_LIMIT]}… [{len(text) - TEXT_LIMIT} characters cut]"


def _published(connection: duckdb.DuckDBPyConnection) -> Json:
    """When the drain that last put something into the snapshot began."""
    found = connection.execute(
        "SELECT coalesce((SELECT max(drained_at) FROM journal_segments),"
        " (SELECT max(applied_at) FROM schema_version))"
    ).fetchone()
    return plain(found[0], Room()) if found else None


def _names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    found = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'ledger' UNION ALL"
        " SELECT view_name FROM duckdb_views() WHERE database_name = 'ledger' AND NOT internal"
        " ORDER BY 1"
    ).fetchall()
    return [str(name) for (name,) in found]


if __name__ == "__main__":
    main()
