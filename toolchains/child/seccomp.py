"""The system calls a warm child may make, for all of its threads; every other gives EPERM.

A refusal is an error, not the end: an honest kernel that tries gets a PermissionError it can be
told about. Submissions load afterwards, so no thread of theirs is older than the filter.
"""

from __future__ import annotations

import ctypes
import os
import struct

from .syscalls import AUDIT, KNOWN_BELOW, allowed, special

_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_GET_ACTION_AVAIL = 2
_SECCOMP_FILTER_FLAG_TSYNC = 1
_CLONE_THREAD = 0x00010000
_EPERM, _EAGAIN, _ENOSYS = 1, 11, 38
_LOAD, _EQUAL, _AT_LEAST, _SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""BPF: ld [k]; jeq #k; jge #k; jset #k; ret #k (linux/bpf_common.h)."""
_NR, _ARCH = 0, 4
"""Offsets in struct seccomp_data (linux/seccomp.h)."""

_FCNTL = (0, 1, 2, 3, 4, 1030, 1034)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_GET_SEALS: no locks, leases,
owners, notices, seals or sizes of pipes."""
_IOCTL = (0x5401, 0x5450, 0x5451)
"""TCGETS, by which is asked whether something is a terminal; FIONCLEX, FIOCLEX."""
_MADVISE = (0, 1, 2, 3, 4, 8, 14, 15, 16, 17, 22, 23, 102, 103)
"""NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE, DONTDUMP, DODUMP,
POPULATE_READ, POPULATE_WRITE, GUARD_INSTALL, GUARD_REMOVE. Not PAGEOUT, COLD and COLLAPSE, which
work on files that others read, nor MERGEABLE, which shares equal pages with others."""
_FUTEX_PRIVATE = 128
_FUTEX_WAITS = (0, 9, 256, 265)
"""WAIT and WAIT_BITSET, by either clock."""
_CLOCKS = 12
"""CLOCK_TAI is the last that has a number of its own; others are of the processor time of any
process, and below 0."""
_PRCTL = (15, 16, 38, 0x53564D41)
"""PR_SET_NAME, PR_GET_NAME, PR_SET_NO_NEW_PRIVS, PR_SET_VMA (names of threads and of memory)."""

_Line = tuple[int, int, int, int]
"""A BPF instruction: code, jump if true, jump if false, operand."""
_ALLOW: _Line = (_RETURN, 0, 0, 0x7FFF0000)
_REFUSE: _Line = (_RETURN, 0, 0, 0x00050000 | _EPERM)
_ABSENT: _Line = (_RETURN, 0, 0, 0x00050000 | _ENOSYS)
_AGAIN: _Line = (_RETURN, 0, 0, 0x00050000 | _EAGAIN)


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def available() -> bool:
    """Whether this kernel of the operating system, and what we run in, take such a filter."""
    machine = os.uname().machine
    if machine not in AUDIT:
        return False
    action = ctypes.c_uint32(_REFUSE[3] & ~0xFFFF)
    libc = ctypes.CDLL(None, use_errno=True)
    number = special(machine)["seccomp"]
    return int(libc.syscall(number, _SECCOMP_GET_ACTION_AVAIL, 0, ctypes.byref(action))) == 0


def refuse(*, devices: bool = False) -> None:
    """Install the filter for every thread of this process; raises OSError if it can't be.

    devices: whether the drivers of device nodes may be asked anything.
    """
    machine = os.uname().machine
    if machine not in AUDIT:
        raise OSError(f"no table of system calls for {machine}")
    lines = instructions(machine, os.getpid(), devices=devices)
    code = b"".join(struct.pack("<HBBI", *line) for line in lines)
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs can't be set")
    number, flags = special(machine)["seccomp"], _SECCOMP_FILTER_FLAG_TSYNC
    done = libc.syscall(number, _SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(program))
    if done:
        # A positive number is a thread that has a filter of its own.
        error = ctypes.get_errno() if done < 0 else 0
        raise OSError(error, f"seccomp: {os.strerror(error) if error else f'thread {done}'}")


def instructions(machine: str, own: int, *, devices: bool) -> list[_Line]:
    """The filter of a process with the id `own`."""
    numbers = special(machine)
    lines: list[_Line] = [(_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, AUDIT[machine]), _REFUSE]
    # With bit 30 set it is of the x32 ABI: far above what is known.
    lines += [(_LOAD, 0, 0, _NR), (_AT_LEAST, 0, 1, KNOWN_BELOW), _ABSENT]
    clock = [_argument(0), (_AT_LEAST, 0, 1, _CLOCKS), _REFUSE, _ALLOW]
    bodies: dict[str, list[_Line]] = {
        "madvise": _one_of(2, _MADVISE),
        # Others are woken through a page of a file that both have mapped, if it is not private.
        # pthread_join waits so, for what is its own: it looks again until the thread is gone.
        "futex": [
            _argument(1), (_SET, 0, 1, _FUTEX_PRIVATE), _ALLOW,
            *(line for op in _FUTEX_WAITS for line in ((_EQUAL, 0, 1, op), _AGAIN)),
            _REFUSE,
        ],
        "clone": [_argument(0), (_SET, 0, 1, _CLONE_THREAD), _ALLOW, _REFUSE],
        # Its flags lie in memory, where a filter can't see them. glibc then uses clone.
        "clone3": [_ABSENT],
        "tgkill": _one_of(0, (own,)),
        "kill": _one_of(0, (own,)),
        "fcntl": _one_of(1, _FCNTL),
        "ioctl": [_ALLOW] if devices else _one_of(1, _IOCTL),
        "prctl": _one_of(0, _PRCTL),
        # Whether some other process or thread exists, and how long it worked, is a message. glibc
        # asks for the cores of its own threads too, and takes it well if there is no such call.
        "getpgid": _one_of(0, (0, own)),
        "getsid": _one_of(0, (0, own)),
        "sched_getparam": _one_of(0, (0, own)),
        "sched_getscheduler": _one_of(0, (0, own)),
        "sched_getaffinity": [*_one_of(0, (0, own))[:-1], _ABSENT],
        "clock_gettime": clock,
        "clock_getres": clock,
        "clock_nanosleep": clock,
        # To ask for its own limits: nothing is to be set, which is a pointer of 64 bits.
        "prlimit64": [
            _argument(0), (_EQUAL, 0, 5, 0),
            _argument(2), (_EQUAL, 0, 3, 0),
            _argument(2, high=True), (_EQUAL, 0, 1, 0),
            _ALLOW, _REFUSE,
        ],
    }  # fmt: skip
    # These first: Linux remembers which calls are allowed whatever their arguments, and skips the
    # filter for them; for these it runs each time.
    for name, body in bodies.items():
        lines += [(_EQUAL, 0, len(body), numbers[name]), *body]
    for number in allowed(machine).values():
        lines += [(_EQUAL, 0, 1, number), _ALLOW]
    return [*lines, _REFUSE]


def _argument(index: int, *, high: bool = False) -> _Line:
    """Load half an argument; both machines are little-endian."""
    return (_LOAD, 0, 0, 16 + 8 * index + 4 * high)


def _one_of(index: int, values: tuple[int, ...]) -> list[_Line]:
    lines = [_argument(index)]
    for value in values:
        lines += [(_EQUAL, 0, 1, value), _ALLOW]
    return [*lines, _REFUSE]
