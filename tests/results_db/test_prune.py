"""Pruning forgets what is old, as a whole, and nothing else."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from results_db.blobs import BlobStore
from results_db.errors import UnknownKernelError, UpkeepError
from results_db.files import LedgerFiles
from results_db.ledger import Ledger
from results_db.prune import Wish, prune
from results_db.queries import query
from results_db.usage import usage
from tests.results_db import records
from tests.results_db.records import drained, read

FUTURE = datetime.now(UTC) + timedelta(days=1)
PAST = datetime.now(UTC) - timedelta(days=1)
EVERYTHING = Wish(FUTURE, keep_best=False)


def fill(home: Path) -> None:
    """alice: k1 is best, k2 is worse; bob: k3 leads his own; a call without a kernel."""
    ledger = Ledger(home, writer="test")
    for name, agent, gbps in (("k1", "alice", 2.0), ("k2", "alice", 1.0), ("k3", "bob", 1.0)):
        made = records.kernel(name, agent=agent)
        records.record_ranked(ledger, made, records.run_result(gbps))
        ledger.call(records.call(f"call-{name}", agent=agent, kernel_id=name))
        LedgerFiles(home).pictures.mkdir(exist_ok=True)
        (LedgerFiles(home).pictures / f"run-{name}.png").write_bytes(b"png")
    ledger.call(records.call("idle", agent="alice"))
    ledger.close()


def kernels(home: Path) -> list[str]:
    return [name for (name,) in read(home, "SELECT kernel_id FROM kernels ORDER BY 1")]


def test_what_is_not_old_stays(home: Path) -> None:
    fill(home)

    report = prune(home, Wish(PAST, keep_best=False))

    assert report.rows == {}
    assert report.kernels == 0
    assert kernels(home) == ["k1", "k2", "k3"]


def test_the_best_of_every_agent_stay_with_all_that_ranks_them(home: Path) -> None:
    fill(home)
    before = drained(home, "SELECT agent, kernel_id, score FROM leaderboard")

    report = prune(home, Wish(FUTURE))

    assert report.kernels == 1
    assert kernels(home) == ["k1", "k3"]
    assert read(home, "SELECT agent, kernel_id, score FROM leaderboard") == before
    assert read(home, "SELECT call_id FROM calls ORDER BY 1") == [("call-k1",), ("call-k3",)]
    for table in ("runs_started", "runs_finished", "verdicts", "metrics"):
        assert read(home, f"SELECT count(*) FROM {table} WHERE kernel_id = 'k2'") == [(0,)]


def test_everything_old_goes_if_told_so(home: Path) -> None:
    fill(home)

    report = prune(home, EVERYTHING)

    assert report.kernels == 3
    assert report.pictures == 3
    assert report.sources == 3
    for table in report.rows:
        assert read(home, f"SELECT count(*) FROM {table}") == [(0,)]
    assert list(LedgerFiles(home).pictures.iterdir()) == []
    with pytest.raises(UnknownKernelError):
        BlobStore(home).get_kernel("k1")


def test_only_the_named_agent_loses_anything(home: Path) -> None:
    fill(home)

    prune(home, Wish(FUTURE, agent="bob", keep_best=False))

    assert kernels(home) == ["k1", "k2"]
    assert read(home, "SELECT DISTINCT agent FROM calls") == [("alice",)]


def test_a_dry_run_says_the_same_and_changes_nothing(home: Path) -> None:
    fill(home)

    foretold = prune(home, EVERYTHING, dry_run=True)
    left = kernels(home)
    done = prune(home, EVERYTHING)

    assert left == ["k1", "k2", "k3"]
    assert (foretold.rows, foretold.kernels) == (done.rows, done.kernels)
    assert (foretold.sources, foretold.pictures) == (done.sources, done.pictures)
    assert foretold.freed_bytes == 0


def test_a_source_that_another_kernel_has_too_stays(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    for name, agent in (("k1", "alice"), ("k2", "bob")):
        made = records.kernel("same", agent=agent)
        ledger.kernel(type(made)(name, made.submission, agent, "s"), "c")
    ledger.close()

    report = prune(home, Wish(FUTURE, agent="alice", keep_best=False))

    assert (report.kernels, report.sources) == (1, 0)
    assert BlobStore(home).get_kernel("k2").submission.files == {"kernel.py": "NAME = 'same'\n"}


def test_a_kernel_that_an_old_one_was_compared_with_lately_stays(home: Path) -> None:
    with_age = Ledger(home, writer="test")
    with_age.kernel(records.kernel("old"), "c")
    with_age.close()
    drained(home, "SELECT 1")
    cut = datetime.now(UTC)
    ledger = Ledger(home, writer="test")
    ledger.kernel(records.kernel("new"), "c")
    ledger.run_started(records.started("r", "new", against="old"))
    ledger.close()

    report = prune(home, Wish(cut, keep_best=False))

    assert report.kernels == 0


def test_the_home_becomes_smaller_and_the_archive_empty(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    for number in range(300):
        junk = {"sql": f"{number:05d}" * 2000}
        ledger.call(records.call(f"c{number}", arguments=junk))
    ledger.close()
    drained(home, "SELECT 1")
    before = usage(home).total

    report = prune(home, EVERYTHING)

    assert report.rows == {"calls": 300}
    assert report.freed_bytes == before - usage(home).total > 1_000_000
    assert list(LedgerFiles(home).archive.iterdir()) == []


def test_what_a_live_server_writes_afterwards_arrives_once(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    ledger.call(records.call("before"))
    prune(home, EVERYTHING)
    ledger.call(records.call("after"))
    ledger.close()

    assert drained(home, "SELECT call_id FROM calls") == [("after",)]


def test_a_pruned_database_has_comments_and_keys_as_before(home: Path) -> None:
    fill(home)
    catalog = "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE NOT internal"
    before = drained(home, catalog)

    prune(home, EVERYTHING)

    assert read(home, catalog) == before
    with duckdb.connect(str(home / "ledger.duckdb")) as connection:
        tags = "SELECT tags['storage_version'] FROM duckdb_databases() WHERE NOT internal"
        assert ("v1.5.0+",) in connection.execute(tags).fetchall()


def test_a_submission_waits_while_sources_are_pruned(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    store = BlobStore(home)
    stored = threading.Event()

    def submit() -> None:
        ledger.kernel(records.kernel("k1"), "c")
        stored.set()

    thread = threading.Thread(target=submit)
    with store.pruning():
        thread.start()
        waited = not stored.wait(0.2)
    thread.join()
    ledger.close()

    assert waited
    assert stored.is_set()


def test_nothing_is_pruned_while_somebody_has_the_database_open(home: Path) -> None:
    fill(home)
    drained(home, "SELECT 1")

    complaint = "somebody has it open"
    with duckdb.connect(str(home / "ledger.duckdb")), pytest.raises(UpkeepError, match=complaint):
        prune(home, EVERYTHING)

    assert query(home, "SELECT count(*) FROM kernels").rows == ((3,),)


def test_kernels_that_something_is_being_done_with_stay(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    for name in ("compiling", "runs", "other", "idle"):
        ledger.kernel(records.kernel(name), "c")
        if name != "compiling":
            ledger.build("c", name, records.failed_build())
    ledger.run_started(records.started("r", "runs", against="other"))

    report = prune(home, EVERYTHING)
    left = kernels(home)
    ledger.close()
    rest = prune(home, EVERYTHING)

    assert (report.kernels, left) == (1, ["compiling", "other", "runs"])
    assert (rest.kernels, kernels(home)) == (3, [])
