"""The numba target: Python and numba on the CPU of this machine, in children of the pool."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from kernels import baselines
from kernels.records import (
    Bandwidth,
    Build,
    Execution,
    Failure,
    Metric,
    Status,
    Submission,
)
from kernels.tasks import TASKS
from toolchains import hotspots, vectorisation
from toolchains.backends import Parts
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
from toolchains.first_call import (
    FIRST_CALL_S,
    earlier,
    failed_build,
    slow_first_calls,
    stops_build,
    warm_up,
    warnings,
)
from toolchains.limits import deadline_s, limits, output_room
from toolchains.peaks import Peaks, PeaksBusy
from toolchains.tripwires import tripped

TARGET = "numba"
_LONG_CALL_S = 20.0
"""A call of so long is not made again to see what memory it takes."""
_LOOKS_S = 0.25
_MOST_LOOKED_AT = 100
"""Time for which a child is looked at to see where it is, and calls for which it is, at most."""
_LEAST_LOOKS = 50
"""From which a share can be told."""
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
            return failed_build(refused, start)
        task = TASKS[submission.task]
        # Compile, not score: one child runs all functions of the submission.
        session = open_session(
            self._pool, submission, task.functions, cancellation, purpose=Purpose.BUILD
        )
        if isinstance(session, Failure):
            return failed_build(earlier(session), start)
        cancellation.attach(session.kill)
        try:
            failure, took = warm_up(session, task)
        finally:
            cancellation.detach(session.kill)
            session.close()
        if failure is not None and stops_build(failure):
            return failed_build(earlier(failure), start)
        return Build(
            status=Status.COMPILED,
            stage=Status.LOADS,
            seconds=time.perf_counter() - start,
            diagnostics=slow_first_calls(took) if failure is None else warnings(failure),
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
                Metric("first_call_deadline", FIRST_CALL_S, "s", "derived"),
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


def backend(parts: Parts) -> NumbaToolchain:
    """The numba target of a server."""
    return NumbaToolchain(parts.pool, parts.peaks, parts.memory_bytes, tripwires=parts.tripwires)


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
