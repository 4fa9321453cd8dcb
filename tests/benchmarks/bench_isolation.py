"""What each layer of isolation adds to a warm child, in processor time, and what probing takes.

Kinds of children take turns, so that a busy machine disturbs all alike. A child's time is that of
its threads, of bubblewrap's two processes and of the server, from the start until it is ready. As
the imports and the compiler take 0.5 s and more, and vary by more than the layers take, the first
table leaves them out: the same processes, closed in the same way, end without importing anything.
    python -m tests.benchmarks.bench_isolation
"""

from __future__ import annotations

import statistics
import subprocess
import time
from dataclasses import dataclass, field

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from toolchains.children.boxes import BubblewrapIsolation, Doors, Isolation, PlainIsolation, Size
from toolchains.children.cgroups import find_groups
from toolchains.children.clock import children_of, snapshot
from toolchains.children.isolation import choose
from toolchains.children.pool import Pool
from toolchains.children.process import ChildProcess

MEMORY_BYTES = 4 << 30


@dataclass
class Kind:
    """One way to start a child, and what was measured of it."""

    name: str
    isolation: Isolation
    cpu_ms: list[float] = field(default_factory=list)
    ready_ms: list[float] = field(default_factory=list)


def main(rounds: int = 10) -> None:
    """Print two tables."""
    groups = find_groups().groups
    none, closed = Doors(False, False), Doors(True, True)
    kinds = [
        Kind("rlimits only", PlainIsolation("", doors=none)),
        Kind("landlock", PlainIsolation("", doors=Doors(True, False))),
        Kind("landlock, seccomp", PlainIsolation("", doors=closed)),
        Kind("bubblewrap", BubblewrapIsolation(doors=none)),
        Kind("bubblewrap, landlock, seccomp", BubblewrapIsolation(doors=closed)),
    ]
    if groups is not None:
        all_ = Doors(True, True, groups)
        kinds.append(Kind("all, with cgroup", BubblewrapIsolation(doors=all_)))
    console = Console()
    for _ in track(range(10 * rounds), "layers", console=Console(stderr=True)):
        for kind in kinds:
            _close_only(kind)
    console.print(_table("layers alone: processor time, ms", kinds))
    for kind in kinds:
        kind.cpu_ms.clear()
        kind.ready_ms.clear()
    for _ in track(range(rounds), "children", console=Console(stderr=True)):
        for kind in kinds:
            _measure(kind)
    console.print(_table("a warm child: processor time, ms", kinds))
    console.print(_probing(rounds))


def _table(title: str, kinds: list[Kind]) -> Table:
    table = Table(title=title)
    for column in ("layers", "best", "median", "added, best", "added, median", "passed"):
        table.add_column(column, justify="left" if column == "layers" else "right")
    base, usual = min(kinds[0].cpu_ms), statistics.median(kinds[0].cpu_ms)
    for kind in kinds:
        best, median = min(kind.cpu_ms), statistics.median(kind.cpu_ms)
        cells = (best, median, best - base, median - usual, min(kind.ready_ms))
        table.add_row(kind.name, *(f"{cell:.1f}" for cell in cells))
    return table


def _close_only(kind: Kind) -> None:
    """Start, close and end a child."""
    start, own = time.perf_counter(), time.process_time()
    command = kind.isolation.command(3, Size(MEMORY_BYTES))
    begin, _, after = command.argv[-1].partition("from child.runner")
    refuse = "from child.seccomp import refuse\nrefuse()\n" if "filtered=True" in after else ""
    argv = (*command.argv[:-1], f"{begin}{refuse}import os\nos.write(1, b'x')\nos.read(0, 1)")
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, env=command.environment) as child:
        assert child.stdout is not None
        child.stdout.read(1)
        kind.ready_ms.append((time.perf_counter() - start) * 1e3)
        cpu, pids = time.process_time() - own, [child.pid]
        while pids:
            pid = pids.pop()
            cpu += snapshot(pid).cpu_ns * 1e-9
            pids += children_of(pid)
        kind.cpu_ms.append(cpu * 1e3)
        child.communicate(b"x")
    if command.scratch is not None:
        command.scratch.remove()


def _measure(kind: Kind) -> None:
    start, own = time.perf_counter(), time.process_time()
    child = ChildProcess(kind.isolation, Size(MEMORY_BYTES))
    child.wait_ready(60)
    kind.ready_ms.append((time.perf_counter() - start) * 1e3)
    cpu = time.process_time() - own
    pids = {child.pid, child._init, child._popen.pid} - {0}
    cpu += sum(snapshot(pid).cpu_ns for pid in pids) * 1e-9
    kind.cpu_ms.append(cpu * 1e3)
    child.close()


def _probing(rounds: int) -> Table:
    """How long the choice takes, and the first child of a pool with and without it."""
    isolation = choose()
    measured: dict[str, list[float]] = {"choice": [], "first child": [], "same, known before": []}
    for _ in track(range(rounds), "probes", console=Console(stderr=True)):
        start = time.perf_counter()
        choose()
        measured["choice"].append(time.perf_counter() - start)
        measured["first child"].append(_first_child(None))
        measured["same, known before"].append(_first_child(isolation))
    table = Table("what", "best", "median", title="probing: time that passes, ms")
    for name, seconds in measured.items():
        table.add_row(name, f"{min(seconds) * 1e3:.0f}", f"{statistics.median(seconds) * 1e3:.0f}")
    return table


def _first_child(isolation: Isolation | None) -> float:
    start = time.perf_counter()
    pool = Pool(0, MEMORY_BYTES, isolation)
    child = pool.take()
    seconds = time.perf_counter() - start
    child.close()
    pool.close()
    return seconds


if __name__ == "__main__":
    typer.run(main)
