"""Draining beside the calls: at the end at the latest, and a failure is no reason to fail."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from results_db.ledger import Ledger
from results_db.queries import query
from results_db.rows import CallRow
from sz_mcp.upkeep import Upkeep

HOUR_S = 3600.0


def written(home: Path) -> None:
    ledger = Ledger(home, writer="test")
    ledger.call(CallRow("c_1", "noop", datetime.now(UTC), 1.0, "ok"))
    ledger.close()


def test_what_was_written_is_drained_at_the_end(tmp_path: Path) -> None:
    upkeep = Upkeep(tmp_path, HOUR_S, busy=lambda: True)
    upkeep.start()
    written(tmp_path)
    upkeep.note()

    upkeep.close()

    found = query(tmp_path, "SELECT count(*) FROM calls", drain_first=False)
    assert found.rows == ((1,),)


def test_nothing_is_opened_if_nothing_was_written(tmp_path: Path) -> None:
    upkeep = Upkeep(tmp_path, HOUR_S, busy=lambda: False)
    upkeep.start()

    upkeep.close()

    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_damaged_is_a_warning_and_the_journal_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "ledger.duckdb").write_bytes(b"no database" * 1000)
    upkeep = Upkeep(tmp_path, HOUR_S, busy=lambda: False)
    upkeep.start()
    written(tmp_path)
    upkeep.note()

    upkeep.close()

    assert "the journal was not drained" in caplog.text
    assert len(list((tmp_path / "journal").glob("*.jsonl"))) == 1
