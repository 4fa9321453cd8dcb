"""What the server adds to a call that does no work, over stdio, warm.

    python -m tests.benchmarks.bench_calls [--calls N] [--rounds R]

In every round, and in both protocol eras, a bare SDK server and this one each answer the same no-op
tool, in processes of their own, interleaved call by call so that both see the same machine. Ours
includes the argument checks, and the row of the call on disk before the reply leaves.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp.server import MCPServer
from pydantic import BaseModel

from sz_mcp.app import App
from sz_mcp.cli.serve import started
from sz_mcp.server import create_server
from sz_mcp.serving import log_to_stderr, serve_stdio
from sz_mcp.settings import Settings

ROOT = Path(__file__).parents[2]
WARM_UP = 50
MUST_MS, STRETCH_MS = 3.0, 1.5


class Done(BaseModel):
    """Reply of the no-op tool."""

    ok: bool


async def noop(x: int = 1) -> Done:
    """Does nothing."""
    return Done(ok=x > 0)


def serve_bare() -> None:
    """A server with nothing but the tool."""
    server = MCPServer("bare", log_level="WARNING")
    server.add_tool(noop)
    server.run("stdio")


def serve_ours(home: Path) -> None:
    """The real server with the tool added."""
    log_to_stderr()
    with started(App(Settings(home=home, agent="bench"), "stdio")) as app:
        server = create_server(app)
        server.add_tool(noop)
        serve_stdio(server, app.settle)


def parameters(*arguments: str) -> StdioServerParameters:
    """How to start one of the two."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    module = ["-m", "tests.benchmarks.bench_calls"]
    return StdioServerParameters(
        command=sys.executable, args=[*module, *arguments], env={"PYTHONPATH": path}, cwd=ROOT
    )


async def timed(client: Client, tool: str, arguments: dict[str, object]) -> float:
    """Milliseconds of one call."""
    began = time.perf_counter()
    await client.call_tool(tool, arguments)
    return (time.perf_counter() - began) * 1e3


async def measure(mode: str, calls: int, home: Path) -> dict[str, list[float]]:
    """Milliseconds per call of every kind, warm-up left out."""
    kinds: dict[str, list[float]] = {"bare noop": [], "noop": [], "get_result of no run": []}
    async with (
        Client(parameters("--serve-bare"), mode=mode) as bare,
        Client(parameters("--serve-ours", str(home)), mode=mode) as ours,
    ):
        # The engine is built in the background: a call that needs it waits for that.
        await ours.call_tool("describe_arch", {})
        for _ in range(WARM_UP + calls):
            kinds["bare noop"].append(await timed(bare, "noop", {"x": 1}))
            kinds["noop"].append(await timed(ours, "noop", {"x": 1}))
            kinds["get_result of no run"].append(await timed(ours, "get_result", {"run_id": "r"}))
    return {kind: values[WARM_UP:] for kind, values in kinds.items()}


def report(calls: int, rounds: int) -> None:
    """Print the table."""
    lines = [
        f"{'era':12}{'tool':24}{'p50 ms':>8}{'p95 ms':>8}{'p99 ms':>8}  best of {rounds} rounds"
    ]
    for mode in ("2026-07-28", "legacy"):
        with tempfile.TemporaryDirectory() as home:
            runs = [anyio.run(measure, mode, calls, Path(home)) for _ in range(rounds)]
        for kind in runs[0]:
            best = min((run[kind] for run in runs), key=statistics.median)
            p50, p95, p99 = quantile(best, 0.5), quantile(best, 0.95), quantile(best, 0.99)
            lines.append(f"{mode:12}{kind:24}{p50:8.2f}{p95:8.2f}{p99:8.2f}")
    lines.append(f"must: noop p50 <= {MUST_MS} ms; stretch: {STRETCH_MS} ms")
    sys.stdout.write("\n".join([*lines, ""]))


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` of them do not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main() -> None:
    """Be one of the servers, or measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve-bare", action="store_true")
    parser.add_argument("--serve-ours", type=Path)
    options = parser.parse_args()
    if options.serve_bare:
        serve_bare()
    elif options.serve_ours:
        serve_ours(options.serve_ours)
    else:
        report(options.calls, options.rounds)


if __name__ == "__main__":
    main()
