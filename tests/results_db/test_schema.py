from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from results_db import ingest, page, schema
from results_db.rows import ROWS, STAMPED
from results_db.schema import Schema
from tests.results_db.records import drained

Connection = duckdb.DuckDBPyConnection


@pytest.fixture
def database() -> Iterator[Connection]:
    with duckdb.connect(":memory:") as connection:
        schema.upgrade(connection, schema.packaged())
        yield connection


def names(database: Connection) -> list[tuple[str, str]]:
    """(table or view, column)"""
    return database.execute(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal"
    ).fetchall()


def test_every_row_class_is_a_table_with_its_fields_and_the_stamped_columns(
    database: Connection,
) -> None:
    tables = ingest.catalog(database)

    expected = {
        row.table: {*(field.name for field in dataclasses.fields(row)), *STAMPED} for row in ROWS
    }
    assert {name: set(columns) for name, columns in tables.items() if name != "unplaced_rows"} == (
        expected
    )


def test_the_promised_tables_and_views_are_there(database: Connection) -> None:
    promised = (
        "calls kernels builds diagnostics runs samples verdicts violations profiles metrics"
        " hosts sessions leaderboard best_runs budget_curve ladder rate_distortion failure_modes"
        " pass_at_k"
    )

    assert set(promised.split()) <= {name for name, _ in names(database)}


def test_every_table_view_and_column_has_a_comment(database: Connection) -> None:
    comments = database.execute(
        "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE NOT internal"
        " UNION ALL SELECT table_name, NULL, comment FROM duckdb_tables()"
        " UNION ALL SELECT view_name, NULL, comment FROM duckdb_views() WHERE NOT internal"
    ).fetchall()

    assert len(comments) > 200
    assert [row[:2] for row in comments if not row[2]] == []


def test_no_name_needs_quoting(database: Connection) -> None:
    columns: dict[str, list[str]] = {}
    for table, column in names(database):
        columns.setdefault(table, []).append(column)
    for table, found in columns.items():
        listed = ", ".join(found)
        database.execute(f"SELECT {listed} FROM {table} ORDER BY {listed}")


def test_a_database_is_upgraded_once(database: Connection) -> None:
    assert not schema.upgrade(database, schema.packaged())
    assert schema.installed_version(database) == schema.VERSION


def test_comments_of_views_are_in_the_file(tmp_path: Path) -> None:
    found = drained(
        tmp_path,
        "SELECT count(*) FROM duckdb_columns() WHERE NOT internal AND comment IS NULL",
    )

    assert found == [(0,)]


def test_the_files_can_be_read_by_the_command_line_that_pip_installs(tmp_path: Path) -> None:
    found = drained(
        tmp_path,
        "SELECT tags['storage_version'] FROM duckdb_databases() WHERE NOT internal"
        " AND path IS NOT NULL",
    )

    assert found == [("v1.5.0+",)]


def test_an_older_database_is_migrated_with_its_rows_and_gets_the_new_views(
    database: Connection,
) -> None:
    database.execute("INSERT INTO calls (id, call_id) VALUES (uuid(), 'c1')")
    newer = Schema(
        version=schema.VERSION + 2,
        tables="",
        views="CREATE OR REPLACE VIEW moods AS SELECT call_id, mood FROM calls;",
        migrations={
            schema.VERSION + 1: "-- a comment\nALTER TABLE calls ADD COLUMN feeling VARCHAR;\n",
            schema.VERSION + 2: "ALTER TABLE calls RENAME COLUMN feeling TO mood;\n"
            "UPDATE calls SET mood = 'fine';\n",
        },
    )

    changed = schema.upgrade(database, newer)

    assert changed
    assert schema.installed_version(database) == schema.VERSION + 2
    assert database.execute("SELECT * FROM moods").fetchall() == [("c1", "fine")]


def test_a_migration_that_fails_leaves_the_database_as_it_was(database: Connection) -> None:
    broken = Schema(
        version=schema.VERSION + 1,
        tables="",
        views="",
        migrations={schema.VERSION + 1: "ALTER TABLE calls ADD COLUMN mood VARCHAR;\nNONSENSE;\n"},
    )

    with pytest.raises(duckdb.ParserException):
        schema.upgrade(database, broken)

    assert schema.installed_version(database) == schema.VERSION
    assert ("calls", "mood") not in names(database)


def test_a_newer_database_is_left_alone(database: Connection) -> None:
    database.execute("INSERT INTO schema_version VALUES (1000, NULL)")

    assert not schema.upgrade(database, schema.packaged())


def test_there_is_a_migration_to_every_version_but_the_first() -> None:
    assert set(schema.packaged().migrations) == set(range(2, schema.VERSION + 1))


def test_the_page_names_every_table_view_and_column(database: Connection) -> None:
    text = page.render()

    for table, column in names(database):
        section = re.search(rf"^### {table}\n(.*?)(?=^##|\Z)", text, re.DOTALL | re.MULTILINE)
        assert section is not None, table
        assert f"| `{column}` |" in section[1], (table, column)


def test_the_page_in_docs_is_the_one_of_this_schema() -> None:
    path = Path(__file__).parents[2] / "docs" / "ledger.md"

    assert path.read_text("utf-8") == page.render(), (
        "out of date: run python -m results_db.page > docs/ledger.md"
    )
