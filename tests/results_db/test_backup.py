"""A backup holds everything that was acknowledged, and unpacks to a home that works."""

from __future__ import annotations

import shutil
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from results_db import database
from results_db.backup import backup
from results_db.blobs import BlobStore
from results_db.errors import UpkeepError
from results_db.files import LedgerFiles
from results_db.ledger import Ledger
from results_db.queries import query
from tests.results_db import records


def fill(home: Path) -> Ledger:
    """A ranked kernel with a picture; the ledger still open, as a server's is."""
    ledger = Ledger(home, writer="test")
    records.record_ranked(ledger, records.kernel("k1"), records.run_result())
    LedgerFiles(home).pictures.mkdir()
    (LedgerFiles(home).pictures / "run-k1.png").write_bytes(b"png")
    return ledger


@pytest.mark.parametrize("name", ["all.tar", "all.tar.gz", "all.tgz"])
def test_a_backup_unpacked_into_an_empty_folder_is_the_same_home(
    name: str, home: Path, tmp_path: Path
) -> None:
    ledger = fill(home)
    asked = datetime.now(UTC)

    report = backup(home, tmp_path / name)
    ledger.close()
    with tarfile.open(tmp_path / name) as archive:
        archive.extractall(tmp_path / "again", filter="data")

    again = tmp_path / "again"
    statement = "SELECT kernel_id, score FROM leaderboard"
    assert query(again, statement).rows == query(home, statement).rows != ()
    assert BlobStore(again).get_kernel("k1") == records.kernel("k1")
    assert (again / "pictures" / "run-k1.png").read_bytes() == b"png"
    assert report.as_of >= asked
    assert report.bytes == (tmp_path / name).stat().st_size


def test_a_restored_home_goes_on_being_written(home: Path, tmp_path: Path) -> None:
    fill(home).close()
    backup(home, tmp_path / "all.tar")
    again = tmp_path / "again"
    with tarfile.open(tmp_path / "all.tar") as archive:
        archive.extractall(again, filter="data")

    ledger = Ledger(again, writer="test")
    records.record_ranked(ledger, records.kernel("k2"), records.run_result())
    ledger.close()

    assert query(again, "SELECT count(*) FROM kernels").rows == ((2,),)


def test_what_came_after_a_backup_is_taken_from_the_old_journals_once(
    home: Path, tmp_path: Path
) -> None:
    ledger = fill(home)
    backup(home, tmp_path / "all.tar")
    ledger.kernel(records.kernel("k2"), "c")
    ledger.close()
    query(home, "SELECT 1")
    again = tmp_path / "again"
    with tarfile.open(tmp_path / "all.tar") as archive:
        archive.extractall(again, filter="data")

    for folder in ("journal", "archive"):
        shutil.copytree(home / folder, again / folder)

    statement = "SELECT kernel_id FROM kernels ORDER BY kernel_id"
    assert query(again, statement).rows == (("k1",), ("k2",))
    assert query(again, "SELECT count(*) FROM runs").rows == ((2,),)


def test_a_backup_never_overwrites(home: Path, tmp_path: Path) -> None:
    (tmp_path / "all.tar").write_text("mine")

    with pytest.raises(UpkeepError, match="exists: choose another name"):
        backup(home, tmp_path / "all.tar")

    assert (tmp_path / "all.tar").read_text() == "mine"


def test_a_name_that_says_no_archive_is_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(UpkeepError, match=r"\.tar, \.tar\.gz or \.tgz"):
        backup(home, tmp_path / "all.duckdb")


def test_a_backup_that_cannot_be_consistent_is_none(home: Path, tmp_path: Path) -> None:
    fill(home).close()
    complaint = "somebody has it open|another process has been draining"

    with duckdb.connect(str(home / "ledger.duckdb")), pytest.raises(UpkeepError, match=complaint):
        backup(home, tmp_path / "all.tar")
    with database.locked(LedgerFiles(home), 0.0), pytest.raises(UpkeepError, match=complaint):
        backup(home, tmp_path / "all.tar", wait_s=0.0)

    assert [path.name for path in tmp_path.iterdir()] == ["home"]
