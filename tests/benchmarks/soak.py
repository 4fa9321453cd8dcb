"""Many agents on one HTTP server for minutes, hostile ones among them: is anything lost or left?

    python -m tests.benchmarks.soak [--agents 50] [--minutes 10] [--json FILE]

Each agent has a token of its own and calls all tools, one call after another, now and then a dozen
at once. In the end every call must have its row exactly once, every answer must have been of what
was asked, and processes, descriptors, scratch files and memory of the server must be what they were
after its warm-up. Runs on two cores, clients included.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from results_db.queries import query
from sz_mcp.tokens import digest_of
from tests.benchmarks.soak_agents import Agent, Notes, Sent

ROOT = Path(__file__).parents[2]
WARM_UP = ("raw", "raises", "wrong", "stage", "raw", "wrong")
"""Kernels that fill what a server keeps loaded, before its state is looked at."""
SETTLED_S = 60.0
SAMPLE_S = 1.0
MB = 1e6
WARM_UP_SHARE = 0.2
"""Of the time: how long the agents work before the state is looked at first."""
GROWTH_SHARE, GROWTH_MB = 0.1, 50.0
"""What memory at rest may grow by: allocators and caches are never quite at rest."""
JUDGED_MINUTES = 5.0
"""In less not every thread and cache has been at work before the state is looked at first."""


@dataclass(frozen=True)
class State:
    """What a server holds."""

    descriptors: dict[str, int]
    """By what they lead to."""
    processes: int
    threads: int
    own_mb: float
    """Anonymous memory."""
    scratch: int
    """Files and folders below its TMPDIR."""
    rss_mb: float


@dataclass(frozen=True)
class Sample:
    """Memory at a moment."""

    at_s: float
    own_mb: float
    """Anonymous memory of the server."""
    rss_mb: float
    """With what it shares with children: inputs and outputs of kernels that are loaded."""
    tree_mb: float
    """With its children."""


@dataclass
class Report:
    """What came of a soak."""

    agents: int
    minutes: float
    calls: int = 0
    rows: int = 0
    lost: int = 0
    doubled: int = 0
    refused: int = 0
    problems: list[str] = field(default_factory=list)
    before: State | None = None
    after: State | None = None
    growth_mb: float = 0.0
    """Of the server's own memory, at rest."""
    largest_own_mb: float = 0.0
    largest_rss_mb: float = 0.0
    largest_tree_mb: float = 0.0
    seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)


class Server:
    """The real server in a process of its own, with as many tokens as agents."""

    def __init__(self, folder: Path, agents: int) -> None:
        self.home, self.scratch = folder / "home", folder / "scratch"
        self.home.mkdir(parents=True)
        self.scratch.mkdir()
        self.secrets = {
            f"a{i:02}": f"secret-of-agent-{i:02}-{os.urandom(8).hex()}" for i in range(agents)
        }
        tokens = folder / "tokens.toml"
        tokens.touch(mode=0o600)
        tokens.write_text(
            "".join(
                f'[tokens.{name}]\nsha256 = "{digest_of(secret)}"\nagent = "{name}"\n'
                for name, secret in self.secrets.items()
            )
        )
        self._said = folder / "stderr"
        own = ["--http", "0", "--home", str(self.home), "--token-file", str(tokens)]
        with self._said.open("w") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "sz_mcp", "serve", *own],
                stderr=said,
                env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(self.scratch)},
            )
        self.url = self._served_at()

    def _served_at(self) -> str:
        while not (line := self._said.read_text()).endswith("\n"):
            if self.process.poll() is not None:
                raise RuntimeError(f"the server did not start: {line}")
            time.sleep(0.05)
        return line.splitlines()[-1].removeprefix("sz-mcp: ").strip()

    def state(self) -> State:
        """Of this moment."""
        proc = Path(f"/proc/{self.process.pid}")
        return State(
            descriptors=_descriptors(proc / "fd"),
            processes=len(_descendants(self.process.pid)),
            threads=len(list((proc / "task").iterdir())),
            scratch=sum(1 for _ in self.scratch.rglob("*")),
            own_mb=_rss_mb(self.process.pid, "RssAnon"),
            rss_mb=_rss_mb(self.process.pid),
        )

    async def settled(self) -> None:
        """Wait until nothing runs and everything is drained."""
        health = self.url.replace("/mcp", "/health")
        deadline = time.monotonic() + SETTLED_S
        headers = {"Authorization": f"Bearer {next(iter(self.secrets.values()))}"}
        async with httpx2.AsyncClient(headers=headers) as client:
            while time.monotonic() < deadline:
                told = (await client.get(health)).json()
                if told["running_jobs"] == 0 and told["journal_lag_s"] == 0:
                    break
                await asyncio.sleep(0.5)
        # Connections are closed, and children that were started ahead are ready.
        await asyncio.sleep(3)

    def stop(self) -> str:
        """End it; what it complained of."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=90)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "it did not end within 90 s of SIGTERM"
        return "".join(self._said.read_text().splitlines(keepends=True)[1:])


@contextlib.contextmanager
def served(folder: Path, agents: int) -> Iterator[Server]:
    """A server that is gone afterwards, whatever happens."""
    server = Server(folder, agents)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()


def soak(folder: Path, agents: int, seconds: float) -> Report:
    """Let that many agents work for so long in a new folder."""
    report, notes = Report(agents, seconds / 60), Notes()
    with served(folder, agents) as server:
        samples = asyncio.run(_soaked(server, report, notes, seconds))
        complaints = server.stop()
    if complaints:
        report.problems.append(f"the server said: {complaints[-2000:]}")
    _check_end(server, report)
    report.problems += notes.problems
    report.refused = notes.refused
    report.statuses = dict(sorted(notes.statuses.items()))
    report.seconds = {tool: _spread(took) for tool, took in sorted(notes.seconds.items())}
    _check_rows(server.home, notes.sent, report)
    _check_state(report)
    _check_memory(samples, report)
    return report


async def _soaked(server: Server, report: Report, notes: Notes, seconds: float) -> list[Sample]:
    agents = [Agent(name, seed, notes) for seed, name in enumerate(server.secrets)]
    secrets, samples = [*server.secrets.values()], list[Sample]()

    async def load(for_s: float) -> State:
        until = time.monotonic() + for_s
        pairs = zip(agents, secrets, strict=True)
        await asyncio.gather(*(one.work(server.url, secret, until) for one, secret in pairs))
        await server.settled()
        # So that the same kernels are kept loaded whenever the state is looked at.
        await agents[0].warm_up(server.url, secrets[0], WARM_UP)
        await server.settled()
        return server.state()

    report.before = await load(WARM_UP_SHARE * seconds)
    watching = asyncio.create_task(_watch(server.process.pid, samples))
    report.after = await load(seconds)
    watching.cancel()
    return samples


async def _watch(pid: int, samples: list[Sample]) -> None:
    began = time.monotonic()
    while True:
        rss = _rss_mb(pid)
        tree = rss + sum(map(_rss_mb, _descendants(pid)))
        own = _rss_mb(pid, "RssAnon")
        samples.append(Sample(time.monotonic() - began, own, rss, tree))
        await asyncio.sleep(SAMPLE_S)


def _check_rows(home: Path, sent: Counter[Sent], report: Report) -> None:
    """Every call has its row, once."""
    sql = (
        "SELECT session, tool, run_id, kernel_id, arguments->>'run_id', arguments->>'kernel_id',"
        " arguments->>'sql', arguments->>'task', arguments->>'uri', outcome FROM calls"
    )
    found: Counter[Sent] = Counter()
    for row in _all(home, sql):
        found[_as_sent(*row[:-1])] += 1
    report.calls, report.rows = sent.total(), found.total()
    lost, extra = sent - found, found - sent
    report.lost, report.doubled = lost.total(), extra.total()
    report.problems += [f"no row: {one}" for one in list(lost)[:5]]
    report.problems += [f"a row too many: {one}" for one in list(extra)[:5]]


def _as_sent(
    session: str,
    tool: str,
    run_id: str | None,
    kernel_id: str | None,
    *asked: str | None,
) -> Sent:
    asked_run, asked_kernel, sql, task, uri = asked
    key: str | None
    match tool:
        case "compile_kernel":
            key = kernel_id
        case "get_result":
            key = asked_run
        case "query_results":
            key = sql
        case "describe_arch":
            key = task
        case "resources/read":
            key = uri
        case _:
            key = run_id or asked_kernel
    return Sent(session, tool, key or "")


def _all(home: Path, sql: str) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    while True:
        page = f"{sql} ORDER BY call_id LIMIT 1000 OFFSET {len(rows)}"
        found = query(home, page, 1000, timeout_s=60.0).rows
        rows += found
        if len(found) < 1000:
            return rows


def _check_state(report: Report) -> None:
    """Nothing is left that was not there before."""
    before, after = report.before, report.after
    if before is None or after is None:
        return
    new = Counter(after.descriptors) - Counter(before.descriptors)
    # Matplotlib keeps a font open per thread.
    leaked = {kind: count for kind, count in new.items() if not kind.endswith(".ttf")}
    if leaked:
        report.problems.append(f"descriptors that were not there before: {leaked}")
    for what in ("processes", "scratch"):
        had, has = getattr(before, what), getattr(after, what)
        if has > had:
            report.problems.append(f"{what}: {had} before, {has} after")


def _check_memory(samples: Sequence[Sample], report: Report) -> None:
    before, after = report.before, report.after
    if before is None or after is None:
        return
    report.growth_mb = after.own_mb - before.own_mb
    report.largest_own_mb = max((one.own_mb for one in samples), default=0.0)
    report.largest_rss_mb = max((one.rss_mb for one in samples), default=0.0)
    report.largest_tree_mb = max((one.tree_mb for one in samples), default=0.0)
    allowed = GROWTH_SHARE * before.own_mb + GROWTH_MB
    if report.minutes >= JUDGED_MINUTES and report.growth_mb > allowed:
        report.problems.append(f"memory at rest grew by {report.growth_mb:.0f} MB")


def _check_end(server: Server, report: Report) -> None:
    if server.process.returncode != 0:
        report.problems.append(f"the server ended with {server.process.returncode}")
    left = [str(path) for path in server.scratch.rglob("*")]
    if left:
        report.problems.append(f"left in its TMPDIR: {left[:5]}")


def _descriptors(folder: Path) -> dict[str, int]:
    kinds: Counter[str] = Counter()
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            kinds[re.sub(r"\d+", "N", str(path.readlink()))] += 1
    return dict(kinds)


def _descendants(pid: int) -> list[int]:
    """Processes below `pid`, whichever of its threads started them."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(one) for one in path.read_text().split()]
    return found + [deeper for one in found for deeper in _descendants(one)]


def _rss_mb(pid: int, what: str = "VmRSS") -> float:
    """A line of a process's status; 0 of one that has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    found = re.search(rf"^{what}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 / MB if found else 0.0


def _spread(seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        "count": len(ordered),
        "p50": round(statistics.median(ordered), 3),
        "p99": round(ordered[int(0.99 * (len(ordered) - 1))], 3),
        "max": round(ordered[-1], 3),
    }


def told(report: Report) -> str:
    """The report as a person reads it."""
    lines = [
        f"{report.agents} agents, {report.minutes:g} minutes: {report.calls} calls, {report.rows} "
        f"rows, {report.lost} lost, {report.doubled} doubled, {report.refused} refused by limits",
        f"before: {report.before}",
        f"after:  {report.after}",
        f"memory: {report.growth_mb:+.0f} MB at rest; under load at most "
        f"{report.largest_own_mb:.0f} MB, with what is shared {report.largest_rss_mb:.0f} MB, with "
        f"children {report.largest_tree_mb:.0f} MB",
        *(f"{tool}: {spread}" for tool, spread in report.seconds.items()),
        *(f"{count} × {what}" for what, count in report.statuses.items()),
        f"{len(report.problems)} problems",
        *report.problems[:50],
    ]
    return "\n".join(lines)


def main() -> None:
    """Soak as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--folder", type=Path, help="kept afterwards, for looking at")
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    with contextlib.ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        report = soak(folder, options.agents, 60 * options.minutes)
    sys.stdout.write(f"{told(report)}\n")
    if options.json:
        options.json.write_text(json.dumps(asdict(report), indent=1))
    raise SystemExit(1 if report.problems else 0)


if __name__ == "__main__":
    main()
