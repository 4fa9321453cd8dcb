"""What leaves the ledger, as other tools read it."""

from __future__ import annotations

import csv
from pathlib import Path

import duckdb
import pytest

from results_db.errors import UpkeepError
from results_db.export import TABLES, Form, export
from results_db.ledger import Ledger
from results_db.rows import BenchRow, HostRow
from tests.results_db.records import call, drained, kernel, record_ranked, run_result


@pytest.fixture
def home(tmp_path: Path) -> Path:
    ledger = Ledger(tmp_path / "home", writer="test")
    ledger.host(HostRow("host-1"))
    for agent in ("ada", "bob"):
        made = kernel(f"k-{agent}", agent=agent, source=f"SECRET_OF = '{agent}'\n")
        record_ranked(ledger, made, run_result(2.0), 1)
    ledger.call(call("c1", arguments={"files": {"kernel.py": "SECRET"}, "note": "SECRET"}))
    ledger.bench(BenchRow("b", "b", {"key": "SECRET"}, "0", 1))
    ledger.close()
    return tmp_path / "home"


@pytest.mark.parametrize("form", ["parquet", "csv", "hf"])
def test_every_table_has_the_rows_of_the_ledger(home: Path, form: Form, tmp_path: Path) -> None:
    report = export(home, tmp_path / "out", form)

    assert {"leaderboard", "kernels", "runs", "samples", "hosts"} <= set(report.rows)
    for name, count in report.rows.items():
        path = (
            tmp_path
            / "out"
            / (f"data/{name}/train-00000-of-00001.parquet" if form == "hf" else f"{name}.{form}")
        )
        if form == "csv":
            with path.open(newline="", encoding="utf-8") as file:
                assert len(list(csv.DictReader(file))) == count
        else:
            found = duckdb.execute(f"FROM '{path}'").fetchall()
            assert sorted(map(repr, found)) == sorted(map(repr, drained(home, TABLES[name])))
    assert set(report.rows) <= set(TABLES)


def test_a_dataset_card_names_every_table_and_column(home: Path, tmp_path: Path) -> None:
    report = export(home, tmp_path / "out", "hf")
    card = (tmp_path / "out" / "README.md").read_text("utf-8")

    assert card.startswith("---\n")
    for name in report.rows:
        assert f"- config_name: {name}\n" in card
        assert f"## {name}\n" in card
    assert "| `kernel_id` | Kernel that ran |" in card


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_sources_leave_only_if_asked_and_arguments_never(home: Path, tmp_path: Path) -> None:
    export(home, tmp_path / "without", "csv")
    report = export(home, tmp_path / "with", "csv", sources=True)

    assert b"SECRET" not in everything(tmp_path / "without")
    assert report.rows["sources"] == 2
    assert (tmp_path / "with" / "sources.csv").read_text("utf-8").count("SECRET_OF") == 2
    assert everything(tmp_path / "with").count(b"SECRET") == 2


def test_a_folder_that_is_there_is_left_alone(home: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()

    with pytest.raises(UpkeepError, match="exists"):
        export(home, tmp_path / "out", "parquet")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
