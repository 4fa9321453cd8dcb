"""What a server does beside its calls and never in their way: drains, cancellations, the quota.

A thread looks about every second whether somebody wants a run cancelled. Every few seconds, when
something was written and the server is idle, it drains the journal into the database, so that no
measurement shares the machine with it, and once more when the server ends. Queries drain for
themselves.
"""

from __future__ import annotations

import importlib
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from results_db.errors import LedgerError
from sz_mcp import cancelling
from sz_mcp.quota import DiskQuota

if TYPE_CHECKING:
    from results_db.drain import DrainReport

QUIET_S = 1.0
"""An agent that has just been answered is about to call again."""
LOOK_S = 1.0
"""Time between two looks at whether a run is to be cancelled."""
_LAST_TRIES, _LAST_PAUSE_S = 5, 0.2
"""Of the last drain, which another one or its own time limit may have stopped."""
_LOG = logging.getLogger(__name__)


class Upkeep:
    """The thread of one server that keeps its home in order."""

    def __init__(
        self,
        home: Path,
        interval_s: float,
        busy: Callable[[], bool],
        cancel: Callable[[str], bool] = lambda _: False,
        quota: DiskQuota | None = None,
    ) -> None:
        """interval_s: between drains; cancel: ends a run, if it is this server's."""
        self._home = home
        self._interval_s = interval_s
        self._busy = busy
        self._cancel = cancel
        self._quota = quota or DiskQuota(home, 0)
        self._written = threading.Event()
        self._oldest: float | None = None
        self._noted = self._drained = time.monotonic()
        self._told: set[str] = set()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="upkeep", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def note(self) -> None:
        """Something was written."""
        self._noted = time.monotonic()
        if self._oldest is None:
            self._oldest = self._noted
        self._written.set()

    def lag_s(self) -> float:
        """For how long something written has not been in the database; 0 if all of it is."""
        oldest = self._oldest
        return 0.0 if oldest is None else time.monotonic() - oldest

    def close(self) -> None:
        """Stop, and drain what is left. Idempotent."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def look(self) -> None:
        """Do what is due now."""
        for run_id in cancelling.asked(self._home):
            if self._cancel(run_id):
                cancelling.withdraw(self._home, run_id)
        now = time.monotonic()
        if self._busy() or now - self._noted <= QUIET_S:
            return
        if now - self._drained >= self._interval_s:
            self._drained = now
            self._drain()
        warning = self._quota.warning()
        if warning is not None:
            self._tell(warning.partition(" takes ")[0], warning)

    def _run(self) -> None:
        while not self._closing.wait(min(LOOK_S, self._interval_s)):
            self.look()
        for _ in range(_LAST_TRIES):
            self._drain()
            if not self._written.is_set():
                return
            time.sleep(_LAST_PAUSE_S)

    def _drain(self) -> None:
        if not self._written.is_set():
            return
        self._written.clear()
        oldest, self._oldest = self._oldest, None
        try:
            drain = importlib.import_module("results_db.drain")
            report: DrainReport = drain.drain(self._home)
            finished = report.outcome is drain.Outcome.DRAINED
        except LedgerError as error:
            # The journal keeps everything; a later drain, of any server, takes it.
            self._tell(str(error), f"the journal was not drained: {error}")
            finished = False
        if not finished:
            self._oldest = oldest
            self._written.set()

    def _tell(self, what: str, text: str) -> None:
        """Warn, once of each thing."""
        if what not in self._told:
            self._told.add(what)
            _LOG.warning("%s", text)
