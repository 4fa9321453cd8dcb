"""What a backend offers: describe its targets, build a submission, load it into live processes.

A `Session` is one kernel's processes. Every call on it goes through the server's clock, so that a
measured call and an unmeasured one differ only in what the caller does with the time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from kernels.records import (
    Arg,
    Array,
    Build,
    Execution,
    Failure,
    Guidance,
    HeatMap,
    Loop,
    Metric,
    Submission,
)
from toolchains.device_use import DeviceUse

Fill = Callable[[Sequence[Array]], None]
"""Writes the content of a request's input arrays."""


@dataclass(frozen=True)
class Phase:
    """Self time of one function of a submission during a profiled call."""

    name: str
    file: str
    line: int
    calls: int
    seconds: float
    compiled: bool
    """Whether it ran as machine code (a numba dispatcher) rather than as Python."""


@dataclass(frozen=True)
class Usage:
    """What one request took of the machine, as the operating system counts it."""

    threads: int
    """Threads that used the processor."""
    peak_bytes: int
    """Resident memory above what the child had before the request, at its peak."""
    counters: Mapping[str, float]
    """Events by name, over all threads: page_faults, instructions, ..."""
    missing: str = ""
    """Why some can't be counted here, and the remedy; empty if all are."""
    addresses: Mapping[int, int] = field(default_factory=dict)
    """Of the instructions that threads were at when they were looked at → how many times; of a
    child that explains."""


@dataclass(frozen=True)
class Reply:
    """What a request returned and what the server's clock said of it."""

    inputs: tuple[Array, ...]
    """All input arrays as the child was given them, in order: read-only, and valid until the next
    call of the same function."""
    outputs: tuple[tuple[Array, ...], ...]
    """Per item, the arrays returned: read-only, and valid until the next call of the same function;
    copy what must outlive it."""
    seconds: float
    """From `go` until the child was seen asleep."""
    child_seconds: float
    """The kernel's calls alone, by the child's clock: reported, never trusted."""
    wait_seconds: float
    """Run-queue wait of the child and of the calling thread during the request."""
    disturbed: bool
    """`wait_seconds` is more than a measurement may lose to other work."""
    intact: bool
    """The child used no CPU between mapping its inputs and `go`, slept after its reply, and
    started no process. False makes the result `suspect`."""
    cpu_seconds: float
    """CPU time of all threads of the child: more than `seconds` if several ran."""
    phases: tuple[Phase, ...] = ()
    usage: Usage | None = None
    """Of a profiled request."""


@dataclass(frozen=True)
class Call:
    """One call of a function of the task, outside any measurement."""

    function: str
    arguments: tuple[Arg, ...]
    output_bytes: int
    """That it is expected to return, at most."""


@dataclass(frozen=True)
class Shares:
    """Parts of a call's time, by the server's looks at where the child is."""

    spots: Mapping[tuple[str, int], float]
    """File and first line of a loop, or a line outside any."""
    functions: Mapping[str, float] = field(default_factory=dict)
    """In machine code of its own, not put in place of a call."""


@dataclass(frozen=True)
class Explanation:
    """What a compiler made of a submission, as the child that compiled it tells: not evidence."""

    loops: tuple[Loop, ...] = ()
    metrics: tuple[Metric, ...] = ()
    usage: Mapping[str, Usage] = field(default_factory=dict)
    """Function → what a call took from memory that was given back before; by the server's look."""
    shares: Mapping[str, Shares] = field(default_factory=dict)
    """By function of the task; empty where the server may not look."""
    notes: tuple[str, ...] = ()
    bottleneck: str = ""
    """What limits it by a model; of what runs on hardware that is measured instead."""
    guidance: tuple[Guidance, ...] = ()
    """Likewise, what to change."""
    maps: tuple[HeatMap, ...] = ()
    """See `Profile.maps`."""


class Session(Protocol):
    """A loaded kernel. Not thread-safe, except for `kill`, which any thread may call."""

    def call(
        self,
        function: str,
        items: Sequence[tuple[Arg, ...]],
        *,
        capacity: Sequence[int],
        deadline_s: float,
        profiled: bool = False,
        fill: Fill | None = None,
    ) -> Reply | Failure:
        """Call `function` (compress | decompress | run) once per item, in order, in one request.

        capacity: bytes that each item's outputs may take together.
        fill: writes the content of the inputs where the child will find it, given all their arrays
        in order; the arrays in `items` are then only patterns of shape and dtype.
        profiled: split the time over the submission's functions, and count what the call takes.
        A session whose call failed with anything but an exception or a contract mistake is dead.
        """
        ...

    def call_guarded(
        self, function: str, arguments: tuple[Arg, ...], *, capacity: int, deadline_s: float
    ) -> Reply | Failure:
        """One call, whose last array ends where memory does that its child may touch.

        Who reads 8 bytes beyond it, or more, ends there. Not for timing: the array is aligned to 8
        bytes only.
        """
        ...

    def still_intact(self, function: str) -> bool:
        """Whether the child that runs `function` has slept since its last reply.

        Then what was read of its outputs is what it held when the clock stopped.
        """
        ...

    def null_round_trip(self, function: str) -> float:
        """Seconds of a request with no items, through the same clock; `inf` if it fails."""
        ...

    def device_use(self, function: str) -> DeviceUse | None:
        """Of the last call of `function`, where its device is simulated; else None."""
        ...

    def rest(self) -> None:
        """Stop its children, which have nothing to do until `wake`: none of their threads runs."""
        ...

    def wake(self) -> None:
        """Undo `rest`. Both do nothing if there is nothing to do."""
        ...

    def apart(self) -> AbstractContextManager[None]:
        """While this lasts the children have cores that the calling thread does not use."""
        ...

    def alive(self) -> bool:
        """Whether it can take another call."""
        ...

    def kill(self) -> None:
        """Stop its processes at once; a call in progress fails as cancelled."""
        ...

    def close(self) -> None:
        """Kill its processes and free its arenas. Idempotent."""
        ...


class Cancellation:
    """A flag that someone waits to raise: children of a cancelled call are killed at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        """Whether the caller has gone."""
        return self._cancelled

    def attach(self, callback: Callable[[], None]) -> None:
        """Run `callback` on cancellation, or now if that has happened."""
        with self._lock:
            if not self._cancelled:
                self._callbacks.append(callback)
                return
        callback()

    def detach(self, callback: Callable[[], None]) -> None:
        """Forget `callback`."""
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

    def cancel(self) -> None:
        """Raise the flag. Idempotent."""
        with self._lock:
            self._cancelled = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()


@dataclass(frozen=True)
class TargetInfo:
    """What an agent needs to know to write for a target."""

    target: str
    execution: Execution | None
    """None where it can't run here."""
    available: bool
    reason: str = ""
    """Why it can't run here, and the remedy; empty where it can."""
    limits: tuple[Metric, ...] = ()
    peaks: tuple[Metric, ...] = ()
    """Measured on this machine."""
    hardware: tuple[Metric, ...] = ()
    """Cores, widths and sizes of what it runs on."""
    notes: tuple[str, ...] = ()
    """What of the hardware is no number, or not known, and why."""
    contract: str = ""
    example: Mapping[str, str] = field(default_factory=dict)
    """A complete submission: file name → text."""
    example_task: str = ""
    """The task it is for."""
    advice: tuple[str, ...] = ()
    listed: bool = True
    """Whether it is told of in the list of all; others are only named there."""


class Toolchain(Protocol):
    """One backend. Made once per server; thread-safe."""

    def targets(self) -> tuple[TargetInfo, ...]:
        """Targets of this backend, without peaks (measuring them takes a moment)."""
        ...

    def describe(self, target: str) -> TargetInfo:
        """Everything about one target, peaks included."""
        ...

    def build(self, submission: Submission, cancellation: Cancellation) -> Build:
        """Compile in a child of its own. Never raises for what the submission did."""
        ...

    def load(
        self, submission: Submission, threads: int, cancellation: Cancellation
    ) -> Session | Failure:
        """Start the kernel's children, which may use `threads` threads, and import it in each."""
        ...

    def load_checked(self, submission: Submission, cancellation: Cancellation) -> Session | Failure:
        """Likewise in one child whose compiled code raises IndexError for a wrong index."""
        ...

    def explain(
        self,
        submission: Submission,
        calls: Sequence[Call],
        threads: int,
        cancellation: Cancellation,
    ) -> Explanation:
        """What the compiler makes of a submission that works, for these calls."""
        ...

    def close(self) -> None:
        """Kill every child."""
        ...
