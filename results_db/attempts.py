"""How many attempts each named session has made: counted in the home, by all its servers together.

A session that outlives its server, such as a token's, goes on counting where it was. One small file
per session, locked while it is counted up.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from pathlib import Path

from results_db.errors import JournalError
from results_db.files import LedgerFiles


class Attempts:
    """The counters of one home. Thread-safe and process-safe."""

    def __init__(self, home: Path) -> None:
        self._folder = LedgerFiles(home).attempts

    def next(self, session: str) -> int:
        """The number of a new attempt, from 1.

        Raises: JournalError if it can't be counted.
        """
        return self._count(session, 0, 1)

    def take_from(self, other: Attempts) -> None:
        """Go on from wherever either of the two is further. Raises: JournalError."""
        for path in sorted(other._folder.glob("*.json")):
            counted = json.loads(path.read_bytes())
            self._count(counted["session"], int(counted["attempts"]), 0)

    def _count(self, session: str, least: int, step: int) -> int:
        name = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        path = self._folder / f"{name}.json"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                return _counted(descriptor, session, least, step)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise JournalError(f"can't count an attempt in {path}: {error}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise JournalError(
                f"{path} is damaged: put into it how many attempts the ledger has of the session "
                f'{session!r}, as {{"attempts": N, "session": …}}, or remove it to count from 1'
            ) from error


def _counted(descriptor: int, session: str, least: int, step: int) -> int:
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    text = os.pread(descriptor, 1 << 16, 0)
    attempts = max(int(json.loads(text)["attempts"]) if text else 0, least) + step
    # Never shorter than before, so that one write replaces all of it.
    line = json.dumps({"attempts": attempts, "session": session})
    os.pwrite(descriptor, line.encode("ascii").ljust(len(text)), 0)
    return attempts
