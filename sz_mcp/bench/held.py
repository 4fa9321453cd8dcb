"""Starting programs that end with this process, whatever ends it: see `leash`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

_LEASH = Path(__file__).with_name("leash.py")
_KILL_S = 20.0
"""Beyond its grace, what the leash may take to kill everything."""


@dataclass(frozen=True)
class Wish:
    """What to start."""

    command: Sequence[str]
    env: Mapping[str, str]
    folder: Path
    stdout: int = asyncio.subprocess.DEVNULL
    stderr: int = asyncio.subprocess.DEVNULL
    grace_s: float = 2.0
    """Between SIGTERM and SIGKILL."""
    limit: int = field(default=1 << 26)
    """Bytes of one line of output."""


@asynccontextmanager
async def held(wish: Wish) -> AsyncIterator[asyncio.subprocess.Process]:
    """The running program; on leaving, it and all that it started are gone."""
    reading, writing = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            str(_LEASH),
            str(reading),
            str(wish.grace_s),
            *wish.command,
            env=dict(wish.env),
            cwd=wish.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=wish.stdout,
            stderr=wish.stderr,
            pass_fds=(reading,),
            limit=wish.limit,
        )
    except BaseException:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    try:
        yield process
    finally:
        os.close(writing)
        await asyncio.shield(_gone(process, wish.grace_s))


async def _gone(process: asyncio.subprocess.Process, grace_s: float) -> None:
    try:
        await asyncio.wait_for(process.wait(), grace_s + _KILL_S)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
