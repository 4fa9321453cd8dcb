"""A program that runs a command and ends it, with all it ever started, when its holder is gone.

    python leash.py DESCRIPTOR GRACE_S COMMAND…

DESCRIPTOR is the reading end of a pipe whose other end the holder keeps open: however the holder
dies, that end closes. The command then gets SIGTERM, and after GRACE_S everything below here gets
SIGKILL, what has left its session or lost its parent too. When the command ends by itself, what it
left behind is killed likewise, and its exit status is passed on. It imports nothing of ours.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_ROUNDS = 200
_PAUSE_S = 0.01
_SIGNALLED = 128


def main(arguments: list[str]) -> int:
    """Run it; returns its exit status as a shell has it."""
    descriptor, grace_s, command = int(arguments[0]), float(arguments[1]), arguments[2:]
    # Orphans come to us instead of to init, so that they can be found.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        child = subprocess.Popen(command, start_new_session=True)
    except OSError as error:
        sys.stderr.write(f"can't start {command[0]}: {error.strerror}\n")
        return 127
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if not _ended_first(child.pid, descriptor):
        _end(child, grace_s)
    status = child.wait()
    _kill_all()
    return status if status >= 0 else _SIGNALLED - status


def _ended_first(pid: int, descriptor: int) -> bool:
    """Wait until the command ends, or the holder of the pipe does; whether it was the command."""
    process = os.pidfd_open(pid)
    try:
        ready, _, _ = select.select([process, descriptor], [], [])
    finally:
        os.close(process)
    return descriptor not in ready


def _end(child: subprocess.Popen[bytes], grace_s: float) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(grace_s)
    _kill_all()


def _kill_all() -> None:
    """Kill whatever is below this process until nothing is."""
    for _ in range(_ROUNDS):
        left = _descendants()
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not left:
            return
        time.sleep(_PAUSE_S)


def _descendants() -> list[int]:
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # After the name, which is in parentheses and may hold anything: state, parent.
                parents[int(entry.name)] = int(
                    (entry / "stat").read_text().rpartition(")")[2].split()[1]
                )
    found: list[int] = []
    grown = [os.getpid()]
    while grown:
        grown = [pid for pid, parent in parents.items() if parent in grown]
        found += grown
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
