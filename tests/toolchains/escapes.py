"""A submission that tries to break out, and tells what it could do: names, separated by spaces.

It is not imported here: its text is the submission. `given` is written by the test.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import resource
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
from given import ABSTRACT, ADDRESS, FILE, FOLDER, PORT, SERVER  # type: ignore[import-not-found]

LIBC = ctypes.CDLL(None, use_errno=True)


def read_a_file() -> None:
    Path("/etc/passwd").read_bytes()


def read_the_servers_file() -> None:
    Path(FILE).read_bytes()


def write_elsewhere() -> None:
    Path(FOLDER, f"left-{os.getpid()}").write_text("x")


def list_the_root() -> None:
    list(Path("/").iterdir())


def change_modes() -> None:
    Path(FILE).chmod(0o600)


def change_times() -> None:
    os.utime(FILE)


def link() -> None:
    Path(os.environ["TMPDIR"], f"link-{threading.get_native_id()}").symlink_to("x")


def use_shared_memory() -> None:
    file = Path(f"/dev/shm/sz-mcp-test-{os.getpid()}")
    file.touch()
    file.unlink()


def use_system_v_memory() -> None:
    identifier = LIBC.shmget(0, 4096, 0o1600)
    if identifier < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    LIBC.shmctl(identifier, 0, None)


def make_a_memory_file() -> None:
    os.close(os.memfd_create("x"))


def fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def start_a_program() -> None:
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


def connect() -> None:
    socket.create_connection(("127.0.0.1", PORT), timeout=2).close()


def connect_locally() -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.connect("\0" + ABSTRACT)


def signal_the_server() -> None:
    os.kill(SERVER, 0)


def read_the_servers_memory() -> None:
    class Span(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    buffer = ctypes.create_string_buffer(6)
    here, there = Span(ctypes.addressof(buffer), 6), Span(ADDRESS, 6)
    got = LIBC.process_vm_readv(SERVER, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    if got != 6 or buffer.raw != b"secret":
        raise OSError(ctypes.get_errno(), "process_vm_readv")


def limit_the_server() -> None:
    resource.prlimit(SERVER, resource.RLIMIT_NOFILE)


def place_the_server() -> None:
    os.sched_setaffinity(SERVER, os.sched_getaffinity(SERVER))


def place_itself() -> None:
    os.sched_setaffinity(0, os.sched_getaffinity(0))


def lock_a_file() -> None:
    with Path(os.__file__).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


def write_a_large_file() -> None:
    fd = os.open(os.environ["TMPDIR"] + "/large", os.O_CREAT | os.O_WRONLY)
    try:
        os.pwrite(fd, b"x", 64 << 20)
    finally:
        os.close(fd)


def take_much_memory() -> None:
    try:
        mmap.mmap(-1, 1 << 40)
    except MemoryError as error:
        raise OSError("memory") from error


def open_many_files() -> None:
    opened: list[int] = []
    try:
        opened.extend(os.dup(1) for _ in range(200))
    finally:
        for fd in opened:
            os.close(fd)


def start_many_processes() -> None:
    started: list[int] = []
    try:
        for _ in range(150):
            child = os.fork()
            if child == 0:
                LIBC.pause()
                os._exit(0)
            started.append(child)
    finally:
        for child in started:
            os.kill(child, 9)
            os.waitpid(child, 0)


TRIES: tuple[Callable[[], None], ...] = (
    read_a_file, read_the_servers_file, write_elsewhere, list_the_root, change_modes,
    change_times, link, use_shared_memory, use_system_v_memory, make_a_memory_file, fork,
    start_a_program, connect, connect_locally, signal_the_server, read_the_servers_memory,
    limit_the_server, place_the_server, place_itself, lock_a_file, write_a_large_file,
    take_much_memory, open_many_files, start_many_processes,
)  # fmt: skip


def through(tries: tuple[Callable[[], None], ...] = TRIES) -> set[str]:
    done = set()
    for attempt in tries:
        try:
            attempt()
            done.add(attempt.__name__)
        except OSError:
            continue
    return done


EARLY: set[str] = set()
_early = threading.Thread(target=lambda: EARLY.update(through(TRIES[:-1])))
_early.start()
_early.join()


def compress(data: np.ndarray, abs_bound: float) -> np.ndarray:
    """What the thread that was started at import could do counts too."""
    return np.frombuffer(" ".join(sorted(EARLY | through())).encode() + b" ", np.uint8)
