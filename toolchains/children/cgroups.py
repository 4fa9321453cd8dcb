"""A control group per child, where this process may make one: memory and tasks of all it starts.

Both versions of the interface (kernel.org: admin-guide/cgroup-v2, cgroup-v1). In the second a group
that holds processes passes no controllers on, so one below the server's own works only where an
administrator has prepared that; the top of the hierarchy is tried next.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_CONTROLLERS = ("pids", "memory")
_PREFIX = "sz-mcp-child-"
_FRESH_S = 60.0
"""A group this new may be about to be given its process."""
_LAST_WAIT_S, _PAUSE_S = 2.0, 0.005
_PROC = Path("/proc/self")


@dataclass(frozen=True)
class Group:
    """The folders of one child's group: one, or one per controller."""

    folders: tuple[Path, ...]

    def add(self, pid: int) -> None:
        """Move a process, with all its threads. Raises OSError."""
        for folder in self.folders:
            _write(folder / "cgroup.procs", pid)

    def kill(self) -> None:
        """End all that is in it."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                for line in (folder / "cgroup.procs").read_text(encoding="ascii").split():
                    os.kill(int(line), signal.SIGKILL)

    def remove(self) -> bool:
        """Whether all of it is gone; False while something in it lives."""
        gone = [_removed(folder) for folder in self.folders]
        return all(gone)


class Groups:
    """Makes groups, and removes them. Thread-safe."""

    def __init__(self, parents: tuple[tuple[str, Path], ...]) -> None:
        """parents: controller → the folder that groups are made in."""
        self.parents = parents
        self._lock = threading.Lock()
        self._left: list[Group] = []

    def make(self, memory_bytes: int, tasks: int) -> Group:
        """An empty group with limits. Raises OSError."""
        name = _new_name()
        group = Group(tuple(dict.fromkeys(parent / name for _, parent in self.parents)))
        try:
            for folder in group.folders:
                folder.mkdir()
            for controller, parent in self.parents:
                if controller == "pids":
                    _write(parent / name / "pids.max", tasks)
                else:
                    _limit_memory(parent / name, memory_bytes)
        except OSError:
            group.remove()
            raise
        return group

    def remove(self, group: Group) -> None:
        """Now or, while a process in it is ending, with a later one."""
        with self._lock:
            self._left.append(group)
            self._left = [one for one in self._left if not one.remove()]

    def close(self) -> None:
        """End what is left in those that were to be removed, and remove them."""
        give_up = time.monotonic() + _LAST_WAIT_S
        with self._lock:
            while self._left and time.monotonic() < give_up:
                for group in self._left:
                    group.kill()
                self._left = [one for one in self._left if not one.remove()]
                time.sleep(_PAUSE_S if self._left else 0)


@dataclass(frozen=True)
class Found:
    """Groups, or why there are none."""

    groups: Groups | None
    reason: str
    """Which controllers there are, or what is in the way."""


def find_groups(proc: Path = _PROC) -> Found:
    """Where groups can be made, found by making one.

    proc: the folder of this process in /proc.
    """
    parents, reasons = [], []
    for controller in _CONTROLLERS:
        reason = "not mounted"
        for parent in _candidates(controller, proc):
            reason = _tried(parent, controller)
            if not reason:
                parents.append((controller, parent))
                _remove_abandoned(parent)
                break
        if reason:
            reasons.append(f"{controller}: {reason}")
    if not parents:
        return Found(None, "; ".join(reasons))
    limits = " and ".join(name for name, _ in parents)
    return Found(Groups(tuple(parents)), "; ".join([f"{limits} per child", *reasons]))


def _candidates(controller: str, proc: Path) -> Iterator[Path]:
    """Folders that groups with a controller might be made in, the server's own group first."""
    own: dict[str, str] = {}
    for line in (proc / "cgroup").read_text(encoding="utf-8").splitlines():
        _, names, path = line.split(":", 2)
        own.update(dict.fromkeys(names.split(","), path))
    for line in (proc / "mountinfo").read_text(encoding="utf-8").splitlines():
        before, _, after = line.partition(" - ")
        root, point = before.split()[3:5]
        kind, _, options = (after.split() + [""] * 3)[:3]
        first = kind == "cgroup" and controller in options.split(",")
        if first or kind == "cgroup2":
            path = own.get(controller if first else "", "/")
            below = path.removeprefix(root.rstrip("/"))
            yield Path(point) / below.lstrip("/")
            if below.strip("/"):
                yield Path(point)


def _tried(parent: Path, controller: str) -> str:
    """Empty if a group with the controller can be made there, else what is in the way."""
    second = (parent / "cgroup.controllers").exists()
    if second:
        with contextlib.suppress(OSError):
            _write(parent / "cgroup.subtree_control", f"+{controller}")
    folder = parent / _new_name()
    try:
        folder.mkdir()
    except OSError as error:
        return str(error.strerror)
    try:
        limit = "pids.max" if controller == "pids" else _memory_file(folder)
        if (folder / limit).exists():
            return ""
        return "the server's group holds processes, or passes no such controller on"
    finally:
        _removed(folder)


def _new_name() -> str:
    """Like no other: a process has several pools, and its number belonged to others before it."""
    return f"{_PREFIX}{os.getpid()}-{secrets.token_hex(6)}"


def _limit_memory(folder: Path, memory_bytes: int) -> None:
    _write(folder / _memory_file(folder), memory_bytes)
    with contextlib.suppress(OSError):
        if (folder / "memory.max").exists():
            _write(folder / "memory.swap.max", 0)
        else:
            _write(folder / "memory.memsw.limit_in_bytes", memory_bytes)


def _memory_file(folder: Path) -> str:
    second = (folder / "cgroup.controllers").exists()
    return "memory.max" if second else "memory.limit_in_bytes"


def _remove_abandoned(parent: Path) -> None:
    """Groups whose server was killed: they hold nothing, so they can be removed."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > _FRESH_S:
                folder.rmdir()


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _write(path: Path, value: int | str) -> None:
    # A file of the hierarchy exists or not; it is never made by opening it.
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, str(value).encode())
    finally:
        os.close(fd)
