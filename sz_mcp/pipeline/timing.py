"""`run_compress`: size and error on the pristine field, speed on content that is new every time."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernels.patterns import codec_pattern
from kernels.records import (
    Array,
    Bandwidth,
    Comparison,
    Execution,
    Failure,
    FailureKind,
    Metric,
    RunResult,
    Sample,
    Status,
)
from kernels.tasks.base import CodecTask, StageTask, nbytes_of
from kernels.verify import compare
from results_db.summary import COPY_PEAK, FRESH_BYTES
from toolchains.peaks import Peaks

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
    return _Moved(task.bytes_read(inputs), nbytes_of(reply.outputs[0]))


@dataclass(frozen=True)
class Prepared:
    """A kernel that is warm, or why it is not worth timing."""

    result: RunResult
    """Without samples; with a failure if it can't be timed."""
    moved: Mapping[str, _Moved]


@dataclass(frozen=True)
class Timed:
    """What came of timing a kernel."""

    samples: tuple[Sample, ...]
    stream_bytes: float | None
    """Median size of the streams that were timed."""
    failure: Failure | None


def time_kernel(bench: Bench, golden: GoldenStreams) -> RunResult:
    """Measure a kernel: first what it makes of the field itself, then how fast."""
    prepared = prepare(bench, golden)
    if prepared.result.failure is not None:
        return prepared.result
    rounds = Rounds(bench, bench.request.repeats, _audit(bench, golden))
    with bench.alone(), bench.session.apart():
        failure = rounds.run(batch_size(bench))
        timed = Timed(rounds.samples, rounds.stream_bytes, failure)
        return conclude(bench, prepared, timed)


def prepare(bench: Bench, golden: GoldenStreams) -> Prepared:
    """See what a kernel makes of the field itself, and warm it up on other content."""
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
        return Prepared(result, moved)
    bench.watch.progress(0.1, "warming up on other content")
    cold = warm_up(bench)
    return Prepared(result if cold is None else stopped(result, cold), moved)


def conclude(bench: Bench, prepared: Prepared, timed: Timed) -> RunResult:
    """The result of a timed kernel; while nothing else is timed, for peaks may be measured."""
    peaks = bench.peaks.at(bench.field.data.nbytes)
    limits = {name: one.least_seconds(bench.peaks) for name, one in prepared.moved.items()}
    result = replace(
        prepared.result,
        samples=timed.samples,
        null_round_trip_s=max(bench.live.null_round_trip_s.values(), default=None),
        metrics=_metrics(peaks, timed.stream_bytes),
    )
    failure = timed.failure or _too_fast(timed.samples, limits, bench.request.threads)
    if failure is not None:
        return stopped(result, failure)
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
        pattern = codec_pattern(task.name, data, back.outputs[0][0], comparison)
        failed = replace(_violation(comparison), pattern=pattern)
        return _Pristine(stream, comparison, failure=failed)
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
                f"memory can move its data ({least / threads * 1e3:.3g} ms): it did not look at "
                "all of it, or worked outside the clock"
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
    return result if failure is None else stopped(result, failure)


def stopped(result: RunResult, failure: Failure) -> RunResult:
    """The result with why it goes no further."""
    return replace(result, status=failure.status, stage=failure.stage, failure=failure)
