"""Tries to break each layer, in a process started and closed as a kernel's, and tells what held.

It stands where `runner` does and imports no more than it needs, for it runs at every start of a
server.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from .confine import FILE_BYTES
from .seccomp import refuse

_HEAD = struct.Struct("<IHH")
_READY, _DONE = 1, 5
"""As in `wire`, which needs numpy."""
_NEWUSER = 0x10000000
_MORE_THAN_MAY_BE_OPEN = 4096
_NOWHERE = ("127.0.0.1", 9)

Attempt = Callable[[], object]
"""Raises OSError where it is refused."""


def main(fd: int, scratch: str, *, filtered: bool, devices: bool, loaded: object) -> None:
    """Answer one request: layer → what got through, empty if nothing did. Nothing is `loaded`."""
    del loaded
    channel = socket.socket(fileno=fd)
    channel.send(_HEAD.pack(0, _READY, 0))
    sequence, _, grouped = _HEAD.unpack(channel.recv(_HEAD.size))
    found = {
        "bubblewrap": _inside(scratch),
        "landlock": _broken(_landlock(scratch), (errno.EACCES, errno.EPERM)),
        "rlimits": _broken(
            _limits(scratch), (errno.ENOMEM, errno.EFBIG, errno.EMFILE, errno.EPERM, errno.EINVAL)
        ),
    }
    if grouped:
        found["cgroup"] = _broken({"processes without end": _fork_on}, (errno.EAGAIN,))
    if filtered:
        refuse(devices=devices)
    found["seccomp"] = _broken(_system_calls(), (errno.EPERM,))
    channel.send(_HEAD.pack(sequence, _DONE, 0) + json.dumps(found).encode())
    channel.recv(1)


def _broken(attempts: dict[str, Attempt], refusals: tuple[int, ...]) -> str:
    through = []
    for name, attempt in attempts.items():
        try:
            attempt()
            through.append(name)
        except OSError as error:
            if error.errno not in refusals:
                through.append(f"{name} ({error.strerror})")
        except MemoryError:
            continue
    return ", ".join(through)


def _inside(scratch: str) -> str:
    """What can be seen that is not of a root and namespaces of one's own."""
    seen = {
        "/proc": Path("/proc/self").exists(),
        "/etc/passwd": Path("/etc/passwd").exists(),
        "other processes": os.getpid() > 9,
        "network interfaces": any(name != "lo" for _, name in socket.if_nameindex()),
        "the machine's name": socket.gethostname() != "kernel",
        "a child program that can be changed": os.access(Path(scratch).parent / "child", os.W_OK),
    }
    return ", ".join(name for name, visible in seen.items() if visible)


def _landlock(scratch: str) -> dict[str, Attempt]:
    def connect() -> None:
        with socket.socket() as one:
            one.connect(_NOWHERE)

    def bind() -> None:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))

    def create() -> None:
        path = Path(f"{scratch}/../{os.urandom(8).hex()}")
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        path.unlink()

    attempts: dict[str, Attempt] = {
        "listing the root": lambda: list(Path("/").iterdir()),
        "a file beside its folder": create,
    }
    version = _abi()
    if version >= 4:
        attempts |= {"a TCP connection": connect, "a TCP port": bind}
    if version >= 6:
        attempts["a signal to its parent"] = lambda: os.kill(os.getppid(), 0)
    return attempts


def _abi() -> int:
    return max(int(ctypes.CDLL(None).syscall(444, None, 0, 1)), 0)


def _limits(scratch: str) -> dict[str, Attempt]:
    def too_large_a_file() -> None:
        fd = os.open(f"{scratch}/large", os.O_CREAT | os.O_RDWR)
        try:
            os.pwrite(fd, b"x", FILE_BYTES)
        finally:
            os.close(fd)
            Path(f"{scratch}/large").unlink()

    def memory() -> None:
        bytearray(resource.getrlimit(resource.RLIMIT_AS)[0])

    def files() -> None:
        opened: list[int] = []
        try:
            opened.extend(os.dup(1) for _ in range(_MORE_THAN_MAY_BE_OPEN))
        finally:
            for fd in opened:
                os.close(fd)

    def core() -> None:
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
        except ValueError as error:
            raise OSError(errno.EPERM, str(error)) from error

    return {
        "a file without end": too_large_a_file,
        "memory without end": memory,
        "open files without end": files,
        "a core dump": core,
    }


def _fork_on() -> None:
    """More processes than the probe is given."""
    started: list[int] = []
    try:
        for _ in range(32):
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
            started.append(pid)
    finally:
        for pid in started:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _system_calls() -> dict[str, Attempt]:
    libc = ctypes.CDLL(None, use_errno=True)

    def called(name: str, *arguments: int) -> Attempt:
        def call() -> None:
            if getattr(libc, name)(*arguments) < 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number))

        return call

    def fork() -> None:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    return {
        "fork": fork,
        "exec": lambda: os.execv("/nonexistent", ["x"]),
        "memfd_create": lambda: os.close(os.memfd_create("probe")),
        "socket": lambda: socket.socket().close(),
        "flock": lambda: fcntl.flock(1, fcntl.LOCK_SH | fcntl.LOCK_NB),
        "kill": lambda: os.kill(os.getppid(), 0),
        "sched_setaffinity": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
        "ptrace": called("ptrace", 0, 0, 0, 0),
        "process_vm_readv": called("process_vm_readv", os.getppid(), 0, 0, 0, 0, 0),
        "unshare": called("unshare", _NEWUSER),
    }
