"""The first thing a child does: limits, then no more files than it needs, before anything else.

`begin` runs in the only thread there is, before numpy is imported: what a thread may do is its own
matter in Linux, and threads started later inherit it.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
from collections.abc import Sequence

from . import landlock

_PR_SET_PDEATHSIG, _PR_SET_KEEPCAPS, _PR_SET_NO_NEW_PRIVS = 1, 8, 38
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITIES_V3 = 0x20080522
_DAC_READ_SEARCH = 1 << 2
"""The capability to read what file modes forbid (linux/capability.h)."""
FILE_BYTES = 64 << 20
"""Most that one file may hold."""
_OPEN_FILES = 64
_OPEN_FILES_DEVICES = 1024
"""With device nodes: their libraries hold many open."""


def begin(
    *,
    parent: int,
    memory_bytes: int,
    rules: Sequence[tuple[int, Sequence[str]]],
    confined: bool,
    uid: int,
    reads_all: bool,
) -> None:
    """Take away what this process can do without. Raises OSError if something stays.

    Args:
        parent: process that this one must not outlive; 0 for whichever there is.
        memory_bytes: limit of the address space.
        rules: rights and the paths they hold for, as `landlock.restrict` takes them.
        confined: whether Landlock is to hold those rules.
        uid: user and group to become; negative to stay who one is.
        reads_all: whether that user may read what only others may; the rules then decide alone.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    _limit(memory_bytes, devices=any(rights == landlock.DEVICE for rights, _ in rules))
    if confined:
        landlock.restrict(rules)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs can't be set")
    if os.getuid() == 0:
        _leave_root(libc, uid, reads_all)
    # Last: a change of user forgets it (prctl(2)).
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if parent and os.getppid() != parent:
        os._exit(1)


def _limit(memory_bytes: int, *, devices: bool) -> None:
    files = _OPEN_FILES_DEVICES if devices else _OPEN_FILES
    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, files),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        _, hard = resource.getrlimit(limit)
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (value, value))


def _leave_root(libc: ctypes.CDLL, uid: int, reads_all: bool) -> None:
    if uid >= 0:
        libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kept = _DAC_READ_SEARCH if uid >= 0 and reads_all else 0
    number = _CAPSET[os.uname().machine]
    header = struct.pack("<Ii", _CAPABILITIES_V3, 0)
    if libc.syscall(number, header, struct.pack("<6I", kept, kept, 0, 0, 0, 0)):
        error = ctypes.get_errno()
        raise OSError(error, f"capabilities can't be dropped: {os.strerror(error)}")
