"""The snippets of the README and docs/clients.md: each is parsed, started and spoken to."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters

from tests.clients import servers

pytestmark = pytest.mark.anyio

PAGES = ("README.md", "docs/clients.md")
TOKEN = "a token of sixteen characters"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "snippet", "version": "1"},
    },
}


def blocks(language: str) -> list[tuple[str, str]]:
    """Page and text of every block of a language."""
    found = []
    for page in PAGES:
        text = (servers.ROOT / page).read_text(encoding="utf-8")
        found += [
            (page, block)
            for block in re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        ]
    return found


def entries(kind: str) -> list[Any]:
    """The servers that JSON snippets configure, those with a `command` or those with a `url`."""
    found = []
    for page, block in blocks("json"):
        config = json.loads(block)
        (listed,) = [config[key] for key in ("mcpServers", "servers") if key in config]
        (entry,) = listed.values()
        if kind in entry:
            name = entry["args"][2] if kind == "command" else ", ".join(config)
            found.append(pytest.param(entry, id=f"{page}: {name}"))
    return found


def claude_lines() -> list[Any]:
    return [
        pytest.param(line, id=page)
        for page, block in blocks("text")
        for line in block.splitlines()
        if line.startswith("claude mcp add") and " -- " in line
    ]


def here(command: str, arguments: list[str], home: Path) -> tuple[str, list[str]]:
    """The command of a snippet, with this environment's program and a home of the test."""
    assert command == "/path/to/.venv/bin/sz-mcp"
    folders = [one.replace("${workspaceFolder}", str(home)) for one in arguments]
    return sys.executable, ["-m", "sz_mcp", *folders, "--home", str(home)]


async def name_told_by(command: str, arguments: list[str]) -> str:
    """What the server that a command starts calls itself."""
    server = StdioServerParameters(command=command, args=arguments, env=servers.environment())
    async with Client(server) as client:
        assert client.server_info is not None
        return client.server_info.name


@pytest.mark.parametrize("entry", entries("command"))
async def test_a_configured_command_starts_a_server(tmp_path: Path, entry: dict[str, Any]) -> None:
    assert entry.get("type", "stdio") == "stdio"

    assert await name_told_by(*here(entry["command"], entry["args"], tmp_path)) == "sz-mcp"


@pytest.mark.parametrize("entry", entries("url"))
async def test_a_configured_url_is_answered_with_its_token_only(
    tmp_path: Path, entry: dict[str, Any]
) -> None:
    (name, value), *_ = entry["headers"].items()
    filled = re.sub(r"\$\{(env|input):[\w-]+\}", TOKEN, value)
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(f'[tokens.snippet]\ntoken = "{TOKEN}"\nagent = "snippet"\n')
    started = servers.command(tmp_path, "--http", "0", "--token-file", str(tokens))

    with servers.started(started) as url:
        assert re.sub(r":\d+", ":8765", url) == entry["url"]
        accept = {"Accept": "application/json, text/event-stream"}
        with httpx2.Client(headers=accept, timeout=servers.WAIT_S) as client:
            known = client.post(url, json=INITIALIZE, headers={name: filled})
            unknown = client.post(url, json=INITIALIZE)

    assert (known.status_code, unknown.status_code) == (200, 401)


@pytest.mark.parametrize("line", claude_lines())
async def test_the_command_that_claude_code_is_given_starts_a_server(
    tmp_path: Path, line: str
) -> None:
    command, *arguments = shlex.split(line.partition(" -- ")[2].replace("$PWD", str(tmp_path)))

    assert await name_told_by(*here(command, arguments, tmp_path)) == "sz-mcp"


@pytest.mark.parametrize("line", claude_lines())
def test_claude_code_takes_the_line_and_connects(tmp_path: Path, line: str) -> None:
    claude = shutil.which("claude")
    if claude is None:
        pytest.skip("the command claude (npm package @anthropic-ai/claude-code) is not installed")
    command, *arguments = shlex.split(line.partition(" -- ")[2].replace("$PWD", str(tmp_path)))
    program = tmp_path / "sz-mcp"
    first, rest = here(command, [], tmp_path / "home")
    program.write_text(f'#!/bin/sh\nexec {shlex.join([first, *rest[:2]])} "$@"\n')
    program.chmod(0o755)
    environment = {**servers.environment(), "HOME": str(tmp_path)}

    def run(*more: str) -> str:
        return subprocess.run(
            [claude, "mcp", *more],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
            timeout=120,
            check=True,
        ).stdout

    run("add", "sz-mcp", "--", str(program), *arguments)

    assert "Connected" in run("get", "sz-mcp")


def test_there_are_snippets_for_every_client() -> None:
    text = "\n".join(block for _, block in (*blocks("json"), *blocks("text")))

    agents = {"claude-code", "claude-desktop", "cursor", "vscode"}
    assert agents <= set(re.findall(r"--agent\"?,? \"?([\w-]+)", text))
    assert len(entries("command")) >= 5
    assert len(entries("url")) == 2
    assert len(claude_lines()) == 2
