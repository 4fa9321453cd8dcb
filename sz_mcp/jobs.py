"""Evaluations in progress, and the last finished ones.

A tool starts a job, follows it for as long as it may take to answer, and leaves it running if that
was not enough; `get_result` finds it again by run_id. Work runs in the threads of a fair queue, the
waiting on the event loop.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

from sz_mcp.queues import FairQueue
from toolchains.base import Cancellation

T = TypeVar("T")


@dataclass(frozen=True)
class Progress:
    """How far a job is."""

    fraction: float
    message: str


QUEUED = Progress(0.0, "queued")
LOOK_S = 1.0
"""Time between two looks at how many go before a job that is queued."""


class Job(Generic[T]):
    """One evaluation: what it was asked for, how far it is, and in the end its result."""

    future: Future[T]
    """Set by `Jobs.start`."""
    agent: str = ""
    """Of its caller: who may see it."""

    def __init__(
        self,
        run_id: str,
        tool: str,
        kernel_id: str,
        session: str = "",
        asked: Mapping[str, object] | None = None,
    ) -> None:
        """session: of its caller; asked: what else it was asked for, to be shown."""
        self.run_id = run_id
        self.tool = tool
        self.kernel_id = kernel_id
        self.session = session
        self.asked = dict(asked or {})
        self.started_at = datetime.now(UTC)
        self.cancellation = Cancellation()
        self._progress = QUEUED
        self._ahead: Callable[[], int | None] = lambda: None
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []

    @property
    def progress(self) -> Progress:
        """How far it is; while it is queued, how many go before it."""
        ahead = self._ahead() if self.queued else None
        if ahead is None:
            return self._progress
        return Progress(0.0, f"queued: {ahead} before it" if ahead else "queued: the next to begin")

    @property
    def queued(self) -> bool:
        """Whether it has said nothing yet."""
        return self._progress is QUEUED

    def queue(self, future: Future[T], ahead: Callable[[], int | None]) -> None:
        """What will hold its result, and how many begin before it; None once it began."""
        self.future, self._ahead = future, ahead

    def advance(self, fraction: float, message: str) -> None:
        """Say how far it is; called from the thread that does the work."""
        self._progress = Progress(min(max(fraction, 0.0), 1.0), message)
        self.wake()

    def listen(self, callback: Callable[[], None]) -> None:
        """Call `callback`, from any thread, whenever there is news."""
        with self._lock:
            self._listeners.append(callback)

    def unlisten(self, callback: Callable[[], None]) -> None:
        """Stop calling `callback`."""
        with self._lock:
            self._listeners.remove(callback)

    def wake(self) -> None:
        """Tell the listeners that there is news."""
        with self._lock:
            for callback in self._listeners:
                callback()


class Jobs(Generic[T]):
    """The jobs of one server; thread-safe."""

    def __init__(self, queues: Mapping[str, FairQueue], kept: int) -> None:
        """queues: tool → where its work runs; `kept`: finished jobs to remember."""
        self._queues = queues
        self._kept = kept
        self._lock = threading.Lock()
        self._jobs: OrderedDict[str, Job[T]] = OrderedDict()
        self._watchers: list[Callable[[Job[T]], None]] = []

    def on_start(self, watcher: Callable[[Job[T]], None]) -> None:
        """Call `watcher` with every job that starts, where it is started."""
        self._watchers.append(watcher)

    def start(self, job: Job[T], work: Callable[[Job[T]], T]) -> None:
        """Queue `work` among its tool's, in turns over sessions; forget old finished jobs."""
        queue = self._queues[job.tool]
        future = queue.submit(job.session, lambda: work(job), job.cancellation)
        job.queue(future, lambda: queue.ahead(future))
        future.add_done_callback(lambda _: job.wake())
        with self._lock:
            self._jobs[job.run_id] = job
            self._forget()
        for watcher in self._watchers:
            watcher(job)

    def find(self, run_id: str) -> Job[T] | None:
        """The job of that name, unless it was never here or was forgotten."""
        with self._lock:
            return self._jobs.get(run_id)

    def cancel(self, run_id: str) -> bool:
        """End a job; whether one of that name was in progress here."""
        job = self.find(run_id)
        if job is None or job.future.done():
            return False
        job.cancellation.cancel()
        return True

    def in_progress(self) -> Counter[str]:
        """Session → its jobs that are queued or running."""
        return Counter(job.session for job in self.running())

    def expected_s(self) -> float:
        """About how long a job sent now would take, whatever its tool, in seconds."""
        return max(queue.expected_s() for queue in self._queues.values())

    def running(self) -> list[Job[T]]:
        """The jobs in progress."""
        return [job for job in self.remembered() if not job.future.done()]

    def remembered(self) -> list[Job[T]]:
        """The jobs in progress and the last finished ones, in the order they were started."""
        with self._lock:
            return list(self._jobs.values())

    def _forget(self) -> None:
        """Keep so many finished jobs; whoever has most of them loses its oldest. Under the lock."""
        finished = [job for job in self._jobs.values() if job.future.done()]
        held = Counter(job.session for job in finished)
        while held.total() > self._kept:
            (most, _), *_ = held.most_common(1)
            oldest = next(job for job in finished if job.session == most)
            finished.remove(oldest)
            del self._jobs[oldest.run_id]
            held[most] -= 1


async def follow(
    job: Job[T],
    seconds: float,
    report: Callable[[Progress], Awaitable[None]],
    pause_s: float = 0.25,
) -> bool:
    """Wait up to `seconds` for the job, reporting news every `pause_s`; whether it is done."""
    loop = asyncio.get_running_loop()
    news = asyncio.Event()
    deadline = time.monotonic() + seconds
    reported = (QUEUED, time.monotonic() - pause_s)

    def wake() -> None:
        loop.call_soon_threadsafe(news.set)

    job.listen(wake)
    try:
        while not job.future.done() and (left := deadline - time.monotonic()) > 0:
            if job.queued:
                left = min(left, LOOK_S)
            if (progress := job.progress) != reported[0]:
                wait = reported[1] + pause_s - time.monotonic()
                if wait <= 0:
                    reported = (progress, time.monotonic())
                    await report(progress)
                    continue
                left = min(left, wait)
            try:
                await asyncio.wait_for(news.wait(), left)
            except TimeoutError:
                continue
            news.clear()
    finally:
        job.unlisten(wake)
    return job.future.done()
