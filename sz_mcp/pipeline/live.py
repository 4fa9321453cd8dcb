"""Kernels that are loaded in children now: the last few used, one user of each at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kernels.records import Failure
from toolchains.base import Session

from .first import First


@dataclass
class LiveKernel:
    """A loaded kernel and what is known of it while it lives."""

    session: Session
    null_round_trip_s: dict[str, float] = field(default_factory=dict)
    roomy_bytes: int = 0
    """Largest request, in original bytes, that its allocator has served."""
    seconds: dict[tuple[str, float], dict[str, float]] = field(default_factory=dict)
    """(field, absolute bound) it is warm on → direction → time of a request of one input."""
    firsts: dict[tuple[str, float], First] = field(default_factory=dict)
    """(field, absolute bound) → what it made of it in processes that saw it for the first time."""


@dataclass
class _Slot:
    """A place for one kernel; its lock is held by whoever uses the kernel."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0
    """Callers that use it or wait for it; guarded by the owner's lock."""
    live: LiveKernel | None = None


class LiveKernels:
    """Keeps at most `capacity` kernels loaded that nobody uses. Thread-safe."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def use(
        self, key: str, load: Callable[[], Session | Failure]
    ) -> Iterator[LiveKernel | Failure]:
        """The kernel, loaded if need be and held until the context ends; or why it can't be."""
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            slot.users += 1
        try:
            with slot.lock:
                _drop_dead(slot)
                if slot.live is not None:
                    slot.live.session.wake()
                try:
                    yield slot.live or _loaded(slot, load)
                finally:
                    _drop_dead(slot)
                    if slot.live is not None:
                        # A kernel that nobody uses may not slow what others have timed.
                        slot.live.session.rest()
        finally:
            with self._lock:
                slot.users -= 1
            self._evict()

    def close(self) -> None:
        """Kill every session, in use or not, and close those that are not."""
        with self._lock:
            self._capacity = 0
            loaded = [slot.live for slot in self._slots.values() if slot.live is not None]
        for live in loaded:
            live.session.kill()
        self._evict()

    def _evict(self) -> None:
        with self._lock:
            idle = [key for key, slot in self._slots.items() if slot.users == 0]
            surplus = idle[: max(0, len(idle) - self._capacity)]
            slots = [self._slots.pop(key) for key in surplus]
        for slot in slots:
            if slot.live is not None:
                slot.live.session.close()


def _drop_dead(slot: _Slot) -> None:
    if slot.live is not None and not slot.live.session.alive():
        slot.live.session.close()
        slot.live = None


def _loaded(slot: _Slot, load: Callable[[], Session | Failure]) -> LiveKernel | Failure:
    session = load()
    if isinstance(session, Failure):
        return session
    slot.live = LiveKernel(session)
    return slot.live
