"""Journal appends under load: several writers at a fixed rate, some of them and the drains killed.

    python -m tests.benchmarks.bench_journal [--writers 8] [--rate 500] [--seconds 5] [--kill 3]

Every append that returned is noted by its writer in a file of its own; afterwards each noted row
must be in the database exactly once. The script calls itself for its writers and drainers.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb
from rich.console import Console
from rich.table import Table

from results_db.drain import drain
from results_db.ledger import Ledger
from results_db.rows import CallRow


@dataclass(frozen=True)
class Outcome:
    appends_ms: list[float]
    acknowledged: int
    rows: int
    lost: int
    doubled: int
    damaged: int
    writers_killed: int
    drains_killed: int


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--rate", type=float, default=500.0, help="rows per second and writer")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--kill", type=int, default=3, help="writers to kill half-way")
    parser.add_argument(
        "--drain-every", type=float, default=0.5, help="seconds; every other killed"
    )
    parser.add_argument("--role", choices=("bench", "writer", "drainer"), default="bench")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--notes", type=Path)
    options = parser.parse_args()
    match options.role:
        case "writer":
            write(options.home, options.notes, options.rate, options.seconds)
        case "drainer":
            drain(options.home, wait_s=1.0)
        case _:
            home = Path(tempfile.mkdtemp(prefix="bench-journal-"))
            try:
                show(bench(home, options), options)
            finally:
                shutil.rmtree(home)


def write(home: Path, notes: Path, rate: float, seconds: float) -> None:
    """One writer: `rate` calls a second; notes each acknowledged id and its milliseconds."""
    ledger = Ledger(home, writer="bench")
    note = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    arguments = {"kernel_id": "k" * 16, "field": "synthetic-256", "mode": "rel", "bound": 1e-3}
    begin = time.monotonic()
    for number in range(int(rate * seconds)):
        time.sleep(max(0.0, begin + number / rate - time.monotonic()))
        call_id = f"{os.getpid()}-{number}"
        start = time.perf_counter()
        ledger.call(
            CallRow(
                call_id=call_id,
                tool="run_compress",
                started_at=datetime.now(UTC),
                duration_ms=1.0,
                outcome="ok",
                arguments=arguments,
                agent="bench",
            )
        )
        os.write(note, f"{call_id} {(time.perf_counter() - start) * 1e3:.4f}\n".encode())
        if time.monotonic() - begin > 2 * seconds:
            break
    ledger.close()


def bench(home: Path, options: argparse.Namespace) -> Outcome:
    notes = [home / f"notes-{number}" for number in range(options.writers)]
    begin = time.monotonic()
    writers = [spawn("writer", home, options, "--notes", str(path)) for path in notes]
    chance = random.Random(0)
    doomed = chance.sample(writers, options.kill)
    drains = drains_killed = 0
    while any(writer.poll() is None for writer in writers):
        drainer = spawn("drainer", home, options)
        drains += 1
        if drains % 2 == 0:
            # Loading DuckDB takes about 0.2 s, a drain under this load another 0.2 s.
            time.sleep(chance.uniform(0.2, 0.5))
            drainer.send_signal(signal.SIGKILL)
            drains_killed += 1
        drainer.wait()
        if time.monotonic() - begin > options.seconds / 2:
            for writer in doomed:
                writer.send_signal(signal.SIGKILL)
        time.sleep(options.drain_every)
    damaged = len(drain(home, wait_s=5.0).damage)
    return count(home, notes, damaged, options.kill, drains_killed)


def spawn(
    role: str, home: Path, options: argparse.Namespace, *more: str
) -> subprocess.Popen[bytes]:
    arguments = ["--role", role, "--home", str(home), *more]
    pace = ["--rate", str(options.rate), "--seconds", str(options.seconds)]
    return subprocess.Popen([sys.executable, __file__, *arguments, *pace])


def count(home: Path, notes: list[Path], damaged: int, killed: int, drains_killed: int) -> Outcome:
    lines = [line.split() for path in notes for line in path.read_text().split("\n")[:-1]]
    acknowledged = {call_id for call_id, _ in lines}
    with duckdb.connect(str(home / "ledger-read.duckdb"), read_only=True) as connection:
        stored = [str(row[0]) for row in connection.execute("SELECT call_id FROM calls").fetchall()]
    return Outcome(
        appends_ms=[float(took) for _, took in lines],
        acknowledged=len(acknowledged),
        rows=len(stored),
        lost=len(acknowledged - set(stored)),
        doubled=len(stored) - len(set(stored)),
        damaged=damaged,
        writers_killed=killed,
        drains_killed=drains_killed,
    )


def show(outcome: Outcome, options: argparse.Namespace) -> None:
    cuts = statistics.quantiles(outcome.appends_ms, n=100)
    table = Table(title=f"{options.writers} writers x {options.rate:g} rows/s, kill -9")
    table.add_column("what")
    table.add_column("value", justify="right")
    for what, value in (
        ("append p50, ms (must: 0.5)", f"{cuts[49]:.3f}"),
        ("append p95, ms", f"{cuts[94]:.3f}"),
        ("append p99, ms", f"{cuts[98]:.3f}"),
        ("append max, ms", f"{max(outcome.appends_ms):.1f}"),
        ("acknowledged", str(outcome.acknowledged)),
        ("rows in the ledger", str(outcome.rows)),
        ("lost (must: 0)", str(outcome.lost)),
        ("doubled (must: 0)", str(outcome.doubled)),
        ("torn tails in the last drain", str(outcome.damaged)),
        ("writers killed", str(outcome.writers_killed)),
        ("drains killed", str(outcome.drains_killed)),
    ):
        table.add_row(what, value)
    Console().print(table)


if __name__ == "__main__":
    main()
