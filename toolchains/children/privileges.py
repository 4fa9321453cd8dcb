"""Which user a plain child is: another than the server's, where the server may still watch over it.

The server reads a child's memory and places its threads; for another user's process that takes
capabilities which root lacks in many containers (capabilities(7)). Then Landlock alone has to keep
the child from root's files, and all of root's powers are dropped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_NOBODY = 65534
_KILL, _SETGID, _SETUID, _SYS_PTRACE, _SYS_NICE = 5, 6, 7, 19, 23
_NEEDED = (_KILL, _SETGID, _SETUID, _SYS_PTRACE, _SYS_NICE)
_EXECUTABLE_BY_OTHERS = 0o001


@dataclass(frozen=True)
class Identity:
    """Of plain children."""

    uid: int
    """User and group; negative: the server's."""
    reads_all: bool
    """Keeps the capability to read what file modes forbid: Landlock decides alone."""
    detail: str

    @staticmethod
    def choose(*, confined: bool, shown: Iterable[Path]) -> Identity:
        """For a server like this one.

        Args:
            confined: whether Landlock keeps the child from other files.
            shown: what it must be able to read.
        """
        if os.getuid() != 0:
            return Identity(-1, False, "the server's user")
        open_to_all = all(_reachable(path) for path in shown)
        if not _has_capabilities():
            return Identity(
                -1, False, "root without its powers: the server lacks SYS_PTRACE or SYS_NICE"
            )
        if not open_to_all and not confined:
            return Identity(
                -1, False, "root without its powers: others can't read where Python is installed"
            )
        return Identity(_NOBODY, not open_to_all, f"user {_NOBODY}")


def _has_capabilities() -> bool:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"^CapEff:\s*([0-9a-f]+)", status, re.MULTILINE)
    held = int(found[1], 16) if found else 0
    return all(held >> number & 1 for number in _NEEDED)


def _reachable(path: Path) -> bool:
    """Whether everyone may enter the folders above."""
    return all(p.stat().st_mode & _EXECUTABLE_BY_OTHERS for p in path.resolve().parents)
