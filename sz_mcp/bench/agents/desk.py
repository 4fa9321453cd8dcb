"""What an agent is given for one cell: where the server is, as whom it calls, what it may use.

`Caller` is an MCP client for agents that are programs of ours: it makes the calls of one cell and
stops at the cell's budget.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from sz_mcp.bench.cells import Cell
from sz_mcp.bench.errors import CellStopped
from sz_mcp.bench.spec import Budget
from sz_mcp.errors import StepFailed
from sz_mcp.scripted import Reply, ScriptedAgent

ON_KERNELS = frozenset({"compile_kernel", "verify_bounds", "run_compress", "profile"})
"""Tools whose calls count."""
READ_S = 90.0
"""A tool answers within 45 s, and waits for its turn behind others before."""


@dataclass(frozen=True)
class Usage:
    """What an agent used since it last said so."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Of the input."""
    dollars: float = 0.0
    source: str = ""
    """Whose report it is."""


@dataclass(frozen=True)
class Desk:
    """One cell, as its agent sees it."""

    cell: Cell
    url: str
    token: str
    budget: Budget
    home: Path
    """Of the ledger that recordings are read from."""
    folder: Path
    """Empty, for scratch files."""
    used: Callable[[Usage], None]
    """Takes what was used; raises CellStopped when that is all there is."""
    tell: Callable[[str], None] = field(default=lambda _: None)
    """What it is doing, for who watches."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Of every request."""
        return {"Authorization": f"Bearer {self.token}"}

    def at_field(self) -> dict[str, object]:
        """Arguments of run_compress and profile."""
        return {"field": self.cell.field, **self.at_suite()}

    def at_suite(self) -> dict[str, object]:
        """Arguments of verify_bounds."""
        return {"mode": self.cell.bound.mode, "bound": self.cell.bound.value}


class Caller:
    """Calls tools within a budget."""

    def __init__(self, desk: Desk, client: Client) -> None:
        self._desk = desk
        self._agent = ScriptedAgent(client, lambda what, _: desk.tell(what))
        self.calls = 0
        """On kernels."""

    async def call(self, tool: str, arguments: Mapping[str, object]) -> Reply:
        """Call a tool and wait for its result.

        Raises:
            CellStopped: the budget is spent.
            StepFailed: the call was refused.
        """
        most = self._desk.budget.calls
        if tool in ON_KERNELS:
            if most is not None and self.calls >= most:
                raise CellStopped(f"budget: {most} calls on kernels")
            self.calls += 1
        return await self._agent.call(tool, tool, **arguments)


def http_client(desk: Desk) -> httpx2.AsyncClient:
    """What carries a cell's calls."""
    # Over plain HTTP on this machine there is nothing to verify, and reading all certificates takes
    # a tenth of a second.
    return httpx2.AsyncClient(headers=dict(desk.headers), timeout=READ_S, verify=False)


@asynccontextmanager
async def calling(desk: Desk) -> AsyncIterator[Caller]:
    """A connected caller."""
    async with http_client(desk) as http:
        transport = streamable_http_client(desk.url, http_client=http)
        async with Client(transport, read_timeout_seconds=READ_S) as client:
            yield Caller(desk, client)


def gist(error: StepFailed) -> str:
    """Its first line."""
    return str(error).splitlines()[0][:300]


def score_of(reply: Mapping[str, Any]) -> float:
    """What a search compares: the score; 1 / cycles; without a speed the ratio, or 1."""
    if (score := reply.get("score")) is not None:
        return float(score)
    if cycles := reply.get("cycles"):
        return 1.0 / float(cycles)
    return float(reply.get("ratio") or 1.0)
