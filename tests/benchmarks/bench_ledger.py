"""Views and docs/sql.md on a large ledger: python -m tests.benchmarks.bench_ledger [ATTEMPTS].

The ledger is made by make_ledger (a million attempts, unless another number is given) in a folder
that goes afterwards. Best of three, wall time and processor time, two threads; each connection is
new, the file cached. The drain that follows tells what keeping the scores costs.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import duckdb
from rich.console import Console
from rich.table import Table

from results_db.drain import drain
from results_db.ledger import Ledger
from results_db.rows import HostRow
from tests.benchmarks.make_ledger import ATTEMPTS, Size, make
from tests.results_db.records import kernel, record_ranked, run_result

PAGE = Path(__file__).parents[2] / "docs" / "sql.md"
_ROUNDS = 3


@dataclass(frozen=True)
class Took:
    """Seconds of one query."""

    wall: float
    cpu: float
    rows: int


def took(home: Path, query: str) -> Took:
    """The best of some rounds."""
    found = []
    for _ in range(_ROUNDS):
        with duckdb.connect(":memory:", config={"threads": 2}) as connection:
            connection.execute(f"ATTACH '{home / 'ledger-read.duckdb'}' AS ledger (READ_ONLY)")
            connection.execute("USE ledger")
            wall, cpu = time.perf_counter(), time.process_time()
            rows = len(connection.execute(query).fetchall())
            found.append(Took(time.perf_counter() - wall, time.process_time() - cpu, rows))
    return min(found, key=lambda one: one.wall)


def queries() -> dict[str, str]:
    """What is measured, by its name."""
    page = re.findall(r"^## (.*?)\n```sql\n(.*?)\n```", PAGE.read_text("utf-8"), re.M | re.S)
    # Of a board or a ladder somebody looks at the conditions that he chose.
    return {
        "leaderboard": "FROM leaderboard",
        "ladder": "SELECT agent, target, rung, count(*) FROM ladder GROUP BY ALL",
        **dict(page),
    }


def drained(home: Path) -> tuple[float, float]:
    """Seconds, wall and processor, of a drain with a few new kernels."""
    ledger = Ledger(home, writer="bench")
    ledger.host(HostRow("h1"))
    for number in range(5):
        record_ranked(ledger, kernel(f"new{number}", agent="ada"), run_result(2.0), 1)
    wall, cpu = time.perf_counter(), time.process_time()
    drain(home)
    ledger.close()
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    """Measure and print."""
    attempts = int(sys.argv[1]) if len(sys.argv) > 1 else ATTEMPTS
    table = Table("query", "s", "s of CPU", "rows", title=f"{attempts} attempts")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        make(home, Size(attempts))
        for name, query in queries().items():
            one = took(home, query)
            table.add_row(name, f"{one.wall:.2f}", f"{one.cpu:.2f}", f"{one.rows}")
        wall, cpu = drained(home)
        table.add_row("a drain of 5 kernels with 10 runs", f"{wall:.2f}", f"{cpu:.2f}", "")
    Console().print(table)


if __name__ == "__main__":
    main()
