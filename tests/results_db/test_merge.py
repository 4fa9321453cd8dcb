"""Merging takes from another home what this one lacks, once."""

from __future__ import annotations

import tarfile
from pathlib import Path

import duckdb
import pytest

from results_db import database
from results_db.attempts import Attempts
from results_db.backup import backup
from results_db.blobs import BlobStore
from results_db.errors import UpkeepError
from results_db.files import LedgerFiles
from results_db.ledger import Ledger
from results_db.merge import merge
from results_db.queries import query
from results_db.rows import ROWS
from tests.results_db import records

TABLES = [row.table for row in ROWS]


def everything(home: Path) -> dict[str, object]:
    """All rows of all tables, without the order they came in."""
    query(home, "SELECT 1")
    with duckdb.connect(str(LedgerFiles(home).snapshot), read_only=True) as connection:
        return {
            table: connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()
            for table in TABLES
        }


def record(home: Path, ledger: Ledger, name: str) -> None:
    """A ranked kernel with a picture, an attempt and a run that does not end."""
    records.record_ranked(ledger, records.kernel(name), records.run_result())
    ledger.run_started(records.started(f"open-{name}", name))
    LedgerFiles(home).pictures.mkdir(exist_ok=True)
    (LedgerFiles(home).pictures / f"run-{name}.png").write_bytes(b"png")
    Attempts(home).next("s1")


def restored(home: Path, tmp_path: Path) -> Path:
    again = tmp_path / "again"
    with tarfile.open(tmp_path / "all.tar") as archive:
        archive.extractall(again, filter="data")
    return again


def test_a_restored_home_takes_what_came_after_the_backup_and_nothing_twice(
    home: Path, tmp_path: Path
) -> None:
    ledger = Ledger(home, writer="test")
    record(home, ledger, "k1")
    backup(home, tmp_path / "all.tar")
    record(home, ledger, "k2")
    ledger.close()
    for _ in range(2):
        query(home, "SELECT 1")
    again = restored(home, tmp_path)
    lacking = everything(again) != everything(home)

    report = merge(again, home)
    repeated = merge(again, home)

    assert lacking
    assert everything(again) == everything(home)
    assert report.rows["kernels"] == 1
    assert (report.blobs, report.pictures) == (2, 1)
    assert (repeated.rows, repeated.blobs, repeated.pictures) == ({}, 0, 0)
    assert BlobStore(again).get_kernel("k2") == records.kernel("k2")
    assert (again / "pictures" / "run-k2.png").read_bytes() == b"png"
    assert Attempts(again).next("s1") == 3
    assert query(again, "SELECT run_id FROM runs WHERE status = 'running'").rows == ()


def test_a_run_that_a_backup_caught_in_progress_does_not_go_on_in_the_restored_home(
    home: Path, tmp_path: Path
) -> None:
    ledger = Ledger(home, writer="test")
    record(home, ledger, "k1")
    backup(home, tmp_path / "all.tar")
    goes_on = query(home, "SELECT status FROM runs WHERE run_id = 'open-k1'").rows
    ledger.close()

    again = restored(home, tmp_path)

    assert goes_on == (("running",),)
    assert query(again, "SELECT status FROM runs WHERE run_id = 'open-k1'").rows == (("aborted",),)


def test_what_the_restored_home_recorded_meanwhile_stays(home: Path, tmp_path: Path) -> None:
    ledger = Ledger(home, writer="test")
    record(home, ledger, "k1")
    backup(home, tmp_path / "all.tar")
    ledger.close()
    again = restored(home, tmp_path)
    ledger = Ledger(again, writer="test")
    record(again, ledger, "k3")
    Attempts(again).next("s1")

    merge(again, home)
    ledger.close()

    found = query(again, "SELECT kernel_id FROM kernels ORDER BY 1").rows
    assert found == (("k1",), ("k3",))
    assert Attempts(again).next("s1") == 4


@pytest.mark.parametrize(
    ("other", "complaint"), [("home", "is the home itself"), ("none", "no ledger in")]
)
def test_what_is_no_other_ledger_is_refused(
    home: Path, tmp_path: Path, other: str, complaint: str
) -> None:
    with pytest.raises(UpkeepError, match=complaint):
        merge(home, tmp_path / other)

    assert not (tmp_path / "none").exists()


def test_nothing_is_taken_from_a_home_whose_server_still_works(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    ledger = Ledger(other, writer="test")
    record(other, ledger, "k1")

    with pytest.raises(UpkeepError, match=r"a server still works in .*other: stop it first"):
        merge(home, other)
    ledger.close()

    assert merge(home, other).rows["kernels"] == 1


def test_a_merge_waits_for_no_other_drain_forever(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    ledger = Ledger(other, writer="test")
    ledger.call(records.call("c"))
    ledger.close()
    complaint = "another process has been draining"

    with database.locked(LedgerFiles(home), 0.0), pytest.raises(UpkeepError, match=complaint):
        merge(home, other, wait_s=0.0)

    assert query(home, "SELECT * FROM calls").rows == ()
