"""Warm children, started ahead: importing numba and starting LLVM takes 0.6 s no call should wait.

Long-lived threads start them, because a child's parent-death signal follows the thread that started
it. They rest while something is being timed, unless a child is asked for.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .isolation import Isolation, Layer, Size, choose
from .process import ChildGone, ChildProcess

READY_DEADLINE_S = 30.0
_STARTERS = 2
"""Children that may be starting at once; more would only share the same cores."""


class PoolClosed(Exception):
    """The server is going down."""


class ChildrenUnavailable(Exception):
    """No child can be started on this machine; the message says why."""


@dataclass
class _Stock:
    """Children of one number of threads."""

    ahead: int
    """How many to keep ready."""
    ready: deque[ChildProcess] = field(default_factory=deque)
    starting: int = 0
    waiting: int = 0


class Pool:
    """Keeps `size` children of one thread ready; others are started when asked for. Thread-safe."""

    def __init__(self, size: int, memory_bytes: int, isolation: Isolation | None = None) -> None:
        """isolation: fixed, or None to find out by probing (in a thread of the pool)."""
        self._memory_bytes, self._isolation = memory_bytes, isolation
        self._stocks = {1: _Stock(size)}
        self._timing = 0
        self._failure: Exception | None = None
        self._closed = False
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(target=self._work, args=(i == 0,), name=f"children-{i}", daemon=True)
            for i in range(_STARTERS)
        ]
        for thread in self._threads:
            thread.start()

    def take(self, threads: int = 1) -> ChildProcess:
        """A child that has been used for nothing. Raises PoolClosed or ChildrenUnavailable."""
        with self._changed:
            stock = self._stocks.setdefault(threads, _Stock(0))
            stock.waiting += 1
            self._failure = None
            self._changed.notify_all()
            try:
                return self._wait_for_one(stock)
            finally:
                stock.waiting -= 1
                self._changed.notify_all()

    def layers(self) -> tuple[Layer, ...]:
        """What isolates a child here; waits for the probe."""
        try:
            return self.isolation().layers()
        except PoolClosed:
            return ()

    def isolation(self) -> Isolation:
        """How children are kept apart here; waits for the probe. Raises PoolClosed."""
        with self._changed:
            self._changed.wait_for(lambda: self._isolation is not None or self._closed)
            if self._isolation is None:
                raise PoolClosed("the server is shutting down")
            return self._isolation

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """While this lasts no child is started ahead; begins when none is starting."""
        with self._changed:
            self._timing += 1
            self._changed.wait_for(lambda: not any(s.starting for s in self._stocks.values()))
        try:
            yield
        finally:
            with self._changed:
                self._timing -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Kill the children that wait here. Idempotent."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(READY_DEADLINE_S)
        for stock in self._stocks.values():
            while stock.ready:
                stock.ready.popleft().close()
        if self._isolation is not None and self._isolation.doors.groups is not None:
            self._isolation.doors.groups.close()

    def _wait_for_one(self, stock: _Stock) -> ChildProcess:
        while True:
            self._changed.wait_for(lambda: stock.ready or self._closed or self._failure)
            if self._closed:
                raise PoolClosed("the server is shutting down")
            if not stock.ready:
                raise ChildrenUnavailable(f"no child starts here: {self._failure}")
            child = stock.ready.popleft()
            if child.alive():
                return child
            child.close()
            self._changed.notify_all()

    def _work(self, first: bool) -> None:
        if first and self._isolation is None:
            isolation = choose()
            with self._changed:
                self._isolation = isolation
                self._changed.notify_all()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._short() is not None)
                threads = self._short()
                if self._closed or threads is None or self._isolation is None:
                    return
                stock, isolation = self._stocks[threads], self._isolation
                stock.starting += 1
            child, failure = _start(isolation, Size(self._memory_bytes, threads))
            with self._changed:
                stock.starting -= 1
                self._failure = failure
                if child is not None:
                    stock.ready.append(child)
                self._changed.notify_all()

    def _short(self) -> int | None:
        """The number of threads of which a child is wanted; None if none is."""
        if self._isolation is None:
            return None
        for threads, stock in self._stocks.items():
            # After a failure only someone who asks makes it try again.
            ahead = 0 if self._timing or self._failure else stock.ahead
            if len(stock.ready) + stock.starting < stock.waiting + ahead:
                return threads
        return None


def _start(isolation: Isolation, size: Size) -> tuple[ChildProcess | None, Exception | None]:
    try:
        child = ChildProcess(isolation, size)
    except OSError as error:
        return None, error
    try:
        child.wait_ready(READY_DEADLINE_S)
    except ChildGone as error:
        text = child.printed()
        child.close()
        return None, ChildrenUnavailable(f"{error}; {text[-500:]}")
    return child, None
