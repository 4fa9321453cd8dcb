"""`run_compress`: size and error on the pristine field, speed on content that is new every time."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernels.records import (
    Array,
    Comparison,
    Execution,
    Failure,
    FailureKind,
    Metric,
    RunResult,
    Sample,
    Status,
)
from kernels.tasks.base import CodecTask, StageTask
from kernels.verify import compare
from results_db.summary import COPY_PEAK, FRESH_BYTES
from toolchains.peaks import Bandwidth, Peaks

from .golden import GoldenStreams
from .rounds import Audit, Bench, Rounds, batch_size, checked_stage, warm_up
from .roundtrip import compress, decompress

_AUDITED_ONE_IN = 4
_PEAK_TOLERANCE = 1.1
"""Measurement noise that a result may exceed a measured peak by before it is `suspect`."""


@dataclass(frozen=True)
class _Pristine:
    """A codec on the unchanged field."""

    stream: Array
    comparison: Comparison
    golden_bytes: int | None = None
    failure: Failure | None = None


@dataclass(frozen=True)
class _Moved:
    """Bytes that one call can't do without."""

    read: int
    written: int

    def least_seconds(self, peaks: Peaks) -> float:
        """For one thread, at the bandwidth measured for so many bytes."""
        reading = self.read / peaks.at(self.read).read_gbps if self.read else 0.0
        writing = self.written / peaks.at(self.written).write_gbps if self.written else 0.0
        return max(reading, writing) / 1e9


def _checked_stage(bench: Bench, task: StageTask) -> _Moved | Failure:
    """What a stage moves, once its output on the field itself was found right."""
    inputs = task.inputs(bench.field.data, bench.bound.absolute)
    reply = checked_stage(bench.session, task, [inputs])
    if isinstance(reply, Failure):
        return reply
    read = sum(value.nbytes for value in inputs if isinstance(value, np.ndarray))
    return _Moved(read, sum(array.nbytes for array in reply.outputs[0]))


def time_kernel(bench: Bench, golden: GoldenStreams) -> RunResult:
    """Measure a kernel: first what it makes of the field itself, then how fast."""
    bench.watch.progress(0.0, "size and error on the field itself")
    nbytes = bench.field.data.nbytes
    moved: Mapping[str, _Moved] = {"compress": _Moved(nbytes, 0), "decompress": _Moved(0, nbytes)}
    if isinstance(bench.task, StageTask):
        checked = _checked_stage(bench, bench.task)
        result = _result(bench, checked if isinstance(checked, Failure) else None)
        moved = {} if isinstance(checked, Failure) else {"run": checked}
    else:
        pristine = _pristine(bench, bench.task, golden)
        result = _codec_result(bench, pristine)
    if result.failure is not None:
        return result
    bench.watch.progress(0.1, "warming up on other content")
    cold = warm_up(bench)
    if cold is not None:
        return _stopped(result, cold)
    rounds = Rounds(bench, bench.request.repeats, _audit(bench, golden))
    with bench.alone(), bench.session.apart():
        failure = rounds.run(batch_size(bench))
        peaks = bench.peaks.at(nbytes)
        limits = {function: one.least_seconds(bench.peaks) for function, one in moved.items()}
    result = replace(
        result,
        samples=rounds.samples,
        null_round_trip_s=max(bench.live.null_round_trip_s.values(), default=None),
        metrics=_metrics(peaks, rounds.stream_bytes),
    )
    failure = failure or _too_fast(rounds.samples, limits, bench.request.threads)
    if failure is not None:
        return _stopped(result, failure)
    return replace(result, status=Status.TIMED, stage=None)


def _metrics(peaks: Bandwidth, fresh_bytes: float | None) -> tuple[Metric, ...]:
    copy = Metric(COPY_PEAK, peaks.copy_gbps, "GB/s", "measured")
    if fresh_bytes is None:
        return (copy,)
    return (copy, Metric(FRESH_BYTES, fresh_bytes, "bytes", "measured"))


def _audit(bench: Bench, golden: GoldenStreams) -> Audit | None:
    """The streams that are timed must be of the task's format too: one of them is read.

    In a kernel's first run on a field at a bound, and at random later: reading takes a while.
    """
    form = bench.task.stream_format if isinstance(bench.task, CodecTask) else None
    audited, key = bench.live.audited, (bench.field.info.name, bench.bound.absolute)
    if form is None or (key in audited and secrets.randbelow(_AUDITED_ONE_IN)):
        return None
    audited.add(key)
    return lambda variant, stream: golden.unreadable(
        form, stream, variant, bench.bound.absolute, remember=False
    )


def _pristine(bench: Bench, task: CodecTask, golden: GoldenStreams) -> _Pristine | Failure:
    data, bound, session = bench.field.data, bench.bound.absolute, bench.session
    packed = compress(session, (data,), bound)
    if isinstance(packed, Failure):
        return packed
    stream = packed.streams[0]
    back = decompress(session, (stream,), (data,))
    if isinstance(back, Failure):
        return back
    comparison = compare(data, back.outputs[0][0], bound, bench.field.info.fill_value)
    if not comparison.holds:
        return _Pristine(stream, comparison, failure=_violation(comparison))
    form = task.stream_format
    if form is None:
        return _Pristine(stream, comparison)
    reference = golden.stream(form, bench.field.info.sha256, data, bound)
    failure = None
    if not np.array_equal(reference, stream):
        failure = golden.unreadable(form, stream, data, bound)
    return _Pristine(stream, comparison, reference.nbytes, failure)


def _violation(comparison: Comparison) -> Failure:
    c = comparison
    text = (
        f"the bound does not hold: {c.violations} of {c.checked} values exceed {c.abs_bound!r}; "
        f"the largest error is {c.max_abs_error!r}"
    )
    return Failure(Status.ERROR, Status.BOUND_OK, FailureKind.BOUND, text)


def _too_fast(
    samples: Sequence[Sample], limits: Mapping[str, float], threads: int
) -> Failure | None:
    """A result that so many threads of this machine can't have computed.

    limits: function → seconds that one thread needs for one call at least.
    """
    for direction, least in limits.items():
        seconds = [s.seconds / s.batch for s in samples if s.direction == direction]
        if seconds and float(np.median(seconds)) * threads * _PEAK_TOLERANCE < least:
            text = (
                f"{direction} in {np.median(seconds) * 1e3:.3g} ms is faster than this machine's "
                f"memory can move its data ({least / threads * 1e3:.3g} ms)"
            )
            return Failure(Status.SUSPECT, Status.TIMED, FailureKind.INTEGRITY, text)
    return None


def _codec_result(bench: Bench, pristine: _Pristine | Failure) -> RunResult:
    if isinstance(pristine, Failure):
        return _result(bench, pristine)
    return replace(
        _result(bench, pristine.failure),
        stream_bytes=pristine.stream.nbytes,
        comparison=pristine.comparison,
        golden_bytes=pristine.golden_bytes,
    )


def _result(bench: Bench, failure: Failure | None) -> RunResult:
    result = RunResult(
        status=Status.BOUND_OK,
        stage=Status.TIMED,
        execution=Execution.HARDWARE,
        field=bench.field.info.name,
        bound=bench.bound,
        raw_bytes=bench.field.data.nbytes,
        stream_bytes=0,
        comparison=None,
        samples=(),
        threads=bench.request.threads,
        cache_state="inputs just written by the server (last-level cache if they fit), "
        "memory of the allocator touched before",
    )
    return result if failure is None else _stopped(result, failure)


def _stopped(result: RunResult, failure: Failure) -> RunResult:
    return replace(result, status=failure.status, stage=failure.stage, failure=failure)
