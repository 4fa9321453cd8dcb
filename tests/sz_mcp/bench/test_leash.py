"""Programs that end with whoever started them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sz_mcp.bench.held import Wish, held

# Starts a child that ignores SIGTERM and one in a session of its own, says who they are, and waits.
FAMILY = """
import os, subprocess, sys, time
stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
one = subprocess.Popen([sys.executable, "-c", stubborn])
two = subprocess.Popen(["sleep", "300"], start_new_session=True)
with open("pids.tmp", "w") as file:
    file.write(f"{os.getpid()} {one.pid} {two.pid}")
os.rename("pids.tmp", "pids")
time.sleep(300)
"""
# Holds a family, and is killed itself.
HOLDER = """
import asyncio, os, sys
from pathlib import Path
from sz_mcp.bench.held import Wish, held

async def main():
    wish = Wish([sys.executable, "-c", sys.argv[1]], os.environ, Path.cwd(), grace_s=0.2)
    async with held(wish):
        await asyncio.sleep(300)

asyncio.run(main())
"""


async def pids_in(folder: Path) -> list[int]:
    while not (folder / "pids").exists():
        await asyncio.sleep(0.02)
    return [int(pid) for pid in (folder / "pids").read_text().split()]


def alive(pids: list[int]) -> list[int]:
    """Those that are neither gone nor waiting to be reaped by somebody else."""

    def runs(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    return [pid for pid in pids if runs(pid)]


@pytest.mark.anyio
async def test_leaving_ends_a_whole_family(tmp_path: Path) -> None:
    wish = Wish([sys.executable, "-c", FAMILY], os.environ, tmp_path, grace_s=0.2)
    async with held(wish):
        pids = await pids_in(tmp_path)
        assert alive(pids) == pids
    assert alive(pids) == []


@pytest.mark.anyio
async def test_a_family_ends_when_its_holder_is_killed(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, FAMILY], cwd=tmp_path)
    pids = await pids_in(tmp_path)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    async with asyncio.timeout(30):
        while alive(pids):
            await asyncio.sleep(0.02)
    assert alive(pids) == []


@pytest.mark.anyio
@pytest.mark.parametrize(("code", "status"), [("exit 5", 5), ("kill -9 $$", 137)])
async def test_an_exit_status_is_passed_on(tmp_path: Path, code: str, status: int) -> None:
    async with held(Wish(["sh", "-c", code], os.environ, tmp_path)) as process:
        assert await process.wait() == status


@pytest.mark.anyio
async def test_what_a_command_leaves_behind_is_killed(tmp_path: Path) -> None:
    code = "setsid sleep 300 & echo $! > pid"
    async with held(Wish(["sh", "-c", code], os.environ, tmp_path)) as process:
        assert await process.wait() == 0
        assert alive([int((tmp_path / "pid").read_text())]) == []
