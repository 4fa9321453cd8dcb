"""A disk that is full is named as what it is, whoever meets it, and nothing is lost."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from results_db.backup import backup
from results_db.drain import drain
from results_db.errors import LedgerError
from results_db.ledger import Ledger
from results_db.merge import merge
from results_db.prune import Wish, prune
from results_db.queries import query
from tests.results_db import records

JUNK = {"sql": "0123456789" * 400_000}
FUTURE = datetime.now(UTC) + timedelta(days=1)


@contextmanager
def full(limit_bytes: int) -> Iterator[None]:
    """No file of this process may grow beyond so many bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def pending(home: Path) -> None:
    """Much that is still to be drained."""
    ledger = Ledger(home, writer="test")
    ledger.call(records.call("c", arguments=JUNK))
    ledger.close()


@pytest.mark.parametrize(
    "work",
    [
        drain,
        lambda home: prune(home, Wish(FUTURE)),
        lambda home: backup(home, home.parent / "all.tar"),
        lambda home: merge(home.parent / "other", home),
    ],
    ids=["drain", "prune", "backup", "merge"],
)
def test_whoever_meets_a_full_disk_says_so_with_the_remedy(
    home: Path, work: Callable[[Path], object]
) -> None:
    pending(home)
    database = (home / "ledger.duckdb").stat().st_size

    with full(database + 65536), pytest.raises(LedgerError) as caught:
        work(home)

    assert "The disk is full: free space on it" in str(caught.value)
    assert "no transaction is active" not in str(caught.value)
    assert list(home.glob("*.tmp")) == []
    assert query(home, "SELECT call_id FROM calls").rows == (("c",),)


def test_a_query_on_a_full_disk_reads_what_there_is_and_warns(home: Path) -> None:
    pending(home)
    database = (home / "ledger.duckdb").stat().st_size

    with full(database + 65536):
        found = query(home, "SELECT count(*) FROM calls")

    assert found.rows == ((0,),)
    assert "The disk is full" in found.warning
