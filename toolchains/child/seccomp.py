"""System calls that a kernel has no use for, refused once the child is warm.

They would start processes whose CPU time nobody counts, or leave something for another child: keys,
locks, System V memory. Threads stay allowed; numba's parallel loops are threads. A list of what is
refused, not of what is allowed: it closes known doors and is no sandbox by itself.
"""

from __future__ import annotations

import ctypes
import platform
import struct

_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_FILTER_FLAG_TSYNC = 1
_CLONE_THREAD = 0x00010000
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_EPERM, _ENOSYS = 1, 38
_LOAD, _EQUAL, _SET, _RETURN = 0x20, 0x15, 0x45, 0x06
"""BPF: ld [k]; jeq #k; jset #k; ret #k (linux/bpf_common.h)."""
_NR, _ARCH, _ARG0, _ARG1 = 0, 4, 16, 24
"""Offsets in struct seccomp_data (linux/seccomp.h); low words, little-endian."""

_SYSCALLS: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "seccomp": 317, "clone": 56, "clone3": 435, "fcntl": 72,
            "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "ptrace": 101,
            "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_open": 434,
            "pidfd_getfd": 438, "keyctl": 250, "add_key": 248, "request_key": 249, "socket": 41,
            "socketpair": 53, "memfd_create": 319, "sched_setaffinity": 203, "setpriority": 141,
            "sched_setscheduler": 144, "sched_setattr": 314, "unshare": 272, "setns": 308,
            "mount": 165, "userfaultfd": 323, "io_uring_setup": 425, "bpf": 321,
            "perf_event_open": 298, "shmget": 29, "shmat": 30, "msgget": 68, "semget": 64,
            "mq_open": 240, "flock": 73, "personality": 135,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "seccomp": 277, "clone": 220, "clone3": 435, "fcntl": 25,
            "execve": 221, "execveat": 281, "ptrace": 117, "process_vm_readv": 270,
            "process_vm_writev": 271, "pidfd_open": 434, "pidfd_getfd": 438, "keyctl": 219,
            "add_key": 217, "request_key": 218, "socket": 198, "socketpair": 199,
            "memfd_create": 279, "sched_setaffinity": 122, "setpriority": 140,
            "sched_setscheduler": 119, "sched_setattr": 274, "unshare": 97, "setns": 268,
            "mount": 40, "userfaultfd": 282, "io_uring_setup": 425, "bpf": 280,
            "perf_event_open": 241, "shmget": 194, "shmat": 196, "msgget": 186, "semget": 190,
            "mq_open": 180, "flock": 32, "personality": 92,
        },
    ),
}  # fmt: skip
"""Machine → audit number and system call numbers (arch/*/include, asm-generic/unistd.h)."""

_LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1026)
"""fcntl: get, set and wait for locks, of processes and of open files; leases; directory notices."""


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def refuse() -> bool:
    """Install the filter for every thread of this process; whether it holds now."""
    known = _SYSCALLS.get(platform.machine())
    if known is None:
        return False
    audit, numbers = known
    code = b"".join(struct.pack("<HBBI", *line) for line in _filter(audit, numbers))
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return False
    number = numbers["seccomp"]
    flags = _SECCOMP_FILTER_FLAG_TSYNC
    done = libc.syscall(number, _SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(program))
    return int(done) == 0


def _filter(audit: int, numbers: dict[str, int]) -> list[tuple[int, int, int, int]]:
    """BPF instructions (code, jump if true, jump if false, operand)."""
    special = ("seccomp", "clone", "clone3", "fcntl")
    lines = [(_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, audit), _answer(_EPERM), (_LOAD, 0, 0, _NR)]
    for name, number in numbers.items():
        if name not in special:
            lines += [(_EQUAL, 0, 1, number), _answer(_EPERM)]
    # glibc falls back from clone3, whose flags a filter can't see, to clone.
    lines += [(_EQUAL, 0, 1, numbers["clone3"]), _answer(_ENOSYS)]
    lines += [
        (_EQUAL, 0, 4, numbers["clone"]),
        (_LOAD, 0, 0, _ARG0),
        (_SET, 1, 0, _CLONE_THREAD),
        _answer(_EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    lines += [(_EQUAL, 0, 1 + 2 * len(_LOCKS), numbers["fcntl"]), (_LOAD, 0, 0, _ARG1)]
    for command in _LOCKS:
        lines += [(_EQUAL, 0, 1, command), _answer(_EPERM)]
    return [*lines, (_RETURN, 0, 0, _ALLOW)]


def _answer(number: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ERRNO | number)
