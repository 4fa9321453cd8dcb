"""`run_compress`: size and error on the pristine field, speed on content that is new every time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernels.modes.names import DIRECT
from kernels.patterns import codec_pattern
from kernels.records import (
    Bandwidth,
    Comparison,
    Failure,
    FailureKind,
    Field,
    Metric,
    RunResult,
    Sample,
    Status,
)
from kernels.tasks.base import CodecTask, StageTask, Task, nbytes_of
from results_db.summary import COPY_PEAK, FRESH_BYTES
from sz_mcp.projection import device_metrics

from .afresh import doubt
from .golden import GoldenStreams
from .passes import IN_LOGARITHMS, Pass, Stopped, Wanted, codec_pass
from .quality import quality
from .references import Made
from .rounds import (
    Audit,
    Bench,
    Rounds,
    batch_size,
    checked_stage,
    warm_up,
    worked_outside,
)
from .yardstick import noise_metrics

_PEAK_TOLERANCE = 1.1
"""Measurement noise that a result may exceed a measured peak by before it is `suspect`."""


@dataclass(frozen=True)
class _Pristine:
    """A codec on the unchanged field."""

    done: Pass
    golden_bytes: int | None = None
    failure: Failure | None = None
    metrics: tuple[Metric, ...] = ()
    """Of the error, if they were asked for."""


@dataclass(frozen=True)
class Moved:
    """Bytes that one call can't do without."""

    read: int
    written: int

    def least_seconds(self, bandwidth: Callable[[int], Bandwidth]) -> float:
        """For one thread; bandwidth: that of so many bytes."""
        reading = self.read / bandwidth(self.read).read_gbps if self.read else 0.0
        writing = self.written / bandwidth(self.written).write_gbps if self.written else 0.0
        return max(reading, writing) / 1e9


def _checked_stage(bench: Bench, task: StageTask) -> Moved | Failure:
    """What a stage moves, once its output on the field itself was found right."""
    inputs = task.inputs(bench.field.data, bench.bound.absolute)
    reply = checked_stage(bench.session, task, [inputs])
    if isinstance(reply, Failure):
        return reply
    return Moved(task.bytes_read(inputs), nbytes_of(reply.outputs[0]))


@dataclass(frozen=True)
class Prepared:
    """A kernel that is warm, or why it is not worth timing."""

    result: RunResult
    """Without samples; with a failure if it can't be timed."""
    moved: Mapping[str, Moved]
    bench: Bench
    """With what the kernel is given, at the bound that was derived."""
    doubt: Failure | None = None
    """Why its result is to be reviewed, whatever its speed."""


@dataclass(frozen=True)
class Timed:
    """What came of timing a kernel."""

    samples: tuple[Sample, ...]
    stream_bytes: float | None
    """Median size of the streams that were timed."""
    failure: Failure | None
    copies: tuple[float, ...] = ()
    """Seconds per byte of the copy that was made beside every repetition."""


def time_kernel(bench: Bench, golden: GoldenStreams) -> RunResult:
    """Measure a kernel: first what it makes of the field itself, then how fast.

    What does not run on the hardware it is for has no speed.
    """
    prepared = prepare(bench, golden)
    if prepared.result.failure is not None or not bench.timed:
        return prepared.result
    bench = prepared.bench
    rounds = Rounds(bench, bench.request.repeats, _audit(bench, golden))
    with bench.alone(), bench.session.apart():
        failure = rounds.run(batch_size(bench))
        timed = Timed(rounds.samples, rounds.stream_bytes, failure, rounds.copies)
        result = conclude(bench, prepared, timed)
        # The machine's peaks, which the score is relative to, may have been measured just now.
        if result.failure is None and not all(
            bench.session.still_intact(name) for name in bench.task.functions
        ):
            result = stopped(result, worked_outside())
    if result.failure is not None and result.failure.kind is not FailureKind.BUSY:
        return result
    remembered = doubt(bench, result)
    return result if remembered is None else stopped(result, remembered)


def prepare(bench: Bench, golden: GoldenStreams) -> Prepared:
    """See what a kernel makes of the field itself, and warm it up on other content."""
    bench.watch.progress(0.0, "size and error on the field itself")
    moved: Mapping[str, Moved] = {}
    doubt = None
    if isinstance(bench.task, StageTask):
        checked = _checked_stage(bench, bench.task)
        result = _result(bench, checked if isinstance(checked, Failure) else None)
        moved = {} if isinstance(checked, Failure) else {"run": checked}
    else:
        pristine = _pristine(bench, bench.task, golden)
        result = _codec_result(bench, pristine)
        if isinstance(pristine, _Pristine):
            bench = settled(bench, pristine.done)
            nbytes = bench.field.data.nbytes
            moved = {"compress": Moved(nbytes, 0), "decompress": Moved(0, nbytes)}
            doubt = _too_small(bench, pristine)
    if result.failure is not None or not bench.timed:
        return Prepared(_with_cycles(bench, result), moved, bench, doubt)
    bench.watch.progress(0.1, "warming up on other content")
    cold = warm_up(bench)
    return Prepared(result if cold is None else stopped(result, cold), moved, bench, doubt)


def _with_cycles(bench: Bench, result: RunResult) -> RunResult:
    """Of a simulated device, with what its calls on the field itself took."""
    counted = device_metrics(bench.session, bench.task.functions, bench.nbytes)
    return replace(result, metrics=(*result.metrics, *counted))


def on_the_field(bench: Bench) -> Pass | Stopped:
    """The codec on the field itself; a search for the bound shows its progress."""
    wanted = Wanted(bench.bound.mode, bench.bound.value, bench.asked.info.fill_value)
    return codec_pass(
        bench.session, bench.asked.data, wanted, lambda text: bench.watch.progress(0.05, text)
    )


def settled(bench: Bench, done: Pass) -> Bench:
    """The bench with what the kernel is given on the field itself, at the bound derived there."""
    if done.bound.mode in DIRECT:
        return bench
    field, stands_for = bench.field, None
    if done.given is not field.data:
        info = replace(
            field.info,
            name=done.key(field.info.name),
            dtype=done.given.dtype.name,
            sha256=done.key(field.info.sha256),
            fill_value=None,
        )
        field, stands_for = Field(info, done.given), field
    content = bench.content.of(field, done.bound.absolute)
    return replace(bench, field=field, bound=done.bound, content=content, stands_for=stands_for)


def conclude(bench: Bench, prepared: Prepared, timed: Timed) -> RunResult:
    """The result of a timed kernel; while nothing else is timed, for peaks may be measured."""
    peaks = bench.peaks.at(bench.nbytes)
    result = replace(
        prepared.result,
        samples=timed.samples,
        null_round_trip_s=max(bench.live.null_round_trip_s.values(), default=None),
        metrics=(
            *prepared.result.metrics,
            *_metrics(peaks, timed.stream_bytes),
            *noise_metrics(timed.samples, timed.copies),
        ),
    )
    failure = timed.failure or prepared.doubt or _beyond_memory(bench, prepared.moved, timed)
    if failure is not None:
        return stopped(result, failure)
    return replace(result, status=Status.TIMED, stage=None)


def _metrics(peaks: Bandwidth, fresh_bytes: float | None) -> tuple[Metric, ...]:
    copy = Metric(COPY_PEAK, peaks.copy_gbps, "GB/s", "measured")
    if fresh_bytes is None:
        return (copy,)
    return (copy, Metric(FRESH_BYTES, fresh_bytes, "bytes", "measured"))


def _audit(bench: Bench, golden: GoldenStreams) -> Audit | None:
    """The streams that are timed must be of the task's format too: of each repetition one is read.

    Were it fewer, a kernel could have another format in half of the repetitions, and be lucky.
    """
    form = bench.task.stream_format if isinstance(bench.task, CodecTask) else None
    if form is None:
        return None
    return lambda variant, stream: golden.unreadable(
        form, stream, variant, bench.bound.absolute, remember=False
    )


def _pristine(bench: Bench, task: CodecTask, golden: GoldenStreams) -> _Pristine | Failure:
    done = on_the_field(bench)
    if isinstance(done, Stopped):
        return done.failure
    failure = broken(task, done)
    form = task.stream_format
    metrics = quality(bench.asked.info, done) if bench.request.metrics else ()
    if failure is not None or form is None:
        return _Pristine(done, failure=failure, metrics=metrics)
    data, bound = done.given, done.bound.absolute
    reference = golden.stream(form, done.key(bench.field.info.sha256), data, bound)
    if not np.array_equal(reference, done.stream):
        failure = golden.unreadable(form, done.stream, data, bound)
    return _Pristine(done, reference.nbytes, failure, metrics)


def _too_small(bench: Bench, pristine: _Pristine) -> Failure | None:
    """Of a free format; what is in a format with a specification can be nothing but the field."""
    done = pristine.done
    if bench.references is None or pristine.golden_bytes or pristine.failure is not None:
        return None
    made = Made(
        stream_bytes=done.stream.nbytes,
        data=done.given,
        abs_bound=done.bound.absolute,
        content=done.key(bench.asked.info.sha256),
        constant=done.comparison.value_range == 0,
    )
    return bench.references.doubt(made, bench.watch)


def broken(task: Task, done: Pass) -> Failure | None:
    """The failure of a codec that does not keep its bound on the field itself."""
    if done.comparison.holds:
        return None
    failure = _violation(done.comparison)
    if done.bound.mode == "pw_rel":
        failure = replace(failure, message=f"{failure.message}. {IN_LOGARITHMS}")
    pattern = codec_pattern(task.name, done.original, done.decoded, done.comparison)
    return replace(failure, pattern=pattern)


def _violation(comparison: Comparison) -> Failure:
    c = comparison
    text = (
        f"the bound does not hold: {c.violations} of {c.checked} values exceed {c.abs_bound!r}; "
        f"the largest error is {c.max_abs_error!r}"
    )
    return Failure(Status.ERROR, Status.BOUND_OK, FailureKind.BOUND, text)


def _beyond_memory(bench: Bench, moved: Mapping[str, Moved], timed: Timed) -> Failure | None:
    """A result that is faster than memory, even as this machine's memory is found now."""

    def found(bandwidth: Callable[[int], Bandwidth]) -> Failure | None:
        limits = {name: one.least_seconds(bandwidth) for name, one in moved.items()}
        return _too_fast(timed.samples, limits, bench.request.threads)

    return found(bench.peaks.at) and found(bench.peaks.doubted)


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
    done = pristine.done
    return replace(
        _result(bench, pristine.failure),
        bound=done.bound,
        stream_bytes=done.stream.nbytes,
        comparison=done.comparison,
        golden_bytes=pristine.golden_bytes,
        outcome=done.outcome,
        metrics=(*_transform_metrics(done), *pristine.metrics),
    )


def _transform_metrics(done: Pass) -> tuple[Metric, ...]:
    """What the server itself did around the kernel; no speed counts it."""
    if done.bound.mode != "pw_rel":
        return ()
    return (
        Metric("transform_seconds", done.transform_seconds, "s", "measured"),
        Metric("detransform_seconds", done.detransform_seconds, "s", "measured"),
    )


def _result(bench: Bench, failure: Failure | None) -> RunResult:
    result = RunResult(
        status=Status.BOUND_OK,
        stage=Status.TIMED,
        execution=bench.execution,
        field=bench.asked.info.name,
        bound=bench.bound,
        raw_bytes=bench.nbytes,
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
