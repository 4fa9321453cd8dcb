"""Any command-line agent: started in a scratch folder with `.mcp.json` and a prompt.

It reaches the server over HTTP with its cell's token, and may use what else its command line lets
it; when its time is over, or the bench ends, it and all its children are killed.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping

from sz_mcp.bench.agents.desk import Desk, Usage
from sz_mcp.bench.agents.model import dollars_of
from sz_mcp.bench.errors import CellFailed
from sz_mcp.bench.held import Wish, held
from sz_mcp.bench.prompting import prompt_for
from sz_mcp.bench.spec import CommandAgent, UsagePaths

SERVER = "sz-mcp"
"""As .mcp.json names it."""
_PASSED = ("PATH", "LANG", "LC_ALL", "TERM", "TZ", "TMPDIR")
_TAIL = 400
_OUTPUT_LIMIT = 1 << 26
"""Bytes of standard output that are kept, from its end."""


async def work(agent: CommandAgent, desk: Desk) -> str:
    """Run the command to its end.

    Raises:
        CellFailed: it ended with another exit status than 0.
        CellStopped: a budget is spent, as its report says.
    """
    wish = Wish(
        command=_command(agent, desk),
        env=_environment(agent, desk),
        folder=desk.folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    desk.tell(agent.command[0])
    async with held(wish) as process:
        out, err = await asyncio.gather(_read(process.stdout), _read(process.stderr))
        status = await process.wait()
    for used in usage_in(out.decode(errors="replace"), agent):
        desk.used(used)
    if status:
        said = (err or out).decode(errors="replace").strip()[-_TAIL:]
        raise CellFailed(f"{agent.command[0]} ended with status {status}: {said}")
    return f"{agent.command[0]} ended"


def _command(agent: CommandAgent, desk: Desk) -> list[str]:
    """The command line, its folder filled."""
    prompt = prompt_for(desk.cell, desk.budget)
    prompt_file, config = desk.folder / "PROMPT.md", desk.folder / ".mcp.json"
    prompt_file.write_text(prompt, encoding="utf-8")
    server = {"type": "http", "url": desk.url, "headers": dict(desk.headers)}
    text = json.dumps({"mcpServers": {SERVER: server}}, indent=2)
    config.write_text(text, encoding="utf-8")
    config.chmod(0o600)
    known = {
        "{prompt}": prompt,
        "{prompt_file}": str(prompt_file),
        "{mcp_config}": str(config),
        "{folder}": str(desk.folder),
        "{model}": agent.model,
        "{url}": desk.url,
        "{token}": desk.token,
    }
    return [_filled(argument, known) for argument in agent.command]


def _filled(argument: str, known: Mapping[str, str]) -> str:
    if argument in known:
        return known[argument]
    for name, value in known.items():
        argument = argument.replace(name, value)
    return argument


def _environment(agent: CommandAgent, desk: Desk) -> dict[str, str]:
    passed = {name: os.environ[name] for name in (*_PASSED, *agent.env) if name in os.environ}
    home = str(desk.folder) if agent.home == "scratch" else os.environ.get("HOME", str(desk.folder))
    return {**passed, "HOME": home}


async def _read(stream: asyncio.StreamReader | None) -> bytes:
    """All of it, or its end if it is very long."""
    kept = bytearray()
    if stream is None:
        return b""
    while piece := await stream.read(1 << 16):
        kept += piece
        if len(kept) > 2 * _OUTPUT_LIMIT:
            del kept[:-_OUTPUT_LIMIT]
    return bytes(kept)


def usage_in(output: str, agent: CommandAgent) -> Iterator[Usage]:
    """What a command says that it used: one record per report that has any of the paths."""
    paths = agent.usage
    if paths is None:
        return
    for report in _reports(output, paths):
        found = {
            name: list(_numbers(report, getattr(paths, name)))
            for name in ("input", "output", "cached", "dollars")
        }
        if not any(found.values()):
            continue
        given, said, cached = (int(sum(found[n])) for n in ("input", "output", "cached"))
        dollars = sum(found["dollars"]) or dollars_of(agent.prices, given, said, cached)
        yield Usage(given, said, cached, dollars, "command")


def _reports(output: str, paths: UsagePaths) -> Iterator[object]:
    lines = output.strip().splitlines()
    texts = lines if paths.report == "lines" else [output, *lines[-1:]]
    for text in texts:
        try:
            report = json.loads(text)
        except ValueError:
            continue
        yield report
        if paths.report == "json":
            return


def _numbers(report: object, path: str) -> Iterator[float]:
    """The numbers at a path, or at several joined by +; none where there are none."""
    for one in filter(None, (part.strip() for part in path.split("+"))):
        yield from _numbers_at(report, one)


def _numbers_at(report: object, path: str) -> Iterator[float]:
    inside = [report]
    for key in path.split("."):
        inside = [deeper for one in inside for deeper in _inside(one, key)]
    for one in inside:
        if isinstance(one, int | float) and not isinstance(one, bool):
            yield float(one)


def _inside(value: object, key: str) -> Iterator[object]:
    match value:
        case dict() if key == "*":
            yield from value.values()
        case dict() if key in value:
            yield value[key]
        case list() if key == "*":
            yield from value
        case list() if key.lstrip("-").isdecimal() and -len(value) <= int(key) < len(value):
            yield value[int(key)]
