"""Whether a session sends a program again that differs only in how it is written.

Only the session's own kernels are compared: of what others sent nothing can be learnt here.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from kernels.records import Guidance, Kernel

KEPT = 4096
"""Programs that are remembered, of all sessions together."""

RULE = "same-program"


class Twins:
    """The programs that this server has seen lately. Thread-safe."""

    def __init__(self) -> None:
        self._first: OrderedDict[tuple[str, ...], str] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, kernel: Kernel) -> tuple[Guidance, ...]:
        """Remember a kernel; what to tell its sender, if it is one that it sent before."""
        sent = kernel.submission
        key = (kernel.agent, kernel.session, sent.task, sent.target, sent.likeness)
        with self._lock:
            first = self._first.setdefault(key, kernel.kernel_id)
            self._first.move_to_end(key)
            if len(self._first) > KEPT:
                self._first.popitem(last=False)
        return () if first == kernel.kernel_id else (_again(first),)


def _again(first: str) -> Guidance:
    return Guidance(
        RULE,
        f"this is {first} again: at most names, comments, spellings, order and files differ",
        f"rankings count both as one: change what it computes, or go on with {first}",
    )
