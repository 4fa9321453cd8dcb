"""What the operating system says a child did: asleep or not, CPU time used, time spent waiting.

A request's clock starts with all threads of the child asleep and stops when they are asleep again.
Work before or after would show as CPU time between two snapshots.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Snapshot:
    """The threads of one process at one moment."""

    asleep: bool
    """Every thread was sleeping when looked at."""
    cpu_ns: int
    """CPU time of all threads, those that have ended too; exact while all sleep."""
    wait_ns: int
    """Time that its threads were ready to run and did not."""
    threads: int


def snapshot(pid: int) -> Snapshot:
    """Look at a process; a process that is gone counts as asleep with nothing used."""
    tasks = f"/proc/{pid}/task"
    asleep, wait, threads = True, 0, 0
    try:
        names = os.listdir(tasks)  # noqa: PTH208 (on the clock's path; Path objects cost 3x)
    except FileNotFoundError:
        return Snapshot(True, 0, 0, 0)
    for name in names:
        try:
            state = _read(f"{tasks}/{name}/stat")
            _, waited, _ = _read(f"{tasks}/{name}/schedstat").split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        # The state follows the last parenthesis: a thread may have parentheses in its name.
        asleep = asleep and state[state.rindex(b")") + 2 :][:1] == b"S"
        wait, threads = wait + int(waited), threads + 1
    return Snapshot(asleep, _cpu_ns(pid), wait, threads)


def _cpu_ns(pid: int) -> int:
    """CPU time of a process. A sum over its threads would lose those that ended."""
    # CPUCLOCK_SCHED of the process (linux/posix-timers.h), as clock_getcpuclockid(3) makes it.
    clock = (~pid << 3) | 2
    try:
        return time.clock_gettime_ns(clock)
    except OSError:
        return 0


def lost_to_others_s(waited_s: float, cpu_s: float, room_s: float) -> float:
    """Waiting to run, without what threads of a child did to each other.

    room_s: time that they could have run, on as many cores as they may use; what they used of it,
    cpu_s, nobody took from them. Else a kernel could start threads that wait for each other, and
    have the repetitions thrown away in which it is slow.
    """
    return min(waited_s, max(0.0, room_s - cpu_s))


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


def written_bytes(pid: int) -> int:
    """Bytes that a process wrote, by calls or by dirtying pages of files; 0 if that is not told."""
    try:
        text = _read(f"/proc/{pid}/io")
    except OSError:
        return 0
    counts = dict(line.split(b": ") for line in text.splitlines())
    return max(int(counts[b"wchar"]), int(counts[b"write_bytes"]))


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)
