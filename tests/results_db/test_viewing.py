"""What SQL shows an agent that may not see everything, and that it can do nothing but look."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from results_db.drain import drain
from results_db.encoding import Json
from results_db.errors import QueryError
from results_db.ledger import Ledger
from results_db.queries import query
from results_db.sql_child import SCORES, RefusedError, _run, answer, open_ledger
from results_db.viewing import Shared, Viewer
from tests.results_db import records

ROOT = Path(__file__).parents[2]
ALICE, BOB = Viewer("alice"), Viewer("zzbob")


def ask(home: Path, sql: str, viewer: Viewer | None = ALICE) -> dict[str, Json]:
    """What the child process would answer."""
    return answer(request_of(home, sql, viewer))


def rows(home: Path, sql: str, viewer: Viewer | None = ALICE) -> list[Any]:
    found = ask(home, sql, viewer)
    assert "error" not in found, found
    shown: Any = found["rows"]
    return list(shown)


def request_of(home: Path, sql: str, viewer: Viewer | None) -> dict[str, Json]:
    return {
        "path": str(home / "ledger-read.duckdb"),
        "sql": sql,
        "max_rows": 1000,
        "timeout_s": 20,
        "viewer": None
        if viewer is None
        else {"agent": viewer.agent, "session": viewer.session, "shared": [*Shared(home).all()]},
    }


@contextmanager
def opened(home: Path, viewer: Viewer | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection as a statement finds it, for many of them."""
    with duckdb.connect(":memory:") as connection:
        open_ledger(connection, request_of(home, "", viewer))
        yield connection


def refusal(connection: duckdb.DuckDBPyConnection, sql: str) -> str:
    """Why a statement is not answered; empty if it is."""
    try:
        _run(connection, sql, 10)
    except (duckdb.Error, RefusedError) as error:
        connection.rollback()
        connection.execute("BEGIN TRANSACTION READ ONLY")
        return str(error)
    return ""


@pytest.fixture(scope="session")
def shared_home(empty_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two agents, one of them with two sessions, ranked beside each other; not to be written to."""
    home = Path(shutil.copytree(empty_home, tmp_path_factory.mktemp("two") / "home"))
    ledger = Ledger(home, writer="test")
    for name, agent, session, gbps in (
        ("k_a1", "alice", "s1", 1.0),
        ("k_a2", "alice", "s2", 2.0),
        ("k_b1", "zzbob", "zz-t1", 3.0),
    ):
        made = records.kernel(name, agent=agent, session=session)
        ledger.kernel(made, f"call-{name}")
        result = records.run_result(gbps)
        for run_id, tool, field in (
            (f"verify-{name}", "verify_bounds", "suite"),
            (f"run-{name}", "run_compress", "cesm"),
        ):
            ledger.run_started(
                records.started(run_id, name, tool=tool, field=field, agent=agent, session=session)
            )
            ledger.run_finished(
                run_id, name, tool, records.verdict() if tool == "verify_bounds" else result
            )
        ledger.build(f"call-{name}", name, records.failed_build())
        ledger.call(records.call(f"call-{name}", agent=agent, session=session, kernel_id=name))
    ledger.close()
    drain(home)
    return home


def test_an_agent_has_its_own_rows_and_a_session_only_its_own(shared_home: Path) -> None:
    sql = "SELECT kernel_id FROM kernels ORDER BY 1"
    seen = {
        viewer: [name for (name,) in rows(shared_home, sql, viewer)]
        for viewer in (
            None,
            ALICE,
            Viewer("alice", "s2"),
            BOB,
            Viewer("zzbob", "s1"),
            Viewer("eve"),
        )
    }

    assert list(seen.values()) == [
        ["k_a1", "k_a2", "k_b1"], ["k_a1", "k_a2"], ["k_a2"], ["k_b1"], [], [],
    ]  # fmt: skip


@pytest.mark.parametrize("table", ["runs", "builds", "diagnostics", "calls", "samples", "ladder"])
def test_every_table_and_view_has_the_rows_of_the_viewer_only(
    shared_home: Path, table: str
) -> None:
    sql = f"SELECT DISTINCT kernel_id FROM {table} ORDER BY 1"

    assert rows(shared_home, sql) == [["k_a1"], ["k_a2"]]
    assert rows(shared_home, sql, Viewer("alice", "s1")) == [["k_a1"]]


def test_a_viewer_has_all_tables_and_views_with_all_their_columns(shared_home: Path) -> None:
    sql = (
        "SELECT table_name, column_name, data_type FROM duckdb_columns()"
        " WHERE database_name = 'ledger' ORDER BY ALL"
    )

    assert rows(shared_home, sql) == rows(shared_home, sql, None)


def test_the_leaderboard_has_everybody_and_of_others_the_scores_only(shared_home: Path) -> None:
    whole = rows(shared_home, "SELECT * FROM leaderboard", None)
    found = ask(shared_home, "SELECT * FROM leaderboard")
    columns, board = found["columns"], found["rows"]
    assert isinstance(columns, list)
    assert isinstance(board, list)

    first, second = (
        {str(name): value for name, value in zip(columns, row, strict=True)}
        for row in board
        if isinstance(row, list)
    )
    assert (first["rank"], second["rank"]) == (1, 2)
    assert {name for name, value in first.items() if value is not None} <= set(SCORES)
    assert first["score"] == pytest.approx(3.0)
    assert list(second.values()) == whole[1]
    assert (second["agent"], second["kernel_id"]) == ("alice", "k_a2")


def test_a_shared_kernel_is_seen_with_what_its_owner_measured(
    shared_home: Path, tmp_path: Path
) -> None:
    home = Path(shutil.copytree(shared_home, tmp_path / "home"))
    Shared(home).add("k_b1")

    runs = "SELECT run_id FROM runs WHERE kernel_id = 'k_b1' ORDER BY 1"
    assert rows(home, runs) == [["run-k_b1"], ["verify-k_b1"]]
    assert rows(home, "SELECT agent, kernel_id FROM leaderboard WHERE rank = 1") == [
        ["zzbob", "k_b1"]
    ]
    assert rows(home, "SELECT count(*) FROM calls WHERE agent = 'zzbob'") == [[0]]
    Shared(home).remove("k_b1")
    assert rows(home, runs) == []
    assert Shared(home).all() == []


@pytest.mark.parametrize("name", ["../k", "", "a/b", "k\n", "x" * 65])
def test_what_is_no_kernel_can_not_be_shared(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a kernel_id"):
        Shared(tmp_path).add(name)
    assert name not in Shared(tmp_path)
    Shared(tmp_path).remove(name)


def test_a_table_of_a_newer_schema_is_hidden_until_its_owner_is_known(
    shared_home: Path, tmp_path: Path
) -> None:
    home = Path(shutil.copytree(shared_home, tmp_path / "home"))
    with duckdb.connect(str(home / "ledger-read.duckdb")) as connection:
        connection.execute("CREATE TABLE plans AS SELECT 'secret' AS plan")
        connection.execute("CREATE TABLE notes AS SELECT kernel_id, 'x' AS note FROM kernels")
        connection.execute("CREATE VIEW told AS SELECT * FROM notes JOIN kernels USING (kernel_id)")

    assert rows(home, "SELECT * FROM plans") == []
    assert rows(home, "SELECT kernel_id FROM notes ORDER BY 1") == [["k_a1"], ["k_a2"]]
    assert rows(home, "SELECT DISTINCT agent FROM told") == [["alice"]]


def test_quotes_in_a_name_are_part_of_the_name(shared_home: Path) -> None:
    for name in ("' OR '1'='1", "alice' --", "alice\0", 'al"ice', "é🙂"):
        assert rows(shared_home, "SELECT count(*) FROM kernels", Viewer(name, name)) == [[0]]


LOOKS = (
    "SELECT * FROM whole.kernels",
    "SELECT * FROM whole.main.runs",
    "SELECT * FROM query_table('whole.kernels')",
    "SELECT * FROM query('SELECT * FROM whole.kernels')",
    "SELECT * FROM pragma_storage_info('whole.kernels')",
    "SELECT * FROM pragma_table_info('whole.kernels')",
    "SELECT * FROM temp.seen_kernels",
    "SELECT * FROM temp.viewer",
    "SELECT * FROM temp.shared",
    "FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM whole.kernels'))",
)


def test_the_rest_of_the_ledger_has_no_name(shared_home: Path) -> None:
    with opened(shared_home, ALICE) as connection:
        refusals = {sql: refusal(connection, sql) for sql in LOOKS}

    assert [sql for sql, told in refusals.items() if "does not exist" not in told] == []


METADATA = (
    "SELECT list(t)::VARCHAR FROM duckdb_tables() t",
    "SELECT list(t)::VARCHAR FROM duckdb_databases() t",
    "SELECT list(t)::VARCHAR FROM duckdb_columns() t",
    "SELECT list(t)::VARCHAR FROM duckdb_settings() t",
    "SELECT list(t)::VARCHAR FROM duckdb_logs() t",
    "SELECT list(t)::VARCHAR FROM pragma_storage_info('kernels') t",
    "SELECT list(t)::VARCHAR FROM pragma_storage_info('leaderboard') t",
    "SELECT list(t)::VARCHAR FROM duckdb_external_file_cache() t",
    "SELECT list(t)::VARCHAR FROM duckdb_secrets() t",
    "SELECT stats(kernel_id) FROM kernels",
    "EXPLAIN ANALYZE SELECT * FROM kernels JOIN runs USING (kernel_id)",
    "SUMMARIZE runs",
    "SELECT list(t)::VARCHAR FROM leaderboard t",
)


def test_metadata_and_statistics_tell_nothing_of_others(shared_home: Path) -> None:
    with opened(shared_home, ALICE) as connection:
        told = {sql: str(_run(connection, sql, 1000)) for sql in METADATA}

    traces = ("zzbob", "k_b1", "zz-t1", str(shared_home), "ledger-read")
    assert [sql for sql, text in told.items() if any(one in text for one in traces)] == []


WRITES = (
    "EXPLAIN ANALYZE INSERT INTO kernels (kernel_id) VALUES ('x')",
    "EXPLAIN ANALYZE DELETE FROM kernels",
    "EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1",
    "EXPLAIN ANALYZE DROP TABLE kernels",
    "EXPLAIN ANALYZE SET threads = 9",
    "EXPLAIN ANALYZE ATTACH '/tmp/x.duckdb'",
    "EXPLAIN ANALYZE COPY kernels TO '/tmp/sz-mcp-kernels.csv'",
    "EXPLAIN ANALYZE EXPORT DATABASE '/tmp/sz-mcp-export'",
    "FROM enable_logging(storage = 'file', storage_config = {'path': '/tmp/sz-mcp-log'})",
    "FROM enable_profiling(format = 'json', save_location = '/tmp/sz-mcp-profile')",
    "FROM add_grammar_extension('x')",
    "FROM create_external_resource('x')",
    "FROM read_csv('/etc/passwd')",
    "FROM read_text('/proc/self/environ')",
    "FROM read_blob('/etc/hostname')",
    "FROM read_json('/etc/hostname')",
    "FROM read_parquet('/etc/hostname')",
    "FROM read_duckdb('/etc/hostname', table_name = 't')",
    "FROM sniff_csv('/etc/passwd')",
    "FROM glob('/*')",
    "FROM 'http://127.0.0.1:1/x.csv'",
    "FROM '/etc/passwd'",
    "FROM arrow_scan(1, 2, 3)",
    "FROM pandas_scan(1)",
    "FROM python_map_function((SELECT 1), 1)",
    "FROM python_arrow_scan(1)",
    "FROM request",
    "FROM connection",
    "SELECT getenv('HOME')",
    "SELECT nextval('s')",
)


@pytest.mark.parametrize("viewer", [None, ALICE], ids=["operator", "agent"])
def test_a_query_changes_nothing_and_reaches_nothing(
    shared_home: Path, viewer: Viewer | None
) -> None:
    with opened(shared_home, viewer) as connection:
        refusals = {sql: refusal(connection, sql) for sql in WRITES}

    assert [sql for sql, told in refusals.items() if not told] == []


@pytest.mark.parametrize("viewer", [None, ALICE], ids=["operator", "agent"])
def test_a_query_is_answered_by_a_process_that_can_open_nothing(
    shared_home: Path, viewer: Viewer | None
) -> None:
    values = (
        "SELECT now(), 1.5::DECIMAL(4, 2), INTERVAL 90 SECOND, uuid()::VARCHAR <> '',"
        " {'a': [1]}, MAP {'k': 1}, '03:04:05+01'::TIMETZ, TIME '01:02:03', DATE '2026-01-02',"
        " (SELECT count(*) FROM kernels)"
    )

    found = query(shared_home, values, drain_first=False, viewer=viewer)

    assert found.rows[0][1:4] == (1.5, 90.0, True)


def test_sealed_a_process_opens_no_file_folder_or_socket_and_writes_to_none(tmp_path: Path) -> None:
    code = f"""
import os, socket
from results_db.sql_child import seal
file = open({str(tmp_path / "open")!r}, "wb", buffering=0)
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
seal()
tries = (lambda: open("/etc/hostname"), lambda: os.listdir("/"), socket.socket, os.pipe,
         lambda: file.write(b"x"), lambda: os.memfd_create("x"))
for one in tries:
    try:
        one()
    except OSError as error:
        print(error.errno)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )

    assert done.stdout.split() == ["24", "24", "24", "24", "27", "24"]


BOMBS = (
    "SELECT count(*) FROM range(1000000000000) a, range(1000000000000) b",
    "SELECT list(i) FROM range(1000000000) t(i)",
    "SELECT unnest(range(1000000000)) FROM range(1000000000)",
    "SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000))",
    "SELECT sleep_ms(100000)",
    "SELECT " + "(" * 20_000 + "1" + ")" * 20_000,
)
SLOW_BOMBS = (
    "SELECT repeat('x', 1000000000)",
    "SELECT md5(repeat('a', 1000000000))",
    "SELECT printf('%2000000000d', 1)",
    "SELECT bitstring('1', 2000000000)",
    "SELECT regexp_replace(repeat('a', 100000000), '(.*?)(.*?)(.*?)x', 'y', 'g')",
    "SELECT json_extract(repeat('[', 10000000) || repeat(']', 10000000), '$')",
    "SELECT string_agg(i::VARCHAR, repeat('z', 1000)) FROM range(100000000) t(i)",
    "SELECT * FROM " + ", ".join(f"range(1000) t{i}" for i in range(300)),
    "SELECT array_agg(x) OVER (ORDER BY x) FROM range(1000000) t(x)",
    "WITH RECURSIVE r(i) AS (SELECT 'x' UNION ALL SELECT i || i FROM r) SELECT max(i) FROM r",
)


@pytest.mark.parametrize(
    "sql", [*BOMBS, *(pytest.param(one, marks=pytest.mark.slow) for one in SLOW_BOMBS)]
)
def test_a_query_that_takes_too_much_ends_with_a_message(shared_home: Path, sql: str) -> None:
    with pytest.raises(
        QueryError, match=r"longer than 0\.5 s|needs more than 1GB|more memory|Max "
    ):
        query(shared_home, sql, drain_first=False, viewer=ALICE, timeout_s=0.5)
