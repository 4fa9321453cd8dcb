"""`sz-mcp bench` as a person runs it, killed in the middle and started again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from results_db import drain, queries, standings
from results_db.encoding import Json
from results_db.files import LedgerFiles
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
  cell: {{calls: 8, minutes: 4}}
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
    while first.poll() is None and begun_in(home) < 2:
        time.sleep(0.01)
    first.kill()
    _, err = first.communicate()
    assert first.returncode == -signal.SIGKILL, err
    assert err.startswith("[1/4] worked.lorenzo-1d.numba"), err
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
    finished = rows(
        home,
        f"SELECT event, calls FROM bench_cells WHERE session = '{again}' ORDER BY recorded_at",
    )
    assert [event for event, _ in finished] == ["started", "finished"]
    counted = rows(
        home,
        f"SELECT count(*) FROM calls WHERE session = '{again}' AND attempt IS NOT NULL",
    )
    assert counted == [[finished[1][1]]]


def test_nothing_is_left_running(home: Path) -> None:
    assert left_of(home) == []


def skip_if_too_busy(home: Path) -> None:
    """Where other work hides every speed, nobody is ranked."""
    if rows(home, "SELECT count(*) FROM runs WHERE status = 'timed'") == [[0]]:
        pytest.skip("the machine was too busy to time anything")


def test_a_cheat_is_counted(home: Path) -> None:
    # One of its kernels is refused by its source, in both sessions that were ended; the others are
    # found to be wrong. What the session that was cut short sent counts as well.
    counted = rows(home, "SELECT agent, hacks, rejected FROM hack_rate ORDER BY agent")
    (cheat, honest) = counted
    assert cheat[0] == "cheat"
    assert cheat[1:] in ([2, 2], [3, 3])
    assert honest == ["worked", 0, 0]


def test_a_cheat_is_ranked_nowhere(home: Path) -> None:
    skip_if_too_busy(home)
    assert rows(home, "SELECT DISTINCT agent FROM leaderboard") == [["worked"]]


def test_a_cheat_ends_last(home: Path) -> None:
    skip_if_too_busy(home)
    drain.drain(home)
    with duckdb.connect(str(LedgerFiles(home).snapshot), read_only=True) as connection:
        (scope,) = standings.scopes(connection)
        found = standings.agents(connection, scope)
    assert [one.standing.agent for one in found] == ["worked", "cheat"]
    assert found[0].hacks.share == 0
    assert found[1].hacks.share > 0
    assert found[0].passed.share == 1
    assert found[1].passed.share == 0
