"""Draining the journal into the database, beside the calls and never in their way.

A thread looks every few seconds; it drains when something was written and the server is idle, so
that no measurement shares the machine with it, and once more when the server ends. Queries drain
for themselves.
"""

from __future__ import annotations

import importlib
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from results_db.errors import LedgerError

QUIET_S = 1.0
"""An agent that has just been answered is about to call again."""
_LOG = logging.getLogger(__name__)


class Upkeep:
    """The draining thread of one server."""

    def __init__(self, home: Path, interval_s: float, busy: Callable[[], bool]) -> None:
        self._home = home
        self._interval_s = interval_s
        self._busy = busy
        self._written = threading.Event()
        self._noted = 0.0
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="drain", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def note(self) -> None:
        """Something was written."""
        self._noted = time.monotonic()
        self._written.set()

    def close(self) -> None:
        """Stop, and drain what is left. Idempotent."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._closing.wait(self._interval_s):
            if not self._busy() and time.monotonic() - self._noted > QUIET_S:
                self._drain()
        self._drain()

    def _drain(self) -> None:
        if not self._written.is_set():
            return
        self._written.clear()
        try:
            importlib.import_module("results_db.drain").drain(self._home)
        except LedgerError as error:
            # The journal keeps everything; a later drain, of any server, takes it.
            _LOG.warning("the journal was not drained: %s", error)
