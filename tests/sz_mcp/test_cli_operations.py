"""`sz-mcp config | runs | ledger`: what people ask for on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.text import Text

from kernels.fields import Catalogue
from kernels.records import Kernel, Submission
from results_db.encoding import Json
from results_db.ledger import Ledger
from results_db.queries import query
from sz_mcp.asked import Asked
from sz_mcp.cli.ledger import parse_age
from sz_mcp.cli.reproduce import compared, repeat
from sz_mcp.errors import SettingsError
from tests.results_db import records
from tests.sz_mcp import fakes
from tests.sz_mcp.fakes import FakePipeline, make_app

ROOT = Path(__file__).parents[2]
WAIT_S = 120


def sz_mcp(*arguments: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    given = {"PYTHONPATH": str(ROOT), "SZ_MCP_HOME": str(home), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", "sz_mcp", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **given, "XDG_CONFIG_HOME": str(home / "none"), **variables},
        timeout=WAIT_S,
        check=False,
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two ranked kernels of alice."""
    home = tmp_path / "home"
    ledger = Ledger(home, writer="test")
    for name, gbps in (("k1", 2.0), ("k2", 1.0)):
        records.record_ranked(ledger, records.kernel(name), records.run_result(gbps))
    ledger.close()
    return home


def test_config_prints_what_is_in_force_and_where_from(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('agent = "ada"\n[budgets]\nanswer_s = 3\n')

    done = sz_mcp(
        "--config", str(file), "config", "--set", "workers=3", "--json",
        home=tmp_path, SZ_MCP_FEEDBACK="raw",
    )  # fmt: skip

    told = json.loads(done.stdout)
    assert told["agent"] == {"value": "ada", "from": str(file)}
    assert told["budgets.answer_s"] == {"value": 3.0, "from": str(file)}
    assert told["workers"] == {"value": 3, "from": "--set"}
    assert told["feedback"] == {"value": "raw", "from": "$SZ_MCP_FEEDBACK"}
    assert told["limits.files"]["from"] == "default"


def test_a_mistake_in_a_setting_is_told_without_a_traceback(tmp_path: Path) -> None:
    done = sz_mcp("serve", home=tmp_path, SZ_MCP_WORKRES="3")

    assert done.returncode == 1
    assert "did you mean SZ_MCP_WORKERS?" in done.stderr
    assert "Traceback" not in done.stderr


def test_runs_are_listed_and_shown(home: Path) -> None:
    listed = sz_mcp("runs", "list", "--status", "timed", "--json", home=home)
    table = sz_mcp("runs", "list", "--agent", "alice", home=home)
    nobody = sz_mcp("runs", "list", "--agent", "nobody", "--json", home=home)
    shown = sz_mcp("runs", "show", "run-k1", home=home)
    missing = sz_mcp("runs", "show", "r_none", home=home)

    assert sorted(one["run_id"] for one in json.loads(listed.stdout)) == ["run-k1", "run-k2"]
    assert "4 runs, as of" in table.stdout
    assert json.loads(nobody.stdout) == []
    assert "compress_gbps" in shown.stdout
    assert missing.returncode == 1
    assert missing.stderr.startswith("sz-mcp: no run 'r_none'")


def test_a_ledger_is_backed_up_pruned_and_counted(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.tar.gz"

    backup = sz_mcp("ledger", "backup", str(file), home=home)
    again = sz_mcp("ledger", "backup", str(file), home=home)
    foretold = sz_mcp("ledger", "prune", "--older-than", "0h", "--dry-run", home=home)
    pruned = sz_mcp("ledger", "prune", "--older-than", "0h", home=home)
    stats = json.loads(sz_mcp("ledger", "stats", "--json", home=home).stdout)
    with tarfile.open(file) as archive:
        archive.extractall(tmp_path / "new", filter="data")
    restored = json.loads(sz_mcp("ledger", "stats", "--json", home=tmp_path / "new").stdout)

    assert backup.returncode == 0, backup.stderr
    assert again.returncode == 1
    assert "exists: choose another name" in again.stderr
    assert "1 kernels would go" in foretold.stdout
    assert "1 kernels went" in pruned.stdout
    assert (stats["rows"]["kernels"], restored["rows"]["kernels"]) == (1, 2)
    assert stats["total_bytes"] == sum(stats["bytes"].values()) > 0


def test_stats_are_a_table_too(home: Path) -> None:
    done = sz_mcp("ledger", "stats", home=home)

    assert "runs_finished" in done.stdout
    assert "ledger-read.duckdb" in done.stdout


def test_doctor_warns_when_the_quota_is_nearly_used_up(home: Path) -> None:
    done = sz_mcp("doctor", home=home, SZ_MCP_DISK_QUOTA_BYTES="1")

    assert done.returncode == 1
    assert "disk quota" in done.stderr


@pytest.mark.parametrize(("text", "hours"), [("0h", 0), ("12h", 12), ("30d", 720), (" 2w ", 336)])
def test_ages_are_hours_days_or_weeks(text: str, hours: int) -> None:
    assert parse_age(text) == timedelta(hours=hours)


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1.5d", "3 m", "9" * 40 + "d"])
def test_other_ages_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="--older-than"):
        parse_age(text)


RUN: Mapping[str, Json] = {
    "run_id": "r", "status": "timed", "field": "f", "host": "h", "failure_kind": None,
    "failure_message": None, "stream_bytes": 100, "max_abs_error": 0.5, "violations": 0,
    "checked_values": 10, "side_bytes": 0, "achieved": None, "run_gbps": 1.0,
}  # fmt: skip
CALM = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01]


def agreed(new: Mapping[str, Json], seconds: list[float] | None = None) -> dict[str, bool | None]:
    lines = compared(RUN, {**RUN, **new}, {"run": CALM}, {"run": seconds or CALM})
    return {line.what: line.agrees for line in lines}


def test_the_same_run_again_agrees_in_everything() -> None:
    assert set(agreed({}).values()) == {True}


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"stream_bytes": 101}, "stream_bytes"),
        ({"max_abs_error": 0.500001}, "max_abs_error"),
        ({"violations": 1}, "violations"),
        ({"status": "error"}, "status"),
    ],
)
def test_what_is_exact_must_be_equal(changes: dict[str, Any], what: str) -> None:
    found = agreed(changes)

    assert [name for name, agrees in found.items() if agrees is False] == [what]


def test_speeds_may_differ_by_what_runs_differ_by() -> None:
    assert agreed({}, [one * 1.04 for one in CALM])["run_gbps"] is True
    assert agreed({}, [one * 1.2 for one in CALM])["run_gbps"] is False
    assert agreed({}, [one / 1.2 for one in CALM])["run_gbps"] is False


def test_speeds_of_other_machines_and_few_samples_are_not_judged() -> None:
    assert agreed({"host": "other"}, [2 * one for one in CALM])["run_gbps"] is None
    assert agreed({}, [2.0])["run_gbps"] is None


def test_on_another_field_nothing_is_judged() -> None:
    assert set(agreed({"field": "g", "stream_bytes": 7}, [2 * s for s in CALM]).values()) == {None}


def test_a_busy_machine_decides_nothing() -> None:
    assert agreed({"status": "inconclusive", "failure_kind": "busy"})["status"] is None


@pytest.mark.parametrize("columns", ["50", "80", "120"])
def test_a_list_of_runs_is_readable_at_any_width(home: Path, columns: str) -> None:
    ledger = Ledger(home, writer="test")
    name = "hidden-382af8ce"
    records.record_run(ledger, "r_hidden", "k1", records.run_result(3.0, field=name))
    ledger.close()

    done = sz_mcp("runs", "list", home=home, COLUMNS=columns, FORCE_COLOR="1", TERM="xterm")

    lines = Text.from_ansi(done.stdout).plain.splitlines()
    assert max(map(len, lines)) <= int(columns)
    (line,) = [one for one in lines if one.startswith("r_hidden ")]
    assert name in line
    assert "timed" in line
    assert len([one for one in lines if one.startswith(("run-k", "verify-k"))]) == 4
    assert not any("…" in one for one in lines)


def test_a_list_of_runs_that_is_piped_has_every_column(home: Path) -> None:
    done = sz_mcp("runs", "list", home=home, COLUMNS="")

    heading = done.stdout.splitlines()[0]
    assert [one for one in ("agent", "started", "kernel", "decomp.") if one not in heading] == []
    assert "for want of room" not in done.stdout


def test_a_status_that_no_run_has_is_refused_with_those_there_are(home: Path) -> None:
    done = sz_mcp("runs", "list", "--status", "nonsense", home=home)

    assert done.returncode == 1
    assert "--status 'nonsense': give one of received, " in done.stderr
    assert "aborted" in done.stderr


def test_another_home_is_merged_into_this_one(home: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"

    done = sz_mcp("ledger", "merge", str(home), home=new)
    again = sz_mcp("ledger", "merge", str(home), home=new)
    itself = sz_mcp("ledger", "merge", str(home), home=home)

    assert "2 kernels" in done.stdout, done.stderr
    assert "new files: 4 sources and kernels, 0 pictures" in done.stdout
    assert "new rows: none\nnew files: 0 " in again.stdout
    assert itself.returncode == 1
    assert "is the home itself" in itself.stderr


def test_a_run_is_reproduced_on_a_hidden_field_under_its_alias(tmp_path: Path) -> None:
    home = tmp_path / "home"
    catalogue = Catalogue(home)
    hide(home, tmp_path)
    alias = catalogue.info("secretsauce").name
    app = make_app(home, FakePipeline())
    try:
        app.receive(Kernel("k_1", Submission("szp", "numba", fakes.GOOD)), "c", 1)
        asked = Asked("verify_bounds", "r_1", "k_1", "secretsauce", "rel", 1e-3)
        repeat(app, asked)
    finally:
        app.close()

    assert alias != "secretsauce"
    assert query(home, "SELECT field FROM runs").rows == ((alias,),)
    assert query(home, "SELECT count(*) FROM verdicts").rows == ((1,),)


def hide(home: Path, folder: Path) -> None:
    """Register a field that agents never see, as secretsauce."""
    file = folder / "secretsauce.npy"
    np.save(file, np.arange(200, dtype=np.float32))
    done = sz_mcp("fields", "add", str(file), "--hidden", "--name", "secretsauce", home=home)
    assert done.returncode == 0, done.stderr
