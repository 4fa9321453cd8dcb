"""`profile`: where a kernel spends its time, and how much of the machine's bandwidth it reaches.

The speeds are measured as `run_compress` does; the split over the submission's functions comes from
a few more calls, in which the child takes the time of each.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from kernels.records import Arg, Failure, Metric, Profile, Sample, Status
from kernels.tasks.base import StageTask
from toolchains.base import Phase, Reply
from toolchains.feedback import performance_guidance
from toolchains.limits import deadline_s, output_room

from .rounds import Bench, Rounds, batch_size, warm_up
from .roundtrip import compress

_REPEATS = 5
_SPLITS = 3


@dataclass(frozen=True)
class _Measured:
    """One function of the task."""

    function: str
    seconds: float
    """Median time of one call."""
    phases: tuple[Phase, ...]


def profile_kernel(bench: Bench) -> Profile:
    """Profile every function of a kernel on one field."""
    measured = _measure(bench)
    if isinstance(measured, Failure):
        return _failed(bench, measured)
    nbytes = bench.field.data.nbytes
    peak = bench.peaks.at(nbytes).copy_gbps
    metrics = [Metric("copy_peak", peak, "GB/s", "measured")]
    metrics += [Metric("empty_round_trip", _empty(bench), "s", "measured")]
    metrics += [m for one in measured for m in _metrics(one, nbytes, peak)]
    slow = max(measured, key=lambda m: m.seconds)
    return Profile(
        status=Status.ROUNDTRIPS,
        stage=Status.BOUND_OK,
        field=bench.field.info.name,
        bound=bench.bound,
        metrics=tuple(metrics),
        bottleneck=_bottleneck(slow),
        guidance=performance_guidance(slow.phases, nbytes / slow.seconds / 1e9 / peak),
    )


def _measure(bench: Bench) -> list[_Measured] | Failure:
    bench.watch.progress(0.0, "warming up")
    cold = warm_up(bench)
    if cold is not None:
        return cold
    rounds = Rounds(bench, _REPEATS)
    with bench.alone(), bench.session.apart():
        failure = rounds.run(batch_size(bench))
        # A busy machine blurs a profile but does not hide where the time goes.
        if failure is not None and failure.status is not Status.INCONCLUSIVE:
            return failure
        bench.watch.progress(0.9, "splitting the time over functions")
        splits = _split(bench)
    if isinstance(splits, Failure):
        return splits
    return [
        _Measured(function, _median(rounds.samples, function), phases)
        for function, phases in splits.items()
    ]


def _median(samples: tuple[Sample, ...], function: str) -> float:
    """Seconds of one call, of undisturbed requests if there are any."""
    those = [s for s in samples if s.direction == function]
    calm = [s for s in those if not s.disturbed] or those
    return statistics.median(s.seconds / s.batch for s in calm)


def _split(bench: Bench) -> dict[str, tuple[Phase, ...]] | Failure:
    """Self times of the submission's functions, per function of the task."""
    data, bound = bench.field.data, bench.bound.absolute
    if isinstance(bench.task, StageTask):
        inputs = bench.task.inputs(data, bound)
        phases = _phases(bench, "run", inputs, sum(a.nbytes for a in bench.task.golden(*inputs)))
        return phases if isinstance(phases, Failure) else {"run": phases}
    packed = compress(bench.session, (data,), bound)
    if isinstance(packed, Failure):
        return packed
    stream = packed.streams[0]
    split: dict[str, tuple[Phase, ...]] = {}
    calls: dict[str, tuple[Arg, ...]] = {
        "compress": (data, bound),
        "decompress": (stream, data.shape, data.dtype),
    }
    for function, arguments in calls.items():
        phases = _phases(bench, function, arguments, data.nbytes)
        if isinstance(phases, Failure):
            return phases
        split[function] = phases
    return split


def _phases(
    bench: Bench, function: str, arguments: tuple[Arg, ...], nbytes: int
) -> tuple[Phase, ...] | Failure:
    """The median of a few calls. They are compiled already: numba can't compile wrapped calls."""
    replies: list[Reply] = []
    for _ in range(_SPLITS):
        reply = bench.session.call(
            function,
            (arguments,),
            capacity=(output_room(nbytes),),
            deadline_s=deadline_s(nbytes),
            profiled=True,
        )
        if isinstance(reply, Failure):
            return reply
        replies.append(reply)
    return sorted(replies, key=lambda r: r.child_seconds)[_SPLITS // 2].phases


def _empty(bench: Bench) -> float:
    return max(bench.live.null_round_trip_s.values(), default=0.0)


def _metrics(measured: _Measured, nbytes: int, peak: float) -> list[Metric]:
    speed = nbytes / measured.seconds / 1e9
    name = measured.function
    return [
        Metric(f"{name}.seconds", measured.seconds, "s", "measured"),
        Metric(f"{name}.bandwidth", speed, "GB/s", "measured"),
        Metric(f"{name}.share_of_copy_peak", speed / peak, "", "derived"),
        *(
            Metric(f"phase.{name}.{_phase_name(measured, p)}", p.seconds, "s", "reported")
            for p in measured.phases
        ),
    ]


def _phase_name(measured: _Measured, phase: Phase) -> str:
    twice = sum(p.name == phase.name for p in measured.phases) > 1
    return f"{phase.name}@{phase.file}:{phase.line}" if twice else phase.name


def _bottleneck(slow: _Measured) -> str:
    if not slow.phases:
        return f"{slow.function}: {slow.seconds * 1e3:.2f} ms, not in functions of the submission"
    total = sum(p.seconds for p in slow.phases)
    top = max(slow.phases, key=lambda p: p.seconds)
    how = "machine code" if top.compiled else "interpreted Python"
    return (
        f"{slow.function} takes {slow.seconds * 1e3:.2f} ms; of the time in the submission's "
        f"functions {top.seconds / total:.0%} is in `{top.name}` ({top.file}:{top.line}, {how})"
    )


def _failed(bench: Bench, failure: Failure) -> Profile:
    return Profile(
        status=failure.status,
        stage=failure.stage,
        field=bench.field.info.name,
        bound=bench.bound,
        metrics=(),
        bottleneck="",
        failure=failure,
    )
