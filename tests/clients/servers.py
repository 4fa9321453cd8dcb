"""The real server in a process of its own, as clients start or reach it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mcp import StdioServerParameters

ROOT = Path(__file__).parents[2]
WAIT_S = 60
AGENT = "client-test"


def environment() -> dict[str, str]:
    """Also what is not installed can be tested."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def command(home: Path, *more: str) -> list[str]:
    """A server over stdio, for a home of its own."""
    own = ["-m", "sz_mcp", "serve", "--agent", AGENT, "--home", str(home)]
    return [sys.executable, *own, *more]


def stdio(home: Path) -> StdioServerParameters:
    first, *rest = command(home)
    return StdioServerParameters(command=first, args=rest, env=environment())


@contextmanager
def started(arguments: list[str]) -> Iterator[str]:
    """Start a server that prints its URL first; it is told to stop in the end."""
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=environment())
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        yield line.removeprefix("sz-mcp: ").strip()
    finally:
        process.terminate()
        # What else it says must not fill the pipe while it ends.
        process.communicate(timeout=WAIT_S)


@contextmanager
def http(home: Path) -> Iterator[str]:
    """The URL of a server over HTTP."""
    with started(command(home, "--http", "0")) as url:
        yield url
