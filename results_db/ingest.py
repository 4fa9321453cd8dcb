"""Rows into tables: one INSERT per table, through JSON, which is what DuckDB does fastest.

Columns come from the database's own catalog, so an older server can drain into a newer database
and the reverse: unknown keys go to `extra`, unknown tables to `unplaced_rows`, and a row with a
value that its column can't take is kept whole in `extra`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import duckdb

from results_db import scores
from results_db.encoding import Json
from results_db.segments import EventRow, Portion
from results_db.transactions import transaction

Columns = Mapping[str, str]
"""Column → SQL type."""

UNPLACED = "unplaced_rows"


def catalog(connection: duckdb.DuckDBPyConnection) -> Mapping[str, Columns]:
    """The tables that take events: those with a place for unknown keys, and `unplaced_rows`."""
    found = connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns()"
        " JOIN duckdb_tables() USING (database_name, schema_name, table_name)"
        " WHERE database_name = current_database() ORDER BY table_name, column_index"
    ).fetchall()
    tables: dict[str, dict[str, str]] = defaultdict(dict)
    for table, column, kind in found:
        tables[table][column] = kind
    return {
        name: columns for name, columns in tables.items() if "extra" in columns or name == UNPLACED
    }


@dataclass(frozen=True)
class Batch:
    """What one transaction drains."""

    portions: Sequence[Portion]
    drained_at: datetime


def insert(connection: duckdb.DuckDBPyConnection, batch: Batch) -> int:
    """Insert what is new, its progress and damage in one transaction; the number of new rows."""
    tables = catalog(connection)
    rows = _by_table(batch.portions, tables)
    try:
        return _transact(connection, tables, rows, batch)
    except (duckdb.ConversionException, duckdb.InvalidInputException):
        convertible = {
            name: _made_convertible(connection, tables[name], texts) for name, texts in rows.items()
        }
        return _transact(connection, tables, convertible, batch)


def _by_table(
    portions: Sequence[Portion], tables: Mapping[str, Columns]
) -> dict[str, list[dict[str, Json]]]:
    rows: dict[str, list[dict[str, Json]]] = defaultdict(list)
    for portion in portions:
        for row in portion.rows:
            if row.table in tables:
                rows[row.table].append(_placed(row, tables[row.table]))
            else:
                rows[UNPLACED].append(_unplaced(row))
    return rows


def _placed(row: EventRow, columns: Columns) -> dict[str, Json]:
    """Every column of the table, as strict conversion wants it; the rest under `extra`."""
    unknown = {key: value for key, value in row.values.items() if key not in columns}
    placed = {column: row.values.get(column) for column in columns}
    return {**placed, "segment": row.segment, "extra": unknown or row.values.get("extra")}


def _unplaced(row: EventRow) -> dict[str, Json]:
    return {
        "id": row.id,
        "recorded_at": row.values.get("recorded_at"),
        "table_name": row.table,
        "content": row.values,
        "segment": row.segment,
    }


def _transact(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, Columns],
    rows: Mapping[str, Sequence[Mapping[str, Json]]],
    batch: Batch,
) -> int:
    with transaction(connection):
        added = sum(_insert(connection, name, tables[name], rows[name]) for name in rows)
        _score(connection, rows)
        for portion in batch.portions:
            _record(connection, portion, _naive_utc(batch.drained_at))
    return added


def _score(
    connection: duckdb.DuckDBPyConnection, rows: Mapping[str, Sequence[Mapping[str, Json]]]
) -> None:
    if rows.get("marks"):
        scores.rebuild(connection)
        return
    about = (row["kernel_id"] for name in scores.DECIDING for row in rows.get(name, ()))
    scores.refresh(connection, {str(kernel_id) for kernel_id in about if kernel_id is not None})


def _insert(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: Columns,
    rows: Sequence[Mapping[str, Json]],
) -> int:
    texts = [json.dumps(row, separators=(",", ":")) for row in rows]
    names = ", ".join(f'"{column}"' for column in columns)
    result = connection.execute(
        f'INSERT OR IGNORE INTO "{table}" ({names})'
        " SELECT unnest(from_json_strict(j, ?)) FROM (SELECT unnest(?::VARCHAR[])::JSON AS j)",
        [json.dumps(dict(columns)), texts],
    ).fetchone()
    return int(result[0]) if result else 0


def _naive_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def _record(connection: duckdb.DuckDBPyConnection, portion: Portion, moment: datetime) -> None:
    for piece in portion.damage:
        connection.execute(
            "INSERT OR IGNORE INTO journal_damage VALUES (?, ?, ?, ?, ?, ?)",
            [piece.segment, piece.byte_offset, piece.bytes, piece.reason, piece.content, moment],
        )
    connection.execute(
        "INSERT OR REPLACE INTO journal_segments VALUES (?, ?, ?, ?)",
        [portion.segment, portion.end, portion.closed, moment],
    )


def _made_convertible(
    connection: duckdb.DuckDBPyConnection, columns: Columns, rows: Sequence[Mapping[str, Json]]
) -> list[Mapping[str, Json]]:
    """The rows, those that strict conversion refuses in a form that it takes. By bisection."""
    if _converts(connection, columns, rows):
        return list(rows)
    if len(rows) == 1:
        return [_forced(connection, columns, rows[0])]
    middle = len(rows) // 2
    return [
        *_made_convertible(connection, columns, rows[:middle]),
        *_made_convertible(connection, columns, rows[middle:]),
    ]


def _converts(
    connection: duckdb.DuckDBPyConnection, columns: Columns, rows: Sequence[Mapping[str, Json]]
) -> bool:
    try:
        connection.execute(
            "SELECT from_json_strict(j, ?) FROM (SELECT unnest(?::VARCHAR[])::JSON AS j)",
            [json.dumps(dict(columns)), [json.dumps(row) for row in rows]],
        ).fetchall()
    except (duckdb.ConversionException, duckdb.InvalidInputException):
        return False
    return True


def _forced(
    connection: duckdb.DuckDBPyConnection, columns: Columns, row: Mapping[str, Json]
) -> Mapping[str, Json]:
    """The row with NULL for each value that its column can't take, and all of it under `extra`."""
    kept = dict(row)
    for column in columns:
        alone = {column: columns[column]}
        if not _converts(connection, alone, [{column: row[column]}]):
            kept[column] = None
    if "extra" in columns:
        kept["extra"] = dict(row)
    return kept
