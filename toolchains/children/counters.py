"""What one request took of the machine, as the operating system counts it: threads, memory, events.

The server reads it of a child that sleeps, before `go` and after the reply; the kernel has no part
in it. Events are those of perf_event_open(2), asked for directly: no perf program is needed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchains.base import Usage

from .events import open_event
from .samples import Samples

_INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HV = 1 << 1, 1 << 5, 1 << 6
_COUNT = struct.Struct("<QQQ")
_HARDWARE, _SOFTWARE = 0, 1
NO_HARDWARE = "no hardware counters here"
"""How the reason begins why hardware events are not counted."""

EVENTS: Mapping[str, tuple[int, int]] = {
    "instructions": (_HARDWARE, 1),
    "cycles": (_HARDWARE, 0),
    "cache_references": (_HARDWARE, 2),
    "cache_misses": (_HARDWARE, 3),
    "branches": (_HARDWARE, 4),
    "branch_misses": (_HARDWARE, 5),
    "task_clock_ns": (_SOFTWARE, 1),
    "page_faults": (_SOFTWARE, 2),
    "context_switches": (_SOFTWARE, 3),
    "migrations": (_SOFTWARE, 4),
}
"""Name → type and number of an event (linux/perf_event.h)."""


@dataclass(frozen=True)
class _Event:
    name: str
    fd: int


class Counters:
    """Counts from `start` until `stop` what the threads of one process do."""

    def __init__(self, pid: int, *, samples: bool = False) -> None:
        """samples: also note where the threads are, which costs them a few percent."""
        self._pid = pid
        self._wanted = samples
        self._samples = Samples(())
        self._events: list[_Event] = []
        self._errors: dict[str, int] = {}

    def start(self) -> None:
        """Begin, while the process sleeps."""
        threads = _threads(self._pid)
        for name, (kind, number) in EVENTS.items():
            self._open(name, kind, number, threads)
        self._peak_is_new = _forget_peak(self._pid)
        self._resident = _status_bytes(self._pid, "VmRSS" if self._peak_is_new else "VmHWM")
        self._cpu = {thread: _cpu_ns(self._pid, thread) for thread in threads}
        self._samples = Samples(threads if self._wanted else ())
        self._before = self._read()
        self._samples.start()

    def stop(self) -> Usage:
        """The difference since `start`."""
        addresses = self._samples.stop()
        after = self._read()
        busy = [t for t in _threads(self._pid) if _cpu_ns(self._pid, t) > self._cpu.get(t, 0)]
        peak = _status_bytes(self._pid, "VmHWM") - self._resident
        counted: dict[str, float] = {}
        for event in self._events:
            value = _scaled(self._before[event.fd], after[event.fd])
            counted[event.name] = counted.get(event.name, 0.0) + value
        return Usage(len(busy), max(0, peak), counted, self._missing(), addresses)

    def _open(self, name: str, kind: int, number: int, threads: Sequence[int]) -> None:
        """One event per thread there is; threads that those start later are counted with them."""
        opened: list[_Event] = []
        for thread in threads:
            # Only the privileged may see what happens in the operating system's kernel.
            fd = perf_event(kind, number, thread, 0)
            if fd in (-errno.EACCES, -errno.EPERM):
                fd = perf_event(kind, number, thread, _EXCLUDE_KERNEL | _EXCLUDE_HV)
            if fd < 0:
                self._errors[name] = -fd
                break
            opened.append(_Event(name, fd))
        else:
            self._events += opened
            return
        for event in opened:
            os.close(event.fd)

    def _read(self) -> dict[int, tuple[int, int, int]]:
        values = {}
        for event in self._events:
            raw = os.read(event.fd, _COUNT.size)
            values[event.fd] = _COUNT.unpack(raw) if len(raw) == _COUNT.size else (0, 0, 0)
        return values

    def close(self) -> None:
        """Free what it holds. Idempotent."""
        self._samples.close()
        while self._events:
            os.close(self._events.pop().fd)

    def _missing(self) -> str:
        hardware = [n for n in self._errors if EVENTS[n][0] == _HARDWARE]
        if not hardware:
            return ""
        return _without(hardware, self._errors[hardware[0]])


def missing_here() -> str:
    """Why this machine counts no hardware events, and the remedy; empty where it does."""
    hardware = {name: code for name, code in EVENTS.items() if code[0] == _HARDWARE}
    for kind, number in hardware.values():
        fd = perf_event(kind, number, 0, _EXCLUDE_KERNEL | _EXCLUDE_HV)
        if fd < 0:
            return _without(list(hardware), -fd)
        os.close(fd)
    return ""


def _without(events: Sequence[str], error: int) -> str:
    return f"{NO_HARDWARE} ({', '.join(events)}): {reason(error)}"


def perf_event(kind: int, number: int, thread: int, flags: int) -> int:
    """Descriptor of a running counter, or a negative error number."""
    return open_event(kind, number, thread, _INHERIT | flags)


def reason(error: int) -> str:
    """Why a hardware counter can't be had here, and the remedy."""
    match error:
        case errno.ENOENT | errno.EOPNOTSUPP | errno.ENODEV:
            return (
                "this machine shows no performance monitoring unit, as most virtual machines do; "
                "run on bare metal, or have the hypervisor pass the PMU through"
            )
        case errno.EACCES | errno.EPERM:
            return (
                "the operating system does not allow it (kernel.perf_event_paranoid is "
                f"{_paranoia()}); set it to 2 or lower and run children as this user, give the "
                "server CAP_PERFMON, or allow perf_event_open in the container's seccomp profile"
            )
        case errno.ENOSYS:
            return (
                "perf_event_open does not exist here (a kernel without it, a container's filter, "
                f"or {platform.machine()}); allow it in the container's seccomp profile"
            )
        case errno.EMFILE:
            return "too many open files; raise the limit (ulimit -n)"
    return f"perf_event_open: {os.strerror(error)}"


def _paranoia() -> str:
    path = Path("/proc/sys/kernel/perf_event_paranoid")
    return path.read_text(encoding="ascii").strip() if path.exists() else "not set"


def _scaled(before: tuple[int, int, int], after: tuple[int, int, int]) -> float:
    value, enabled, running = (b - a for a, b in zip(before, after, strict=True))
    return value * enabled / running if running > 0 else float(value)


def _threads(pid: int) -> list[int]:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return sorted(int(path.name) for path in Path(f"/proc/{pid}/task").iterdir())
    return []


def _cpu_ns(pid: int, thread: int) -> int:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        text = Path(f"/proc/{pid}/task/{thread}/schedstat").read_text(encoding="ascii")
        return int(text.split()[0])
    return 0


def _forget_peak(pid: int) -> bool:
    """Let the peak of resident memory begin anew (proc(5), clear_refs); whether that is allowed."""
    try:
        Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _status_bytes(pid: int, name: str) -> int:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            if key == name:
                return int(value.split()[0]) << 10
    return 0
