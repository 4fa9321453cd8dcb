from __future__ import annotations

import fcntl
import json
import math
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from results_db.drain import drain
from results_db.encoding import Json
from results_db.errors import QueryError
from results_db.ledger import Ledger
from results_db.queries import query
from results_db.sql_child import answer, distinct_names
from tests.results_db.records import call


def ask(home: Path, sql: str) -> dict[str, Json]:
    """What the child process would answer."""
    path = str(home / "ledger-read.duckdb")
    return answer({"path": path, "sql": sql, "max_rows": 10, "timeout_s": 10})


def test_a_fresh_home_can_be_queried(tmp_path: Path) -> None:
    found = query(tmp_path / "home", "SELECT * FROM leaderboard")

    assert found.columns[:3] == ("rank", "task", "target")
    assert found.rows == ()
    assert not found.truncated


def test_a_query_sees_what_was_acknowledged_before_it(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    before = datetime.now(UTC)
    ledger.call(call("c1"))

    found = query(home, "SELECT call_id FROM calls")

    assert found.rows == (("c1",),)
    assert before <= found.as_of <= datetime.now(UTC)


def test_a_query_without_a_drain_says_how_old_its_answer_is(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    ledger.call(call("c1"))
    published = drain(home).as_of
    ledger.call(call("c2"))

    found = query(home, "SELECT call_id FROM calls", drain_first=False)

    assert found.rows == (("c1",),)
    assert found.as_of == published


def test_a_query_reads_what_there_is_while_another_drain_works(home: Path) -> None:
    drain(home)
    Ledger(home, writer="test").call(call("c1"))
    descriptor = os.open(home / "drain.lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)

    found = query(home, "SELECT call_id FROM calls")
    os.close(descriptor)

    assert found.rows == ()


def test_a_query_reads_what_there_is_beside_a_damaged_database(home: Path) -> None:
    Ledger(home, writer="test").call(call("c1"))
    drain(home)
    (home / "ledger.duckdb").write_bytes(b"damaged" * 1000)

    assert query(home, "SELECT call_id FROM calls").rows == (("c1",),)


def test_a_home_that_cannot_be_made_is_a_query_error(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where the home should be")

    with pytest.raises(QueryError, match="no ledger at"):
        query(tmp_path / "home", "SELECT 1")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS a",
        "select 1 as a;",
        "-- a comment\nSELECT 1 AS a",
        "WITH x AS (SELECT 1 AS a) SELECT * FROM x",
        "FROM (VALUES (1)) t(a)",
        "VALUES (1)",
        "SHOW TABLES",
        "DESCRIBE leaderboard",
        "SUMMARIZE calls",
        "EXPLAIN SELECT 1",
        "TABLE calls",
    ],
)
def test_statements_that_only_read_are_answered(empty_home: Path, sql: str) -> None:
    assert ask(empty_home, sql)["columns"]


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "-- nothing",
        ";",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE calls",
        "DELETE FROM calls",
        "INSERT INTO calls (call_id) VALUES ('x')",
        "UPDATE calls SET call_id = 'x'",
        "DROP VIEW leaderboard",
        "CREATE TEMP TABLE t (i INTEGER)",
        "ATTACH '/tmp/other.duckdb'",
        "DETACH ledger",
        "USE memory",
        "SET threads = 9",
        "RESET threads",
        "COPY calls TO '/tmp/calls.csv'",
        "EXPORT DATABASE '/tmp/calls'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "CALL pragma_version()",
        "PRAGMA database_list",
        "CHECKPOINT",
        "VACUUM",
        "BEGIN",
        "PREPARE p AS SELECT 1",
    ],
)
def test_anything_else_is_refused(empty_home: Path, sql: str) -> None:
    assert "one statement that only reads" in str(ask(empty_home, sql)["error"])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT content FROM read_text('/etc/hostname')",
        "SELECT * FROM read_blob('/etc/hostname')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM read_json('http://127.0.0.1:1/x.json')",
        "SELECT * FROM parquet_scan('/tmp/x.parquet')",
        "SELECT getenv('HOME')",
        "EXPLAIN ANALYZE INSERT INTO calls (call_id) VALUES ('x')",
        "EXPLAIN ANALYZE COPY calls TO '/tmp/sz-mcp-calls.csv'",
        "SELECT * FROM query('DELETE FROM calls')",
    ],
)
def test_a_query_reaches_nothing_but_the_ledger(empty_home: Path, sql: str) -> None:
    assert ask(empty_home, sql)["error"]


def test_an_unknown_table_lists_the_known_ones(home: Path) -> None:
    with pytest.raises(QueryError, match=r"best_runs, .*calls, .*leaderboard, .*violations"):
        query(home, "SELECT * FROM runners")


def test_an_unknown_column_names_candidates(home: Path) -> None:
    with pytest.raises(QueryError, match=r'"agents" not found.*\n.*"agent"'):
        query(home, "SELECT agents FROM calls")


def test_a_syntax_error_is_shown_with_its_place(home: Path) -> None:
    with pytest.raises(QueryError, match=r"(?s)Parser Error.*SELEC.*\^"):
        query(home, "SELEC 1")


def test_a_parameter_has_no_value(home: Path) -> None:
    with pytest.raises(QueryError, match="write the values out"):
        query(home, "SELECT $name")


@pytest.mark.parametrize("rows", [0, -1])
def test_max_rows_must_be_positive(home: Path, rows: int) -> None:
    with pytest.raises(QueryError, match="at least 1"):
        query(home, "SELECT 1", rows)


def test_a_query_of_monstrous_length_is_refused(home: Path) -> None:
    with pytest.raises(QueryError, match="100000 are allowed"):
        query(home, "SELECT " + "1," * 60_000 + "1")


@pytest.mark.parametrize(("count", "truncated"), [(9, False), (10, False), (11, True)])
def test_no_more_rows_than_asked_for_come_back(home: Path, count: int, truncated: bool) -> None:
    found = query(home, f"SELECT * FROM range({count})", 10)

    assert len(found.rows) == min(count, 10)
    assert found.truncated is truncated


def test_a_reply_of_monstrous_size_is_truncated(home: Path) -> None:
    found = query(home, "SELECT repeat('x', 200000) FROM range(1000)")

    assert found.truncated
    assert 10 < len(found.rows) < 100
    assert str(found.rows[0][0]).endswith("… [100000 characters cut]")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT range(2000000)",
        "SELECT [repeat('x', 90000) FOR y IN range(500)]",
        "SELECT {'a': [repeat('x', 90000) FOR y IN range(500)]}",
        "SELECT map([repeat(i::VARCHAR, 10000) FOR i IN range(2000)], range(2000))",
        "SELECT " + "[" * 150 + "repeat('x', 9000000)" + "]" * 150,
    ],
)
def test_a_value_that_holds_many_is_cut_too(empty_home: Path, sql: str) -> None:
    found = query(empty_home, sql)

    assert 50_000 < len(json.dumps(found.rows)) < 8_000_000


def test_a_value_that_is_cut_says_so(empty_home: Path) -> None:
    found = query(empty_home, "SELECT range(1000000) AS a, map(range(3), range(3)) AS b")

    (items, entries) = found.rows[0]
    assert found.truncated
    assert isinstance(items, list)
    assert items[-1] == f"… [items cut]: {1_000_000 - len(items) + 1}"
    assert entries == {"… [items cut]": 3}


def test_values_are_json(home: Path) -> None:
    found = query(
        home,
        "SELECT 'NaN'::DOUBLE, '-inf'::FLOAT, 1.5::DECIMAL(4, 2), 2::HUGEINT << 70, NULL, true,"
        " '2026-01-02 03:04:05.5'::TIMESTAMP, '2026-01-02'::DATE, '03:04:05'::TIME,"
        " INTERVAL 90 SECOND, '00000000-0000-4000-8000-000000000001'::UUID, '\\xAA'::BLOB,"
        " {'a': [1.0, 'NaN'::DOUBLE]}, MAP {'k': 1}, '2026-01-02 03:04:05+02'::TIMESTAMPTZ",
    )

    assert found.rows == (
        (
            None,
            None,
            1.5,
            2 << 70,
            None,
            True,
            "2026-01-02T03:04:05.500000",
            "2026-01-02",
            "03:04:05",
            90.0,
            "00000000-0000-4000-8000-000000000001",
            "aa",
            {"a": [1.0, None]},
            {"k": 1},
            "2026-01-02T01:04:05+00:00",
        ),
    )
    json.dumps(found.rows, allow_nan=False)


def test_infinities_of_the_ledger_are_null_and_can_be_asked_for_as_text(home: Path) -> None:
    Ledger(home, writer="test").call(call("c1", duration_ms=math.inf))

    found = query(home, "SELECT duration_ms, duration_ms::VARCHAR FROM calls")

    assert found.rows == ((None, "inf"),)


def test_columns_of_the_same_name_are_told_apart(home: Path) -> None:
    found = query(home, "SELECT 1 AS a, 2 AS a, 3 AS a, 4 AS a_2")

    assert found.columns == ("a", "a_2", "a_3", "a_2_2")
    assert distinct_names(["x", "y"]) == ["x", "y"]


def test_odd_text_in_a_query_is_answered(home: Path) -> None:
    assert query(home, "SELECT 'é🙂'").rows == (("é🙂",),)
    assert query(home, "SELECT '\udc80'").rows == (("\\udc80",),)
    with pytest.raises(QueryError):
        query(home, "SELECT \0")


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT count(*) FROM range(1000000000000) t(i) WHERE hash(i) = 1", "longer than 0.5 s"),
        ("SELECT repeat('x', 1000000000) FROM range(1000)", "longer than 0.5 s|needs more than"),
        ("SELECT * FROM range(1000000000000) t(i) ORDER BY hash(i)", "longer than 0.5 s|more than"),
        (
            "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT max(i) FROM r",
            "longer than 0.5 s",
        ),
    ],
)
def test_a_query_without_an_end_is_stopped(home: Path, sql: str, why: str) -> None:
    with pytest.raises(QueryError, match=why):
        query(home, sql, timeout_s=0.5)


def test_a_query_in_a_folder_of_odd_name(tmp_path: Path) -> None:
    assert query(tmp_path / "it's a home", "SELECT 1").rows == ((1,),)


def test_a_damaged_database_is_told_and_what_was_published_is_read(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    ledger.call(call("c1"))
    assert query(home, "SELECT count(*) FROM calls").rows == ((1,),)
    (home / "ledger.duckdb").write_bytes(b"not a database" * 1000)
    ledger.call(call("c2"))

    found = query(home, "SELECT count(*) FROM calls")

    assert found.rows == ((1,),)
    assert "ledger.duckdb" in found.warning
    ledger.close()
