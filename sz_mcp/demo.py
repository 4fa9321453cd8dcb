"""What an agent does, scripted: a first kernel, its measurements, a better one, the comparison.

The real server runs over stdio in a process of its own and is called through the SDK's client; what
is compared in the end is read back from the ledger in SQL.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from kernels import baselines
from sz_mcp.errors import StepFailed
from sz_mcp.pictures import Attempt, draw_attempts
from sz_mcp.scripted import STOPPED, ScriptedAgent, Tell, stop_unless_ok

TASK, TARGET = "szp", "numba"
FIELD, MODE, BOUND = "na_temperature", "rel", 1e-3
STYLES = ("naive", "tuned")
_CALL_S = 60.0

_COMPARISON = """
SELECT r.kernel_id, r.status, r.ratio, r.compress_gbps, r.decompress_gbps, r.worst_over_bound,
  p.bottleneck, c.attempt
FROM runs r
JOIN calls c USING (call_id)
LEFT JOIN profiles p ON p.kernel_id = r.kernel_id
WHERE r.tool = 'run_compress' AND r.kernel_id IN ({ids})
QUALIFY row_number() OVER (PARTITION BY r.kernel_id ORDER BY r.started_at DESC) = 1
ORDER BY c.attempt"""


@dataclass(frozen=True)
class Compared:
    """One attempt, as the ledger has it."""

    label: str
    kernel_id: str
    status: str
    ratio: float
    compress_gbps: float
    decompress_gbps: float
    worst_over_bound: float
    bottleneck: str

    @property
    def both_ways_gbps(self) -> float:
        """Harmonic mean of the two speeds."""
        return 2 / (1 / self.compress_gbps + 1 / self.decompress_gbps)


@dataclass(frozen=True)
class Played:
    """What the demo shows in the end."""

    attempts: tuple[Compared, ...]
    picture: Path

    @property
    def gain(self) -> float:
        """How many times faster, both ways, the last attempt is than the first."""
        return self.attempts[-1].both_ways_gbps / self.attempts[0].both_ways_gbps


async def play(home: Path, tell: Tell) -> Played:
    """Run the whole demo against a server of its own.

    Raises:
        StepFailed: a step failed, or the second kernel is no better than the first.
    """
    async with Client(_server(home), read_timeout_seconds=_CALL_S) as client:
        agent = ScriptedAgent(client, tell)
        await agent.call(f"describe {TARGET}", "describe_arch", target=TARGET)
        ids: dict[str, str] = {}
        for style in STYLES:
            parent = list(ids.values())[-1] if ids else None
            ids[style] = await _attempt(agent, style, parent)
        listed = ", ".join(f"'{kernel_id}'" for kernel_id in ids.values())
        table = await agent.call("compare", "query_results", sql=_COMPARISON.format(ids=listed))
    attempts = _compared(table.structured, ids)
    picture = home / "pictures" / f"demo-{attempts[-1].kernel_id}.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    picture.write_bytes(_drawn(attempts))
    played = Played(attempts, picture)
    if played.gain <= 1 or attempts[-1].ratio < 0.98 * attempts[0].ratio:
        raise StepFailed(f"the {STYLES[-1]} kernel was no better than the {STYLES[0]} one")
    return played


async def _attempt(agent: ScriptedAgent, style: str, parent: str | None) -> str:
    """Compile, verify on the suite, run and profile one kernel; its id."""
    files = dict(baselines.read(TASK, style, TARGET).files)
    step = f"{style} kernel: compile"
    built = await agent.call(
        step, "compile_kernel", task=TASK, target=TARGET, files=files, parent=parent
    )
    stop_unless_ok(step, built)
    kernel_id = str(built.structured["kernel_id"])
    step = f"{style} kernel: verify the bound"
    stop_unless_ok(step, await agent.call(step, "verify_bounds", kernel_id=kernel_id))
    at = {"kernel_id": kernel_id, "field": FIELD, "mode": MODE, "bound": BOUND}
    step = f"{style} kernel: run on {FIELD}"
    measured = await agent.measure(step, **at)
    if measured.structured["status"] in STOPPED - {"inconclusive"}:
        stop_unless_ok(step, measured)
    step = f"{style} kernel: profile"
    stop_unless_ok(step, await agent.call(step, "profile", **at))
    return kernel_id


def _server(home: Path) -> StdioServerParameters:
    # -P: the folder the demo is run in must not shadow our packages.
    passed = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "sz_mcp", "serve", "--agent", "demo", "--home", str(home)],
        env=passed,
    )


def _compared(table: Mapping[str, Any], ids: Mapping[str, str]) -> tuple[Compared, ...]:
    rows: Sequence[Sequence[Any]] = table["rows"]
    records = {row[0]: dict(zip(table["columns"], row, strict=True)) for row in rows}
    missing = [style for style, kernel_id in ids.items() if kernel_id not in records]
    if missing:
        raise StepFailed(f"the ledger has no run of the {' and '.join(missing)} kernel")
    return tuple(
        Compared(
            label=style,
            kernel_id=kernel_id,
            status=records[kernel_id]["status"],
            ratio=records[kernel_id]["ratio"],
            compress_gbps=records[kernel_id]["compress_gbps"],
            decompress_gbps=records[kernel_id]["decompress_gbps"],
            worst_over_bound=records[kernel_id]["worst_over_bound"],
            bottleneck=records[kernel_id]["bottleneck"] or "",
        )
        for style, kernel_id in ids.items()
    )


def _drawn(attempts: Sequence[Compared]) -> bytes:
    bars = [
        Attempt(one.label, one.ratio, one.compress_gbps, one.decompress_gbps, one.worst_over_bound)
        for one in attempts
    ]
    return draw_attempts(bars, f"{TASK} on {TARGET}: {FIELD}, bound {MODE} {BOUND:g}, 1 thread")
