"""The filter of system calls, read as the operating system reads it, for both machines."""

from __future__ import annotations

import errno
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from toolchains.child import seccomp, syscalls
from toolchains.child.seccomp import instructions

ALLOWED, REFUSED, ABSENT, AGAIN = "allowed", errno.EPERM, errno.ENOSYS, errno.EAGAIN
OWN = 4242
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
CLONE_THREAD, CLONE_NEWUSER = 0x10000, 0x10000000


def answer(machine: str, name: str, *arguments: int) -> str | int:
    """What the filter says to a call."""
    number = {**syscalls.allowed(machine), **syscalls.special(machine), **OTHERS[machine]}[name]
    return run_filter(machine, number, *arguments)


OTHERS = {
    "x86_64": {"execve": 59, "socket": 41, "ptrace": 101, "truncate": 76, "chmod": 90},
    "aarch64": {"execve": 221, "socket": 198, "ptrace": 117, "truncate": 45, "fchmodat": 53},
}


def run_filter(machine: str, number: int, *arguments: int, audit: int | None = None) -> str | int:
    """A classic BPF machine of the five instructions that are used (linux/filter.h)."""
    arch = syscalls.AUDIT[machine] if audit is None else audit
    padded = (*arguments, *[0] * (6 - len(arguments)))
    data = struct.pack("<IIQ6Q", number, arch, 0, *(a & (1 << 64) - 1 for a in padded))
    code = instructions(machine, OWN, devices=False)
    at = loaded = 0
    while True:
        kind, yes, no, operand = code[at]
        at += 1
        match kind:
            case 0x20:
                (loaded,) = struct.unpack_from("<I", data, operand)
            case 0x15:
                at += yes if loaded == operand else no
            case 0x35:
                at += yes if loaded >= operand else no
            case 0x45:
                at += yes if loaded & operand else no
            case 0x06:
                return ALLOWED if operand == 0x7FFF0000 else operand & 0xFFFF
            case _:
                raise AssertionError(f"instruction {kind:#x}")


@pytest.mark.parametrize("machine", list(syscalls.AUDIT))
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("mmap", (), ALLOWED),
        ("openat", (), ALLOWED),
        ("execve", (), REFUSED),
        ("socket", (), REFUSED),
        ("ptrace", (), REFUSED),
        ("truncate", (), REFUSED),
        ("clone", (CLONE_THREAD,), ALLOWED),
        ("clone", (CLONE_NEWUSER | 17,), REFUSED),
        ("clone3", (), ABSENT),
        ("kill", (OWN,), ALLOWED),
        ("kill", (OWN + 1,), REFUSED),
        ("kill", (-1,), REFUSED),
        ("tgkill", (OWN, OWN + 1, 6), ALLOWED),
        ("tgkill", (1, 1, 9), REFUSED),
        ("fcntl", (3, 1030), ALLOWED),
        ("fcntl", (3, 6), REFUSED),
        ("fcntl", (3, 1024), REFUSED),
        ("ioctl", (1, 0x5401), ALLOWED),
        ("ioctl", (1, 0x5412), REFUSED),
        ("prctl", (15,), ALLOWED),
        ("prctl", (4, 0), REFUSED),
        ("prlimit64", (0, 7, 0), ALLOWED),
        ("prlimit64", (0, 7, 1), REFUSED),
        ("prlimit64", (0, 7, 1 << 32), REFUSED),
        ("prlimit64", (OWN + 1, 7, 0), REFUSED),
        ("futex", (0, 129), ALLOWED),
        ("futex", (0, 1), REFUSED),
        ("futex", (0, 3), REFUSED),
        ("futex", (0, 265), AGAIN),
        ("madvise", (0, 0, 4), ALLOWED),
        ("madvise", (0, 0, 21), REFUSED),
        ("madvise", (0, 0, 12), REFUSED),
    ],
)
def test_calls_are_judged_by_number_and_arguments(
    machine: str, name: str, arguments: tuple[int, ...], expected: str | int
) -> None:
    assert answer(machine, name, *arguments) == expected


@pytest.mark.parametrize("machine", list(syscalls.AUDIT))
def test_calls_of_other_interfaces_and_of_the_future_are_not_there(machine: str) -> None:
    x32_fork, of_i386 = 0x40000000 | 57, 0x40000003

    assert run_filter(machine, x32_fork) == ABSENT
    assert run_filter(machine, syscalls.KNOWN_BELOW) == ABSENT
    assert run_filter(machine, 0, audit=of_i386) == REFUSED


@pytest.mark.parametrize("machine", list(syscalls.AUDIT))
def test_numbers_are_those_of_the_headers(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip(f"{HEADERS[machine]} is not installed")
    text = HEADERS[machine].read_text()
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)
    numbers = {name: int(number) for name, number in found}
    if machine == "aarch64":
        # Where the size of a file offset matters, the header names a call once for two machines.
        numbers["newfstatat"] = numbers["fstatat"]

    ours = {**syscalls.allowed(machine), **syscalls.special(machine)}
    assert {name: numbers[name] for name in ours} == ours


THREAD = """
import os, sys, threading
sys.path.insert(0, sys.argv[1])
from child import seccomp
started, closed = threading.Event(), threading.Event()
found = []
def early():
    started.set()
    closed.wait()
    try:
        os.memfd_create("x")
        found.append("made")
    except PermissionError:
        found.append("refused")
thread = threading.Thread(target=early)
thread.start()
started.wait()
seccomp.refuse()
closed.set()
thread.join()
print(*found)
"""


@pytest.mark.skipif(not seccomp.available(), reason="no seccomp here")
def test_a_thread_that_was_there_before_is_filtered_too() -> None:
    folder = Path(seccomp.__file__).parents[1]
    done = subprocess.run(
        (sys.executable, "-c", THREAD, folder), capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["refused"]
