"""Databases of every released version become ones of this version, with their rows."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

from results_db import database, schema
from results_db.drain import drain
from results_db.errors import NewerDatabaseError
from results_db.files import LedgerFiles
from results_db.ledger import Ledger
from results_db.queries import query
from tests.results_db.records import call, read, started

SCHEMAS = Path(__file__).with_name("schemas")
RELEASED = list(range(1, schema.VERSION))
CATALOG = (
    "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() WHERE NOT internal"
    " UNION ALL SELECT table_name, '', '', comment FROM duckdb_tables()"
    " UNION ALL SELECT view_name, '', '', comment FROM duckdb_views() WHERE NOT internal"
)


def old_home(home: Path, version: int) -> Path:
    """A home whose database a released version made, with a kernel, a run and a call in it."""
    home.mkdir(parents=True)
    connection = duckdb.connect(":memory:")
    database.attach(connection, str(home / "ledger.duckdb"), "ledger")
    connection.execute("USE ledger")
    connection.execute((SCHEMAS / f"v{version}.sql").read_text("utf-8"))
    connection.execute(f"INSERT INTO schema_version VALUES ({version}, now()::TIMESTAMP)")
    of_mode = ", NULL, NULL, NULL, NULL" if version >= 4 else ""
    for statement in (
        "INSERT INTO kernels (id, kernel_id, task, agent) VALUES (uuid(), 'k1', 'szp', 'ada')",
        "INSERT INTO runs_started (id, run_id, kernel_id, field) VALUES (uuid(), 'r1', 'k1', 'f')",
        "INSERT INTO runs_finished (id, run_id, kernel_id, status, ratio, samples) VALUES"
        " (uuid(), 'r1', 'k1', 'timed', 2.5, [('run', 0, 0.5, 0.5, 1, 8, 0.0, false)])",
        "INSERT INTO calls (id, call_id, tool) VALUES (uuid(), 'c1', 'describe_arch')",
        "INSERT INTO verdicts (id, run_id, holds, cases) VALUES"
        f" (uuid(), 'r1', true, [('noise', true, 'bound_ok', 9, 0, 0.5, 1.0, 4.0{of_mode})])",
    ):
        connection.execute(statement)
    connection.close()
    return home


def test_there_is_the_schema_of_every_released_version() -> None:
    assert sorted(path.stem for path in SCHEMAS.glob("*.sql")) == [f"v{n}" for n in RELEASED]


@pytest.mark.parametrize("version", RELEASED)
def test_an_upgraded_database_is_like_a_new_one(
    version: int, empty_home: Path, tmp_path: Path
) -> None:
    home = old_home(tmp_path / "home", version)

    drain(home)

    assert set(read(home, CATALOG)) == set(read(empty_home, CATALOG))


@pytest.mark.parametrize("version", RELEASED)
def test_an_upgrade_keeps_the_rows_and_takes_new_ones(version: int, tmp_path: Path) -> None:
    home = old_home(tmp_path / "home", version)
    ledger = Ledger(home, writer="test")
    ledger.run_started(started("r2", "k1", reproduces="r1", threads=2))
    ledger.close()

    drain(home)

    found = read(
        home, "SELECT run_id, kernel_id, status, ratio, threads, reproduces FROM runs ORDER BY 1"
    )
    assert found == [
        ("r1", "k1", "timed", 2.5, None, None),
        ("r2", "k1", "aborted", None, 2, "r1"),
    ]
    assert read(home, "SELECT call_id FROM calls") == [("c1",)]
    assert read(home, "SELECT seconds FROM samples") == [(0.5,)]
    cases = "SELECT c.case_name, c.ratio, c.reached FROM (SELECT unnest(cases) AS c FROM verdicts)"
    assert read(home, cases) == [("noise", 4.0, None)]
    assert read(home, "SELECT agent, task FROM kernels") == [("ada", "szp")]


@pytest.mark.parametrize("version", RELEASED)
def test_an_upgrade_leaves_a_copy_of_what_was_there_before(version: int, tmp_path: Path) -> None:
    home = old_home(tmp_path / "home", version)

    drain(home)
    drain(home)

    copies = [path.name for path in home.glob("*.bak")]
    assert copies == [f"ledger.duckdb.v{version}.bak"]
    with duckdb.connect(str(home / copies[0]), read_only=True) as connection:
        assert schema.installed_version(connection) == version
        assert connection.execute("SELECT run_id FROM runs_finished").fetchall() == [("r1",)]


def test_a_copy_before_an_upgrade_is_a_database_that_can_be_put_back(tmp_path: Path) -> None:
    home = old_home(tmp_path / "home", 1)
    drain(home)

    shutil.copy(LedgerFiles(home).before(1), LedgerFiles(home).database)
    drain(home)

    assert read(home, "SELECT run_id, ratio FROM runs") == [("r1", 2.5)]
    assert query(home, "SELECT max(version) FROM schema_version").rows == ((schema.VERSION,),)


def test_a_new_database_leaves_no_copy(empty_home: Path) -> None:
    assert list(empty_home.glob("*.bak")) == []


def newer_home(home: Path) -> Path:
    with duckdb.connect(str(home / "ledger.duckdb")) as connection:
        connection.execute("INSERT INTO schema_version VALUES (1000, NULL)")
    return home


def test_a_newer_database_is_refused_and_says_what_to_do(home: Path) -> None:
    newer_home(home)

    with pytest.raises(NewerDatabaseError, match=r"has schema 1000.*upgrade sz-mcp"):
        drain(home)


def test_beside_a_newer_database_calls_are_kept_and_old_rows_are_read(home: Path) -> None:
    newer_home(home)
    ledger = Ledger(home, writer="test")
    ledger.call(call("c1"))
    ledger.close()

    found = query(home, "SELECT count(*) FROM calls")

    assert found.rows == ((0,),)
    assert "made by a newer sz-mcp" in found.warning
    assert len(list((home / "journal").glob("*.jsonl"))) == 1
