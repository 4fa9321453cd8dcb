"""`profile`: where a kernel spends its time, and what of this machine it makes use of.

The speeds are measured as `run_compress` does; the split over the submission's functions, and what
the operating system counts, come from a few more calls. What the compiler did comes from a child of
its own, which compiles the submission once more.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kernels.modes.names import DIRECT
from kernels.records import (
    Arg,
    Bandwidth,
    Failure,
    Loop,
    Metric,
    Profile,
    Sample,
    Status,
    Submission,
)
from kernels.tasks.base import StageTask, Task, nbytes_of
from toolchains.base import Call, Explanation, Phase, Reply, Shares, Usage
from toolchains.feedback.performance_rules import Facts, performance_guidance
from toolchains.limits import deadline_s, output_room
from toolchains.peaks import PeaksBusy
from toolchains.vectorisation import ranked

from .passes import Stopped
from .roofline import Measured, metrics, sentence
from .rounds import Bench, Rounds, batch_size, warm_up
from .roundtrip import compress
from .timing import broken, on_the_field, settled

_REPEATS = 5
_SPLITS = 3

Explain = Callable[[Sequence[Call]], Explanation]
"""What the compiler makes of the kernel, for these calls."""


@dataclass(frozen=True)
class _Split:
    """The median of a few profiled calls of one function."""

    call: Call
    moved_bytes: int
    phases: tuple[Phase, ...]
    usage: Usage | None


@dataclass(frozen=True)
class _Timed:
    """What was measured while nothing else was."""

    samples: tuple[Sample, ...]
    splits: tuple[_Split, ...]
    batch: int
    copy_peak: float
    """Of one thread, at the field's size."""
    at: Mapping[int, Bandwidth]
    """Of one thread, at the size that each split moves."""


def profile_kernel(bench: Bench, submission: Submission, explain: Explain) -> Profile:
    """Profile every function of a kernel on one field."""
    at_bound = at_its_bound(bench)
    if isinstance(at_bound, Failure):
        return failed_profile(bench, at_bound)
    bench = at_bound
    timed = _time(bench)
    if isinstance(timed, Failure):
        return failed_profile(bench, timed)
    bench.watch.progress(0.95, "asking the compiler")
    explained = explain([split.call for split in timed.splits])
    curve = _curve(bench)
    measured = [_measured(bench, timed, split, explained, curve) for split in timed.splits]
    slow = max(measured, key=lambda m: m.seconds)
    disturbed = sum(s.disturbed for s in timed.samples) / len(timed.samples)
    phases = [phase for one in measured for phase in one.phases]
    loops = ranked(submission, explained.loops, phases, _shares(measured, explained))
    # The verdict and the advice are on the slowest function.
    seen = explained.shares.get(slow.function, Shares({})).spots
    inside = [loop for loop in loops if loop.share is None or (loop.file, loop.line) in seen]
    return Profile(
        status=Status.BOUND_OK,  # every timed output was checked
        stage=Status.TIMED,
        field=bench.asked.info.name,
        bound=bench.bound,
        metrics=(
            *_general(bench, timed),
            *(m for one in measured for m in metrics(one)),
            *explained.metrics,
        ),
        bottleneck=sentence(slow, inside),
        guidance=performance_guidance(_facts(submission, slow, disturbed, inside)),
        loops=loops,
        notes=_notes(timed.samples, measured, explained),
        peaks=curve,
    )


def at_its_bound(bench: Bench) -> Bench | Failure:
    """Where the bound depends on what the kernel makes of the field, that is seen first."""
    if isinstance(bench.task, StageTask) or bench.bound.mode in DIRECT:
        return bench
    done = on_the_field(bench)
    if isinstance(done, Stopped):
        return done.failure
    return broken(bench.task, done) or settled(bench, done)


def _time(bench: Bench) -> _Timed | Failure:
    bench.watch.progress(0.0, "warming up")
    cold = warm_up(bench)
    if cold is not None:
        return cold
    # It ranks nothing: a kernel that is not careful yet can be profiled.
    rounds = Rounds(bench, _REPEATS, hard=0)
    with bench.alone(), bench.session.apart():
        batch = batch_size(bench)
        failure = rounds.run(batch)
        # A busy machine blurs a profile but does not hide where the time goes.
        blurred = failure is not None and failure.status is Status.INCONCLUSIVE and rounds.samples
        if failure is not None and not blurred:
            return failure
        bench.watch.progress(0.9, "splitting the time over functions")
        splits = _splits(bench)
        if isinstance(splits, Failure):
            return splits
        peak = bench.peaks.at(bench.field.data.nbytes).copy_gbps
        at = {s.moved_bytes: bench.peaks.at(s.moved_bytes // 2) for s in splits}
    return _Timed(rounds.samples, tuple(splits), batch, peak, at)


def calls_of(bench: Bench) -> list[Call] | Failure:
    """One call per function of the task, on the field; the compressor is asked for its stream."""
    data, bound = bench.field.data, bench.bound.absolute
    if isinstance(bench.task, StageTask):
        inputs = bench.task.inputs(data, bound)
        expected = sum(a.nbytes for a in bench.task.golden(*inputs))
        return [Call("run", inputs, expected)]
    packed = compress(bench.session, (data,), bound)
    if isinstance(packed, Failure):
        return packed
    back = (packed.streams[0], data.shape, data.dtype)
    return [
        Call("compress", (data, bound), data.nbytes),
        Call("decompress", back, data.nbytes),
    ]


def _splits(bench: Bench) -> list[_Split] | Failure:
    """Per function of the task, one after the other."""
    calls = calls_of(bench)
    if isinstance(calls, Failure):
        return calls
    splits = []
    for call in calls:
        split = _split(bench, call)
        if isinstance(split, Failure):
            return split
        splits.append(split)
    return splits


def _split(bench: Bench, call: Call) -> _Split | Failure:
    """It is compiled already: numba can't compile wrapped calls."""
    replies: list[Reply] = []
    moved = 0
    for _ in range(_SPLITS):
        reply = bench.session.call(
            call.function,
            (call.arguments,),
            capacity=(output_room(call.output_bytes),),
            deadline_s=deadline_s(call.output_bytes),
            profiled=True,
        )
        if isinstance(reply, Failure):
            return reply
        # The arrays are valid only until the next call.
        replies.append(replace(reply, inputs=(), outputs=()))
        moved = _read(bench.task, call.arguments) + nbytes_of(reply.outputs[0])
    median = sorted(replies, key=lambda r: r.child_seconds)[_SPLITS // 2]
    return _Split(call, moved, median.phases, median.usage)


def _read(task: Task, arguments: tuple[Arg, ...]) -> int:
    return task.bytes_read(arguments) if isinstance(task, StageTask) else nbytes_of(arguments)


def _measured(
    bench: Bench,
    timed: _Timed,
    split: _Split,
    explained: Explanation,
    curve: tuple[Bandwidth, ...],
) -> Measured:
    peak = timed.at[split.moved_bytes]
    if bench.request.threads > 1:
        peak = next((b for b in curve if b.nbytes >= peak.nbytes), curve[-1]) if curve else peak
    function = split.call.function
    empty = bench.live.null_round_trip_s.get(function, 0.0)
    seconds = _median(timed.samples, function)
    return Measured(
        function=function,
        seconds=seconds,
        elements=bench.field.data.size,
        original_bytes=bench.nbytes,
        moved_bytes=split.moved_bytes,
        copy_gbps=peak.copy_gbps,
        empty_seconds=empty / timed.batch,
        threads=bench.request.threads,
        phases=_scaled(split.phases, seconds),
        usage=split.usage,
        memory=explained.usage.get(function),
    )


def _scaled(phases: Sequence[Phase], seconds: float) -> tuple[Phase, ...]:
    """Phases of a call that was slower for being watched, in parts of the measured time."""
    total = sum(phase.seconds for phase in phases)
    return tuple(replace(p, seconds=p.seconds * seconds / total) for p in phases if total > 0)


def _shares(measured: Sequence[Measured], explained: Explanation) -> Shares | None:
    """Of the time of all functions; None if it was not seen where that goes."""
    if any(one.function not in explained.shares for one in measured):
        return None
    total = sum(one.seconds for one in measured)
    spots: dict[tuple[str, int], float] = {}
    functions: dict[str, float] = {}
    for one in measured:
        shares, part = explained.shares[one.function], one.seconds / total
        for spot, share in shares.spots.items():
            spots[spot] = spots.get(spot, 0.0) + share * part
        for name, share in shares.functions.items():
            functions[name] = functions.get(name, 0.0) + share * part
    return Shares(spots, functions)


def _median(samples: tuple[Sample, ...], function: str) -> float:
    """Seconds of one call, of undisturbed requests if there are any."""
    those = [s for s in samples if s.direction == function]
    calm = [s for s in those if not s.disturbed] or those
    return statistics.median(s.seconds / s.batch for s in calm)


def _curve(bench: Bench) -> tuple[Bandwidth, ...]:
    """Of as many threads as the run has; empty if the machine does not come to rest."""
    try:
        return bench.peaks.curve(bench.request.threads)
    except PeaksBusy:
        return ()


def _general(bench: Bench, timed: _Timed) -> tuple[Metric, ...]:
    empty = max(bench.live.null_round_trip_s.values(), default=0.0)
    samples = timed.samples
    return (
        Metric("copy_peak", timed.copy_peak, "GB/s", "measured"),
        Metric("empty_round_trip", empty, "s", "measured"),
        Metric("timed_requests", float(len(samples)), "", "measured"),
        Metric("disturbed_requests", float(sum(s.disturbed for s in samples)), "", "measured"),
        Metric("longest_wait", max(s.wait_seconds for s in samples), "s", "measured"),
        Metric("batch", float(timed.batch), "inputs per request", "measured"),
    )


def _notes(
    samples: Sequence[Sample], measured: Sequence[Measured], explained: Explanation
) -> tuple[str, ...]:
    notes = []
    disturbed = [s for s in samples if s.disturbed]
    if disturbed:
        worst = max(s.wait_seconds for s in disturbed)
        notes.append(
            f"{len(disturbed)} of {len(samples)} timed requests were disturbed: the kernel or the "
            f"server waited up to {worst * 1e3:.2g} ms for a core"
        )
    missing = {m.usage.missing for m in measured if m.usage is not None and m.usage.missing}
    return (*notes, *sorted(missing), *explained.notes)


def _facts(
    submission: Submission, slow: Measured, disturbed: float, loops: Sequence[Loop]
) -> Facts:
    usage, memory = slow.usage, slow.memory
    total = sum(p.seconds for p in slow.phases)
    return Facts(
        interpreted=slow.interpreted,
        helped=slow.helped,
        largest=max((p.seconds for p in slow.phases), default=0.0) / total if total else 0.0,
        of_copy_peak=slow.of_copy_peak,
        overhead=slow.overhead,
        disturbed=disturbed,
        new_memory=slow.faulted,
        peak_memory=memory.peak_bytes / max(1, slow.moved_bytes) if memory else 0.0,
        threads=slow.threads,
        threads_used=usage.threads if usage else slow.threads,
        parallel=any("parallel=True" in text for text in submission.files.values()),
        loops=tuple(loops),
    )


def failed_profile(bench: Bench, failure: Failure) -> Profile:
    """Of a kernel of which nothing was learnt."""
    return Profile(
        status=failure.status,
        stage=failure.stage,
        field=bench.asked.info.name,
        bound=bench.bound,
        metrics=(),
        bottleneck="",
        failure=failure,
    )
