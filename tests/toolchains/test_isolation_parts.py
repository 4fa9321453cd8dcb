"""What the layers are made of: users, groups, scratch folders, devices, and a machine without."""

from __future__ import annotations

import fcntl
import mmap
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from kernels.records import Failure, FailureKind, Submission
from toolchains.base import Cancellation, Reply
from toolchains.child import confine
from toolchains.children import cgroups, scratch
from toolchains.children.arenas import Arena, output_file
from toolchains.children.boxes import (
    BubblewrapIsolation,
    Doors,
    Isolation,
    PlainIsolation,
    Size,
    all_doors,
)
from toolchains.children.cgroups import find_groups
from toolchains.children.devices import amd_nodes, device_nodes, nvidia_nodes
from toolchains.children.isolation import choose
from toolchains.children.pool import Pool
from toolchains.children.runtime import UNUSED, runtime
from toolchains.children.session import open_session

from .calls import compress_with, session_of

ROOT = Path(__file__).parents[2]
OPEN = """
import os
import numpy as np
def compress(data, abs_bound):
    found = []
    for path in PATHS:
        try:
            os.close(os.open(path, os.O_RDWR))
            found.append(path)
        except OSError:
            pass
    return np.frombuffer(" ".join(found).encode() + b" ", np.uint8)
"""


def compressed_by(source: str, isolation: Isolation, deadline_s: float = 60) -> Reply | Failure:
    """What a kernel returns of one call, in a child of its own."""
    pool = Pool(0, 4 << 30, isolation)
    try:
        submission = Submission("sz-open", "numba", {"kernel.py": source})
        session = session_of(open_session(pool, submission, ("compress",), Cancellation()))
        reply = compress_with(session, np.zeros(4, np.float32), deadline_s)
        session.close()
        return reply
    finally:
        pool.close()


def works(isolation: Isolation) -> bool:
    bubblewrap = isinstance(isolation, BubblewrapIsolation)
    return not bubblewrap or isinstance(choose(frozenset({"cgroup"})), BubblewrapIsolation)


@pytest.mark.parametrize("isolation", [PlainIsolation("for a test"), BubblewrapIsolation()])
def test_a_child_gets_the_device_nodes_that_it_is_given_and_no_others(
    isolation: Isolation,
) -> None:
    if not works(isolation):
        pytest.skip("bubblewrap does not work on this machine")
    if not all_doors().landlock:
        pytest.skip("a plain child's devices are a matter of Landlock, which is not here")
    paths = ("/dev/full", "/dev/tty", "/dev/kmsg", "/dev/mem", "/dev/null")
    program = f"""
import os, sys
found = []
for path in {paths!r}:
    try:
        os.close(os.open(path, os.O_RDWR | os.O_NOCTTY))
        found.append(path)
    except OSError:
        pass
print(*found, flush=True)
"""
    size = Size(1 << 30, devices=("/dev/full",))

    command = isolation.command(3, size)
    at = command.argv.index("-c") + 1
    begin = command.argv[at].split("from child.runner")[0]
    argv = [*command.argv[:at], begin + program]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, env=command.environment)
    if command.scratch is not None:
        command.scratch.remove()

    assert done.stdout.split() == ["/dev/full", "/dev/null"]


def test_only_device_nodes_are_devices(tmp_path: Path) -> None:
    for wrong in ("/etc/passwd", "/dev/../etc/passwd", "/dev/shm", str(tmp_path)):
        with pytest.raises(ValueError, match="no device node"):
            device_nodes((wrong,))

    assert device_nodes(("/dev/full",)) == ("/dev/full",)


def test_a_gpu_has_the_nodes_of_its_driver_and_its_own() -> None:
    assert nvidia_nodes(2) == ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia2")
    assert amd_nodes(1) == ("/dev/kfd", "/dev/dri/renderD129")


@pytest.mark.skipif(not all_doors().seccomp, reason="no seccomp here")
def test_without_namespaces_landlock_and_system_calls_confine(tmp_path: Path) -> None:
    if not all_doors().landlock:
        pytest.skip("no Landlock here")
    program = """
import sys
from toolchains.children.isolation import choose, confined
isolation = choose()
print(type(isolation).__name__, confined(isolation.layers()))
print(next(layer.detail for layer in isolation.layers() if layer.name == "bubblewrap"))
"""
    launcher = tmp_path / "launcher.py"
    launcher.write_text(WITHOUT_NAMESPACES)
    done = subprocess.run(
        (sys.executable, launcher, sys.executable, "-c", program),
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip

    first, reason = done.stdout.splitlines()
    assert first == "PlainIsolation True"
    assert "bwrap" in reason


WITHOUT_NAMESPACES = """
import ctypes, os, struct, sys
from platform import machine
unshare, clone, clone3, number = {"x86_64": (272, 56, 435, 317), "aarch64": (97, 220, 435, 277)}[
    machine()
]
refuse, absent, allow = (6, 0, 0, 0x50001), (6, 0, 0, 0x50026), (6, 0, 0, 0x7FFF0000)
lines = [
    (0x20, 0, 0, 0), (0x15, 0, 1, unshare), refuse, (0x15, 0, 1, clone3), absent,
    (0x15, 0, 3, clone), (0x20, 0, 0, 16), (0x45, 0, 1, 0x7E020000), refuse, allow,
]
code = b"".join(struct.pack("<HBBI", *line) for line in lines)
class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
assert libc.syscall(number, 1, 0, ctypes.byref(Program(len(lines), code))) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""
"""As Docker's default profile: a filter that refuses new namespaces, then the program."""


def test_a_child_whose_parent_is_gone_ends_at_once() -> None:
    program = f"""
import sys
sys.path.insert(0, {str(Path(confine.__file__).parents[1])!r})
from child.confine import begin
begin(parent=1 << 22, memory_bytes=1 << 30, rules=[], confined=False, uid=-1, reads_all=False)
print("still here")
"""
    done = subprocess.run((sys.executable, "-c", program), capture_output=True, check=False)

    assert (done.returncode, done.stdout) == (1, b"")


def test_the_scratch_folder_of_a_server_that_was_killed_is_removed_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    used, new = scratch.make_scratch(-1), tmp_path / "sz-mcp-child-new"
    left, other = tmp_path / "sz-mcp-child-left", tmp_path / "other"
    for folder in (new, left, other):
        (folder / "src").mkdir(parents=True)
        (folder / "src" / "kernel.py").write_text("x")
    for folder in (used.path, left, other):
        os.utime(folder, (1e9, 1e9))

    scratch.remove_abandoned()

    assert {p.name for p in tmp_path.iterdir()} == {used.path.name, new.name, other.name}
    used.remove()
    assert not used.path.exists()


def test_a_plain_child_that_fills_the_disk_is_ended() -> None:
    source = """
import os
import numpy as np
def compress(data, abs_bound):
    block = bytes(32 << 20)
    with open(os.environ["TMPDIR"] + "/block", "wb", buffering=0) as file:
        while True:
            file.seek(0)
            file.write(block)
"""
    open_files = Doors(landlock=False, seccomp=True)
    failure = compressed_by(source, PlainIsolation("for a test", doors=open_files))

    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.CRASH
    assert "MiB to files, and was killed" in failure.message


def test_a_kernel_without_bubblewrap_makes_no_file_and_is_told_so() -> None:
    source = """
import os
def compress(data, abs_bound):
    open(os.environ["TMPDIR"] + "/kept", "wb")
"""
    failure = compressed_by(source, PlainIsolation("for a test"))

    assert isinstance(failure, Failure)
    assert "PermissionError" in failure.message


def test_a_function_that_asks_for_a_cache_on_disk_works_without_one() -> None:
    source = """
import numba
import numpy as np
@numba.njit(cache=True)
def bytes_of(data):
    return np.zeros(data.size, np.uint8)
def compress(data, abs_bound):
    return bytes_of(data)
"""
    for isolation in (PlainIsolation("for a test"), BubblewrapIsolation()):
        if works(isolation):
            reply = compressed_by(source, isolation)
            assert isinstance(reply, Reply), reply


_FILES = """
    with tempfile.TemporaryDirectory() as folder:
        np.save(folder + "/a.npy", np.arange(5))
        loaded = np.load(folder + "/a.npy", mmap_mode="r").sum()
        del folder
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * 1000)
    assert loaded == 10
"""


def test_what_a_kernel_may_do_with_files_and_threads_still_works() -> None:
    source = """
import ctypes, tempfile, threading, time, random, zlib, hashlib, inspect
import numpy as np

def own():
    return 7

def compress(data, abs_bound):FILES
    answers = []
    threads = [threading.Thread(target=answers.append, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == list(range(8))
    assert "return 7" in inspect.getsource(own)
    assert ctypes.CDLL("libm.so.6").abs(-3) == 3
    random.random(), time.time(), time.sleep(0.001), np.random.default_rng().random()
    return np.frombuffer(zlib.compress(hashlib.sha256(b"x").digest()), np.uint8)
"""
    for isolation, files in ((PlainIsolation("for a test"), ""), (BubblewrapIsolation(), _FILES)):
        if works(isolation):
            reply = compressed_by(source.replace("FILES", files), isolation)
            assert isinstance(reply, Reply), reply


def test_every_module_of_the_interpreter_that_is_shown_can_be_imported() -> None:
    modules = sorted(
        path.name.partition(".")[0]
        for folder in runtime().library
        for path in (folder / "lib-dynload").glob("*.so")
    )
    wanted = [m for m in modules if not m.startswith((*UNUSED, "_test", "xx"))]
    source = f"""
import importlib
import numpy as np
def compress(data, abs_bound):
    for name in {wanted!r}:
        importlib.import_module(name)
    return np.zeros(1, np.uint8)
"""
    reply = compressed_by(source, choose(frozenset({"cgroup"})))

    assert isinstance(reply, Reply), reply


def test_a_childs_memory_is_bounded_over_all_its_processes_and_nothing_is_left() -> None:
    found = find_groups()
    if found.groups is None or "memory" not in dict(found.groups.parents):
        pytest.skip(f"no control groups here: {found.reason}")
    doors = Doors(landlock=False, seccomp=False, groups=found.groups)
    source = """
import os, signal
import numpy as np
def compress(data, abs_bound):
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            try:
                kept = np.ones(90 << 20, np.uint8)
                signal.pause()
            finally:
                os._exit(1)
        children.append(child)
    ended = os.waitpid(-1, 0)[1]
    for child in children:
        try:
            os.kill(child, 9)
        except ProcessLookupError:
            pass
    return np.array([os.WTERMSIG(ended)], np.uint8)
"""
    others = folders_of(found.groups)
    pool = Pool(0, 1 << 30, PlainIsolation("for a test", doors=doors))
    submission = Submission("sz-open", "numba", {"kernel.py": source})
    session = session_of(open_session(pool, submission, ("compress",), Cancellation()))
    folders = folders_of(found.groups) - others
    for folder in folders:
        limit = folder / "memory.limit_in_bytes"
        second = folder / "memory.max"
        for file in (limit, second):
            if file.exists():
                file.write_text(str(128 << 20))

    reply = compress_with(session, np.zeros(4, np.float32), 60)
    session.close()
    pool.close()

    # The operating system picks which of the three has to end.
    if isinstance(reply, Failure):
        assert (reply.kind, "SIGKILL" in reply.message) == (FailureKind.CRASH, True)
    else:
        assert reply.outputs[0][0][0] == signal.SIGKILL
    assert folders
    assert not any(folder.exists() for folder in folders)


def folders_of(groups: cgroups.Groups) -> set[Path]:
    """Those of this process's children."""
    mine = f"sz-mcp-child-{os.getpid()}-*"
    return {folder for _, parent in groups.parents for folder in parent.glob(mine)}


def test_pools_of_one_process_have_groups_side_by_side() -> None:
    first, second = find_groups().groups, find_groups().groups
    if first is None or second is None:
        pytest.skip("no control group can be made here")
    made = [(groups, groups.make(1 << 30, 8)) for groups in (first, second, first)]
    folders = {folder for _, group in made for folder in group.folders}
    for groups, group in made:
        groups.remove(group)

    assert len(folders) == 3 * len(made[0][1].folders)
    assert not any(folder.exists() for folder in folders)


def test_of_a_group_that_gets_no_limit_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        cgroups.Groups((("pids", tmp_path),)).make(1 << 30, 8)

    assert not list(tmp_path.iterdir())


def test_groups_of_the_second_version_are_looked_for_where_this_process_is(tmp_path: Path) -> None:
    """In a folder that only looks like a hierarchy: it makes no files of its own."""
    own = tmp_path / "top" / "system.slice" / "server.service"
    own.mkdir(parents=True)
    (tmp_path / "cgroup").write_text("0::/system.slice/server.service\n")
    mounts = f"29 23 0:26 / {tmp_path / 'top'} rw,nosuid - cgroup2 cgroup2 rw\n"
    (tmp_path / "mountinfo").write_text(mounts)

    assert list(cgroups._candidates("pids", tmp_path)) == [own, tmp_path / "top"]
    assert find_groups(tmp_path).groups is None
    assert list(own.iterdir()) == []


def test_inputs_can_be_filled_by_the_server_and_by_nobody_who_is_given_them() -> None:
    arena = Arena("inputs", 4096, child_may_write=False)
    seals = fcntl.fcntl(arena.fd, fcntl.F_GET_SEALS)

    assert seals == fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL | 0x10
    with pytest.raises(PermissionError):
        os.pwrite(arena.fd, b"x", 0)
    with pytest.raises(PermissionError):
        mmap.mmap(arena.fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    with pytest.raises(PermissionError):
        os.ftruncate(arena.fd, 0)
    arena.close()


def test_outputs_have_a_fixed_size() -> None:
    arena, printed = Arena("outputs", 4096, child_may_write=True), output_file()

    for fd in (arena.fd, printed):
        for size in (0, 1 << 24):
            with pytest.raises(PermissionError):
                os.ftruncate(fd, size)
    arena.close()
    os.close(printed)
