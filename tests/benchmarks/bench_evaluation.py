"""What an agent waits for beside its kernel's own time, over stdio from the real server: a table.

Cold: a new server is asked for compile, verify on one field and run of a naive kernel at once.
Warm: the same three calls for the next kernel, and for the same source again. Overhead:
`run_compress` of a built kernel, 7 repetitions on a 3 MB field, less its timed requests.
    python -m tests.benchmarks.bench_evaluation
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any

from mcp import Client, StdioServerParameters
from rich.console import Console
from rich.table import Table

from kernels import baselines

FIELD = "uk_theta"
LOOP_FIELD = "na_temperature"
ROUNDS = 15


@dataclass(frozen=True)
class Loop:
    """Seconds of one compile → verify → run."""

    compile_s: float
    verify_s: float
    run_s: float

    @property
    def total_s(self) -> float:
        """All three."""
        return self.compile_s + self.verify_s + self.run_s


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """One tool call; its structured result, waited for if it takes long."""
    result = await client.call_tool(tool, arguments)
    content: dict[str, Any] = result.structured_content or {}
    if result.is_error:
        raise SystemExit(str(result.content))
    while content.get("status") == "running":
        again = await client.call_tool("get_result", {"run_id": content["run_id"], "wait_s": 30})
        content = again.structured_content or {}
    return content


async def loop(client: Client, files: dict[str, str]) -> tuple[Loop, str]:
    """What an agent does with a kernel."""
    start = time.perf_counter()
    built = await call(client, "compile_kernel", {"task": "szp", "target": "numba", "files": files})
    compiled = time.perf_counter()
    on_field = {"kernel_id": built["kernel_id"], "field": LOOP_FIELD}
    verdict = await call(client, "verify_bounds", on_field)
    verified = time.perf_counter()
    run = await call(client, "run_compress", on_field)
    end = time.perf_counter()
    if not (verdict["holds"] and run["status"] in ("timed", "inconclusive")):
        raise SystemExit(f"the kernel failed: {verdict['status']}, {run['status']}")
    return Loop(compiled - start, verified - compiled, end - verified), built["kernel_id"]


async def overhead(client: Client, kernel_id: str) -> tuple[float, float]:
    """Seconds of a run_compress, and what of it was the kernel's timed requests."""
    arguments = {"kernel_id": kernel_id, "field": FIELD, "repeats": 7}
    start = time.perf_counter()
    run = await call(client, "run_compress", arguments)
    wall = time.perf_counter() - start
    return wall, sum(sample["seconds"] for sample in run["samples"])


def server(home: str) -> StdioServerParameters:
    """The real server with a ledger of its own."""
    return StdioServerParameters(
        command=sys.executable, args=["-m", "sz_mcp", "serve", "--home", home]
    )


async def measure() -> Table:
    """Everything, in one run."""
    naive = dict(baselines.read("szp", "naive").files)
    tuned = dict(baselines.read("szp", "tuned").files)
    table = Table("what", "p50", "min", "max")
    with tempfile.TemporaryDirectory() as home:
        start = time.perf_counter()
        async with Client(server(home)) as client:
            connected = time.perf_counter() - start
            cold, _ = await loop(client, naive)
            fresh, same, walls, rests = [], [], [], []
            for i in range(ROUNDS // 3):
                changed = {**naive, "kernel.py": naive["kernel.py"] + f"\n# {i}\n"}
                await asyncio.sleep(2)
                fresh.append((await loop(client, changed))[0].total_s)
                same.append((await loop(client, changed))[0].total_s)
            _, kernel_id = await loop(client, tuned)
            await asyncio.sleep(2)
            for _ in range(ROUNDS):
                wall, timed = await overhead(client, kernel_id)
                walls.append(wall)
                rests.append(wall - timed)
    rows: list[tuple[str, list[float]]] = [
        ("server start and handshake", [connected]),
        ("cold: compile + verify + run, naive szp", [cold.total_s]),
        ("  of it compile", [cold.compile_s]),
        ("  of it verify", [cold.verify_s]),
        ("  of it run", [cold.run_s]),
        ("warm server, new source", fresh),
        ("warm server, same source again", same),
        ("run_compress, tuned szp, 7 repetitions", walls),
        ("  less the timed requests", rests),
    ]
    for name, seconds in rows:
        cells = (statistics.median(seconds), min(seconds), max(seconds))
        table.add_row(name, *(f"{s * 1e3:.0f} ms" for s in cells))
    return table


if __name__ == "__main__":
    Console().print(asyncio.run(measure()))
