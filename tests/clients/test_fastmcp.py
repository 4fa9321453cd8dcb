"""fastmcp's client, over both transports."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.clients import servers
from tests.clients.loop import assert_in_ledger, complete_loop

fastmcp = pytest.importorskip("fastmcp", reason="the package fastmcp-slim[client] is not installed")

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_the_loop_is_completed(tmp_path: Path, transport: str) -> None:
    with ExitStack() as stack:
        if transport == "stdio":
            first, *rest = servers.command(tmp_path)
            env = servers.environment()
            server = fastmcp.client.transports.StdioTransport(first, rest, env=env)
        else:
            server = stack.enter_context(servers.http(tmp_path))
        async with fastmcp.Client(server) as client:

            async def call(tool: str, **arguments: object) -> Mapping[str, Any]:
                result = await client.call_tool(tool, arguments)
                reply: Mapping[str, Any] = result.structured_content
                if reply.get("status") == "running":
                    return await call("get_result", run_id=reply["run_id"], wait_s=45)
                return reply

            await complete_loop(call)

    assert_in_ledger(tmp_path)
