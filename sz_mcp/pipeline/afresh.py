"""Whether a kernel does as well in processes that never saw the field: memory of it is no speed.

A timed result goes in; a reason to have it reviewed comes out, or None. Content that is new every
time does not stop a kernel that remembers: a variant is the field rolled, with a smooth line added,
so a kernel that keeps a stream of the field, made slowly, can find the roll from a few elements and
send that stream again with the line beside it; and a decoder that keeps the field needs the line
alone. What it can't do is know a field before it sees it. So a pair of processes is loaded that has
seen other content only, enough to be warm, and is given a variant, once, and the field itself after
it: there streams may not be larger, nor the CPU time of the variant much longer, than in the run.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kernels.records import Array, Failure, FailureKind, Field, RunResult, Status
from kernels.tasks.base import CodecTask
from results_db.summary import FRESH_BYTES
from toolchains.base import Session

from .first import First
from .rounds import Bench
from .roundtrip import compress, decompress
from .sessions import further

_DECOYS = 2
"""Rounds on other content: the first compiles, the other settles the memory."""
_SESSIONS = 3
"""Pairs of processes asked at most, before a time is doubted: the least of theirs counts."""
_TIMES_SLOWER = 2.0
"""A first sight of a field may cost by so much more: caches and predictors have not seen it."""
_SLACK_S = 250e-6
"""A request of one input costs more than that input's share of a batch."""
_SIZE_SHARE = 0.98
"""Of a first stream's bytes, that a later stream of the same may not fall below."""
_FRESH_SHARE = 0.95
"""Likewise of content that is random: sizes of variants of one field differ by less than 1%."""
_NULL_REQUESTS = 5
_STRIDES = (32, 16, 8, 4, 2, 1)
"""Coarse to fine, of a decoy's details."""
_LARGE_BYTES = 128 << 20
"""Of such a field two pairs of processes would hold more memory than was made room for."""


def doubt(bench: Bench, result: RunResult) -> Failure | None:
    """Why a timed result should be reviewed; None if it holds for a field never seen before.

    Of a field and bound, a loaded kernel is asked once, unless it does better later.
    """
    if bench.fresh is None or not isinstance(bench.task, CodecTask) or not bench.nbytes:
        return None
    firsts, key = bench.live.firsts, bench.where
    known, found = firsts.get(key), None
    if known is not None:
        found = worse(known, result)
        if found is None:
            return None
    if bench.nbytes > _LARGE_BYTES:
        bench.live.session.kill()
    for _ in range(_SESSIONS):
        first = _first_sight(bench)
        if isinstance(first, Failure):
            return first
        known = first if known is None else known.at_best(first)
        firsts[key] = known
        found = worse(known, result)
        if found is None:
            return None
    return found


def worse(first: First, result: RunResult) -> Failure | None:
    """What is better in the result than where the field was new."""
    fresh = next((m.value for m in result.metrics if m.name == FRESH_BYTES), math.inf)
    sizes = (
        (result.stream_bytes, first.stream_bytes, _SIZE_SHARE),
        (fresh, first.fresh_bytes, _FRESH_SHARE),
    )
    for shown, new, share in sizes:
        if shown < share * new:
            return _suspect(f"a stream has {shown:.0f} bytes, and {new}")
    for function, seconds in first.cpu_seconds.items():
        each = [s.seconds / s.batch for s in result.samples if s.direction == function]
        spent = statistics.median(each) * result.threads if each else math.inf
        if seconds > _TIMES_SLOWER * spent + _SLACK_S:
            return _suspect(
                f"{function} took {spent * 1e3:.3g} ms, and {seconds * 1e3:.3g} ms of CPU time"
            )
    return None


def _suspect(what: str) -> Failure:
    text = (
        f"{what} where the kernel's processes had not seen the field before: what is remembered of "
        "a field is neither compression nor speed"
    )
    return Failure(Status.SUSPECT, Status.TIMED, FailureKind.INTEGRITY, text)


def _first_sight(bench: Bench) -> First | Failure:
    """The field, in processes of their own that have seen decoys only."""
    assert bench.fresh is not None
    bench.watch.progress(1.0, "once more in processes that have not seen the field")
    with further(bench.fresh, bench.watch) as session:
        return session if isinstance(session, Failure) else _asked(bench, session)


def _asked(bench: Bench, session: Session) -> First | Failure:
    """CPU time is what counts, so nobody else has to wait."""
    for _ in range(_DECOYS):
        warm = _seen(bench, session, decoy(bench.field))
        if isinstance(warm, Failure):
            return replace(warm, message=f"on content like the field: {warm.message}")
    variant = np.empty_like(bench.field.data)
    bench.content.fill([variant])
    fresh = _seen(bench, session, variant)
    if isinstance(fresh, Failure):
        return fresh
    field = _seen(bench, session, bench.field.data)
    if isinstance(field, Failure):
        return field
    empty = {function: _empty(session, function) for function in fresh.cpu_seconds}
    seconds = {f: max(0.0, s - empty[f]) for f, s in fresh.cpu_seconds.items()}
    return First(field.nbytes, fresh.nbytes, seconds)


@dataclass(frozen=True)
class _Seen:
    """What came of one array."""

    nbytes: int
    """Of its stream."""
    cpu_seconds: Mapping[str, float]


def _seen(bench: Bench, session: Session, data: Array) -> _Seen | Failure:
    packed = compress(session, (data,), bench.bound.absolute)
    if isinstance(packed, Failure):
        return packed
    back = decompress(session, packed.streams, (data,))
    if isinstance(back, Failure):
        return back
    (comparison,) = bench.content.compared((data,), [back.outputs[0][0]])
    if not comparison.holds:
        return Failure(
            Status.ERROR,
            Status.BOUND_OK,
            FailureKind.BOUND,
            f"the bound does not hold in processes that had not seen the field before: "
            f"{comparison.violations} of {comparison.checked} values exceed it",
        )
    seconds = {"compress": packed.reply.cpu_seconds, "decompress": back.cpu_seconds}
    return _Seen(packed.streams[0].nbytes, seconds)


def _empty(session: Session, function: str) -> float:
    """CPU seconds of a request without calls."""
    replies = [
        session.call(function, (), capacity=(), deadline_s=5.0) for _ in range(_NULL_REQUESTS)
    ]
    return statistics.median(0.0 if isinstance(r, Failure) else r.cpu_seconds for r in replies)


def decoy(field: Field) -> Array:
    """Like the field, and not it: what interpolation along its last axis misses, by chance negated.

    So it is as rough as the field everywhere, takes the same ways through a kernel, and holds a new
    bit for every element. Special values stay where they are.
    """
    data, fill = field.data, field.info.fill_value
    if not data.size:
        return data.copy()
    rows = data.reshape(-1, data.shape[-1] if data.ndim else 1)
    special = ~np.isfinite(rows)
    if fill is not None:
        special |= rows == rows.dtype.type(fill)
    old = np.where(special, 0, rows)
    new, chance = old.copy(), np.random.default_rng()
    for stride in _STRIDES:
        at = slice(stride, rows.shape[1] - stride, 2 * stride)
        left = slice(0, rows.shape[1] - 2 * stride, 2 * stride)
        right = slice(2 * stride, None, 2 * stride)
        if rows.shape[1] <= 2 * stride:
            continue
        missed = old[:, at] - (old[:, left] / 2 + old[:, right] / 2)
        kept = special[:, at] | special[:, left] | special[:, right]
        sign = np.where(kept, 1, chance.choice(np.array([-1, 1], rows.dtype), missed.shape))
        moved = new[:, left] / 2 + new[:, right] / 2 + sign * missed
        new[:, at] = np.where(kept, old[:, at], moved)
    usable = ~special & np.isfinite(new)
    made: Array = np.where(usable, new, rows).reshape(data.shape)
    return made
