"""A client that works like an agent: calls tools, waits for what is still running, reads replies.

`sz-mcp demo` and `sz-mcp eval` are written with it. Progress flows to whoever watches.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, TextContent
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from sz_mcp.errors import StepFailed

P = ParamSpec("P")
T = TypeVar("T")

MEASURE_TRIES = 2
"""Times a run is asked for if other work on the machine makes it inconclusive."""
STOPPED = frozenset({"error", "rejected", "refused", "suspect", "inconclusive"})
"""Statuses that are no success."""

Tell = Callable[[str, float | None], None]
"""(what is going on, fraction done or None)."""


@dataclass(frozen=True)
class Reply:
    """What a tool returned."""

    text: str
    structured: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ScriptedAgent:
    """Calls tools of one connected client."""

    client: Client
    tell: Tell

    async def call(self, step: str, tool: str, **arguments: object) -> Reply:
        """Call a tool and wait until it is done.

        Raises:
            StepFailed: the call was refused.
        """
        reply = await self._once(step, tool, arguments)
        while reply.structured.get("status") == "running":
            run_id = reply.structured["run_id"]
            reply = await self._once(step, "get_result", {"run_id": run_id, "wait_s": 20})
        return reply

    async def measure(self, step: str, **arguments: object) -> Reply:
        """Call run_compress, again if the machine was too busy for a result."""
        for _ in range(MEASURE_TRIES - 1):
            reply = await self.call(step, "run_compress", **arguments)
            if reply.structured.get("status") != "inconclusive":
                return reply
        return await self.call(step, "run_compress", **arguments)

    async def _once(self, step: str, tool: str, arguments: Mapping[str, object]) -> Reply:
        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            self.tell(f"{step}: {message}" if message else step, progress / (total or 1.0))

        self.tell(step, None)
        # Not `client.call_tool`: that lists the tools of every connection and compiles a validator
        # of each result's schema, which is most of what such a client costs, and our own server's
        # results are checked against their schemas in its tests.
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments={**arguments}))
        result = await self.client.session.send_request(
            request, CallToolResult, progress_callback=on_progress
        )
        text = _text(result)
        if result.is_error:
            raise StepFailed(f"{step}: {text}")
        return Reply(text, result.structured_content or {})


def run(work: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a coroutine that talks through a client; a failed step comes out as itself.

    Raises:
        StepFailed: the first step that failed, out of the groups that task groups make of it.
    """
    try:
        return asyncio.run(work(*args, **kwargs))
    except ExceptionGroup as group:
        failed, others = group.split((StepFailed, MCPError))
        if failed is None or others is not None:
            raise
        first = _first(failed)
        if isinstance(first, StepFailed):
            raise first from None
        raise StepFailed(f"the server did not answer: {first}") from group


def _first(group: ExceptionGroup[Exception]) -> Exception:
    one = group.exceptions[0]
    return _first(one) if isinstance(one, ExceptionGroup) else one


def stop_unless_ok(step: str, reply: Reply) -> None:
    """Go on only if the kernel got through this step.

    Raises:
        StepFailed: with what the tool said.
    """
    if reply.structured.get("status") in STOPPED:
        raise StepFailed(f"{step} failed\n{reply.text}")


@contextmanager
def watched() -> Iterator[Tell]:
    """Show progress on stderr: a live line on a terminal, else one plain line per step."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _plain()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=1.0)

        def tell(what: str, fraction: float | None) -> None:
            progress.update(task, description=what, completed=fraction or 0.0)

        yield tell


def _plain() -> Tell:
    told: list[str] = []

    def tell(what: str, fraction: float | None) -> None:
        if fraction is None and what not in told[-1:]:
            told.append(what)
            sys.stderr.write(f"{what} …\n")
            sys.stderr.flush()

    return tell


def _text(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))
