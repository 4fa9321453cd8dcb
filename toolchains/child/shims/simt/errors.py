"""What a launch may end with, as exceptions with the place in the kernel's source.

SimtError ─┬─ StoppedError     the launch took too long
           ├─ TrapError        a failed assert, or a trap
           ├─ SyncError        divergent barriers, deadlocks, wrong masks
           └─ AccessError      accesses that are not allowed
"""

from __future__ import annotations

from dataclasses import dataclass

from .abi import Status, TrapCode


@dataclass(frozen=True)
class Place:
    """Where in a launch something happened."""

    kernel: str
    line: int
    """Of the kernel's source; 0: unknown."""
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    file: str = ""
    """That the line is of; empty: unknown."""


class SimtError(Exception):
    """A launch that failed."""

    def __init__(self, code: Status, place: Place, text: str) -> None:
        """text: what happened, without the place."""
        kernel = f"{place.kernel}, line {place.line}" if place.line else place.kernel
        if place.file and place.line:
            kernel = f"{place.file}:{place.line}: {place.kernel}"
        super().__init__(f"{kernel}, block {place.block}, thread {place.thread}: {text}")
        self.code, self.place, self.text = code, place, text


class StoppedError(SimtError):
    """The launch was stopped while a thread waited."""


class TrapError(SimtError):
    """A failed assert, or a trap."""


class SyncError(SimtError):
    """Threads wait for each other in a way that has no end, or that CUDA does not define."""


class AccessError(SimtError):
    """An access to memory that is not allowed."""


_CLASSES = {
    Status.STOPPED: StoppedError,
    Status.TRAP: TrapError,
    Status.DIVERGENT: SyncError,
    Status.DEADLOCK: SyncError,
    Status.MASK: SyncError,
    Status.OUT_OF_BOUNDS: AccessError,
    Status.MISALIGNED: AccessError,
    Status.UNINITIALISED: AccessError,
}


_ACCESSES = (Status.OUT_OF_BOUNDS, Status.MISALIGNED, Status.UNINITIALISED)


def error_of(
    kernel: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    code: int,
    detail: list[int],
    file: str = "",
) -> SimtError:
    """From a launch's status and detail."""
    status = Status(code)
    line, number, thread, *more = detail
    place = Place(kernel, line, _coordinates(number, grid), _coordinates(thread, block), file)
    return _CLASSES.get(status, SimtError)(status, place, _text(status, more, block))


def _coordinates(number: int, shape: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, _ = shape
    return number % x, number // x % y, number // (x * y)


def _text(status: Status, more: list[int], block: tuple[int, int, int]) -> str:
    a, b, c = more
    if status in _ACCESSES:
        return _access(status, a, b, c)
    match status:
        case Status.STOPPED:
            return "the launch took too long; a thread still waits here"
        case Status.TRAP:
            return "assertion failed" if a == TrapCode.ASSERT else "trap"
        case Status.DIVERGENT:
            other = _coordinates(b, block)
            return f"threads wait at different barriers: thread {other} is at line {a}"
        case Status.DEADLOCK if a:
            other = _coordinates(b, block)
            return f"waits with mask {c:#x} for thread {other}, which waits at line {a}"
        case Status.DEADLOCK:
            return "waits for threads that never come"
        case Status.MASK:
            return f"mask {a:#x} lacks the calling lane, or is not that of the lanes in it"
        case _:
            return "a thread's stack is exhausted"


def _access(status: Status, a: int, b: int, c: int) -> str:
    if status is Status.UNINITIALISED:
        return f"reads {b} bytes of shared memory at offset {a} that were never written"
    how = "outside every array" if status is Status.OUT_OF_BOUNDS else "which is misaligned"
    return f"{'writes' if c else 'reads'} {b} bytes at {a:#x}, {how}"
