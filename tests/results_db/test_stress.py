"""Nothing acknowledged is lost or doubled, whoever is killed while others read."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import duckdb

from results_db.drain import drain
from tests.results_db.records import read

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
WRITER = Path(__file__).with_name("writer_process.py")
DRAINER = (
    "import sys, pathlib; from results_db.drain import drain; drain(pathlib.Path(sys.argv[1]))"
)


def writer(home: Path, notes: Path, count: int) -> subprocess.Popen[bytes]:
    with notes.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, str(WRITER), str(home), str(count)], stdout=file, env=ENVIRONMENT
        )


def drainer(home: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", DRAINER, str(home)], env=ENVIRONMENT)


def acknowledged(notes: list[Path]) -> set[str]:
    return {line for path in notes for line in path.read_text().split("\n")[:-1]}


def lost_and_doubled(home: Path, notes: list[Path]) -> tuple[set[str], int]:
    stored = [row[0] for row in read(home, "SELECT call_id FROM calls")]
    return acknowledged(notes) - set(stored), len(stored) - len(set(stored))


def test_killed_writers_and_drains_lose_and_double_nothing(tmp_path: Path) -> None:
    home, chance = tmp_path / "home", random.Random(7)
    drain(home)
    notes = [tmp_path / f"notes-{number}" for number in range(4)]
    writers = [writer(home, path, 100_000) for path in notes]
    for round_ in range(6):
        process = drainer(home)
        if round_ % 2:
            try:
                process.wait(timeout=chance.uniform(0.1, 0.5))
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()
    for process in writers:
        process.kill()
        process.wait()

    report = drain(home, wait_s=10)

    assert len(acknowledged(notes)) > 100
    assert report.rows > 0
    assert report.archived == 4
    assert lost_and_doubled(home, notes) == (set(), 0)


def test_two_writers_and_a_person_who_keeps_the_snapshot_open(tmp_path: Path) -> None:
    home = tmp_path / "home"
    drain(home)
    notes = [tmp_path / f"notes-{number}" for number in range(2)]
    writers = [writer(home, path, 200) for path in notes]
    seen = []
    for _ in range(5):
        with duckdb.connect(str(home / "ledger-read.duckdb"), read_only=True) as person:
            drain(home)
            person.execute("SELECT * FROM leaderboard").fetchall()
            seen.append(person.execute("SELECT count(*) FROM calls").fetchall()[0][0])
    for process in writers:
        assert process.wait(timeout=60) == 0

    drain(home, wait_s=10)

    assert seen == sorted(seen)
    assert len(acknowledged(notes)) == 400
    assert lost_and_doubled(home, notes) == (set(), 0)
