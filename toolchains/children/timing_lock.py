"""One timing at a time on this machine, whichever server it belongs to."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolchains.base import Cancellation

_POLL_S = 0.005
_FOLDERS = ("/run/lock", "/tmp")


class TimingCancelled(Exception):
    """The caller went away while waiting for its turn."""


def lock_path() -> Path:
    """The file all servers of this machine agree on, whatever their TMPDIR."""
    folder = next((f for f in _FOLDERS if os.access(f, os.W_OK)), tempfile.gettempdir())
    return Path(folder) / "sz-mcp-timing.lock"


@contextmanager
def timing_lock(cancellation: Cancellation) -> Iterator[None]:
    """Hold the machine-wide lock; waits for it, raises TimingCancelled on cancellation."""
    fd = _open(lock_path())
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if cancellation.cancelled:
                    raise TimingCancelled from None
                time.sleep(_POLL_S)
        yield
    finally:
        os.close(fd)


def _open(path: Path) -> int:
    # An existing file is opened without O_CREAT: in a sticky folder the operating system refuses
    # O_CREAT on another user's file (fs.protected_regular).
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        fd = os.open(path, flags | os.O_CREAT, 0o666)
        os.fchmod(fd, 0o666)
        return fd
