"""The numba target: Python and numba on the CPU of this machine, in children of the pool."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kernels import baselines
from kernels.records import (
    Arg,
    Array,
    Bandwidth,
    Build,
    Diagnostic,
    Execution,
    Failure,
    FailureKind,
    Metric,
    Status,
    Submission,
)
from kernels.tasks import TASKS
from kernels.tasks.base import StageTask, Task
from toolchains import hotspots, vectorisation
from toolchains.base import (
    Call,
    Cancellation,
    Explanation,
    Reply,
    Session,
    Shares,
    TargetInfo,
    Usage,
)
from toolchains.child.wire import MAP_LINE
from toolchains.children.cores import all_cores
from toolchains.children.counters import missing_here
from toolchains.children.pool import Pool
from toolchains.children.samples import MOST_SAMPLES, PERIOD_S
from toolchains.children.session import ChildSession, Purpose, open_session
from toolchains.cpu import this_cpu
from toolchains.limits import COMPILING_S, REQUEST_S, deadline_s, limits, output_room
from toolchains.peaks import Peaks, PeaksBusy
from toolchains.tripwires import tripped

TARGET = "numba"
_FIRST_CALL_S = REQUEST_S + COMPILING_S
_WARM_UP_BOUND = 1e-3
_LONG_CALL_S = 20.0
"""A call of so long is not made again to see what memory it takes."""
_LOOKS_S = 0.25
_MOST_LOOKED_AT = 100
"""Time for which a child is looked at to see where it is, and calls for which it is, at most."""
_LEAST_LOOKS = 50
"""From which a share can be told."""
_SLOW_TO_COMPILE = 0.25
"""Share of the deadline of a first call from which on that is worth a word."""
_COMPILING_S = 30.0
"""More than a request's deadline, for compiling inside it."""
_EXAMPLE_TASK = "lorenzo-1d"

_CONTRACT = " ".join(
    (
        "kernel.py is imported in a fresh child with numpy, numba, the standard library and",
        "`szstream` (stream headers); no network, no files. Codecs define compress(data,",
        "abs_bound) -> 1-D uint8 array and decompress(stream, shape, dtype) -> array, which run",
        "in two processes that share only the stream; stages define run(*inputs). data is",
        "C-contiguous and yours to overwrite; abs_bound >= 0, and 0 asks for lossless. Refuse",
        "what you do not support with NotImplementedError. Every element is checked exactly; NaN",
        "and Inf must come back. Sockets, processes, signals, frames, absolute paths and data in",
        "the source are rejected before anything runs.",
    )
)

_ADVICE = (
    "Quantise first and predict on the integers: predicting from originals adds up errors.",
    "Check |x - x'| <= bound after rounding to the data type; store what fails as it is.",
    "No fastmath: fused multiply-add in the check lets violations through.",
    "Guard NaN and Inf before integer arithmetic.",
    "Loop over blocks of 32 values, fixed trip counts, no branches: LLVM then vectorises.",
    "Allocate the output once and return a slice; writing over an input copies its pages.",
    "A run has one thread unless it asks for more.",
)


class NumbaToolchain:
    """Implements `toolchains.base.Toolchain`."""

    def __init__(
        self, pool: Pool, peaks: Peaks, memory_bytes: int, *, tripwires: bool = True
    ) -> None:
        """memory_bytes: address space that a child may use; shown as a limit.

        tripwires: False runs what they would refuse: the other defences must hold without them.
        """
        self._pool, self._peaks, self._memory_bytes = pool, peaks, memory_bytes
        self._tripped = tripped if tripwires else _untouched

    def targets(self) -> tuple[TargetInfo, ...]:
        """See `Toolchain.targets`."""
        return (self._info(()),)

    def describe(self, target: str) -> TargetInfo:
        """See `Toolchain.describe`."""
        if target != TARGET:
            raise KeyError(target)
        cores = len(all_cores())
        try:
            peaks = _curve_metrics(self._peaks.curve(), "")
            if cores > 1:
                peaks += _curve_metrics(self._peaks.curve(cores), f"_by_{cores}_threads")
        except PeaksBusy as busy:
            return self._info((), notes=(f"peaks: {busy}",))
        return self._info(peaks)

    def build(self, submission: Submission, cancellation: Cancellation) -> Build:
        """See `Toolchain.build`: parse, import, then one small call so that numba compiles."""
        start = time.perf_counter()
        refused = self._tripped(submission)
        if refused is not None:
            return _failed(refused, start)
        task = TASKS[submission.task]
        # Compile, not score: one child runs all functions of the submission.
        session = open_session(
            self._pool, submission, task.functions, cancellation, purpose=Purpose.BUILD
        )
        if isinstance(session, Failure):
            return _failed(_earlier(session), start)
        cancellation.attach(session.kill)
        try:
            failure, took = _warm_up(session, task)
        finally:
            cancellation.detach(session.kill)
            session.close()
        if failure is not None and _stops_build(failure):
            return _failed(_earlier(failure), start)
        return Build(
            status=Status.COMPILED,
            stage=Status.LOADS,
            seconds=time.perf_counter() - start,
            diagnostics=slow_first_calls(took) if failure is None else _warnings(failure),
            metrics=(Metric("first_call_seconds", sum(took.values()), "s", "measured"),),
            first_call=failure,
        )

    def load(
        self, submission: Submission, threads: int, cancellation: Cancellation
    ) -> Session | Failure:
        """See `Toolchain.load`."""
        functions = TASKS[submission.task].functions
        return self._tripped(submission) or open_session(
            self._pool, submission, functions, cancellation, threads=threads
        )

    def load_checked(self, submission: Submission, cancellation: Cancellation) -> Session | Failure:
        """See `Toolchain.load_checked`."""
        functions = TASKS[submission.task].functions
        return self._tripped(submission) or open_session(
            self._pool, submission, functions, cancellation, purpose=Purpose.CHECK
        )

    def explain(
        self,
        submission: Submission,
        calls: Sequence[Call],
        threads: int,
        cancellation: Cancellation,
    ) -> Explanation:
        """See `Toolchain.explain`: compile again, in a child whose compiler tells what it does."""
        session = open_session(
            self._pool,
            submission,
            [call.function for call in calls],
            cancellation,
            purpose=Purpose.EXPLAIN,
            threads=threads,
        )
        if isinstance(session, Failure):
            return Explanation(notes=(f"the compiler was not asked: {session.message}",))
        cancellation.attach(session.kill)
        try:
            return _explained(session, submission, calls)
        finally:
            cancellation.detach(session.kill)
            session.close()

    def close(self) -> None:
        """See `Toolchain.close`."""
        self._pool.close()

    def _info(self, peaks: tuple[Metric, ...], notes: tuple[str, ...] = ()) -> TargetInfo:
        return TargetInfo(
            target=TARGET,
            execution=Execution.HARDWARE,
            available=True,
            limits=(
                Metric("address_space", self._memory_bytes / 1e9, "GB per process", "measured"),
                Metric("first_call_deadline", _FIRST_CALL_S, "s", "derived"),
                *limits(),
                Metric("scratch_folder", 64.0, "MiB", "derived"),
            ),
            peaks=peaks,
            hardware=this_cpu().metrics(),
            notes=(*this_cpu().notes(), *filter(None, (missing_here(),)), *notes),
            contract=_CONTRACT,
            example=dict(baselines.read(_EXAMPLE_TASK, "naive").files),
            example_task=_EXAMPLE_TASK,
            advice=_ADVICE,
        )


def _untouched(_submission: Submission) -> None:
    """In place of tripwires that are switched off."""


def _curve_metrics(curve: Sequence[Bandwidth], suffix: str) -> tuple[Metric, ...]:
    return tuple(
        Metric(f"{name}_at_{b.nbytes >> 10}_KiB{suffix}", value, "GB/s", "measured")
        for b in curve
        for name, value in (("copy", b.copy_gbps), ("read", b.read_gbps), ("write", b.write_gbps))
    )


def _explained(session: ChildSession, submission: Submission, calls: Sequence[Call]) -> Explanation:
    """Each function twice: the first call compiles, the second shows what memory a call takes.

    Then as often as it takes to see where it spends its time.
    """
    usage: dict[str, Usage] = {}
    notes: list[str] = []
    for call in calls:
        for profiled in (False, True):
            reply = _explaining_call(session, call, profiled=profiled)
            if isinstance(reply, Failure):
                notes.append(f"the compiler was not asked about {call.function}: {reply.message}")
                break
            if reply.usage is not None:
                usage[call.function] = reply.usage
            elif reply.seconds > _LONG_CALL_S:
                notes.append(f"memory of {call.function} was not measured: the call is too long")
                break
    looks = {call.function: _looked_at(session, call) for call in calls if call.function in usage}
    printed = session.output()
    return Explanation(
        loops=vectorisation.loops(submission, printed),
        metrics=vectorisation.code_metrics(submission, printed),
        usage=usage,
        shares={
            function: shares
            for function, replies in looks.items()
            if (shares := _shares(submission, printed, replies)) is not None
        },
        notes=tuple(notes),
    )


def _explaining_call(session: Session, call: Call, *, profiled: bool) -> Reply | Failure:
    return session.call(
        call.function,
        (call.arguments,),
        capacity=(output_room(call.output_bytes),),
        deadline_s=_COMPILING_S + deadline_s(call.output_bytes),
        profiled=profiled,
    )


def _looked_at(session: Session, call: Call) -> list[Reply]:
    """Calls of a compiled function, during which it is looked at where the child is."""
    replies: list[Reply] = []
    seconds = 0.0
    while seconds < _LOOKS_S and len(replies) < _MOST_LOOKED_AT:
        reply = _explaining_call(session, call, profiled=True)
        if isinstance(reply, Failure):
            break
        seconds += reply.child_seconds
        replies.append(replace(reply, inputs=(), outputs=()))
    return replies


def _seen_seconds(reply: Reply) -> float:
    """Of a call, without what it waited for a core and what came after there was no more room."""
    looks = sum(reply.usage.addresses.values()) if reply.usage is not None else 0
    if looks >= MOST_SAMPLES:
        return looks * PERIOD_S
    return min(reply.cpu_seconds, sum(phase.seconds for phase in reply.phases))


def _shares(submission: Submission, printed: str, replies: Sequence[Reply]) -> Shares | None:
    """Of the time of some calls of one function; None if too little is seen."""
    addresses: Counter[int] = Counter()
    for reply in replies:
        addresses.update(reply.usage.addresses if reply.usage is not None else {})
    if addresses.total() < _LEAST_LOOKS or MAP_LINE not in printed:
        return None
    seen = hotspots.seen_in(submission, printed, addresses)
    spent = sum(_seen_seconds(reply) for reply in replies)
    # Several threads together are at more places than there is time.
    looks = max(spent / PERIOD_S, sum(seen.functions.values()), 1)
    return Shares(
        {spot: times / looks for spot, times in seen.spots.items()},
        {name: times / looks for name, times in seen.functions.items()},
    )


def _warm_up(session: Session, task: Task) -> tuple[Failure | None, dict[str, float]]:
    """Call every function once on a small smooth field: the failure if one failed, the seconds."""
    field = _small_field()
    if isinstance(task, StageTask):
        reply = _call(session, "run", task.inputs(field, _WARM_UP_BOUND), field)
        return (reply, {}) if isinstance(reply, Failure) else (None, {"run": reply.seconds})
    packed = _call(session, "compress", (field, _WARM_UP_BOUND), field)
    if isinstance(packed, Failure):
        return packed, {}
    if [a.ndim for a in packed.outputs[0]] != [1]:
        return _contract("compress must return one array"), {}
    stream = packed.outputs[0][0].copy()
    back = _call(session, "decompress", (stream, field.shape, field.dtype), field)
    if isinstance(back, Failure):
        return back, {"compress": packed.seconds}
    return None, {"compress": packed.seconds, "decompress": back.seconds}


def slow_first_calls(took: Mapping[str, float]) -> tuple[Diagnostic, ...]:
    """A note for each function whose first call came near its deadline."""
    return tuple(
        Diagnostic(
            "note",
            f"the first call of {function}, which compiles it, took {seconds:.1f} s of the "
            f"{_FIRST_CALL_S:.0f} s that it may take: slice assignments, np.full and .any() "
            "inside @njit compile slowly, and each combination of argument types compiles anew",
        )
        for function, seconds in took.items()
        if seconds > _SLOW_TO_COMPILE * _FIRST_CALL_S
    )


def _call(
    session: Session, function: str, arguments: tuple[Arg, ...], field: Array
) -> Reply | Failure:
    room = (1 << 20) + 8 * field.nbytes
    return session.call(function, (arguments,), capacity=(room,), deadline_s=REQUEST_S)


def _small_field() -> Array:
    """3-D, because that is what most fields are: numba compiles per number of dimensions."""
    x, y, z = np.meshgrid(*(np.linspace(0, 3, n) for n in (10, 12, 14)), indexing="ij")
    return np.ascontiguousarray(np.sin(x + y) * np.cos(z) + 2.0, np.float32)


def _stops_build(failure: Failure) -> bool:
    """A typing error or a missing function is of the build; what happens later is of the run."""
    return failure.kind in (FailureKind.COMPILE, FailureKind.CONTRACT, FailureKind.CANCELLED)


def _earlier(failure: Failure) -> Failure:
    """The same failure on the rung where a build stops."""
    stage = Status.PARSED if failure.kind is FailureKind.SYNTAX else Status.COMPILED
    return replace(failure, stage=stage)


def _failed(failure: Failure, start: float) -> Build:
    return Build(
        status=failure.status,
        stage=failure.stage,
        seconds=time.perf_counter() - start,
        failure=failure,
        diagnostics=failure.diagnostics,
    )


def _contract(message: str) -> Failure:
    return Failure(Status.ERROR, Status.COMPILED, FailureKind.CONTRACT, message)


def _warnings(failure: Failure) -> tuple[Diagnostic, ...]:
    """It compiled, but the first call on a small smooth field failed: say so early."""
    text = f"it compiles, but the first call on a 10x12x14 float32 field failed: {failure.message}"
    places = failure.diagnostics[:1]
    if not places:
        return (Diagnostic("warning", text),)
    p = places[0]
    return (Diagnostic("warning", text, p.file, p.line, p.column, p.source),)
