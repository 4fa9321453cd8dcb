"""`profile`: where a kernel spends its time, and how much of the machine's bandwidth it reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernels.bounds import derive
from kernels.records import Arg, Bound, Failure, Field, Metric, Profile, Status
from kernels.tasks.base import StageTask, Task
from toolchains.base import Phase, Reply, Session
from toolchains.peaks import Peaks

from .requests import Request, Watch
from .roundtrip import deadline_s

_REPEATS = 5


@dataclass(frozen=True)
class _Measured:
    function: str
    seconds: float
    kernel_seconds: float
    phases: tuple[Phase, ...]


def profile_kernel(
    session: Session, task: Task, field: Field, request: Request, watch: Watch, peaks: Peaks
) -> Profile:
    """Profile every function of a kernel on one field. Raises BoundError."""
    bound = derive(field.data, field.info.fill_value, request.mode, request.bound)
    measured = _measure_all(session, task, field, bound.absolute, watch)
    if isinstance(measured, Failure):
        return _failed(field, bound, measured)
    metrics = _metrics(measured, field.data.nbytes, peaks)
    return Profile(
        status=Status.ROUNDTRIPS,
        stage=Status.BOUND_OK,
        field=field.info.name,
        bound=bound,
        metrics=metrics,
        bottleneck=_bottleneck(measured),
    )


def _measure_all(
    session: Session, task: Task, field: Field, abs_bound: float, watch: Watch
) -> list[_Measured] | Failure:
    data = field.data
    if isinstance(task, StageTask):
        room = 2 * sum(a.nbytes + 64 for a in task.golden(*task.inputs(data, abs_bound))) + 4096
        one = _measure(session, "run", task.inputs(data, abs_bound), room, watch)
        return one if isinstance(one, Failure) else [one[0]]
    packed = _measure(session, "compress", (data, abs_bound), 2 * data.nbytes + (1 << 16), watch)
    if isinstance(packed, Failure):
        return packed
    measured, reply = packed
    stream = reply.outputs[0][0].copy()
    back = _measure(
        session, "decompress", (stream, data.shape, data.dtype), 2 * data.nbytes + 4096, watch
    )
    return back if isinstance(back, Failure) else [measured, back[0]]


def _measure(
    session: Session, function: str, arguments: tuple[Arg, ...], room: int, watch: Watch
) -> tuple[_Measured, Reply] | Failure:
    """The median repetition, after one that compiles.

    That one is not profiled: numba can't compile calls between functions that are wrapped.
    """
    replies: list[Reply] = []
    for i in range(_REPEATS + 1):
        watch.progress(0.0, f"profiling {function}, {i} of {_REPEATS}")
        reply = session.call(
            function, (arguments,), capacity=(room,), deadline_s=deadline_s(room), profiled=i > 0
        )
        if isinstance(reply, Failure):
            return reply
        replies.append(reply)
    ordered = sorted(replies[1:], key=lambda r: r.seconds)
    middle = ordered[len(ordered) // 2]
    measured = _Measured(function, middle.seconds, middle.child_seconds, middle.phases)
    return measured, replies[-1]


def _metrics(measured: Sequence[_Measured], nbytes: int, peaks: Peaks) -> tuple[Metric, ...]:
    peak = peaks.at(nbytes).copy_gbps
    metrics = [Metric("copy_peak", peak, "GB/s", "measured")]
    for m in measured:
        speed = nbytes / m.seconds / 1e9
        metrics += [
            Metric(f"{m.function}.seconds", m.seconds, "s", "measured"),
            Metric(f"{m.function}.bandwidth", speed, "GB/s", "measured"),
            Metric(f"{m.function}.share_of_copy_peak", speed / peak, "", "derived"),
        ]
        outside = max(0.0, m.seconds - sum(p.seconds for p in m.phases))
        metrics += [
            Metric(f"phase.{m.function}.{_phase_name(m, p)}", p.seconds, "s", "reported")
            for p in m.phases
        ]
        # Waking the child up, handing over, and Python between the submission's functions.
        metrics.append(Metric(f"phase.{m.function}.(request)", outside, "s", "derived"))
    return tuple(metrics)


def _phase_name(measured: _Measured, phase: Phase) -> str:
    twice = sum(p.name == phase.name for p in measured.phases) > 1
    return f"{phase.name}@{phase.file}:{phase.line}" if twice else phase.name


def _bottleneck(measured: Sequence[_Measured]) -> str:
    slow = max(measured, key=lambda m: m.kernel_seconds)
    if not slow.phases:
        return f"{slow.function}: {slow.seconds * 1e3:.2f} ms, not in functions of the submission"
    top = max(slow.phases, key=lambda p: p.seconds)
    share = top.seconds / max(slow.kernel_seconds, 1e-9)
    how = "machine code" if top.compiled else "interpreted Python"
    where = f"`{top.name}` ({top.file}:{top.line}, {how})"
    milliseconds = slow.kernel_seconds * 1e3
    return f"{slow.function} takes {milliseconds:.2f} ms; {min(share, 1.0):.0%} of it in {where}"


def _failed(field: Field, bound: Bound, failure: Failure) -> Profile:
    return Profile(
        status=failure.status,
        stage=failure.stage,
        field=field.info.name,
        bound=bound,
        metrics=(),
        bottleneck="",
        failure=failure,
    )
