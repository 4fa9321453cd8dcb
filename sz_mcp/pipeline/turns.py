"""A lock that is had in the order in which it was asked for, and that a cancelled caller leaves."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from toolchains.base import Cancellation
from toolchains.children.timing_lock import TimingCancelled


class Turns:
    """One at a time, first come first served. Thread-safe, not re-entrant."""

    def __init__(self) -> None:
        self._line: deque[object] = deque()
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, cancellation: Cancellation) -> Iterator[None]:
        """Wait for one's turn and keep it while this lasts; raises TimingCancelled."""
        ticket = object()
        with self._changed:
            self._line.append(ticket)
        cancellation.attach(self._wake)
        try:
            with self._changed:
                self._changed.wait_for(lambda: self._line[0] is ticket or cancellation.cancelled)
                if self._line[0] is not ticket:
                    raise TimingCancelled
            yield
        finally:
            cancellation.detach(self._wake)
            with self._changed:
                self._line.remove(ticket)
                self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
