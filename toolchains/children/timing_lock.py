"""One timing at a time on this machine, whichever server it belongs to.

What is locked are folders that every system has and no user can remove, replace or plant: `flock`
needs no more than to open one for reading. There are two, a room and its entrance: whoever waits
for the room stands in the entrance, and whoever leaves the room and wants it again has to queue
outside. So a server that times without a pause can't keep the others out. The operating system
lets go of both when a process dies.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from toolchains.base import Cancellation

Tell = Callable[[str], None]
_POLL_S = 0.005
_TELL_S = 1.0
"""Time between two looks at who holds the lock."""
_PATIENCE_S = 600.0
"""Longer than the longest timing: with the same holder all the while, something is wrong there."""
_FOLDERS = (Path("/run/lock"), Path("/tmp"))
"""The first that can be locked; TMPDIR, home and privileges do not matter. Containers share it with
their host only if it is mounted into them."""
_LOCKS = Path("/proc/locks")


class TimingCancelled(Exception):
    """The caller went away while waiting for its turn."""


class TimingStuck(Exception):
    """Another process has held the lock for too long; the message names it."""


def lock_path() -> Path:
    """The folder that all servers of this machine agree on. Raises OSError if there is none."""
    path, fd = _opened(_FOLDERS)
    os.close(fd)
    return path


@contextmanager
def timing_lock(
    cancellation: Cancellation,
    tell: Tell = lambda _: None,
    *,
    folders: tuple[Path, ...] = _FOLDERS,
    patience_s: float = _PATIENCE_S,
) -> Iterator[None]:
    """Hold the machine-wide lock; waits for it.

    tell: hears about once a second whom it waits for. Raises TimingCancelled on cancellation, and
    TimingStuck if one process holds it for longer than patience_s.
    """
    room, fd = _opened(folders)
    wait = _Wait(cancellation, tell, patience_s)
    with ExitStack() as held:
        held.callback(os.close, fd)
        with ExitStack() as waiting:
            entrance = _open(room.parent)
            waiting.callback(os.close, entrance)
            wait.lock(entrance)
            wait.lock(fd)
        yield


class _Wait:
    """Somebody who waits, for as long as it is worth."""

    def __init__(self, cancellation: Cancellation, tell: Tell, patience_s: float) -> None:
        self._cancellation, self._tell, self._patience_s = cancellation, tell, patience_s
        self._holder = 0
        self._since = self._looked = time.monotonic()

    def lock(self, fd: int) -> None:
        """Take the lock on an open folder. Raises TimingCancelled or TimingStuck."""
        while not _locked(fd):
            if self._cancellation.cancelled:
                raise TimingCancelled
            now = time.monotonic()
            if now - self._looked >= _TELL_S:
                self._looked = now
                self._look(_holder(fd), now)
            time.sleep(_POLL_S)

    def _look(self, holder: int, now: float) -> None:
        if holder != self._holder:
            self._holder, self._since = holder, now
        waited = now - self._since
        who = _described(holder)
        if waited >= self._patience_s:
            raise TimingStuck(
                f"nothing was measured: in {waited:.0f} s this machine's timing lock was not to be "
                f"had, which is longer than any timing takes. It is held by {who}"
            )
        self._tell(f"waiting for the timing of {who}")


def _opened(folders: tuple[Path, ...]) -> tuple[Path, int]:
    for path in folders[:-1]:
        with suppress(OSError):
            return path, _open(path)
    return folders[-1], _open(folders[-1])


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(fd: int) -> int:
    """Process that holds the lock on an open folder; 0 if that can't be seen from here."""
    inode = f":{os.fstat(fd).st_ino}"
    with suppress(OSError):
        for line in _LOCKS.read_text(encoding="ascii").splitlines():
            # 3: FLOCK  ADVISORY  WRITE 23192 fe:00:2810430 0 EOF (proc_locks(5))
            words = line.split()
            if words[1] == "FLOCK" and words[-3].endswith(inode) and words[-4].isdecimal():
                return int(words[-4])
    return 0


def _described(pid: int) -> str:
    if pid == 0:
        return "another server"
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return f"process {pid}"
    stopped = f", which is stopped: `kill -CONT {pid}` lets it go on" if state in "tT" else ""
    return f"process {pid}{stopped}"
