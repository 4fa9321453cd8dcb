"""Two kernels side by side: pairs of timed rounds, in random order, under one lock.

What disturbs a machine for longer than a pair falls on both kernels and cancels in their ratio, and
which of the two goes first is a coin's decision, so that nothing but their speed tells them apart
(`results_db.statistics` has the interval).
"""

from __future__ import annotations

import secrets
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernels.records import Execution, Failure, FailureKind, Sample, Status
from results_db.statistics import FEWEST_PAIRS, Compared, contrast
from toolchains.base import Reply

from .golden import GoldenStreams
from .requests import Watch
from .rounds import BUDGET_S, Bench, batch_size, outside_the_clock, timed_round
from .timing import Prepared, Timed, conclude, prepare, stopped

_TRIES = 4
"""Pairs made at most, as a multiple of those asked for, when other work disturbs them."""
_PATIENCE_S = 30.0
"""Time after which disturbed pairs are no longer made up for."""
_PAUSE_S = 0.01
_TELL_S = 0.5


@dataclass(frozen=True)
class _Half:
    """One kernel's round of a pair."""

    size: int
    replies: tuple[Reply, ...]
    stream_bytes: tuple[int, ...]


@dataclass(frozen=True)
class _Pair:
    ours: _Half
    theirs: _Half

    @property
    def disturbed(self) -> bool:
        return any(r.disturbed for half in (self.ours, self.theirs) for r in half.replies)


@dataclass(frozen=True)
class _Stopped:
    """Why no further pair is made."""

    failure: Failure
    by_ours: bool


def compare_kernels(ours: Bench, theirs: Bench, against: str, golden: GoldenStreams) -> Compared:
    """Compare the kernel of `ours` with that of `theirs`, whose kernel_id is `against`."""
    mine = prepare(ours, golden)
    if mine.result.failure is not None:
        return Compared(mine.result, against)
    if not ours.timed:
        return Compared(stopped(mine.result, _timeless(ours.execution)), against)
    other = prepare(replace(theirs, watch=_second(ours.watch)), golden)
    if other.result.failure is not None:
        return Compared(stopped(mine.result, peer_failure(against, other.result.failure)), against)
    # Each at the bound that was derived for it.
    ours, theirs = mine.bench, other.bench
    with ours.alone(), ours.session.apart(), theirs.session.apart():
        pairs, end = _timed_pairs(ours, theirs)
        return _concluded(_Bout(ours, theirs, mine, other), pairs, end, against)


def peer_failure(against: str, failure: Failure, stage: Status = Status.TIMED) -> Failure:
    """The other kernel can't be compared with; nothing is held against this one."""
    if failure.kind in (FailureKind.CANCELLED, FailureKind.BUSY):
        return replace(failure, stage=stage)
    text = f"no comparison: {against} failed ({failure.status}): {failure.message}"
    return Failure(Status.INCONCLUSIVE, stage, FailureKind.PEER, text)


def _timeless(execution: Execution) -> Failure:
    text = f"no comparison: this target is {execution} here, which has no speed to compare"
    return Failure(Status.INCONCLUSIVE, Status.TIMED, FailureKind.PEER, text)


@dataclass(frozen=True)
class _Bout:
    ours: Bench
    theirs: Bench
    mine: Prepared
    other: Prepared


def _timed_pairs(ours: Bench, theirs: Bench) -> tuple[list[_Pair], _Stopped | None]:
    """Pairs until enough of them were undisturbed; all of them, and what stopped it early."""
    wanted, batch = ours.request.repeats, max(batch_size(ours), batch_size(theirs))
    pairs: list[_Pair] = []
    calm, begun, told = 0, time.monotonic(), 0.0
    # The first pair makes room for the largest request and does not count.
    made = _pair(ours, theirs, batch + 1)
    while not isinstance(made, _Stopped) and calm < wanted:
        spent = time.monotonic() - begun
        patient = len(pairs) < wanted or spent < _PATIENCE_S
        if spent > BUDGET_S or len(pairs) >= _TRIES * wanted or not patient:
            break
        if spent - told >= _TELL_S:
            told = spent
            ours.watch.progress(*progress_of(len(pairs), calm, wanted))
        # Not a fixed number of calls, so that a kernel can't count its way to the clock.
        made = _pair(ours, theirs, batch + (batch > 1 and secrets.randbelow(4) == 0))
        if isinstance(made, _Pair):
            pairs.append(made)
            calm += not made.disturbed
            if made.disturbed:
                time.sleep(_PAUSE_S)
    return pairs, made if isinstance(made, _Stopped) else _too_few(pairs, calm)


def progress_of(made: int, calm: int, wanted: int) -> tuple[float, str]:
    """How far it is after `made` pairs, `calm` of them undisturbed: further after every pair."""
    done = max(calm / wanted, made / (_TRIES * wanted))
    text = f"timing pair {made + 1}; {calm} of {wanted} were undisturbed so far"
    return 0.2 + 0.8 * done, text


def _second(watch: Watch) -> Watch:
    """For what is done to the other kernel, after the same was done to this one."""

    def progress(fraction: float, message: str) -> None:
        watch.progress(0.1 + fraction, f"{message}, of the other kernel")

    return Watch(watch.cancellation, progress)


def _pair(ours: Bench, theirs: Bench, size: int) -> _Pair | _Stopped:
    halves: dict[bool, _Half] = {}
    first = bool(secrets.randbelow(2))
    for mine in (first, not first):
        half = _half(ours if mine else theirs, size)
        if isinstance(half, Failure):
            return _Stopped(half, by_ours=mine)
        halves[mine] = half
    return _Pair(halves[True], halves[False])


def _half(bench: Bench, size: int) -> _Half | Failure:
    done = timed_round(bench, size)
    if isinstance(done, Failure):
        return done
    dishonest = outside_the_clock(bench, done.replies)
    if dishonest is not None:
        return dishonest
    return _Half(size, done.replies, tuple(stream.nbytes for stream in done.streams))


def _too_few(pairs: Sequence[_Pair], calm: int) -> _Stopped | None:
    if calm >= FEWEST_PAIRS:
        return None
    if calm == len(pairs):
        kind = FailureKind.TIMEOUT
        text = (
            f"only {calm} pairs of repetitions fitted into {BUDGET_S:.0f} s, and {FEWEST_PAIRS} "
            "are needed: choose a smaller field"
        )
    else:
        kind = FailureKind.BUSY
        text = (
            f"the machine was busy with other work in {len(pairs) - calm} of {len(pairs)} pairs "
            "of repetitions; try again later"
        )
    return _Stopped(Failure(Status.INCONCLUSIVE, Status.TIMED, kind, text), by_ours=True)


def _concluded(bout: _Bout, pairs: Sequence[_Pair], end: _Stopped | None, against: str) -> Compared:
    stopped_by = {
        mine: end.failure if end and end.by_ours is mine else None for mine in (True, False)
    }
    mine = conclude(
        bout.ours, bout.mine, _timed(bout.ours, [p.ours for p in pairs], stopped_by[True])
    )
    other = conclude(
        bout.theirs, bout.other, _timed(bout.theirs, [p.theirs for p in pairs], stopped_by[False])
    )
    if mine.failure is None and other.failure is not None:
        mine = stopped(mine, peer_failure(against, other.failure))
    if mine.failure is not None:
        return Compared(mine, against)
    calm = [pair for pair in pairs if not pair.disturbed]
    contrasts = tuple(
        contrast(
            function,
            [pair.ours.replies[i].seconds / pair.ours.size for pair in calm],
            [pair.theirs.replies[i].seconds / pair.theirs.size for pair in calm],
        )
        for i, function in enumerate(bout.ours.task.functions)
    )
    return Compared(mine, against, contrasts)


def _timed(bench: Bench, halves: Sequence[_Half], failure: Failure | None) -> Timed:
    sizes = [size for half in halves for size in half.stream_bytes]
    samples = [
        Sample(
            direction=direction,
            repetition=repetition,
            seconds=reply.seconds,
            child_seconds=reply.child_seconds,
            batch=half.size,
            nbytes=half.size * bench.nbytes,
            wait_seconds=reply.wait_seconds,
            disturbed=reply.disturbed,
        )
        for repetition, half in enumerate(halves)
        for direction, reply in zip(bench.task.functions, half.replies, strict=True)
    ]
    return Timed(tuple(samples), statistics.median(sizes) if sizes else None, failure)
