"""A made-up ledger with numbers that a test knows: four agents, three targets, five sessions each.

Agents differ in how fast they get better, one fails much, one has too few sessions to be ranked,
and one's name, source and messages try to be markup.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from pathlib import Path

from kernels.records import (
    Bound,
    Build,
    Execution,
    Failure,
    FailureKind,
    Kernel,
    Metric,
    Profile,
    RunResult,
    Sample,
    Status,
    Submission,
)
from results_db.drain import drain
from results_db.ledger import Ledger
from results_db.rows import BenchCellRow, BenchRow, HostRow, Row, SessionRow, UsageRow
from tests.results_db import records

EVIL = "<script>alert('x')</script>\"&\u202e"
"""Name of an agent, and part of its sources and messages."""
HOST = "made-host-0001"
TARGETS = {
    "numba": Execution.HARDWARE,
    "cuda-sm90": Execution.EMULATED,
    "wafer": Execution.SIMULATED,
}
BOUNDS = (1e-2, 1e-3, 1e-4)
SEED = 7
BENCH = "made-0123abcd"


@dataclass(frozen=True)
class Made:
    """One agent of the ledger."""

    name: str
    pace: float
    """Factor of the speed per attempt."""
    fails: float
    """Share of its attempts that do not compile."""
    sessions: int = 5
    attempts: int = 6
    model: str = ""
    tier: str = "expert"


AGENTS = (
    Made("claude", 1.25, 0.15, model="model-a"),
    Made("codex", 1.24, 0.25, model="model-b"),
    Made("climber", 1.05, 0.0),
    Made(EVIL, 1.1, 0.3, sessions=3, model="<b>model</b>"),
)


def kernel_id(agent: int, target: str, session: int, attempt: int) -> str:
    return f"k_{agent}_{target.replace('-', '_')}_{session}_{attempt}"


def speed(agent: int, session: int, attempt: int) -> float:
    """GB/s of an attempt that works."""
    base = 0.8 + 0.05 * session + 0.02 * agent
    return float(base * AGENTS[agent].pace ** attempt)


class Batched(Ledger):
    """Writes its rows in a few large batches, since each write waits for the disk."""

    _rows: list[Row]

    def _append(self, *rows: Row) -> None:
        self._rows = [*getattr(self, "_rows", []), *rows]

    def flush(self) -> None:
        """Write what was recorded."""
        super()._append(*self._rows)
        self._rows = []


def make(home: Path, *, tasks: tuple[str, ...] = ("szp", "sz-open")) -> None:
    """Write the ledger and publish it."""
    ledger = Batched(home, writer="made")
    ledger.host(HostRow(HOST, cpu="Made CPU", cores=2, versions={"numpy": "2.2"}, harness="h1"))
    versions = {"sz-mcp": "0", "prompt expert": "cafe"}
    ledger.bench(BenchRow(BENCH, "made", {"agents": [EVIL]}, "0123abcd", 40, versions))
    rng = random.Random(SEED)
    for number, agent in enumerate(AGENTS):
        for target in TARGETS if number < 2 else ("numba",):
            for session in range(agent.sessions):
                task = tasks[0] if target != "numba" else tasks[session % len(tasks)]
                if target == "numba":
                    for one in tasks:
                        _session(ledger, rng, number, target, session, one)
                else:
                    _session(ledger, rng, number, target, session, task)
            ledger.flush()
    ledger.close()
    drain(home)


def _session(
    ledger: Ledger, rng: random.Random, number: int, target: str, session: int, task: str
) -> None:
    agent = AGENTS[number]
    cell = f"{agent.name}/{task}/{target}/{session}"
    name = f"{BENCH}/{cell}"
    ledger.session(
        SessionRow(name, agent.name, "made 1", "http", "", agent.model, agent.tier, "suggest")
    )
    _cell(ledger, agent, cell, "started")
    ledger.usage(UsageRow(name, agent.name, 1, 10_000 * (session + 1), 500, "endpoint", 0, 0.25))
    parent = None
    for attempt in range(agent.attempts):
        made = f"{kernel_id(number, target, session, attempt)}_{task.replace('-', '')}"
        source = _source(agent.name, attempt)
        kernel = Kernel(
            made, Submission(task, target, {"kernel.py": source}, parent), agent.name, name
        )
        ledger.kernel(kernel, f"call-{made}", attempt + 1)
        parent = made
        if rng.random() < agent.fails:
            ledger.build(f"call-{made}", made, _broken(agent.name))
            continue
        ledger.build(f"call-{made}", made, Build(Status.COMPILED, Status.LOADS, 0.5))
        _measured(ledger, made, number, (target, session, attempt), name)
    if agent.name == EVIL and session == 0:
        _cell(ledger, agent, cell, "failed", f"{EVIL} was killed")
    else:
        _cell(ledger, agent, cell, "finished")


def _cell(ledger: Ledger, agent: Made, cell: str, event: str, reason: str = "") -> None:
    _, task, target, session = cell.rsplit("/", 3)
    ledger.bench_cell(
        BenchCellRow(
            BENCH, cell, f"{BENCH}/{cell}", agent.name, "model", task, target, event, agent.tier,
            "suggest", int(session) + 1, reason,
        )
    )  # fmt: skip


def _measured(
    ledger: Ledger, made: str, number: int, place: tuple[str, int, int], name: str
) -> None:
    target, session, attempt = place
    agent = AGENTS[number].name
    execution, gbps = TARGETS[target], speed(number, session, attempt)
    for bound in BOUNDS:
        started = records.started(
            f"v-{made}-{bound:g}", made, tool="verify_bounds", field="suite", bound=bound,
            session=name, agent=agent, attempt=attempt + 1,
        )  # fmt: skip
        ledger.run_started(started)
        ledger.run_finished(started.run_id, made, "verify_bounds", records.verdict())
        better = 1 + 0.05 * attempt + 0.1 * number if made.endswith("szopen") else 1.0
        result = _result(execution, gbps, bound, better)
        started = records.started(
            f"r-{made}-{bound:g}", made, field="na_temperature", bound=bound,
            session=name, agent=agent, attempt=attempt + 1,
        )  # fmt: skip
        ledger.run_started(started)
        ledger.run_finished(started.run_id, made, "run_compress", result)
    metrics = (Metric("copy_fraction", gbps / 10, "1", "derived"),)
    profile = Profile(
        Status.TIMED, None, "na_temperature", Bound("rel", 1e-3, 0.5), metrics,
        f"memory of {agent}",
    )  # fmt: skip
    started = records.started(f"p-{made}", made, tool="profile", agent=agent, session=name)
    ledger.run_started(started)
    ledger.run_finished(started.run_id, made, "profile", profile)


def _result(execution: Execution, gbps: float, bound: float, better: float) -> RunResult:
    metrics: tuple[Metric, ...] = (Metric("copy_peak_gbps", 10.0, "GB/s", "measured"),)
    if execution is Execution.SIMULATED:
        metrics = (
            Metric("compress_device_cycles", 1e6 / gbps, "cycles", "modelled"),
            Metric("decompress_device_cycles", 5e5 / gbps, "cycles", "modelled"),
        )
    samples = tuple(
        Sample(
            direction, number, 1e-3, 9e-4, 2, round(gbps * 1e6 * (1 + 0.01 * number)), 0.0, False
        )
        for direction in ("compress", "decompress")
        for number in range(3)
    )
    stream = round(4_000_000 / (4 + 3 * (4 + math.log10(bound))) / better)
    status: tuple[Status, Status | None] = (Status.TIMED, None)
    if execution is not Execution.HARDWARE:
        status = (Status.BOUND_OK, Status.TIMED)
    return records.run_result(
        status=status[0],
        stage=status[1],
        execution=execution,
        field="na_temperature",
        bound=Bound("rel", bound, bound * 100),
        raw_bytes=4_000_000,
        stream_bytes=stream,
        golden_bytes=stream,
        comparison=records.comparison(
            checked=1_000_000, sum_squared_error=1e6 * (bound * 30) ** 2, abs_bound=bound * 100,
            max_abs_error=bound * 99,
        ),
        samples=samples if execution is Execution.HARDWARE else (),
        metrics=metrics,
    )  # fmt: skip


def _source(agent: str, attempt: int) -> str:
    head = f'"""Kernel of {agent}."""\n\nimport numpy as np\n\n'
    body = "".join(f"STEP_{number} = {number}\n" for number in range(attempt + 1))
    return f"{head}{body}\n\ndef compress(x):\n    return x  # attempt {attempt} </script>\n"


def _broken(agent: str) -> Build:
    failure = Failure(
        Status.ERROR, Status.PARSED, FailureKind.SYNTAX, f"{agent}: it does not parse", (), "boom"
    )
    return Build(Status.ERROR, Status.PARSED, 0.1, failure)
