"""`sz-mcp bench` as a person runs it, killed in the middle and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from results_db import queries
from results_db.encoding import Json
from tests.sz_mcp.bench import cheats

SPEC = """\
name: killed
agents:
  worked: {{kind: replay, styles: [naive, tuned]}}
  cheat: {{kind: replay, folders: [{folders}]}}
tasks: [lorenzo-1d]
targets: [numba]
fields: [ocean_temperature]
repeats: 2
budget:
  cell: {{calls: 6, minutes: 4}}
"""


def started(spec: Path, home: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "sz_mcp", "bench", str(spec), "--home", str(home)]
    return subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=spec.parent
    )


def rows(home: Path, statement: str) -> list[list[Json]]:
    return [list(row) for row in queries.query(home, statement).rows]


def begun_in(home: Path) -> int:
    """Cells that a journal says were begun; while the bench runs, so without a drain."""
    journals = (home / "journal").glob("*.jsonl")
    return sum(path.read_bytes().count(b'"event":"started"') for path in journals)


def left_of(home: Path) -> list[str]:
    """Processes that were started for this home."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(home) in line and "serve" in line:
            found.append(line)
    return found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a bench that was killed in its second cell, and was then run to its end."""
    place = tmp_path_factory.mktemp("killed")
    spec, home = place / "spec.yaml", place / "home"
    folders = ", ".join(map(str, cheats.folders(place / "cheats")))
    spec.write_text(SPEC.format(folders=folders))
    first = started(spec, home)
    assert first.stderr is not None
    said = first.stderr.readline()
    assert said.startswith("[1/4] worked.lorenzo-1d.numba"), said
    while begun_in(home) < 2:
        time.sleep(0.01)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    assert first.returncode == -signal.SIGKILL
    second = started(spec, home)
    out, err = second.communicate(timeout=240)
    assert second.returncode == 0, err
    assert "[4/4]" in err
    assert "finished" in out
    return home


def test_every_cell_is_finished_exactly_once(home: Path) -> None:
    found = rows(
        home,
        "SELECT cell_id, count(*) FILTER (event = 'finished'), "
        "count(*) FILTER (event NOT IN ('started', 'finished')) FROM bench_cells GROUP BY cell_id",
    )
    assert len(found) == 4
    assert {tuple(row[1:]) for row in found} == {(1, 0)}


def test_the_cell_that_was_cut_short_began_anew(home: Path) -> None:
    begun = rows(
        home,
        "SELECT cell_id, session FROM bench_cells WHERE event = 'started' ORDER BY recorded_at",
    )
    assert len(begun) == 5
    (again,) = [session for _, session in begun if str(session).endswith("+2")]
    cell = str(again).removesuffix("+2")
    assert [session for _, session in begun if session == cell] == [cell]
    # The finished session is the new one, and only its own calls are in it.
    finished = rows(home, f"SELECT event, calls FROM bench_cells WHERE session = '{again}'")
    assert [event for event, _ in finished] == ["started", "finished"]
    counted = rows(
        home,
        f"SELECT count(*) FROM calls WHERE session = '{again}' AND attempt IS NOT NULL",
    )
    assert counted == [[finished[1][1]]]


def test_nothing_is_left_running(home: Path) -> None:
    assert left_of(home) == []


def test_an_honest_agent_is_ranked_and_a_cheat_is_not(home: Path) -> None:
    ranked = rows(home, "SELECT DISTINCT agent FROM leaderboard")
    assert ranked == [["worked"]]
    became = rows(
        home,
        "SELECT k.agent, b.status, count(*) FROM builds b JOIN kernels k USING (kernel_id) "
        "WHERE k.session IN (SELECT session FROM bench_cells WHERE event = 'finished') "
        "GROUP BY ALL ORDER BY ALL",
    )
    assert became == [["cheat", "compiled", 2], ["cheat", "rejected", 2], ["worked", "compiled", 4]]
