"""Explanations of kernels that were profiled lately, so that a second profile need not compile."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from toolchains.base import Explanation

MOST = 64


class Explanations:
    """The last few that were made. Thread-safe."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Explanation] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Explanation]) -> Explanation:
        """The one for a key. One that is not complete, as its notes tell, is made again."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        if not made.notes:
            with self._lock:
                self._kept[key] = made
                while len(self._kept) > self._most:
                    self._kept.popitem(last=False)
        return made
