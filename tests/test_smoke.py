"""Every layer once, for real: what the README promises a newcomer, over stdio and over HTTP."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from results_db.queries import query
from sz_mcp import scripted
from sz_mcp.demo import play

ROOT = Path(__file__).parents[1]
WAIT_S = 120


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_the_demo_improves_a_kernel_over_stdio_and_the_ledger_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    played = scripted.run(play, tmp_path, lambda what, _fraction: told.append(what))

    naive, tuned = played.attempts
    assert played.gain > 3
    assert tuned.ratio >= 0.98 * naive.ratio
    assert 0 < tuned.worst_over_bound <= 1
    assert "tuned kernel: profile" in told
    assert played.picture.read_bytes().startswith(b"\x89PNG")
    parents = query(tmp_path, "SELECT kernel_id, parent, agent FROM kernels ORDER BY recorded_at")
    assert parents.rows == (
        (naive.kernel_id, None, "demo"),
        (tuned.kernel_id, naive.kernel_id, "demo"),
    )
    runs = query(tmp_path, "SELECT count(*) >= 6, count(DISTINCT session) FROM runs_started").rows
    assert runs == ((True, 1),)


def test_the_readme_client_completes_the_loop_over_http(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    client = tmp_path / "client.py"
    client.write_text(blocks[0])
    server = subprocess.Popen(
        [sys.executable, "-m", "sz_mcp", "serve", "--http", "0", "--home", str(tmp_path / "home")],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    try:
        assert server.stderr is not None
        url = server.stderr.readline().removeprefix("sz-mcp: ").strip()
        done = subprocess.run(
            [sys.executable, str(client), url],
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=False,
        )
        server.send_signal(signal.SIGTERM)
        server.wait(WAIT_S)
    finally:
        server.kill()
        server.wait()
        if server.stderr is not None:
            server.stderr.close()

    assert done.returncode == 0, done.stderr
    assert "the bound holds on suite" in done.stdout
    assert "--- query_results" in done.stdout
    tools = query(tmp_path / "home", "SELECT tool FROM calls ORDER BY started_at").rows
    assert [tool for (tool,) in tools] == [
        "describe_arch",
        "resources/read",
        "compile_kernel",
        "verify_bounds",
        "run_compress",
        "profile",
        "query_results",
    ]
