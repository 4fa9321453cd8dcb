"""`sz-mcp standings` on a made ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sz_mcp.cli import app
from sz_mcp.errors import StepFailed
from tests.benchmarks.make_ledger import Size, make


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make(folder, Size(6_000, repetitions=2))
    return folder


def test_there_is_a_table_per_execution(home: Path) -> None:
    done = CliRunner().invoke(app, ["standings", "--home", str(home)])

    titles = [line.split()[0] for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert done.exit_code == 0
    assert [one for one in titles if one in ("hardware", "simulated", "emulated")] == [
        "hardware", "simulated", "emulated",
    ]  # fmt: skip
    assert "too few to rank" in done.stdout


def test_json_has_what_the_table_has(home: Path) -> None:
    done = CliRunner().invoke(app, ["standings", "--home", str(home), "--json"])

    found = json.loads(done.stdout)
    assert found[0]["execution"] == "hardware"
    assert 0 <= found[0]["agents"][0]["standing"]["mean"] <= 1


def test_a_bench_that_is_not_there_is_told(home: Path) -> None:
    done = CliRunner().invoke(app, ["standings", "--home", str(home), "--bench", "none"])

    assert isinstance(done.exception, StepFailed)
    assert "no result to compare of 'none'" in str(done.exception)


def test_details_are_told_beside_an_author(home: Path) -> None:
    asked = ["standings", "--home", str(home), "--detail", "--against", "tpe"]
    told = CliRunner().invoke(app, asked)
    found = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)

    assert told.exit_code == 0
    for title in ("what help gains", "mean best so far", "fronts of ratio", "beside tpe"):
        assert title in told.stdout
    hardware = found[0]
    assert {one["agent"] for one in hardware["beside"]} > {"tpe"}
    assert {one["spent"] for one in hardware["economies"]} == {
        "calls", "minutes", "tokens", "dollars",
    }  # fmt: skip
    assert all(one["volume"] > 0 for one in hardware["fronts"])
    assert not any(
        one["beside"] or one["fronts"] for one in found if one["execution"] == "emulated"
    )


def test_an_author_that_is_not_there_is_told(home: Path) -> None:
    done = CliRunner().invoke(app, ["standings", "--home", str(home), "--against", "nobody"])

    assert isinstance(done.exception, StepFailed)
    assert "'nobody' has no speed" in str(done.exception)
