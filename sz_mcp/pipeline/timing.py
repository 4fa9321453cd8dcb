"""`run_compress`: size and error on the pristine field, speed on content that is new every time.

Each timed request works on variants of the field that the kernel has never seen, and each of its
outputs is checked against the variant it was made from. The clock is the server's (toolchains).
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np

from kernels.records import (
    Arg,
    Array,
    Bound,
    Comparison,
    Execution,
    Failure,
    FailureKind,
    Field,
    Metric,
    RunResult,
    Sample,
    Status,
)
from kernels.tasks.base import CodecTask, StageTask
from kernels.verify import compare
from toolchains.base import Reply, Session
from toolchains.peaks import Peaks

from .content import Content
from .golden import GoldenStreams
from .live import LiveKernel
from .requests import Request, Watch
from .roundtrip import compress, decompress, run_stage

MAX_BATCH = 16
_BATCH_BYTES = 256 << 20
_OVERHEAD_SHARE = 0.1
"""A request is made long enough that an empty round trip is at most this part of it."""
_CPU_TOLERANCE = 1.05
_CPU_SLACK_S = 1e-3
"""CPU time beyond threads x wall time that is put down to the accounting's grain."""
_TRIES = 4
"""Repetitions made at most, as a multiple of those asked for, when other work disturbs them."""
_PATIENCE_S = 15.0
"""Time after which disturbed repetitions are no longer made up for."""
_TELL_S = 0.5
_PAUSE_S = 0.01
"""Rest after a disturbed repetition: what disturbs is often short."""
_PEAK_TOLERANCE = 1.1
"""Measurement noise that a result may exceed a measured peak by before it is `suspect`."""


@dataclass(frozen=True)
class Bench:
    """What a timing needs beside the kernel: held for the length of one run."""

    live: LiveKernel
    field: Field
    content: Content
    bound: Bound
    request: Request
    watch: Watch
    peaks: Peaks
    alone: Callable[[], AbstractContextManager[None]]
    """Context in which this machine times nothing else and starts no children."""


@dataclass(frozen=True)
class Pristine:
    """A codec on the unchanged field."""

    stream: Array
    comparison: Comparison
    golden_bytes: int | None


def time_codec(bench: Bench, task: CodecTask, golden: GoldenStreams) -> RunResult:
    """Measure a codec."""
    bench.watch.progress(0.0, "warming up on other content")
    cold = _warm_up(bench, ("compress", "decompress"), _codec_round)
    if cold is not None:
        return _stopped(bench, cold)
    bench.watch.progress(0.1, "size and error on the field itself")
    pristine = _pristine(bench, task, golden)
    if isinstance(pristine, Failure):
        return _stopped(bench, pristine)
    base = _result(bench, pristine)
    if not pristine.comparison.holds:
        c = pristine.comparison
        text = (
            f"the bound does not hold: {c.violations} of {c.checked} values exceed "
            f"{c.abs_bound!r}, the largest error is {c.max_abs_error!r}"
        )
        return _with_failure(base, _failure(Status.BOUND_OK, FailureKind.BOUND, text))
    rounds = _Rounds(bench, ("compress", "decompress"), _codec_round)
    with bench.alone(), bench.live.session.apart():
        stopped = rounds.run(_batch_size(bench))
    return _finished(bench, replace(base, samples=rounds.samples), stopped)


def time_stage(bench: Bench, task: StageTask) -> RunResult:
    """Measure a stage; its outputs are checked against the golden answer every time."""

    def round_(bench: Bench, size: int) -> list[Reply] | Failure:
        variants = [np.empty_like(bench.field.data) for _ in range(size)]
        bench.content.fill(variants)
        inputs = [task.inputs(v, bench.bound.absolute) for v in variants]
        return _stage_round(bench.live.session, task, inputs)

    bench.watch.progress(0.0, "warming up on other content")
    cold = _warm_up(bench, ("run",), round_)
    if cold is not None:
        return _stopped(bench, cold)
    inputs = task.inputs(bench.field.data, bench.bound.absolute)
    pristine = _stage_round(bench.live.session, task, [inputs])
    if isinstance(pristine, Failure):
        return _stopped(bench, pristine)
    rounds = _Rounds(bench, ("run",), round_)
    with bench.alone(), bench.live.session.apart():
        stopped = rounds.run(_batch_size(bench))
    base = replace(_stopped(bench, None), samples=rounds.samples)
    return _finished(bench, base, stopped)


Round = Callable[[Bench, int], list[Reply] | Failure]
"""One timed request per direction, of so many variants."""


class _Rounds:
    """Timed rounds until enough of them were undisturbed, or too many were not."""

    def __init__(
        self,
        bench: Bench,
        directions: tuple[str, ...],
        round_: Round,
    ) -> None:
        self._bench, self._directions, self._round = bench, directions, round_
        self._samples: list[Sample] = []
        self._told = time.monotonic()

    @property
    def samples(self) -> tuple[Sample, ...]:
        """What was measured so far."""
        return tuple(self._samples)

    def run(self, batch: int) -> Failure | None:
        """Repeat; a Failure if the kernel failed or the machine was too busy."""
        repeats = self._bench.request.repeats
        undisturbed = 0
        failure = self._make_room(batch + 1)
        if failure is not None:
            return failure
        patience = time.monotonic() + _PATIENCE_S
        for repetition in range(_TRIES * repeats):
            impatient = repetition >= repeats and time.monotonic() > patience
            if undisturbed >= repeats or impatient:
                break
            self._tell(undisturbed)
            # Not a fixed number of calls, so that a kernel can't count its way to the clock.
            size = batch + (batch > 1 and secrets.randbelow(4) == 0)
            replies = self._round(self._bench, size)
            if isinstance(replies, Failure):
                return replies
            self._keep(repetition, size, replies)
            wrong = _out_of_bounds(self._bench, replies)
            if wrong is not None:
                return wrong
            if any(r.disturbed for r in replies):
                time.sleep(_PAUSE_S)
            else:
                undisturbed += 1
        if undisturbed * 2 < repeats:
            return _failure(
                Status.TIMED,
                FailureKind.BUSY,
                "the machine was busy with other work in most repetitions; try again later",
                Status.INCONCLUSIVE,
            )
        return None

    def _make_room(self, size: int) -> Failure | None:
        """One round that does not count, so that the memory of the largest batch is there."""
        live, nbytes = self._bench.live, size * self._bench.field.data.nbytes
        if nbytes <= live.roomy_bytes:
            return None
        replies = self._round(self._bench, size)
        live.roomy_bytes = nbytes
        return replies if isinstance(replies, Failure) else None

    def _tell(self, undisturbed: int) -> None:
        """Report now and then: a report wakes other threads, which disturbs what is timed."""
        now = time.monotonic()
        if now - self._told >= _TELL_S:
            self._told = now
            repeats = self._bench.request.repeats
            fraction = 0.2 + 0.8 * undisturbed / repeats
            self._bench.watch.progress(fraction, f"timing {undisturbed + 1} of {repeats}")

    def _keep(self, repetition: int, size: int, replies: list[Reply]) -> None:
        nbytes = size * self._bench.field.data.nbytes
        for direction, reply in zip(self._directions, replies, strict=True):
            self._samples.append(
                Sample(
                    direction=direction,
                    repetition=repetition,
                    seconds=reply.seconds,
                    child_seconds=reply.child_seconds,
                    batch=size,
                    nbytes=nbytes,
                    wait_seconds=reply.wait_seconds,
                    disturbed=reply.disturbed,
                )
            )


def _codec_round(bench: Bench, size: int) -> list[Reply] | Failure:
    """Compress `size` variants in one request and decompress the streams in another."""
    session, patterns = bench.live.session, [bench.field.data] * size
    packed = compress(session, patterns, bench.bound.absolute, bench.content.fill)
    if isinstance(packed, Failure):
        return packed
    first = _seen_intact(packed.reply, session)
    back = decompress(session, packed.streams, patterns)
    if isinstance(back, Failure):
        return back
    decoded = [outputs[0] for outputs in back.outputs]
    if not bench.content.all_hold(packed.reply.inputs, decoded):
        return _failure(
            Status.BOUND_OK,
            FailureKind.BOUND,
            "the bound holds on the field but not on content made from it while timing",
        )
    return [first, _seen_intact(back, session)]


def _stage_round(
    session: Session, task: StageTask, inputs: list[tuple[Arg, ...]]
) -> list[Reply] | Failure:
    answers = [task.golden(*i) for i in inputs]
    reply = run_stage(session, inputs, answers)
    if isinstance(reply, Failure):
        return reply
    for answer, outputs in zip(answers, reply.outputs, strict=True):
        for want, got in zip(answer, outputs, strict=True):
            point = compare(want, got, 0.0).first
            if point is not None:
                return _failure(
                    Status.BOUND_OK,
                    FailureKind.BOUND,
                    f"the output differs from the golden answer first at index "
                    f"{list(point.index)}: {point.decoded}, not {point.original}",
                )
    return [_seen_intact(reply, session)]


def _seen_intact(reply: Reply, session: Session) -> Reply:
    """The reply, once its outputs were read, with whether the children slept all the while."""
    return replace(reply, intact=reply.intact and session.still_intact())


def _warm_up(bench: Bench, directions: tuple[str, ...], round_: Round) -> Failure | None:
    """A random few rounds: numba compiles, and it shows how long a call takes.

    Loaded kernels that were warmed up on this field before are still warm.
    """
    known, key = bench.live.seconds, (bench.field.info.name, bench.bound.absolute)
    if key in known:
        return None
    for _ in range(2 + secrets.randbelow(2)):
        replies = round_(bench, 1)
        if isinstance(replies, Failure):
            return replies
        wrong = _out_of_bounds(bench, replies)
        if wrong is not None:
            return wrong
        known[key] = {d: r.seconds for d, r in zip(directions, replies, strict=True)}
    return None


def _out_of_bounds(bench: Bench, replies: Sequence[Reply]) -> Failure | None:
    """Work where none may be: outside the requests, or on more threads than were asked for."""
    if not all(r.intact for r in replies):
        text = "the kernel's processes worked outside the timed requests, or started others"
        return _failure(Status.TIMED, FailureKind.INTEGRITY, text, Status.SUSPECT)
    threads = bench.request.threads
    if any(r.cpu_seconds > _CPU_TOLERANCE * threads * r.seconds + _CPU_SLACK_S for r in replies):
        text = f"the kernel ran on more threads than the {threads} that this run is for"
        return _failure(Status.TIMED, FailureKind.INTEGRITY, text, Status.SUSPECT)
    return None


def _pristine(bench: Bench, task: CodecTask, golden: GoldenStreams) -> Pristine | Failure:
    data, bound, session = bench.field.data, bench.bound.absolute, bench.live.session
    packed = compress(session, (data,), bound)
    if isinstance(packed, Failure):
        return packed
    stream = packed.streams[0]
    back = decompress(session, (stream,), (data,))
    if isinstance(back, Failure):
        return back
    comparison = compare(data, back.outputs[0][0], bound, bench.field.info.fill_value)
    form = task.stream_format
    if form is None or not comparison.holds:
        return Pristine(stream, comparison, None)
    reference = golden.stream(form, bench.field.info.sha256, data, bound)
    if not np.array_equal(reference, stream):
        failure = golden.unreadable(form, stream, data, bound)
        if failure is not None:
            return failure
    return Pristine(stream, comparison, reference.nbytes)


def _batch_size(bench: Bench) -> int:
    """Distinct inputs per request, so that an empty round trip is a small part of it."""
    live = bench.live
    wanted = 1.0
    for function, seconds in live.seconds[bench.field.info.name, bench.bound.absolute].items():
        if function not in live.null_round_trip_s:
            live.null_round_trip_s[function] = live.session.null_round_trip(function)
        empty = live.null_round_trip_s[function]
        wanted = max(wanted, empty / _OVERHEAD_SHARE / max(seconds, 1e-7))
    room = _BATCH_BYTES // max(1, bench.field.data.nbytes)
    return int(max(1, min(math.ceil(wanted), MAX_BATCH, room)))


def _finished(bench: Bench, result: RunResult, stopped: Failure | None) -> RunResult:
    peaks = bench.peaks.at(bench.field.data.nbytes)
    empty = bench.live.null_round_trip_s.values()
    result = replace(
        result,
        null_round_trip_s=max(empty, default=None),
        metrics=(Metric("copy_peak_gbps", peaks.copy_gbps, "GB/s", "measured"),),
    )
    failure = stopped or _too_fast(result.samples, peaks.read_gbps, peaks.write_gbps)
    if failure is not None:
        return _with_failure(result, failure)
    return replace(result, status=Status.TIMED, stage=None)


def _too_fast(samples: Sequence[Sample], read_gbps: float, write_gbps: float) -> Failure | None:
    """A result that no thread of this machine can have computed."""
    limits = {"compress": read_gbps, "decompress": write_gbps, "run": read_gbps}
    for direction, limit in limits.items():
        speeds = [s.nbytes / s.seconds / 1e9 for s in samples if s.direction == direction]
        if speeds and float(np.median(speeds)) > _PEAK_TOLERANCE * limit:
            return _failure(
                Status.TIMED,
                FailureKind.INTEGRITY,
                f"{direction} at {np.median(speeds):.1f} GB/s is above what this machine's memory "
                f"can do at this size ({limit:.1f} GB/s)",
                Status.SUSPECT,
            )
    return None


def _result(bench: Bench, pristine: Pristine) -> RunResult:
    return replace(
        _stopped(bench, None),
        stream_bytes=pristine.stream.nbytes,
        comparison=pristine.comparison,
        golden_bytes=pristine.golden_bytes,
    )


def _stopped(bench: Bench, failure: Failure | None) -> RunResult:
    return RunResult(
        status=failure.status if failure else Status.BOUND_OK,
        stage=failure.stage if failure else Status.TIMED,
        execution=Execution.HARDWARE,
        field=bench.field.info.name,
        bound=bench.bound,
        raw_bytes=bench.field.data.nbytes,
        stream_bytes=0,
        comparison=None,
        samples=(),
        failure=failure,
        threads=bench.request.threads,
        cache_state="inputs just written by the server (last-level cache if they fit), "
        "memory of the allocator touched before",
    )


def _with_failure(result: RunResult, failure: Failure) -> RunResult:
    return replace(result, status=failure.status, stage=failure.stage, failure=failure)


def _failure(
    stage: Status, kind: FailureKind, message: str, status: Status = Status.ERROR
) -> Failure:
    return Failure(status, stage, kind, message)
