"""What the operating system says a child did: asleep or not, CPU time used, time spent waiting.

A request's clock starts with all threads of the child asleep and stops when they are asleep again.
Work before or after would show as CPU time between two snapshots.
"""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Snapshot:
    """The threads of one process at one moment."""

    asleep: bool
    """Every thread was sleeping when looked at."""
    cpu_ns: int
    """CPU time of all threads; exact for sleeping ones (proc(5), schedstat)."""
    wait_ns: int
    """Time that its threads were ready to run and did not."""
    threads: int


def snapshot(pid: int) -> Snapshot:
    """Look at a process; a process that is gone counts as asleep with nothing used."""
    tasks = f"/proc/{pid}/task"
    asleep, cpu, wait, threads = True, 0, 0, 0
    try:
        names = os.listdir(tasks)  # noqa: PTH208 (on the clock's path; Path objects cost 3x)
    except FileNotFoundError:
        return Snapshot(True, 0, 0, 0)
    for name in names:
        try:
            state = _read(f"{tasks}/{name}/stat")
            ran, waited, _ = _read(f"{tasks}/{name}/schedstat").split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        # The state follows the last parenthesis: a thread may have parentheses in its name.
        asleep = asleep and state[state.rindex(b")") + 2 :][:1] == b"S"
        cpu, wait, threads = cpu + int(ran), wait + int(waited), threads + 1
    return Snapshot(asleep, cpu, wait, threads)


def own_wait_ns() -> int:
    """Run-queue wait of the calling thread so far."""
    return int(_read("/proc/thread-self/schedstat").split()[1])


def children_of(pid: int) -> tuple[int, ...]:
    """Direct child processes of a process; empty if it is gone."""
    tasks, found = f"/proc/{pid}/task", b""
    try:
        for name in os.listdir(tasks):  # noqa: PTH208 (as above)
            found += _read(f"{tasks}/{name}/children")
    except (FileNotFoundError, ProcessLookupError):
        return ()
    return tuple(map(int, found.split()))


def parent_of(pid: int) -> int:
    """Parent process of a process; 0 if it is gone."""
    try:
        status = _read(f"/proc/{pid}/stat")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(status[status.rindex(b")") + 2 :].split()[1])


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)
