"""`sz-mcp compare`, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sz_mcp.cli.peers import Wish, run
from sz_mcp.errors import StepFailed
from sz_mcp.peers.codecs import table
from tests.sz_mcp.test_cli import sz_mcp

SMALL = "synthetic:smooth:20x30:seed=1"


def test_ours_are_compared_on_a_field_a_file_and_the_suite(tmp_path: Path) -> None:
    file = tmp_path / "mine.npy"
    np.save(file, np.linspace(0, 1, 4000, dtype=np.float32).reshape(40, 100))

    done = sz_mcp(
        "compare", SMALL, str(file), "suite", "--codec", "szx", "--bound", "1e-2",
        "--bound", "1e-3", "--repeats", "2", "--json", home=tmp_path,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert "wall clock" in told["clock"]
    rows = told["rows"]
    assert [(row["field"], row["bound"]) for row in rows[:4]] == [
        (name, bound) for name in (SMALL, str(file)) for bound in (1e-2, 1e-3)
    ]
    for row in rows[:4]:
        assert row["ratio"] > 1
        assert row["error_over_bound"] <= 1
        assert len(row["compress_seconds"]) == len(row["decompress_cpu_seconds"]) == 2
    assert {row["field"] for row in rows[4:]} > {"nan_every_97", "empty_3d", "both_zeros"}
    assert {(row["codec"], row["status"], row["violations"]) for row in rows} == {
        ("szx", "holds", 0)
    }


def test_every_compressor_has_a_row_whether_it_is_installed_or_not(tmp_path: Path) -> None:
    theirs = [name for name, codec in table().items() if codec.package]
    asked = [part for name in theirs for part in ("--codec", name)]

    done = sz_mcp("compare", SMALL, *asked, "--repeats", "1", "--json", home=tmp_path)

    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert [row["codec"] for row in rows] == theirs
    for row in rows:
        if row["status"] == "missing":
            assert row["message"].endswith("pip install 'sz-mcp[peers]'")
        else:
            assert row["status"] == "holds", row
            assert row["compress_mb_s"] > 0


@pytest.mark.parametrize(
    ("fields", "codecs", "bound", "reason"),
    [
        (["nothing"], [], 1e-3, r"nothing: unknown field 'nothing'"),
        ([SMALL], ["gzip"], 1e-3, r"--codec 'gzip' is unknown: choose of szp, "),
        ([SMALL], ["szp"], -1.0, r"seed=1: bound -1\.0"),
    ],
)
def test_what_can_not_be_compared_is_said(
    tmp_path: Path, fields: list[str], codecs: list[str], bound: float, reason: str
) -> None:
    wish = Wish(fields, "rel", [bound], codecs, repeats=1, threads=1)

    with pytest.raises(StepFailed, match=reason):
        run(tmp_path, wish, as_json=True)
