"""Threads for work that many agents send, in turns: who sends much waits behind itself.

A piece of work and its sender flow in, a future flows out. Of the senders that wait, the one with
the least in progress goes first, among equals the one that was served longest ago; one sender's
work stays in its order. The last free thread is kept for a sender with nothing in progress, so
that slow work of one never makes another wait.
"""

from __future__ import annotations

import functools
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from toolchains.base import Cancellation

T = TypeVar("T")

_REMEMBERED_SENDERS = 4096
_FIRST_GUESS_S = 5.0
"""How long work may take, before any has ended."""
_NEWS = 0.1
"""Weight of the last duration in their mean."""


@dataclass(frozen=True, eq=False)
class _Entry:
    """One piece of work that waits or runs."""

    sender: str
    work: Callable[[], Any]
    cancellation: Cancellation
    taken_out: Callable[[_Entry], None]
    future: Future[Any] = field(default_factory=Future)

    def leave(self) -> None:
        """What its cancellation calls."""
        self.taken_out(self)


@dataclass(frozen=True)
class _Begun:
    """One piece of work on a thread."""

    entry: _Entry
    done: Future[Any]
    counted: bool = True
    """Whether it has one of the queue's threads."""
    at: float = field(default_factory=time.monotonic)


class FairQueue:
    """At most `threads` pieces of work at once, in turns over their senders. Thread-safe."""

    def __init__(self, threads: int, name: str) -> None:
        """name: of its threads."""
        self._threads = self._free = threads
        self._workers = ThreadPoolExecutor(threads, name)
        self._leaving = ThreadPoolExecutor(1, f"{name}-leaving")
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[_Entry]] = {}
        self._running: Counter[str] = Counter()
        self._served: OrderedDict[str, int] = OrderedDict()
        """Sender → number of its last turn."""
        self._turn = 0
        self._mean_s = _FIRST_GUESS_S
        self._closed = False

    def submit(
        self, sender: str, work: Callable[[], T], cancellation: Cancellation | None = None
    ) -> Future[T]:
        """Do `work` when it is its turn; once cancelled, at once, for it has nothing left to do.

        Raises: RuntimeError after `shutdown`.
        """
        entry = _Entry(sender, work, cancellation or Cancellation(), self._leave)
        with self._lock:
            if self._closed:
                raise RuntimeError("no work is taken after shutdown")
            self._waiting.setdefault(sender, deque()).append(entry)
            begun = self._dispatch()
        self._watch(begun)
        entry.cancellation.attach(entry.leave)
        if entry.future.done():
            entry.cancellation.detach(entry.leave)
        return entry.future

    def ahead(self, future: Future[Any]) -> int | None:
        """How much begins before what waits for `future`; None if that waits no more."""
        with self._lock:
            for sender, line in self._waiting.items():
                for index, entry in enumerate(line):
                    if entry.future is future:
                        return self._before(sender, index)
        return None

    def expected_s(self) -> float:
        """About how long something sent now would wait for its end, in seconds."""
        with self._lock:
            waiting = sum(map(len, self._waiting.values()))
            return self._mean_s * (1 + waiting / self._threads)

    def shutdown(self) -> None:
        """Cancel what waits and take nothing more; what runs goes on. Idempotent."""
        with self._lock:
            self._closed = True
            waiting = [entry for line in self._waiting.values() for entry in line]
            self._waiting.clear()
        for entry in waiting:
            entry.future.cancel()
        self._workers.shutdown(wait=False)
        self._leaving.shutdown(wait=False)

    def _before(self, sender: str, index: int) -> int:
        """What of all that waits comes before the `index`-th of `sender`, in rounds of turns.

        Exact for one thread; with more, whoever has much in progress waits longer than this.
        """
        turns = sorted(self._waiting, key=lambda one: self._served.get(one, 0))
        own = turns.index(sender)
        return index + sum(
            min(index + (turn < own), len(self._waiting[other]))
            for turn, other in enumerate(turns)
            if turn != own
        )

    def _dispatch(self) -> list[_Begun]:
        """Begin what can begin; under the lock, which whoever watches it must not hold."""
        begun: list[_Begun] = []
        while self._free and (sender := self._next()) is not None:
            entry = self._taken(sender, 0)
            if not entry.future.set_running_or_notify_cancel():
                continue
            self._turn += 1
            self._served[sender] = self._turn
            self._served.move_to_end(sender)
            if len(self._served) > _REMEMBERED_SENDERS:
                self._served.popitem(last=False)
            self._running[sender] += 1
            self._free -= 1
            begun.append(_Begun(entry, self._workers.submit(entry.work)))
        return begun

    def _next(self) -> str | None:
        """Whose turn it is; None if nobody who waits may have a thread now."""
        able = [one for one in self._waiting if self._free > 1 or not self._running[one]]
        return min(
            able, key=lambda one: (self._running[one], self._served.get(one, 0)), default=None
        )

    def _taken(self, sender: str, index: int) -> _Entry:
        """An entry, out of its line; under the lock."""
        line = self._waiting[sender]
        entry = line[index]
        del line[index]
        if not line:
            del self._waiting[sender]
        return entry

    def _watch(self, begun: list[_Begun]) -> None:
        for one in begun:
            one.done.add_done_callback(functools.partial(self._ended, one))

    def _ended(self, one: _Begun, done: Future[Any]) -> None:
        if one.counted:
            self._release(one.entry.sender, time.monotonic() - one.at)
        # A cancellation is kept as long as its job is known, and must not keep the work.
        one.entry.cancellation.detach(one.entry.leave)
        _pass_on(done, one.entry.future)

    def _release(self, sender: str, seconds: float) -> None:
        with self._lock:
            self._mean_s += _NEWS * (seconds - self._mean_s)
            self._free += 1
            self._running[sender] -= 1
            if not self._running[sender]:
                del self._running[sender]
            begun = [] if self._closed else self._dispatch()
        self._watch(begun)

    def _leave(self, entry: _Entry) -> None:
        """Take cancelled work out of the line, and let it end on a thread of its own."""
        with self._lock:
            line = self._waiting.get(entry.sender, deque())
            if entry not in line:
                return
            self._taken(entry.sender, line.index(entry))
            if not entry.future.set_running_or_notify_cancel():
                return
            done = self._leaving.submit(entry.work)
        self._watch([_Begun(entry, done, counted=False)])


def _pass_on(done: Future[Any], to: Future[Any]) -> None:
    if done.cancelled():
        to.set_exception(CancelledError())
    elif (error := done.exception()) is not None:
        to.set_exception(error)
    else:
        to.set_result(done.result())
