"""How much of the disk a home may take, and what is said when it takes too much."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from results_db.usage import usage

LOOK_S = 60.0
"""Time after which a home is looked at again: it grows by a few hundred kilobytes per call."""
WARN_SHARE = 0.9
_UNITS = ("B", "kB", "MB", "GB", "TB")
"""Of 1000 each."""


class DiskQuota:
    """The quota of one home, and the last look at it. Thread-safe."""

    def __init__(self, home: Path, limit_bytes: int) -> None:
        """limit_bytes: 0 for no limit."""
        self._home, self._limit = home, limit_bytes
        self._lock = threading.Lock()
        self._used = 0
        self._looked: float | None = None

    def look(self) -> None:
        """Measure the home, unless that was done lately."""
        with self._lock:
            now = time.monotonic()
            if self._limit and (self._looked is None or now - self._looked >= LOOK_S):
                self._used = usage(self._home).total
                self._looked = now

    def full(self) -> bool:
        """Whether the home took all it may at the last look."""
        self.look()
        return self._limit > 0 and self._used >= self._limit

    def refusal(self) -> str | None:
        """Why nothing more may be evaluated; None if it may."""
        if not self.full():
            return None
        # What was freed meanwhile must not be refused for another minute.
        with self._lock:
            self._looked = None
        if not self.full():
            return None
        return (
            f"the ledger takes {sized(self._used)} of the {sized(self._limit)} it may: nothing "
            "more is evaluated until its operator runs `sz-mcp ledger prune --older-than 30d` or "
            "raises disk_quota_bytes. query_results, get_result and resources still work"
        )

    def warning(self) -> str | None:
        """What an operator should know; None if there is room."""
        self.look()
        if not self._limit or self._used < WARN_SHARE * self._limit:
            return None
        return (
            f"{self._home} takes {sized(self._used)} of the {sized(self._limit)} it may "
            "(disk_quota_bytes): run `sz-mcp ledger prune --older-than 30d`, or raise it"
        )


def sized(count: int) -> str:
    """Bytes in the unit that suits them."""
    exponent = min(max(len(str(count)) - 1, 0) // 3, len(_UNITS) - 1)
    return f"{round(count / 1000**exponent, 2):g} {_UNITS[exponent]}"
