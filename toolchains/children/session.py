"""A loaded kernel: one child that compresses and one that only decompresses, or one for a stage."""

from __future__ import annotations

import contextlib
import statistics
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import Enum
from typing import Protocol

import numpy as np

from kernels.records import Arg, Failure, Status, Submission
from toolchains.base import Cancellation, Fill, Reply
from toolchains.child import wire
from toolchains.device_use import DeviceUse
from toolchains.failures import gone_failure, lying_failure, placed, raised_failure
from toolchains.limits import COMPILING_S

from .channel import Channel
from .cores import apart
from .process import ChildGone, ChildProcess

_NULL_REQUESTS = 5


class Purpose(Enum):
    """What a session is for."""

    SCORE = "score"
    """A child per function, so that they share nothing but what the server carries."""
    BUILD = "build"
    """One child for all functions."""
    EXPLAIN = "explain"
    """One child, which prints what its compiler makes of the submission; never for timing."""
    CHECK = "check"
    """One child, whose compiled code checks every index; never for timing."""


_ASKED = {Purpose.EXPLAIN: wire.EXPLAINS, Purpose.CHECK: wire.CHECKS}


class ChildSession:
    """Implements `toolchains.base.Session` over children of a pool."""

    def __init__(
        self,
        submission: Submission,
        channels: Mapping[str, Channel],
        threads: int = 1,
    ) -> None:
        """channels: function name → the child that runs it; threads: that each may use."""
        self._submission = submission
        self._channels = channels
        self._dead = self._killed = False
        self._lock = threading.Lock()
        self._threads = threads
        self._compiled: set[tuple[object, ...]] = set()
        """Functions with the types of arguments that they have returned from."""

    def call(
        self,
        function: str,
        items: Sequence[tuple[Arg, ...]],
        *,
        capacity: Sequence[int],
        deadline_s: float,
        profiled: bool = False,
        fill: Fill | None = None,
    ) -> Reply | Failure:
        """See `Session.call`."""
        channel = self._channels[function]
        types = (function, *map(_type, items[0])) if items else None
        limit = deadline_s if types in self._compiled else deadline_s + COMPILING_S
        reply = self._replied(
            channel,
            lambda: channel.call(function, items, capacity, limit, profiled=profiled, fill=fill),
            limit,
        )
        if types is not None and isinstance(reply, Reply):
            self._compiled.add(types)
        return reply

    def order(self, *, descending: bool) -> None:
        """How an emulated GPU's threads run in the calls to come."""
        for channel in self._channels.values():
            channel.descending = descending

    def call_guarded(
        self, function: str, arguments: tuple[Arg, ...], *, capacity: int, deadline_s: float
    ) -> Reply | Failure:
        """See `Session.call_guarded`."""
        channel = self._channels[function]
        return self._replied(
            channel,
            lambda: channel.call_guarded(function, arguments, capacity, deadline_s),
            deadline_s,
        )

    def _replied(
        self, channel: Channel, call: Callable[[], Reply | wire.Fault], limit_s: float
    ) -> Reply | Failure:
        """What came of a call, whatever that is."""
        try:
            result = call()
        except ChildGone as gone:
            reason = "closed" if self._killed else gone.reason
            self._dead = True
            if reason == "timeout":
                channel.child.dump_stack()
            printed = channel.child.printed()
            detail = f"deadline {limit_s:.3g} s" if reason == "timeout" else str(gone)
            failure = gone_failure(reason, detail, Status.TERMINATES, printed)
            return placed(failure, self._submission)
        except wire.WireError as lie:
            self._dead = True
            return lying_failure(str(lie), Status.TERMINATES)
        if isinstance(result, Reply):
            return result
        return raised_failure(result, self._submission, Status.TERMINATES, channel.child.printed())

    def still_intact(self, function: str) -> bool:
        """See `Session.still_intact`."""
        return self._channels[function].still_intact()

    def output(self) -> str:
        """All that its children printed."""
        return "".join(c.child.output() for c in dict.fromkeys(self._channels.values()))

    def null_round_trip(self, function: str) -> float:
        """See `Session.null_round_trip`."""
        seconds = []
        for _ in range(_NULL_REQUESTS):
            reply = self.call(function, (), capacity=(), deadline_s=5.0)
            if isinstance(reply, Failure):
                return float("inf")
            seconds.append(reply.seconds)
        return statistics.median(seconds)

    def device_use(self, function: str) -> DeviceUse | None:  # noqa: ARG002
        """See `Session.device_use`: these children's devices are none, or have no cycles."""
        return None

    def rest(self) -> None:
        """See `Session.rest`."""
        with self._lock:
            for channel in set(self._channels.values()):
                channel.rest()

    def wake(self) -> None:
        """See `Session.wake`."""
        with self._lock:
            for channel in set(self._channels.values()):
                channel.wake()

    def apart(self) -> AbstractContextManager[None]:
        """See `Session.apart`."""
        return apart([c.child.pid for c in set(self._channels.values())], self._threads)

    def alive(self) -> bool:
        """See `Session.alive`."""
        return not self._dead and all(c.child.alive() for c in self._channels.values())

    def kill(self) -> None:
        """Stop the children at once, from any thread; a call in progress then fails."""
        self._dead = self._killed = True
        for channel in set(self._channels.values()):
            channel.child.kill()

    def close(self) -> None:
        """See `Session.close`."""
        self._dead = True
        with self._lock:
            for channel in set(self._channels.values()):
                channel.close()


class Children(Protocol):
    """Where children come from."""

    def take(self, threads: int = 1) -> ChildProcess:
        """A child that has been used for nothing. Raises PoolClosed or ChildrenUnavailable."""
        ...


def open_session(
    pool: Children,
    submission: Submission,
    functions: Sequence[str],
    cancellation: Cancellation,
    *,
    purpose: Purpose = Purpose.SCORE,
    threads: int = 1,
) -> ChildSession | Failure:
    """Take the children that the purpose asks for, and load the submission in each.

    Raises PoolClosed or ChildrenUnavailable.
    """
    channels: dict[str, Channel] = {}
    session = ChildSession(submission, channels, threads)
    cancellation.attach(session.kill)
    try:
        for function in functions:
            shared = next(iter(channels.values()), None) if purpose is not Purpose.SCORE else None
            channels[function] = shared or Channel(pool.take(threads), threads)
        failure = None if cancellation.cancelled else _load(submission, channels, purpose)
        if cancellation.cancelled:
            failure = gone_failure("closed", "", Status.LOADS, "")
    except BaseException:
        session.close()
        raise
    finally:
        cancellation.detach(session.kill)
    if failure is not None:
        session.close()
        return failure
    return session


def _load(
    submission: Submission, channels: Mapping[str, Channel], purpose: Purpose
) -> Failure | None:
    for channel in dict.fromkeys(channels.values()):
        with contextlib.suppress(ChildGone):
            channel.send_sources(submission, _ASKED.get(purpose, 0))
    for channel in dict.fromkeys(channels.values()):
        try:
            fault = channel.wait_loaded()
        except ChildGone as gone:
            if gone.reason == "timeout":
                channel.child.dump_stack()
            printed = channel.child.printed()
            return placed(gone_failure(gone.reason, str(gone), Status.LOADS, printed), submission)
        except wire.WireError as lie:
            return lying_failure(str(lie), Status.LOADS)
        if fault is not None:
            return raised_failure(fault, submission, Status.LOADS, channel.child.printed())
    return None


def _type(value: Arg) -> object:
    """What numba compiles for, as far as it shows from outside."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim
    return len(value) if isinstance(value, tuple) else getattr(value, "str", type(value))
