"""What a bench itself costs, beside the evaluations that it asks for. In processor time only.

    python -m tests.benchmarks.bench_bench [--repeats N] [--calls N] [--libraries]

A bench of two searches and a replay over one task runs against the real server, in a home of its
own; `--libraries` adds TPE and the scripted model, whose cost is mostly that of Optuna, pydantic-ai
and their imports. The bench's own share is this process's processor time while it ran (its agents
included), over that of server, kernels and compilers, and over the time of the calls as the server
counted them. What comes before the first cell (imports, a look at the machine, the spec) is given
apart: it is paid once however long a bench is. Without its agents: the same cells once more with
agents that do nothing, and the journal of the first run read as a running bench reads it.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from results_db.files import LedgerFiles
from results_db.queries import query
from sz_mcp.bench import progress, reading, world
from sz_mcp.bench.agents.desk import Desk
from sz_mcp.bench.cells import Cell
from sz_mcp.bench.records import Before, Event, Spent
from sz_mcp.bench.runner import Bench, Parts
from sz_mcp.bench.tail import Tail

MUST = 0.02
OURS = """\
  random: {kind: search, method: random}
  hill: {kind: search, method: hill}
  worked: {kind: replay, styles: [naive, tuned]}"""
LIBRARIES = """
  tpe: {kind: search, method: tpe}
  scripted: {kind: model, model: scripted, endpoint: scripted}"""
SPEC = """\
name: overhead
agents:
{agents}
tasks: [{task}]
targets: [{target}]
fields: [{field}]
repeats: {repeats}
budget:
  cell: {{calls: {calls}, minutes: 10}}
parallel: {{waiting: 1}}
"""


class Quiet:
    """Prints cells that failed."""

    def started(self, cell: Cell) -> None:
        """Nothing."""

    def told(self, cell: Cell, what: str) -> None:
        """Nothing."""

    def looked(self) -> None:
        """Nothing."""

    def ended(self, cell: Cell, event: Event, reason: str, spent: Spent | None) -> None:
        """Print it if it failed."""
        if event in ("failed", "skipped"):
            sys.stdout.write(f"{cell.cell_id}: {event}: {reason} ({spent})\n")


def children_s() -> float:
    """Processor time of all ended processes that were started here, their own included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True)
class Nothing:
    """A server that nobody calls."""

    url: str = "http://127.0.0.1:9/mcp"

    def check(self) -> None:
        """It never ends."""


@asynccontextmanager
async def serve_nothing(_home: Path, _tokens: Path, _folder: Path) -> AsyncIterator[Nothing]:
    """What a bench without agents needs."""
    yield Nothing()


async def do_nothing(_agent: object, _desk: Desk) -> str:
    """What its agents do."""
    return "done"


def machinery_s(plan: world.Plan, home: Path) -> float:
    """Processor time of a bench whose agents do nothing, and of following what was recorded."""
    idle = Parts(serve_nothing, {"search": do_nothing, "replay": do_nothing, "model": do_nothing})
    with tempfile.TemporaryDirectory() as empty:
        tail = Tail(Path(empty))
        bench = Bench(plan, Path(empty), Before(), Quiet(), idle)
        began = time.process_time()
        asyncio.run(bench.run(plan.cells))
        tail._files = LedgerFiles(home)
        tail.look()
    return time.process_time() - began


def report(home: Path, text: str) -> None:
    """Run the bench, print its share."""
    began = time.process_time()
    seen = world.survey(home)
    plan = world.plan(reading.parse(text, "bench", seen.names), seen)
    bench = Bench(plan, home, Before(), Quiet())
    ready = time.process_time()
    others = children_s()
    outcome = asyncio.run(bench.run(plan.cells))
    own, others = time.process_time() - ready, children_s() - others
    ((calls, answered_s),) = query(
        home, "SELECT count(*), sum(duration_ms) / 1e3 FROM calls WHERE attempt IS NOT NULL"
    ).rows
    answered = float(str(answered_s))
    machine = machinery_s(plan, home)
    sys.stdout.write(
        f"{progress.summary(outcome.events)}; {calls} calls on kernels\n"
        f"bench {own:.2f} s of processor time ({ready - began:.2f} s before the first cell, and "
        f"{began:.2f} s of imports)\n"
        f"server, kernels and compilers {others:.2f} s: share {own / others:.2%}\n"
        f"calls as the server timed them {answered:.2f} s: share {own / answered:.2%}\n"
        f"without the agents {machine:.2f} s: shares {machine / others:.2%} and "
        f"{machine / answered:.2%}\n"
        f"must: at most {MUST:.0%}\n"
    )


def main() -> None:
    """Parse and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--calls", type=int, default=9)
    parser.add_argument("--task", default="lorenzo-3d")
    parser.add_argument("--target", default="numba")
    parser.add_argument("--field", default="uk_theta")
    parser.add_argument("--libraries", action="store_true", help="With TPE and a model.")
    parser.add_argument("--home", type=Path, help="Default: one that is removed afterwards.")
    told = parser.parse_args()
    agents = OURS + (LIBRARIES if told.libraries else "")
    text = SPEC.format(agents=agents, **vars(told))
    place = tempfile.TemporaryDirectory() if told.home is None else nullcontext(told.home)
    with place as home:
        report(Path(home), text)


if __name__ == "__main__":
    main()
