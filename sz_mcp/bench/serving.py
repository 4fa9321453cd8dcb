"""The one server that all cells of a bench call: its process, its address, a token per cell.

A token is good while its cell lasts, and says to the server who calls: agent, model, prompt tier,
feedback level, session, and how many calls on kernels that session has. Sessions see nothing of
each other.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sz_mcp.bench.cells import Cell
from sz_mcp.bench.held import Wish, held
from sz_mcp.bench.spec import Budget
from sz_mcp.errors import StepFailed
from sz_mcp.token_writing import create, revoke

_URL = re.compile(rb"sz-mcp: (http://\S+/mcp)")
_START_S = 60.0
_GRACE_S = 15.0
"""It gives what runs ten seconds, and drains."""
_KEEPER = "bench"
"""Name and agent of the token that keeps the file from being empty, which nobody is given."""
LOG = "server.log"


class Server(Protocol):
    """A running server, as far as a bench uses it."""

    @property
    def url(self) -> str:
        """Of MCP."""
        ...

    def check(self) -> None:
        """Raise StepFailed if it has ended."""
        ...


@dataclass(frozen=True)
class Served:
    """A server in a process of its own."""

    url: str
    process: asyncio.subprocess.Process
    log: Path

    def check(self) -> None:
        """Raise StepFailed if it has ended."""
        if self.process.returncode is not None:
            raise StepFailed(f"the server ended; its log is {self.log}")


class Tokens:
    """The token file of one start of a bench."""

    def __init__(self, path: Path) -> None:
        """Whatever an earlier start left in the file is void."""
        self.path = path
        path.unlink(missing_ok=True)
        create(path, _KEEPER, {"agent": _KEEPER})

    def give(self, cell: Cell, session: str, model: str, budget: Budget) -> str:
        """A token for a session of a cell."""
        told: dict[str, object] = {
            "agent": cell.agent,
            "model": model,
            "prompt_tier": cell.prompt_tier or "",
            "session": session,
            "feedback": cell.feedback_level,
            "sees": "session",
            "attempts": budget.calls,
            "seconds": None if budget.minutes is None else 60 * budget.minutes,
        }
        return create(self.path, session, told)

    def take(self, session: str) -> None:
        """Its cell is over."""
        revoke(self.path, session)


@asynccontextmanager
async def served(home: Path, tokens: Path, folder: Path) -> AsyncIterator[Served]:
    """Serve a home on loopback for as long as this lasts, and not a moment longer than this lives.

    Raises:
        StepFailed: it does not start.
    """
    # -P: the folder that the bench is run in must not shadow our packages.
    command = [sys.executable, "-P", "-m", "sz_mcp", "serve", "--http", "127.0.0.1:0"]
    command += ["--home", str(home), "--token-file", str(tokens)]
    wish = Wish(command, os.environ, folder, stderr=asyncio.subprocess.PIPE, grace_s=_GRACE_S)
    log = folder / LOG
    async with held(wish) as process:
        url = await _address(process, log)
        copying = asyncio.create_task(_copy(process, log))
        try:
            yield Served(url, process, log)
        finally:
            copying.cancel()


async def _address(process: asyncio.subprocess.Process, log: Path) -> str:
    assert process.stderr is not None
    said = b""
    try:
        async with asyncio.timeout(_START_S):
            while line := await process.stderr.readline():
                said += line
                if found := _URL.search(line):
                    log.write_bytes(said)
                    return found[1].decode()
    except TimeoutError:
        said += b"it did not say where it listens"
    raise StepFailed(f"the server did not start: {said.decode(errors='replace').strip()[-500:]}")


async def _copy(process: asyncio.subprocess.Process, log: Path) -> None:
    """What it says goes to its log; an unread pipe would stop it."""
    assert process.stderr is not None
    with log.open("ab", buffering=0) as file:
        while piece := await process.stderr.read(1 << 16):
            file.write(piece)
