"""System calls that a warm child needs, and their numbers.

What they are for: memory, threads, clocks, files that Landlock lets it open, its one socket, and
questions about itself. Left out on purpose: what tells of the whole machine (sysinfo; pipes, whose
inode numbers all processes share), and what moves pages of shared files in or out of memory, which
another child could feel. Numbers: arch/x86/entry/syscalls/syscall_64.tbl and, for aarch64,
include/uapi/asm-generic/unistd.h, which is without the older forms.
"""

from __future__ import annotations

AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""Machine → how the filter sees it (linux/audit.h)."""
KNOWN_BELOW = 452
"""System calls from this number on are newer than the table."""

_BOTH: dict[str, tuple[int, int]] = {
    # Memory. LLVM makes code executable, so mmap and mprotect are whole.
    "mmap": (9, 222), "munmap": (11, 215), "mprotect": (10, 226), "mremap": (25, 216),
    "brk": (12, 214),
    # Threads.
    "exit": (60, 93), "exit_group": (231, 94), "gettid": (186, 178),
    "set_robust_list": (273, 99), "rseq": (334, 293), "sched_yield": (24, 124),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126), "getcpu": (309, 168),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132), "restart_syscall": (219, 128),
    # Clocks.
    "nanosleep": (35, 101), "gettimeofday": (96, 169), "times": (100, 153),
    "getrusage": (98, 165),
    # Open files.
    "read": (0, 63), "write": (1, 64), "pread64": (17, 67), "pwrite64": (18, 68),
    "readv": (19, 65), "writev": (20, 66), "preadv": (295, 69), "pwritev": (296, 70),
    "lseek": (8, 62), "close": (3, 57), "close_range": (436, 436), "fstat": (5, 80),
    "ftruncate": (77, 46), "fallocate": (285, 47), "fsync": (74, 82), "fdatasync": (75, 83),
    "getdents64": (217, 61), "dup": (32, 23), "dup3": (292, 24),
    "ppoll": (271, 73), "pselect6": (270, 72),
    # Landlock, which can only take more away.
    "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    # The socket that it was given.
    "recvmsg": (47, 212), "sendto": (44, 206),
    # Files by name, as far as they can be seen.
    "openat": (257, 56), "newfstatat": (262, 79), "statx": (332, 291), "faccessat": (269, 48),
    "faccessat2": (439, 439), "readlinkat": (267, 78), "getcwd": (79, 17), "chdir": (80, 49),
    "fchdir": (81, 50), "umask": (95, 166), "unlinkat": (263, 35), "mkdirat": (258, 34),
    "renameat": (264, 38), "renameat2": (316, 276),
    # Itself and the machine.
    "getpid": (39, 172), "getppid": (110, 173), "getuid": (102, 174), "geteuid": (107, 175),
    "getgid": (104, 176), "getegid": (108, 177), "getgroups": (115, 158),
    "getresuid": (118, 148), "getresgid": (120, 150),
    "getrlimit": (97, 163), "uname": (63, 160), "getrandom": (318, 278),
}  # fmt: skip

_OLDER = {
    "open": 2, "creat": 85, "stat": 4, "lstat": 6, "access": 21, "readlink": 89, "getdents": 78,
    "unlink": 87, "mkdir": 83, "rmdir": 84, "rename": 82, "dup2": 33, "poll": 7,
    "select": 23, "time": 201, "getpgrp": 111,
}  # fmt: skip
"""x86_64 only."""

_SPECIAL: dict[str, tuple[int, int]] = {
    "seccomp": (317, 277), "clone": (56, 220), "clone3": (435, 435), "tgkill": (234, 131),
    "kill": (62, 129), "fcntl": (72, 25), "ioctl": (16, 29), "prctl": (157, 167),
    "prlimit64": (302, 261), "futex": (202, 98), "madvise": (28, 233),
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115),
    "getpgid": (121, 155), "getsid": (124, 156), "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121), "sched_getscheduler": (145, 120),
}  # fmt: skip
"""Allowed or not by their arguments."""


def allowed(machine: str) -> dict[str, int]:
    """Those that are allowed whatever their arguments; none on a machine that is not known."""
    if machine not in AUDIT:
        return {}
    older = _OLDER if machine == "x86_64" else {}
    return {**_numbers(_BOTH, machine), **older}


def special(machine: str) -> dict[str, int]:
    """Those whose arguments decide."""
    return _numbers(_SPECIAL, machine)


def _numbers(table: dict[str, tuple[int, int]], machine: str) -> dict[str, int]:
    column = list(AUDIT).index(machine)
    return {name: numbers[column] for name, numbers in table.items()}
