"""The SDK's client, in both protocol eras over both transports."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client
from mcp_types import TextContent

from tests.clients import servers
from tests.clients.loop import assert_in_ledger, complete_loop

pytestmark = pytest.mark.anyio

ERAS: dict[str, Literal["legacy", "2026-07-28"]] = {
    "2025-11-25": "legacy",
    "2026-07-28": "2026-07-28",
}


def caller(client: Client) -> Any:
    async def call(tool: str, **arguments: object) -> Mapping[str, Any]:
        result = await client.call_tool(tool, arguments)
        told = "\n".join(one.text for one in result.content if isinstance(one, TextContent))
        assert not result.is_error, told
        reply = result.structured_content or {}
        if reply.get("status") == "running":
            return await call("get_result", run_id=reply["run_id"], wait_s=45)
        return reply

    return call


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("version", ERAS)
async def test_the_loop_is_completed(tmp_path: Path, version: str, transport: str) -> None:
    with ExitStack() as stack:
        server = (
            servers.stdio(tmp_path)
            if transport == "stdio"
            else stack.enter_context(servers.http(tmp_path))
        )
        async with Client(server, mode=ERAS[version]) as client:
            assert client.protocol_version == version
            await complete_loop(caller(client))

    assert_in_ledger(tmp_path)
