"""A server in this process behind the lines of its stdio transport: text in, text out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
from mcp.server.stdio import stdio_server

from sz_mcp.app import App
from sz_mcp.server import create_server
from sz_mcp.serving import message_of

WAIT_S = 30
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "wire", "version": "1"},
}


class _Lines:
    """What the client writes, as the transport reads it."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[str] = asyncio.Queue()

    async def __aiter__(self) -> AsyncIterator[str]:
        while True:
            yield await self.queue.get()


class _Replies:
    """What the transport writes."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[str] = asyncio.Queue()

    async def write(self, text: str) -> None:
        self.queue.put_nowait(text)

    async def flush(self) -> None:
        return


class Wire:
    """The client's end."""

    def __init__(self) -> None:
        self.lines, self.replies = _Lines(), _Replies()
        self._number = 0

    async def ask(self, method: str, params: str) -> dict[str, Any]:
        """Send a request whose `params` are JSON text as it is; its response.

        A line that is no message gets the answer that `StdinLines` gives.
        """
        self._number += 1
        line = f'{{"jsonrpc":"2.0","id":{self._number},"method":"{method}","params":{params}}}'
        message = message_of(line.encode("utf-8", "surrogatepass"))
        if message is None:
            return {"error": {"code": -32700, "message": "a line of stdin is not one JSON object"}}
        self.lines.queue.put_nowait(message)
        with anyio.fail_after(WAIT_S):
            while True:
                told = json.loads(await self.replies.queue.get(), parse_constant=_refuse)
                if told.get("id") == self._number:
                    return cast("dict[str, Any]", told)

    async def tool(self, name: str, **arguments: object) -> dict[str, Any]:
        """The structured result of a call that is right."""
        told = await self.ask("tools/call", json.dumps({"name": name, "arguments": arguments}))
        return cast("dict[str, Any]", told["result"]["structuredContent"])


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


@asynccontextmanager
async def wired(app: App) -> AsyncIterator[Wire]:
    """Serve `app`, past the handshake."""
    wire = Wire()
    stdin = cast("anyio.AsyncFile[str]", wire.lines)
    stdout = cast("anyio.AsyncFile[str]", wire.replies)
    async with anyio.create_task_group() as tasks, stdio_server(stdin, stdout) as streams:
        tasks.start_soon(create_server(app).serve_streams, *streams)
        await wire.ask("initialize", json.dumps(INITIALIZE))
        yield wire
        tasks.cancel_scope.cancel()
