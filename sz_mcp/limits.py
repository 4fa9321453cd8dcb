"""How much one agent may ask at once: calls in a minute, evaluations in progress, the whole queue.

A session flows in; nothing, or a refusal that says which limit it is and when to call again, flows
out. What is refused was not begun and is no attempt. Lives on the event loop of one server.
"""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from sz_mcp.errors import LimitReached
from sz_mcp.settings import Traffic

LIMIT_REACHED = -32029
"""JSON-RPC code where something other than a tool is refused."""
UNLIMITED = Traffic(evaluations=0, calls_per_minute=0, queue=0)
_LONGEST_WAIT_S = 60
"""Nobody is told to stay away for longer: estimates are rough."""
_REMEMBERED_SESSIONS = 4096


@dataclass(frozen=True)
class Load:
    """What a server is doing."""

    in_progress: Callable[[], Mapping[str, int]]
    """Session → its evaluations that are queued or running."""
    expected_s: Callable[[], float]
    """About how long an evaluation sent now would take."""


@dataclass(frozen=True)
class _Bucket:
    """Calls that a session may still make, as of a moment."""

    left: float
    at: float


class Limits:
    """The limits of one server process."""

    def __init__(
        self, traffic: Traffic, load: Load, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._traffic, self._load, self._clock = traffic, load, clock
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._pending: Counter[str] = Counter()

    def count_call(self, session: str) -> str:
        """Count a call; why it is refused, empty if it is not."""
        most = self._traffic.calls_per_minute
        if not most:
            return ""
        now = self._clock()
        last = self._buckets.get(session, _Bucket(most, now))
        left = min(most, last.left + (now - last.at) * most / 60)
        refused = left < 1
        self._buckets[session] = _Bucket(left if refused else left - 1, now)
        self._buckets.move_to_end(session)
        if len(self._buckets) > _REMEMBERED_SESSIONS:
            self._buckets.popitem(last=False)
        if not refused:
            return ""
        what = f"this agent may make {most} calls in a minute"
        return _told(what, (1 - left) * 60 / most)

    @contextmanager
    def place(self, session: str) -> Iterator[None]:
        """Hold a place for an evaluation until it is started.

        Raises:
            LimitReached: there is none now.
        """
        self._check(session)
        self._pending[session] += 1
        try:
            yield
        finally:
            self._pending[session] -= 1
            if not self._pending[session]:
                del self._pending[session]

    def _check(self, session: str) -> None:
        most, whole = self._traffic.evaluations, self._traffic.queue
        if not most and not whole:
            return
        held = Counter(self._load.in_progress()) + self._pending
        if most and held[session] >= most:
            raise LimitReached(
                _told(
                    f"this agent has {held[session]} evaluations queued or running, as many as it "
                    "may",
                    self._load.expected_s(),
                    " get_result waits for one of them, and ends it with cancel=true.",
                )
            )
        if whole and held.total() >= whole:
            what = f"{held.total()} evaluations are queued or running here, as many as may be"
            raise LimitReached(_told(what, self._load.expected_s()))


def too_many_queries(expected_s: float) -> str:
    """The refusal of a query whose turn did not come in time."""
    return _told("queries of other agents took all the time there was", expected_s)


def _told(what: str, wait_s: float, advice: str = "") -> str:
    seconds = min(max(math.ceil(wait_s), 1), _LONGEST_WAIT_S)
    return (
        f"limit reached: {what}: retry after {seconds} s. The call was not begun, no attempt was "
        f"counted, and nothing is lost.{advice}"
    )
