"""The command line, run as a user runs it."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

from results_db import schema
from results_db.queries import query
from sz_mcp import __version__

ROOT = Path(__file__).parents[2]
BASELINES = ROOT / "kernels" / "baselines" / "numba"
WAIT_S = 120


def sz_mcp(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sz_mcp", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "SZ_MCP_HOME": str(home), "COLUMNS": "120"},
        timeout=WAIT_S,
        check=False,
    )


def test_the_version_is_printed(tmp_path: Path) -> None:
    told = f"sz-mcp {__version__} (ledger schema {schema.VERSION})\n"
    assert sz_mcp("--version", home=tmp_path).stdout == told


def test_sql_prints_a_table_json_or_csv(tmp_path: Path) -> None:
    statement = "SELECT 1 AS a, 'x,y' AS b, NULL AS c, 'nan'::DOUBLE AS d, [1, 2] AS e"

    table = sz_mcp("sql", statement, home=tmp_path).stdout
    as_json = sz_mcp("sql", statement, "--json", home=tmp_path).stdout
    as_csv = sz_mcp("sql", statement, "--csv", home=tmp_path).stdout

    assert "x,y" in table
    assert "1 rows, as of 20" in table
    assert json.loads(as_json) == [{"a": 1, "b": "x,y", "c": None, "d": None, "e": [1, 2]}]
    assert list(csv.reader(io.StringIO(as_csv)))[1][:3] == ["1", "x,y", ""]


def test_sql_says_when_rows_were_left_out(tmp_path: Path) -> None:
    done = sz_mcp("sql", "FROM range(5)", "--max-rows", "2", "--csv", home=tmp_path)

    assert done.stdout == "range\n0\n1\n"
    assert "only the first 2 rows" in done.stderr


def test_bad_sql_fails_with_the_reason_and_no_traceback(tmp_path: Path) -> None:
    done = sz_mcp("sql", "SELECT nothing FROM calls", home=tmp_path)

    assert done.returncode == 1
    assert done.stderr.startswith("sz-mcp: Binder Error")
    assert "Traceback" not in done.stderr


def test_a_root_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    done = sz_mcp("serve", "--root", str(tmp_path / "none"), home=tmp_path)

    assert done.returncode == 1
    assert done.stderr.startswith("sz-mcp: no folder ")


def test_doctor_reports_targets_isolation_fields_and_ledger(tmp_path: Path) -> None:
    done = sz_mcp("doctor", home=tmp_path)

    assert done.returncode == 0, done.stderr
    for what in ("Python", "target numba", "isolation: rlimits", "fields", "ledger", "journal"):
        assert what in done.stdout


def test_doctor_reports_damage_of_the_journal(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    (tmp_path / "journal" / "1-1-0.jsonl").write_text('{"v":1,"rows":[{"tab')

    done = sz_mcp("doctor", home=tmp_path)

    assert "1 torn or damaged pieces were met" in done.stdout


def test_eval_takes_a_folder_through_every_tool_and_logs_it(tmp_path: Path) -> None:
    folder = BASELINES / "lorenzo-1d" / "tuned"

    done = sz_mcp("eval", str(folder), "--task", "lorenzo-1d", "--json", home=tmp_path)

    steps = json.loads(done.stdout)
    assert list(steps)[:4] == ["compile", "verify suite", "verify field", "run"]
    assert steps["verify suite"]["holds"] is True
    assert steps["run"]["run_gbps"] > 0
    tools = query(tmp_path, "SELECT tool FROM calls WHERE agent = 'eval' ORDER BY started_at").rows
    assert [tool for (tool,) in tools][:4] == [
        "compile_kernel",
        "verify_bounds",
        "verify_bounds",
        "run_compress",
    ]


def test_eval_of_a_kernel_that_fails_ends_with_1_and_says_why(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "kernel.py").write_text("def compress(data, abs_bound:\n")

    done = sz_mcp("eval", str(folder), "--task", "szp", home=tmp_path / "home")

    assert done.returncode == 1
    assert "compile failed\nerror at parsed" in done.stderr
    assert "kernel.py:1" in done.stderr
    assert "Traceback" not in done.stderr


def test_eval_of_a_bad_wish_says_all_that_is_wrong_before_it_runs_anything(tmp_path: Path) -> None:
    folder = str(BASELINES / "szp" / "tuned")

    done = sz_mcp("eval", folder, "--task", "spz", "--field", "x", "--bound", "0", home=tmp_path)

    assert done.returncode == 1
    assert "unknown task 'spz'" in done.stderr
    assert "unknown field 'x'" in done.stderr
    assert "must be a finite number above 0" in done.stderr
    assert query(tmp_path, "SELECT count(*) FROM calls").rows == ((0,),)
