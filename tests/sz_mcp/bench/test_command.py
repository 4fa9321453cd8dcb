"""Command-line agents: started with .mcp.json and a prompt, read, killed with their children."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from sz_mcp.bench.agents import command
from sz_mcp.bench.agents.command import usage_in
from sz_mcp.bench.agents.desk import Usage
from sz_mcp.bench.errors import CellFailed
from sz_mcp.bench.spec import Budget, CommandAgent, Prices, UsagePaths
from tests.sz_mcp.bench import cli_agent
from tests.sz_mcp.bench.desks import Told, calls, cell, desk

SCRIPT = str(Path(cli_agent.__file__))


def agent(*more: str, usage: UsagePaths | None = None, env: tuple[str, ...] = ()) -> CommandAgent:
    line = (sys.executable, SCRIPT, "{prompt}", "{model}", *more)
    return CommandAgent(kind="command", command=line, model="m-1", usage=usage, env=env)


@pytest.mark.anyio
async def test_a_command_calls_the_server_and_reports_what_it_used(tmp_path: Path) -> None:
    told = Told()
    usage = UsagePaths(
        input="usage.in + usage.cache.*", output="usage.out", cached="usage.cache.*", dollars="cost"
    )
    async with desk(tmp_path, cell("command", task="szp"), Budget(), told) as at:
        await command.work(agent(usage=usage), at)
    assert calls(tmp_path) == [["compile_kernel", "compiled"], ["verify_bounds", "bound_ok"]]
    assert told.used == [Usage(1350, 80, 150, 0.25, "command")]


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_command_that_fails_says_why(tmp_path: Path) -> None:
    async with desk(tmp_path, cell("command", task="szp"), Budget()) as at:
        with pytest.raises(CellFailed, match="ended with status 3: no such model"):
            await command.work(agent("fail"), at)


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_command_that_is_not_there_says_so(tmp_path: Path) -> None:
    absent = CommandAgent(kind="command", command=("no-such-agent",))
    async with desk(tmp_path, cell("command", task="szp"), Budget()) as at:
        with pytest.raises(CellFailed, match="status 127: can't start no-such-agent: No such file"):
            await command.work(absent, at)


@pytest.mark.anyio
async def test_a_command_is_killed_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told.json"
    monkeypatch.setenv("TOLD", str(told))
    async with desk(tmp_path / "home", cell("command", task="szp"), Budget()) as at:
        work = asyncio.create_task(command.work(agent("hang", env=("TOLD",)), at))
        while not told.exists() or not told.read_text():
            await asyncio.sleep(0.02)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
    pids = json.loads(told.read_text())["pids"]
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


def test_usage_is_found_in_the_last_line_of_a_chatty_command() -> None:
    found = CommandAgent(
        kind="command",
        command=("x",),
        usage=UsagePaths(input="u.0.i", output="u.-1.i"),
        prices=Prices(input=1e6, output=2e6),
    )
    output = 'Hello {\n{"u": [{"i": 3}, {"i": 4}]}\n'
    assert list(usage_in(output, found)) == [Usage(3, 4, 0, 11.0, "command")]


def test_every_line_of_a_stream_of_events_may_report() -> None:
    paths = UsagePaths(report="lines", input="usage.input", output="usage.output")
    found = CommandAgent(kind="command", command=("x",), usage=paths)
    events = [
        {"type": "start"},
        {"type": "turn", "usage": {"input": 10, "output": 1}},
        {"type": "turn", "usage": {"input": 20, "output": 2}},
    ]
    output = "\n".join(["not json", *map(json.dumps, events)])
    told = list(usage_in(output, found))
    assert [(one.input_tokens, one.output_tokens) for one in told] == [(10, 1), (20, 2)]


@pytest.mark.parametrize("output", ["", "done", '{"usage": null}', '{"usage": {"input": true}}'])
def test_a_report_without_numbers_is_none(output: str) -> None:
    paths = UsagePaths(input="usage.input")
    assert list(usage_in(output, CommandAgent(kind="command", command=("x",), usage=paths))) == []
