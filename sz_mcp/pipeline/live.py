"""Kernels that are loaded in children now: the last few used, one user of each at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kernels.records import Failure
from toolchains.base import Session


@dataclass
class LiveKernel:
    """A loaded kernel and what is known of it while it lives."""

    session: Session
    lock: threading.Lock = field(default_factory=threading.Lock)
    null_round_trip_s: dict[str, float] = field(default_factory=dict)


class LiveKernels:
    """At most `capacity` sessions are kept; an older one is closed when it is not in use."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kernels: OrderedDict[str, LiveKernel] = OrderedDict()
        self._loading: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    @contextmanager
    def use(
        self, kernel_id: str, load: Callable[[], Session | Failure]
    ) -> Iterator[LiveKernel | Failure]:
        """The kernel, loaded if need be and held until the context ends; or why it can't be."""
        with self._lock:
            gate = self._loading.setdefault(kernel_id, threading.Lock())
        with gate:
            live = self._get(kernel_id)
            if live is None:
                session = load()
                if isinstance(session, Failure):
                    yield session
                    return
                live = self._put(kernel_id, session)
            try:
                with live.lock:
                    yield live
            finally:
                if not live.session.alive():
                    self._drop(kernel_id)
                self._evict()

    def close(self) -> None:
        """Close every session."""
        with self._lock:
            kernels, self._kernels = list(self._kernels.values()), OrderedDict()
        for live in kernels:
            live.session.kill()
        for live in kernels:
            with live.lock:
                live.session.close()

    def _get(self, kernel_id: str) -> LiveKernel | None:
        with self._lock:
            live = self._kernels.get(kernel_id)
            if live is not None:
                self._kernels.move_to_end(kernel_id)
        if live is not None and not live.session.alive():
            self._drop(kernel_id)
            return None
        return live

    def _put(self, kernel_id: str, session: Session) -> LiveKernel:
        live = LiveKernel(session)
        with self._lock:
            self._kernels[kernel_id] = live
        return live

    def _drop(self, kernel_id: str) -> None:
        with self._lock:
            live = self._kernels.pop(kernel_id, None)
        if live is not None:
            live.session.close()

    def _evict(self) -> None:
        with self._lock:
            excess = [
                key
                for key, live in list(self._kernels.items())[: -self._capacity]
                if not live.lock.locked()
            ]
        for key in excess:
            self._drop(key)
