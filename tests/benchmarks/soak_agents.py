"""One agent of the soak: what it sends, and what it must get back.

Every source, query and message of an agent carries its name and a number, so that an answer that
belongs to another call, or to another agent, is seen. What is wrong is noted, never raised.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents

from kernels import baselines

FIELD = "uk_theta"
ANSWER_S = 45.0
SLACK_S = 5.0
"""What a busy client may add before an answer counts as late."""
GIVE_UP_S = 120.0

_CODEC = """\
# {marker}
{head}
def compress(data, abs_bound):
    {body}
    return data.reshape(-1).view("u1")


def decompress(stream, shape, dtype):
    return stream.view(dtype).reshape(shape)
"""
_BIG = "data.size > 20000"
"""True for the field, not for what compile_kernel calls a kernel with."""
_BODIES = {
    "raw": ("", "pass"),
    "raises": ("", 'if {big}: raise ValueError("{marker}")'),
    "wrong": ("", "data = data + 3 * abs_bound"),
    "hangs": ("", "while {big}: pass"),
    "crashes": (
        "import sys\n\n\ndef deep(n):\n    return deep(n + 1) + 1\n\n",
        "sys.setrecursionlimit(10**9) if {big} else None\n    deep(0) if {big} else None",
    ),
    "prints": ("", 'print("{marker}" + "x" * 30_000_000) if {big} else None'),
    "sends": (
        "import numpy as np\n\n",
        "if {big}: return np.zeros(1 << 33, np.uint8)",
    ),
    "broken": ("def {marker}(:", "pass"),
}
"""Kind → what stands before compress, and in it."""
HOSTILE = ("hangs", "crashes", "prints", "sends")
_KINDS = {
    "raw": 8,
    "stage": 6,
    "raises": 3,
    "wrong": 3,
    "broken": 3,
    "hangs": 1,
    "crashes": 1,
    "prints": 1,
    "sends": 1,
}
"""Kind → how often it is sent."""
_GOOD = {
    "verify_bounds": ("bound_ok",),
    "run_compress": ("timed", "inconclusive"),
    "profile": ("timed", "bound_ok", "inconclusive"),
}
"""Tool → what it says of a kernel that does what it should."""
LEFT = "running, left"
"""Of what was ended or forgotten before it had a result."""
_RETRY = re.compile(r"retry after (\d+) s")
_DOCUMENTED = ("limit reached", "was forgotten meanwhile", "no run", "try again in a second")
"""What errors say that an agent may get here; the last, before there is a database."""


@dataclass(frozen=True)
class Sent:
    """One call, as its ledger row must tell it."""

    session: str
    tool: str
    key: str
    """What tells it from others: the run or kernel, the query, the page."""


@dataclass(frozen=True)
class Kernel:
    """A kernel that this agent sent."""

    kernel_id: str
    kind: str
    marker: str


@dataclass
class Notes:
    """What all agents saw."""

    sent: Counter[Sent] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    """Tool → how long its answers took."""
    statuses: Counter[str] = field(default_factory=Counter)
    kernels: dict[str, str] = field(default_factory=dict)
    """kernel_id → agent."""
    runs: dict[str, str] = field(default_factory=dict)
    """run_id → agent."""
    refused: int = 0


def source(kind: str, marker: str) -> tuple[str, str]:
    """Task and text of a kernel of a kind."""
    if kind == "stage":
        text = baselines.read("lorenzo-1d", "naive").files["kernel.py"]
        return "lorenzo-1d", f"{text}\n# {marker}\n"
    head, body = (part.format(marker=marker, big=_BIG) for part in _BODIES[kind])
    return "sz-open", _CODEC.format(marker=marker, head=head, body=body)


class Agent:
    """One agent with a token of its own."""

    def __init__(self, name: str, seed: int, notes: Notes) -> None:
        self.name = name
        self._chance = random.Random(seed)
        self._notes = notes
        self._number = 0
        self._kernels: list[Kernel] = []
        self._runs: list[tuple[str, str]] = []
        """run_id and kernel_id."""
        self._mode: Literal["legacy", "2026-07-28"] = "legacy" if seed % 2 else "2026-07-28"

    async def work(self, url: str, secret: str, until: float) -> None:
        """Call until that moment of the monotonic clock."""
        try:
            async with self._connected(url, secret) as client:
                await self._calls(client, until)
        except* (httpx2.HTTPError, MCPError, OSError) as lost:
            self._notes.problems.append(f"{self.name}: its connection was lost: {lost.exceptions}")

    async def warm_up(self, url: str, secret: str, kinds: Sequence[str]) -> None:
        """Measure a kernel, then send and verify kernels of these kinds.

        What is measured keeps buffers as large as its batches were, and is forgotten over the rest.
        """
        async with self._connected(url, secret) as client:
            await self._sent_kernel(client, "raw")
            for tool in ("run_compress", "profile"):
                await self._measured(client, tool, self._kernels[-1], field=FIELD)
            for kind in kinds:
                await self._sent_kernel(client, kind)
                await self._measured(client, "verify_bounds", self._kernels[-1], field=FIELD)
            await self._query(client)
            await self._page(client)

    @asynccontextmanager
    async def _connected(self, url: str, secret: str) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(headers=headers, timeout=GIVE_UP_S) as http:
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport, mode=self._mode) as client:
                yield client

    async def _calls(self, client: Client, until: float) -> None:
        steps: dict[Callable[[Client], Awaitable[None]], int] = {
            self._compile: 4,
            self._verify: 4,
            self._run: 3,
            self._profile: 1,
            self._query: 3,
            self._describe: 2,
            self._result: 3,
            self._page: 3,
            self._mistake: 1,
            self._flood: 1,
        }
        while time.monotonic() < until:
            (step,) = self._chance.choices([*steps], [*steps.values()])
            await step(client)

    async def _compile(self, client: Client) -> None:
        (kind,) = self._chance.choices([*_KINDS], [*_KINDS.values()])
        await self._sent_kernel(client, kind)

    async def _sent_kernel(self, client: Client, kind: str) -> None:
        marker = self._marker()
        task, text = source(kind, marker)
        arguments = {"task": task, "target": "numba", "files": {"kernel.py": text}}
        told = await self._call(client, "compile_kernel", arguments)
        kernel_id = told.get("kernel_id")
        if not kernel_id:
            return
        owner = self._notes.kernels.setdefault(kernel_id, self.name)
        self._check(owner == self.name, f"{kernel_id} was given to {owner} too")
        kernel = Kernel(kernel_id, kind, marker)
        told = await self._ended(client, told)
        if told["status"] == LEFT:
            return
        wanted = ("error", "rejected") if kind == "broken" else ("compiled",)
        self._check(told["status"] in wanted, f"{kind} kernel: {told['status']} {told['message']}")
        if kind == "broken":
            self._check(marker in str(told), f"{marker} is not in what is wrong with it: {told}")
        elif told["status"] == "compiled":
            self._kernels.append(kernel)

    async def _verify(self, client: Client) -> None:
        await self._measured_any(client, "verify_bounds", field=FIELD, bound=1e-3)

    async def _run(self, client: Client) -> None:
        repeats = self._chance.choice((1, 3))
        await self._measured_any(client, "run_compress", field=FIELD, repeats=repeats)

    async def _profile(self, client: Client) -> None:
        await self._measured_any(client, "profile", field=FIELD)

    async def _measured_any(self, client: Client, tool: str, **arguments: object) -> None:
        if self._kernels:
            await self._measured(client, tool, self._chance.choice(self._kernels), **arguments)
        else:
            await self._sent_kernel(client, "raw")

    async def _measured(
        self, client: Client, tool: str, kernel: Kernel, **arguments: object
    ) -> None:
        told = await self._call(client, tool, {"kernel_id": kernel.kernel_id, **arguments})
        if "run_id" not in told:
            return
        owner = self._notes.runs.setdefault(told["run_id"], self.name)
        self._check(owner == self.name, f"{told['run_id']} was given to {owner} too")
        self._runs.append((told["run_id"], kernel.kernel_id))
        self._check(
            told["kernel_id"] == kernel.kernel_id,
            f"{tool} of {kernel.kernel_id} answered of {told['kernel_id']}",
        )
        told = await self._ended(client, told)
        self._judge(tool, kernel, told)

    def _judge(self, tool: str, kernel: Kernel, told: dict[str, Any]) -> None:
        """Whether that can have come of this kernel."""
        status = told.get("status", "")
        self._notes.statuses[f"{tool} of {kernel.kind}: {status}"] += 1
        if status == LEFT:
            return
        good = _GOOD[tool]
        if kernel.kind in ("raw", "stage"):
            self._check(status in good, f"{tool} of a {kernel.kind} kernel: {told}")
            return
        fine = kernel.kind == "prints" and status in (*good, "error")
        self._check(fine or status == "error", f"{tool} of a {kernel.kind} kernel: {told}")
        if kernel.kind == "raises":
            self._check(kernel.marker in str(told), f"{kernel.marker} is not in {told}")

    async def _query(self, client: Client) -> None:
        marker = self._marker()
        sql = f"SELECT '{marker}' AS marker, count(*) AS n FROM calls"
        told = await self._call(client, "query_results", {"sql": sql}, sql)
        if told:
            self._check(told["rows"][0][0] == marker, f"{marker}: got {told['rows']}")

    async def _describe(self, client: Client) -> None:
        task = self._chance.choice(("szp", "lorenzo-1d", "quantize"))
        told = await self._call(client, "describe_arch", {"task": task}, task)
        if told:
            self._check(task in str(told), f"describe_arch of {task}: {told}")

    async def _result(self, client: Client) -> None:
        if not self._runs:
            return
        run_id, kernel_id = self._chance.choice(self._runs[-20:])
        told = await self._call(client, "get_result", {"run_id": run_id}, run_id)
        if told:
            self._check(told["kernel_id"] == kernel_id, f"{run_id} of {kernel_id}: {told}")

    async def _mistake(self, client: Client) -> None:
        run_id = f"r_{self._marker()}"
        await self._call(client, "get_result", {"run_id": run_id}, run_id)

    async def _flood(self, client: Client) -> None:
        """More at once than an agent may have in progress."""
        if self._chance.random() < 0.8:
            return
        await asyncio.gather(*(self._sent_kernel(client, "raw") for _ in range(12)))

    async def _page(self, client: Client) -> None:
        kernel = self._chance.choice(self._kernels) if self._kernels else None
        uri = f"sz-mcp://kernels/{kernel.kernel_id}" if kernel else "sz-mcp://tasks/szp"
        self._notes.sent[Sent(self.name, "resources/read", uri)] += 1
        began = time.monotonic()
        try:
            (content,) = (await client.read_resource(uri)).contents
        except MCPError as error:
            self._note_error("resources/read", str(error))
            return
        self._timed("resources/read", began)
        assert isinstance(content, TextResourceContents)
        if kernel:
            self._check(kernel.marker in content.text, f"{uri} is not of {kernel.marker}")

    async def _ended(self, client: Client, told: dict[str, Any]) -> dict[str, Any]:
        """The result of a call that may still be running; now and then it is ended."""
        while told.get("status") == "running":
            run_id, cancel = told["run_id"], self._chance.random() < 0.1
            arguments = {"run_id": run_id, "wait_s": 30.0, "cancel": cancel}
            later = await self._call(client, "get_result", arguments, run_id)
            if cancel or not later:
                return {**told, "status": LEFT}
            self._check(
                later["kernel_id"] == told["kernel_id"], f"{run_id} of {told['kernel_id']}: {later}"
            )
            told = later
        return told

    async def _call(
        self, client: Client, tool: str, arguments: dict[str, Any], key: str = ""
    ) -> dict[str, Any]:
        """The structured answer of a tool; empty if it was an error."""
        began = time.monotonic()
        try:
            result = await client.call_tool(tool, arguments)
        except (MCPError, httpx2.HTTPError, TimeoutError) as error:
            self._notes.problems.append(f"{self.name}: {tool} was lost: {error!r}")
            return {}
        self._timed(tool, began)
        told = result.structured_content or {}
        asked = str(arguments.get("kernel_id", ""))
        key = key or str(told.get("run_id" if tool != "compile_kernel" else "kernel_id") or asked)
        self._notes.sent[Sent(self.name, tool, key)] += 1
        if not result.is_error:
            return told
        text = "".join(b.text for b in result.content if isinstance(b, TextContent))
        self._note_error(tool, text)
        if wait := _RETRY.search(text):
            await asyncio.sleep(min(int(wait[1]), 5))
        return {}

    def _note_error(self, tool: str, text: str) -> None:
        self._notes.refused += "limit reached" in text
        self._notes.statuses[f"{tool}: error"] += 1
        self._check(any(one in text for one in _DOCUMENTED), f"{tool}: {text}")

    def _timed(self, tool: str, began: float) -> None:
        took = time.monotonic() - began
        self._notes.seconds.setdefault(tool, []).append(took)
        self._check(took <= ANSWER_S + SLACK_S, f"{tool} answered after {took:.1f} s")

    def _marker(self) -> str:
        self._number += 1
        return f"m_{self.name}_{self._number}_x"

    def _check(self, holds: bool, problem: str) -> None:
        if not holds:
            self._notes.problems.append(f"{self.name}: {problem[:600]}")
