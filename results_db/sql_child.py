"""The process that runs one query of an agent or a person, with limits that SQL can't lift.

A program of its own, started by queries.py and importing nothing of ours: DuckDB checks for an
interrupt, and its memory limit, only between chunks, so one bad expression can hold a process for
minutes or take all its memory; this one can be killed. The request is JSON on stdin, the reply on
stdout.
"""

from __future__ import annotations

import json
import math
import resource
import sys
import threading
from collections.abc import Sequence
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
"""Characters of all values together, roughly; rows beyond it are left out."""

ALLOWED = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
"""SHOW, DESCRIBE, SUMMARIZE, VALUES, FROM and WITH are SELECT to DuckDB."""


class RefusedError(Exception):
    """The text is not one statement that only reads."""


def main() -> None:
    """Answer the request on stdin."""
    request = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Ends a child whose parent died; DuckDB's own interrupt comes long before.
    seconds = math.ceil(request["timeout_s"]) * THREADS + 5
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    json.dump(answer(request), sys.stdout)


def answer(request: dict[str, Json]) -> dict[str, Json]:
    """{"columns", "rows", "truncated", "published"} or {"error"}."""
    connection = open_snapshot(str(request["path"]))
    timer = threading.Timer(float(str(request["timeout_s"])), connection.interrupt)
    timer.start()
    try:
        reply = _run(connection, str(request["sql"]), int(str(request["max_rows"])))
        return {**reply, "published": _published(connection)}
    except RefusedError as error:
        return {"error": str(error)}
    except duckdb.InterruptException:
        return {"error": f"the query took longer than {request['timeout_s']} s and was stopped"}
    except duckdb.CatalogException as error:
        return {"error": f"{error}\nTables and views: {', '.join(_names(connection))}"}
    except (duckdb.OutOfMemoryException, MemoryError):
        return {"error": f"the query needs more than {MEMORY_LIMIT}: ask for less of it at once"}
    except duckdb.Error as error:
        return {"error": str(error)}
    finally:
        timer.cancel()
        timer.join()
        connection.close()


def open_snapshot(path: str) -> duckdb.DuckDBPyConnection:
    """A connection that can read this one file and nothing else."""
    connection = duckdb.connect(":memory:", config={"threads": THREADS})
    quoted = path.replace("'", "''")
    connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET temp_directory = ''")
    connection.execute(f"ATTACH '{quoted}' AS ledger (READ_ONLY)")
    connection.execute("USE ledger")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


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
    size = 0
    while size < REPLY_LIMIT and len(rows) <= max_rows:
        row = result.fetchone()
        if row is None:
            return {"columns": list[Json](columns), "rows": rows, "truncated": False}
        cells = [plain(value) for value in row]
        size += sum(len(cell) if isinstance(cell, str) else 8 for cell in cells)
        rows.append(cells)
    return {"columns": list[Json](columns), "rows": rows[:max_rows], "truncated": True}


def plain(value: object) -> Json:
    """A value of DuckDB as JSON; what is not finite becomes null."""
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case str():
            return _clipped(value)
        case Decimal():
            return plain(float(value))
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case dict() | list() | tuple():
            return _nested(value)
        case _:
            return _clipped(value.hex() if isinstance(value, bytes) else str(value))


def _nested(value: dict[object, object] | list[object] | tuple[object, ...]) -> Json:
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value]


def distinct_names(names: Sequence[str]) -> list[str]:
    """Column names, a repeated one with a number."""
    taken: list[str] = []
    for name in names:
        number, unique = 2, name
        while unique in taken:
            unique, number = f"{name}_{number}", number + 1
        taken.append(unique)
    return taken


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
    return plain(found[0]) if found else None


def _names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    found = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'ledger' UNION ALL"
        " SELECT view_name FROM duckdb_views() WHERE database_name = 'ledger' AND NOT internal"
        " ORDER BY 1"
    ).fetchall()
    return [str(name) for (name,) in found]


if __name__ == "__main__":
    main()
