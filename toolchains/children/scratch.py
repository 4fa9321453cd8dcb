"""Scratch folders of children that have no root of their own: made, and removed with their owner.

A folder is locked while its server lives; what is not locked was left by one that was killed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

_PREFIX = "sz-mcp-child-"
_FRESH_S = 60.0
"""A folder this new may be about to be locked."""


@dataclass(frozen=True)
class Scratch:
    """A folder, and the descriptor that holds its lock."""

    path: Path
    lock: int

    def remove(self) -> None:
        """Delete the folder with what is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def make_scratch(owner: int) -> Scratch:
    """A new folder that only user `owner` may enter; negative: this process's user."""
    path = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = _lock(path)
    if owner >= 0:
        os.chown(path, owner, owner)
    return Scratch(path, lock)


def remove_abandoned() -> None:
    """Delete folders whose servers were killed before they could."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            if time.time() - path.lstat().st_mtime < _FRESH_S:
                continue
            lock = _lock(path)
        except OSError:
            # In use, another user's, or gone meanwhile.
            continue
        Scratch(path, lock).remove()


def _lock(path: Path) -> int:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise
    return fd
