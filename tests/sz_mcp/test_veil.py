"""No value of a hidden field, and no text that may hold one, reaches the ledger."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from results_db.queries import query
from tests.test_smoke import environment

NAME = "secretsauce"
LOUD = """
import numpy as np

def known(data):
    return data.size == 64 and data.ravel()[0] == np.float32(123456.5)

def compress(data, abs_bound):
    if known(data):
        print(data.ravel()[:9].tolist())
        {compress}
    return np.frombuffer(data.tobytes(), np.uint8)

def decompress(stream, shape, dtype):
    out = np.frombuffer(stream.tobytes(), dtype).reshape(shape)
    return np.zeros(shape, dtype) if known(out) else out
"""
BODIES = {
    "raises": "raise ValueError(repr(data.ravel()[:9].tolist()))",
    "breaks_its_bound": "pass",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_the_ledger_holds_an_alias_and_none_of_the_values(tmp_path: Path, body: str) -> None:
    home, kernel = tmp_path / "home", tmp_path / "kernel"
    kernel.mkdir()
    (kernel / "kernel.py").write_text(LOUD.format(compress=body))
    values = (123456.5 + np.arange(64.0)).astype(np.float32)
    np.save(tmp_path / "values.npy", values)
    _run(home, "fields", "add", str(tmp_path / "values.npy"), "--name", NAME, "--hidden")

    told = _run(
        home, "eval", str(kernel), "--task", "sz-open", "--field", NAME, "--json", check=False
    )

    tables = [name for (name,) in query(home, "SELECT table_name FROM duckdb_tables()").rows]
    tables += ["leaderboard", "best_runs", "failure_modes"]
    kept = " ".join(json.dumps(query(home, f"SELECT * FROM {t}").rows, default=str) for t in tables)
    assert NAME not in kept
    assert "12345" not in kept
    assert "hidden-" in kept
    assert "12345" in told
    blobs = [path.read_bytes() for path in (home / "journal").rglob("*") if path.is_file()]
    assert not any(b"12345" in one or NAME.encode() in one for one in blobs)


def _run(home: Path, *arguments: str, check: bool = True) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "sz_mcp", *arguments, "--home", str(home)],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0 or not check, done.stderr
    return done.stdout + done.stderr
