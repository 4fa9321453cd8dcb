"""Which cores do what while something is timed: the kernel's children some, the server the others.

Without this the scheduler at times wakes a child on the core of the thread that waits for it, which
watches without sleeping: the child then waits half a millisecond to run (measured on 2 cores).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")
R = TypeVar("R")


def all_cores() -> frozenset[int]:
    """Cores that this process may use."""
    # Of the main thread: a pinned thread asks too.
    return frozenset(os.sched_getaffinity(os.getpid()))


@contextmanager
def apart(pids: Sequence[int], threads: int) -> Iterator[None]:
    """Children on `threads` cores of their own, the calling thread on others, if there are any."""
    cores = all_cores()
    theirs = frozenset(sorted(cores)[-threads:])
    try:
        _spread(pids, theirs)
        os.sched_setaffinity(0, cores - theirs or cores)
        yield
    finally:
        os.sched_setaffinity(0, cores)
        _place(pids, cores)


class Workers:
    """A few threads that may use every core, whatever thread starts them."""

    def __init__(self, name: str, most: int = 4) -> None:
        cores = all_cores()
        count = max(1, min(most, len(cores)) - 1)
        self._threads = ThreadPoolExecutor(count, name, os.sched_setaffinity, (0, cores))

    def map(self, work: Callable[[A, B], R], first: Sequence[A], second: Sequence[B]) -> list[R]:
        """`work` on every pair; the calling thread takes one: waking another costs time."""
        pairs = list(zip(first, second, strict=True))
        if not pairs:
            return []
        others = [self._threads.submit(work, *pair) for pair in pairs[1:]]
        return [work(*pairs[0]), *(other.result() for other in others)]

    def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown()


def _spread(pids: Sequence[int], cores: frozenset[int]) -> None:
    """Each of a child's threads that worked most on a core of its own, if it keeps several.

    A helper that wakes where its caller runs waits up to 10 ms to be moved (measured on 2 cores).
    """
    _place(pids, cores)
    for pid in pids:
        busiest = sorted(_tasks(pid), key=lambda task: (-_worked_ns(pid, task), task))
        if len(busiest) > 1:
            for task, core in zip(busiest, sorted(cores), strict=False):
                _pin({task}, frozenset({core}))


def _place(pids: Sequence[int], cores: frozenset[int]) -> None:
    for pid in pids:
        _pin(_tasks(pid), cores)


def _tasks(pid: int) -> set[int]:
    try:
        return {int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()}
    except FileNotFoundError:
        return set()


def _worked_ns(pid: int, task: int) -> int:
    """Processor time of a thread so far; 0 if it is gone."""
    try:
        spent = Path(f"/proc/{pid}/task/{task}/schedstat").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(spent.split()[0])


def _pin(tasks: set[int], cores: frozenset[int]) -> None:
    # Another user's threads stay where they are if the server lacks SYS_NICE.
    for task in tasks:
        with suppress(ProcessLookupError, PermissionError):
            os.sched_setaffinity(task, cores)
