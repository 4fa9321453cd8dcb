"""Timed rounds: one request per direction, on content that is new every time, each output checked.

What `run_compress` and `profile` share. The clock is the server's (toolchains).
"""

from __future__ import annotations

import math
import secrets
import statistics
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
    Sample,
    Status,
)
from kernels.tasks.base import CodecTask, StageTask, Task
from kernels.verify import compare
from toolchains.base import Reply, Session
from toolchains.peaks import Peaks

from .content import HARD, Content
from .live import LiveKernel
from .references import References
from .requests import Request, Watch
from .roundtrip import compress, decompress, run_stage
from .sessions import Opened
from .yardstick import Yardstick

MAX_BATCH = 16
_BATCH_BYTES = 256 << 20
_OVERHEAD_SHARE = 0.1
"""A request is made long enough that an empty round trip is at most this part of it."""
_CPU_TOLERANCE = 1.02
_CPU_SLACK_S = 100e-6
"""CPU time beyond threads x wall time: a child still runs a little after its reply was seen."""
_TRIES = 4
"""Repetitions made at most, as a multiple of those asked for, when other work disturbs them."""
_PATIENCE_S = 15.0
"""Time after which disturbed repetitions are no longer made up for."""
BUDGET_S = 120.0
"""Time after which no further repetition of a slow kernel is begun: others wait for the machine."""
_ENOUGH = 3
"""Undisturbed repetitions that make a result when the budget ran out."""
_TELL_S = 0.5
_PAUSE_S = 0.01
"""Rest after a disturbed repetition: what disturbs is often short."""
_HARD_ROUNDS = 3
"""Of a run: a kernel that is careless in half of its requests comes through one in eight times."""


@dataclass(frozen=True)
class Bench:
    """What a measurement needs beside the kernel: held for the length of one call."""

    task: Task
    live: LiveKernel
    field: Field
    content: Content
    bound: Bound
    request: Request
    watch: Watch
    peaks: Peaks
    alone: Callable[[], AbstractContextManager[None]]
    """Context in which this machine times nothing else and starts no children."""
    references: References | None = None
    """To compare the size of a stream with; None: it is not compared."""
    fresh: Opened | None = None
    """Loads the kernel in processes that have seen nothing; None: it is believed without."""
    execution: Execution = Execution.HARDWARE
    """Of anything else no speed is measured."""
    stands_for: Field | None = None
    """Where `field` is what a kernel is given in place of the one that was asked for: that one."""

    @property
    def timed(self) -> bool:
        """Whether there is a speed to measure."""
        return self.execution is Execution.HARDWARE

    @property
    def session(self) -> Session:
        """The kernel's processes."""
        return self.live.session

    @property
    def asked(self) -> Field:
        """The field that was asked for."""
        return self.stands_for or self.field

    @property
    def nbytes(self) -> int:
        """Original bytes of one input."""
        return int(self.asked.data.nbytes)

    @property
    def where(self) -> tuple[str, float]:
        """What is timed: the field and the absolute bound."""
        return self.field.info.name, self.bound.absolute


@dataclass(frozen=True)
class Round:
    """One request per function of the task, in the order of its functions."""

    replies: tuple[Reply, ...]
    variants: tuple[Array, ...] = ()
    streams: tuple[Array, ...] = ()
    """Of a codec, one per variant."""


def timed_round(bench: Bench, size: int) -> Round | Failure:
    """A round of `size` variants, every output checked."""
    if isinstance(bench.task, StageTask):
        return _stage_round(bench, bench.task, size)
    return _codec_round(bench, size)


def warm_up(bench: Bench) -> Failure | None:
    """A random few rounds: numba compiles, and it shows how long a call takes.

    Loaded kernels that were warmed up on this field before are still warm.
    """
    known, key = bench.live.seconds, bench.where
    if key in known:
        return None
    for _ in range(2 + secrets.randbelow(2)):
        done = timed_round(bench, 1)
        if isinstance(done, Failure):
            return done
        dishonest = outside_the_clock(bench, done.replies)
        if dishonest is not None:
            return dishonest
        fastest = known.get(key, {})
        known[key] = {
            function: min(reply.seconds, fastest.get(function, reply.seconds))
            for function, reply in zip(bench.task.functions, done.replies, strict=True)
        }
    return None


def batch_size(bench: Bench) -> int:
    """Distinct inputs per request, so that an empty round trip is a small part of it."""
    live = bench.live
    wanted = 1.0
    for function, seconds in live.seconds[bench.where].items():
        if function not in live.null_round_trip_s:
            live.null_round_trip_s[function] = live.session.null_round_trip(function)
        empty = live.null_round_trip_s[function]
        wanted = max(wanted, empty / _OVERHEAD_SHARE / max(seconds, 1e-7))
    room = _BATCH_BYTES // max(1, bench.field.data.nbytes)
    # A round trip that was cut short took forever.
    return max(1, math.ceil(min(wanted, MAX_BATCH, room)))


def worked_outside() -> Failure:
    """CPU time of a kernel's processes where nothing was asked of them."""
    text = "the kernel's processes worked outside the timed requests, or started others"
    return Failure(Status.SUSPECT, Status.TIMED, FailureKind.INTEGRITY, text)


def outside_the_clock(bench: Bench, replies: Sequence[Reply]) -> Failure | None:
    """Work where none may be: outside the requests, or on more threads than were asked for."""
    threads = bench.request.threads
    if not all(r.intact for r in replies):
        return worked_outside()
    most = _CPU_TOLERANCE * threads
    if all(r.cpu_seconds <= most * r.seconds + _CPU_SLACK_S for r in replies):
        return None
    text = f"the kernel ran on more threads than the {threads} that this run is for"
    return Failure(Status.SUSPECT, Status.TIMED, FailureKind.INTEGRITY, text)


Audit = Callable[[Array, Array], Failure | None]
"""(variant, stream) → what is wrong with them."""


class Rounds:
    """Rounds until enough of them were undisturbed, or too many were not."""

    def __init__(
        self, bench: Bench, repeats: int, audit: Audit | None = None, hard: int = _HARD_ROUNDS
    ) -> None:
        """audit: looks at one variant and its stream of every repetition, chosen at random.

        hard: repetitions before which the kernel is given hard content.
        """
        self._bench, self._repeats, self._audit_one = bench, repeats, audit
        order = sorted(range(repeats), key=lambda _: secrets.randbits(64))
        self._hard = frozenset(order[:hard])
        self._sizes: list[int] = []
        self._samples: list[Sample] = []
        self._undisturbed = 0
        self._yardstick = Yardstick(bench.field.data)
        self._begun = self._told = 0.0

    @property
    def samples(self) -> tuple[Sample, ...]:
        """What was measured so far."""
        return tuple(self._samples)

    @property
    def copies(self) -> tuple[float, ...]:
        """Seconds per byte of a copy of the data beside every repetition."""
        return self._yardstick.seconds

    @property
    def stream_bytes(self) -> float | None:
        """Median size of the streams that were timed; None for a stage."""
        return statistics.median(self._sizes) if self._sizes else None

    def run(self, batch: int) -> Failure | None:
        """Repeat; a Failure if the kernel failed or the machine was too busy."""
        # Not before: waiting for one's turn takes none of a kernel's time.
        self._begun = self._told = time.monotonic()
        failure = self._make_room(batch + 1)
        repetition = 0
        while failure is None and self._more(repetition):
            self._tell(repetition)
            # Not a fixed number of calls, so that a kernel can't count its way to the clock.
            size = batch + (batch > 1 and secrets.randbelow(4) == 0)
            if repetition in self._hard:
                failure = hard_round(self._bench, size)
            failure = failure or self._repeat(repetition, size)
            repetition += 1
        return failure or self._too_few(repetition)

    def _audit(self, done: Round) -> Failure | None:
        if self._audit_one is None or not done.streams:
            return None
        i = secrets.randbelow(len(done.streams))
        return self._audit_one(done.variants[i], done.streams[i])

    def _more(self, repetition: int) -> bool:
        if self._undisturbed >= self._repeats or repetition >= _TRIES * self._repeats:
            return False
        spent = time.monotonic() - self._begun
        return spent < BUDGET_S and (repetition < self._repeats or spent < _PATIENCE_S)

    def _repeat(self, repetition: int, size: int) -> Failure | None:
        done = timed_round(self._bench, size)
        if isinstance(done, Failure):
            return done
        self._yardstick.measure()
        self._keep(repetition, size, done.replies)
        self._sizes += [stream.nbytes for stream in done.streams]
        dishonest = outside_the_clock(self._bench, done.replies)
        if dishonest is None:
            dishonest = self._audit(done)
        if any(r.disturbed for r in done.replies):
            time.sleep(_PAUSE_S)
        else:
            self._undisturbed += 1
        return dishonest

    def _too_few(self, repetition: int) -> Failure | None:
        done, wanted = self._undisturbed, self._repeats
        if done * 2 >= wanted or (repetition < wanted and done >= _ENOUGH):
            return None
        if repetition < wanted and done == repetition:
            kind = FailureKind.TIMEOUT
            text = (
                f"only {done} of {wanted} repetitions fitted into {BUDGET_S:.0f} s: make the "
                "kernel faster, or choose a smaller field"
            )
        else:
            kind = FailureKind.BUSY
            text = (
                f"the machine was busy with other work in {repetition - done} of {repetition} "
                "repetitions; try again later"
            )
        return Failure(Status.INCONCLUSIVE, Status.TIMED, kind, text)

    def _make_room(self, size: int) -> Failure | None:
        """One round that does not count, so that the memory of the largest batch is there."""
        live, nbytes = self._bench.live, size * self._bench.field.data.nbytes
        if nbytes <= live.roomy_bytes:
            return None
        done = timed_round(self._bench, size)
        live.roomy_bytes = nbytes
        return done if isinstance(done, Failure) else None

    def _tell(self, repetition: int) -> None:
        """Report now and then: a report wakes other threads, which disturbs what is timed."""
        now = time.monotonic()
        if now - self._told >= _TELL_S:
            self._told = now
            # Disturbed repetitions are progress too: there is an end to them.
            done = max(self._undisturbed, repetition / _TRIES) / self._repeats
            fraction = 0.2 + 0.8 * done
            text = f"timing {self._undisturbed + 1} of {self._repeats}"
            self._bench.watch.progress(fraction, text)

    def _keep(self, repetition: int, size: int, replies: Sequence[Reply]) -> None:
        nbytes = size * self._bench.nbytes
        for direction, reply in zip(self._bench.task.functions, replies, strict=True):
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


def _codec_round(bench: Bench, size: int) -> Round | Failure:
    """Compress `size` variants in one request and decompress the streams in another."""
    session, patterns = bench.session, [bench.field.data] * size
    packed = compress(session, patterns, bench.bound.absolute, bench.content.fill)
    if isinstance(packed, Failure):
        return packed
    first = _seen_intact(packed.reply, session, "compress")
    back = decompress(session, packed.streams, patterns)
    if isinstance(back, Failure):
        return back
    decoded = [outputs[0] for outputs in back.outputs]
    for comparison in bench.content.compared(packed.reply.inputs, decoded):
        if not comparison.holds:
            return fresh_violation(comparison)
    replies = (first, _seen_intact(back, session, "decompress"))
    return Round(replies, packed.reply.inputs, packed.streams)


def hard_round(bench: Bench, size: int) -> Failure | None:
    """A round that counts for nothing, of the field with hard values in it; what is wrong there.

    The suite has such values in small arrays: a kernel that tells those by their size would be
    careless where it is timed. What may be refused in the suite is not asked for, and pw_rel gives
    a kernel nothing but ordinary values.
    """
    data, session = bench.field.data, bench.session
    core = data.dtype == np.float32 and 1 <= data.ndim <= 3 and data.size > 0
    if not isinstance(bench.task, CodecTask) or not core or bench.stands_for is not None:
        return None
    patterns = [data] * size
    packed = compress(session, patterns, bench.bound.absolute, bench.content.fill_hard)
    if isinstance(packed, Failure):
        return _on_hard(packed)
    back = decompress(session, packed.streams, patterns)
    if isinstance(back, Failure):
        return _on_hard(back)
    decoded = [outputs[0] for outputs in back.outputs]
    for comparison in bench.content.compared(packed.reply.inputs, decoded):
        if not comparison.holds:
            return _on_hard(fresh_violation(comparison))
    return None


def _on_hard(failure: Failure) -> Failure:
    values = ", ".join(f"{value:g}" for value in HARD)
    return replace(failure, message=f"with single values like {values}: {failure.message}")


def fresh_violation(comparison: Comparison) -> Failure:
    """The bound broke on a variant of the field."""
    c = comparison
    text = (
        f"on fresh content made from the field {c.violations} of {c.checked} values exceed the "
        f"bound {c.abs_bound!r}; the largest error is {c.max_abs_error!r}"
    )
    return Failure(Status.ERROR, Status.BOUND_OK, FailureKind.BOUND, text)


def _stage_round(bench: Bench, task: StageTask, size: int) -> Round | Failure:
    variants = [np.empty_like(bench.field.data) for _ in range(size)]
    bench.content.fill(variants)
    inputs = [task.inputs(v, bench.bound.absolute) for v in variants]
    reply = checked_stage(bench.session, task, inputs)
    return reply if isinstance(reply, Failure) else Round((reply,))


def checked_stage(
    session: Session, task: StageTask, inputs: list[tuple[Arg, ...]]
) -> Reply | Failure:
    """Run a stage and compare every output with the golden answer."""
    answers = [task.golden(*i) for i in inputs]
    reply = run_stage(session, inputs, answers, task.outputs)
    if isinstance(reply, Failure):
        return reply
    for given, answer, outputs in zip(inputs, answers, reply.outputs, strict=True):
        for ruling in task.rulings(given, answer, outputs):
            point = compare(ruling.wanted, ruling.got, ruling.abs_bound).first
            if point is not None:
                return oracle_failure(
                    f"`{ruling.name}` differs from the golden answer first at index "
                    f"{list(point.index)}: {point.decoded}, not {point.original}"
                )
            if ruling.problem:
                return oracle_failure(ruling.problem)
    return _seen_intact(reply, session, "run")


def oracle_failure(message: str) -> Failure:
    """The outputs of a stage have the right form and are not right."""
    return Failure(Status.ERROR, Status.BOUND_OK, FailureKind.BOUND, message)


def _seen_intact(reply: Reply, session: Session, function: str) -> Reply:
    """The reply, once its outputs were read, with whether the child slept all the while."""
    return replace(reply, intact=reply.intact and session.still_intact(function))
