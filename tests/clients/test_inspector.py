"""The command line of the MCP Inspector."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sz_mcp.tools import TOOLS
from tests.clients import servers
from tests.clients.conftest import Tool
from tests.clients.loop import assert_in_ledger, complete_loop

pytestmark = pytest.mark.anyio


def asked(npm_tool: Tool, target: list[str], *arguments: str) -> dict[str, Any]:
    """The result of one method."""
    ended = npm_tool("inspector", "--cli", *target, *arguments)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def caller(npm_tool: Tool, target: list[str]) -> Any:
    async def call(tool: str, **arguments: object) -> Mapping[str, Any]:
        sent = json.dumps(arguments)
        result = asked(
            npm_tool,
            target,
            "--method",
            "tools/call",
            "--tool-name",
            tool,
            "--tool-args-json",
            sent,
        )
        assert not result.get("isError"), result
        reply: Mapping[str, Any] = result["structuredContent"]
        return reply

    return call


async def test_the_loop_is_completed_over_http(tmp_path: Path, npm_tool: Tool) -> None:
    home = tmp_path / "home"
    with servers.http(home) as url:
        await complete_loop(caller(npm_tool, ["--transport", "http", "--server-url", url]))

    assert_in_ledger(home)


@pytest.mark.slow
async def test_the_loop_is_completed_with_a_process_per_call(
    tmp_path: Path, npm_tool: Tool
) -> None:
    home = tmp_path / "home"
    target = [*servers.command(home), "-e", f"PYTHONPATH={servers.ROOT}"]
    await complete_loop(caller(npm_tool, target), same_server=False)

    assert_in_ledger(home)


def test_the_schemas_of_the_tools_are_portable(tmp_path: Path, npm_tool: Tool) -> None:
    target = [*servers.command(tmp_path / "home"), "-e", f"PYTHONPATH={servers.ROOT}"]
    ended = npm_tool("inspector", "--cli", *target, "--method", "tools/list", "--strict")

    assert ended.returncode == 0, ended.stderr
    assert [one["name"] for one in json.loads(ended.stdout)["tools"]] == list(TOOLS)
