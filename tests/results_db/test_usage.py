"""What a home takes on disk."""

from __future__ import annotations

from pathlib import Path

from results_db.usage import usage


def test_every_part_is_counted_but_what_no_pruning_would_free(tmp_path: Path) -> None:
    (tmp_path / "blobs" / "sources" / "ab").mkdir(parents=True)
    (tmp_path / "blobs" / "sources" / "ab" / "x.json").write_bytes(b"x" * 1000)
    (tmp_path / "ledger.duckdb").write_bytes(b"x" * 500)
    (tmp_path / "drain.lock").write_bytes(b"x" * 7)
    (tmp_path / "fields").mkdir()
    (tmp_path / "fields" / "big.f32").write_bytes(b"x" * 10_000)

    found = usage(tmp_path)

    assert dict(found.parts) == {"blobs": 1000, "ledger.duckdb": 500, "other": 7}
    assert found.total == 1507


def test_a_home_that_is_not_there_takes_nothing(tmp_path: Path) -> None:
    assert usage(tmp_path / "none").total == 0
