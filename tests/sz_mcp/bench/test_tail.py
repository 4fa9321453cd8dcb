"""What a bench sees of its sessions in the server's journal, and the limits it holds them to."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from results_db import drain
from results_db.ledger import Ledger
from results_db.rows import CallRow, MetricRow, Row, RunFinishedRow, RunStartedRow
from sz_mcp.bench.limits import flat, spent_of
from sz_mcp.bench.records import Spent
from sz_mcp.bench.spec import Budget, Plateau
from sz_mcp.bench.tail import Standing, Tail

SESSION = "bench/cell"


class Server:
    """Writes what a server does."""

    def __init__(self, home: Path) -> None:
        self.ledger = Ledger(home, writer="http")
        self._runs = 0

    def call(self, tool: str, attempt: int | None = 1) -> None:
        now = datetime.now(UTC)
        self.ledger.call(CallRow("c", tool, now, 1.0, "ok", session=SESSION, attempt=attempt))

    def run(self, status: str, cycles: float = 0.0, **told: float) -> None:
        """A run of run_compress and its call."""
        self._runs += 1
        run = f"r{self._runs}"
        self.ledger.run_started(
            RunStartedRow(run, "c", "k", "run_compress", "f", "rel", 1e-3, SESSION, "a")
        )
        rows: list[Row] = [
            RunFinishedRow(run, "k", "run_compress", status, None, **told)  # type: ignore[arg-type]
        ]
        for direction in ("compress", "decompress") if cycles else ():
            name = f"{direction}_device_cycles"
            rows.append(MetricRow("k", None, run, "run", name, cycles / 2, "cycles", "modelled"))
        self.ledger._append(*rows)
        self.call("run_compress")


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


def test_calls_on_kernels_are_counted(tmp_path: Path, server: Server) -> None:
    server.call("compile_kernel")
    tail = Tail(tmp_path)
    server.call("compile_kernel")
    server.call("describe_arch", attempt=None)
    server.call("verify_bounds")
    tail.look()
    assert tail.standing(SESSION) == Standing(calls=2)
    assert tail.standing("another") == Standing()


def test_the_best_run_is_remembered_with_its_call(tmp_path: Path, server: Server) -> None:
    tail = Tail(tmp_path, gain=0.1)
    server.call("compile_kernel")
    for gbps in (1.0, 2.0, 2.1, 1.5):
        server.run("timed", both_ways_gbps=gbps)
    tail.look()
    assert tail.standing(SESSION) == Standing(calls=5, rung=7, best=2.0, best_at=3)


def test_runs_that_failed_are_no_results(tmp_path: Path, server: Server) -> None:
    tail = Tail(tmp_path)
    server.run("error")
    server.run("suspect", both_ways_gbps=900.0)
    server.run("bound_ok", ratio=3.0)
    tail.look()
    assert tail.standing(SESSION) == Standing(calls=3, rung=6, best=3.0, best_at=3)


def test_fewer_cycles_are_better(tmp_path: Path, server: Server) -> None:
    tail = Tail(tmp_path)
    for cycles in (1000, 800, 900):
        server.run("bound_ok", cycles=cycles, ratio=3.0)
    tail.look()
    assert tail.standing(SESSION) == Standing(calls=3, rung=6, best=1 / 800, best_at=2)


def test_a_drain_in_between_hides_nothing(tmp_path: Path, server: Server) -> None:
    tail = Tail(tmp_path)
    server.call("compile_kernel")
    tail.look()
    server.call("verify_bounds")
    server.ledger.close()
    drain.drain(tmp_path)
    tail.look()
    assert tail.standing(SESSION).calls == 2


def test_half_a_line_is_read_when_it_is_whole(tmp_path: Path, server: Server) -> None:
    tail = Tail(tmp_path)
    server.call("compile_kernel")
    (path,) = (tmp_path / "journal").glob("*.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    tail.look()
    assert tail.standing(SESSION).calls == 0
    path.write_bytes(whole)
    tail.look()
    assert tail.standing(SESSION).calls == 1


@pytest.mark.parametrize(
    ("standing", "said"),
    [
        (Standing(calls=9), ""),
        (Standing(calls=9, rung=7, best=1.0, best_at=5), ""),
        (Standing(calls=10, rung=7, best=1.0, best_at=5), "plateau: nothing better by 2% in 5"),
        (Standing(calls=10, rung=6, best=None, best_at=2), "plateau: "),
    ],
)
def test_a_plateau_is_so_many_calls_after_the_best(standing: Standing, said: str) -> None:
    found = flat(Plateau(calls=5, gain=0.02), standing)
    assert found.startswith(said)
    assert bool(found) == bool(said)


def test_without_a_plateau_nothing_is_flat() -> None:
    assert flat(None, Standing(calls=1000, rung=7, best=1.0)) == ""


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (Budget(), ""),
        (Budget(calls=11, minutes=3, tokens=301, dollars=2.1), ""),
        (Budget(calls=10), "budget: 10 calls on kernels"),
        (Budget(minutes=2), "budget: 2 minutes"),
        (Budget(tokens=300), "budget: 300 tokens"),
        (Budget(dollars=0.5), "budget: 0.5 dollars"),
    ],
)
def test_a_budget_is_spent_when_any_part_is(budget: Budget, said: str) -> None:
    assert spent_of(budget, Spent(10, 120.0, 300, 2.0)) == said
