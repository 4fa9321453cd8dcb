"""Landlock: from now on this process opens only the files it is given, and reaches no one outside.

It covers the thread that asks for it and those that it starts afterwards, so it comes before numpy,
which starts threads, is imported. The kernel of the operating system says which of it there is: its
"ABI". Numbers: linux/landlock.h, and man pages landlock(7), landlock_add_rule(2).
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Sequence

_PR_SET_NO_NEW_PRIVS = 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""The same on x86_64 and aarch64."""
_ASK_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << i for i in range(6))
_MAKE_DIR, _MAKE_REG = 1 << 7, 1 << 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
"""What can be granted on something that is no folder."""
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""ABI → how many rights on files it knows; later ones know as many as 5."""
_TCP = 1 | 2
"""Bind and connect, from ABI 4 on."""
_SCOPES = 1 | 2
"""Abstract unix sockets and signals stay among processes so confined, from ABI 6 on."""

READ = _READ_FILE | _READ_DIR
LIST = _READ_DIR
RUN = READ | _EXECUTE
WRITE = READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _REFER | _TRUNCATE
"""No links, sockets, pipes or device nodes can be made; no file can be executed."""
READ_WRITE_FILE = _READ_FILE | _WRITE_FILE | _TRUNCATE
DEVICE = _READ_FILE | _WRITE_FILE | _IOCTL_DEV


def abi() -> int:
    """Version of Landlock here; 0 if there is none, or it is switched off."""
    found = ctypes.CDLL(None, use_errno=True).syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)
    return max(int(found), 0)


def restrict(rules: Sequence[tuple[int, Sequence[str]]]) -> int:
    """Grant the rights of each rule on its paths and below, and nothing else; the ABI that holds.

    A path that does not exist is passed over. Raises OSError if it can't be had.
    """
    version = abi()
    if not version:
        raise OSError("Landlock is not in this kernel, or switched off")
    libc = ctypes.CDLL(None, use_errno=True)
    handled = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    attributes = struct.pack(
        "<QQQ", handled, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _checked(libc.syscall(_CREATE_RULESET, attributes, size, 0))
    try:
        for rights, paths in rules:
            for path in paths:
                _grant(libc, ruleset, path, rights & handled)
        _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)
    return version


def _grant(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _OF_FILES
        if rights:
            beneath = struct.pack("<Qi", rights, fd)
            _checked(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, beneath, 0))
    finally:
        os.close(fd)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return result
