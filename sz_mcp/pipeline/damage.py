"""What a decoder does with streams that were cut, changed or are read for something else.

Streams of the kernel's own flow in, damaged in some hundred ways; a count of how many were noticed
flows out. To raise is what is hoped for, and to return other values quietly is only reported; but
a decoder that crashes, hangs, or reads beyond its stream has failed. The stream ends where memory
does that the child may touch. What compiled code reads inside it, but beyond an array, shows when
it is run again with every index checked, which is done once per kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

import numpy as np

from kernels.records import Array, Failure, FailureKind, Status
from kernels.verdicts import Damage
from toolchains.base import Reply, Session
from toolchains.limits import deadline_s, output_room

from .cases import Case, Outcome
from .harm import Harm, harms
from .requests import Watch
from .roundtrip import compress
from .sessions import Opened, further

_DAMAGED = ("size_33", "prime_2d", "all_kinds", "smooth_3d")
"""Cases whose streams are damaged: of some and of few blocks, with and without NaN."""
_SOON_S, _TIMES = 2.0, 20
"""Deadline of a call that is damaged, also as a multiple of the same undamaged."""
_TWICE = 2
"""The same once more."""
_COMPILING_S = 30.0
"""More than a request's deadline, for compiling inside it."""
_EXAMPLES = 3
_REPLAYED = 40
"""Streams that are decoded again with indices checked, at most."""
_FATAL = frozenset(
    {FailureKind.TIMEOUT, FailureKind.CRASH, FailureKind.INTEGRITY, FailureKind.CANCELLED}
)
_ADVICE = "a decoder must validate lengths before reading"


@dataclass(frozen=True)
class Others:
    """Further sessions of the same kernel, each opened when it is needed."""

    fresh: Opened
    checked: Opened
    """Its compiled code checks every index."""
    clean: bool = False
    """Whether it read nothing wrong when that was looked at before."""
    remember: Callable[[], None] = lambda: None
    """Called once that has been found."""


@dataclass(frozen=True)
class Inspected:
    """What came of all damage; `failed`: what the kernel can't be trusted with."""

    damage: Damage
    failed: tuple[Case, Outcome] | None = None


@dataclass(frozen=True)
class _Whole:
    """A case with its stream, undamaged."""

    case: Case
    stream: Array
    decoded: Array
    seconds: float


@dataclass
class _Tally:
    tried: int = 0
    detected: int = 0
    harmless: int = 0
    quiet: list[tuple[_Whole, Harm]] = field(default_factory=list)

    def damage(self, *, checked: bool) -> Damage:
        shown = self.quiet[:: max(1, -(-len(self.quiet) // _EXAMPLES))]
        return Damage(
            tried=self.tried,
            detected=self.detected,
            undetected=len(self.quiet),
            harmless=self.harmless,
            examples=tuple(f"{whole.case.name}: {harm.what}" for whole, harm in shown),
            bounds_checked=checked,
        )


class _Failed(Exception):
    """The kernel failed on a damaged stream."""

    def __init__(self, case: Case, failure: Failure) -> None:
        super().__init__(failure.message)
        named = replace(case, name=f"damaged:{case.name}", wanted=None)
        self.failed = (named, Outcome(failure, function="decompress"))


def inspect(
    session: Session, cases: Sequence[Case], seed: int, others: Others, watch: Watch
) -> Inspected:
    """Damage streams of some of the cases, which all held, and have them decoded."""
    tally, wholes = _Tally(), []
    chosen = [case for case in cases if case.name in _DAMAGED]
    with ExitStack() as stack:
        desk = _Desk(session, others, watch, stack)
        try:
            for i, case in enumerate(chosen):
                watch.progress(1.0, f"damaging the stream of {case.name} ({i + 1}/{len(chosen)})")
                whole = desk.whole(case)
                if whole is not None:
                    wholes.append(whole)
                    rng = np.random.default_rng([seed, i])
                    for harm in harms(whole.stream, whole.decoded, rng):
                        _count(tally, desk, whole, harm)
            checked = others.clean or not tally.quiet
            if not checked:
                watch.progress(1.0, "decoding damaged streams again, with every index checked")
                checked = _replayed(tally.quiet, others, watch)
        except _Failed as stop:
            # What it wrote over is not known.
            session.kill()
            return Inspected(tally.damage(checked=False), stop.failed)
    return Inspected(tally.damage(checked=checked))


class _Desk:
    """Where streams are decoded: in the given session, or in a fresh one once that is dead."""

    def __init__(self, session: Session, others: Others, watch: Watch, stack: ExitStack) -> None:
        self._session, self._others, self._watch, self._stack = session, others, watch, stack

    def whole(self, case: Case) -> _Whole | None:
        """The case's stream and what it decodes to; None if the kernel does not take it."""
        packed = compress(self._session, (case.data,), case.abs_bound)
        if isinstance(packed, Failure):
            if packed.kind in _FATAL:
                raise _Failed(case, packed)
            return None
        stream = packed.streams[0]
        back = _decode(self._session, Harm("", stream, case.data), deadline_s(case.data.nbytes))
        if isinstance(back, Failure):
            text = f"where no memory follows its own stream of {stream.nbytes} bytes"
            raise _Failed(case, replace(back, message=f"{text}: {back.message}"))
        return _Whole(case, stream, back.outputs[0][0].copy(), back.seconds)

    def decode(self, whole: _Whole, harm: Harm) -> Reply | Failure:
        """What the kernel makes of a damaged stream. Raises _Failed."""
        back = _decode(self._session, harm, self._patience(whole, harm))
        if isinstance(back, Failure) and back.kind is FailureKind.TIMEOUT:
            back = self._once_more(whole, harm, back)
        if isinstance(back, Failure) and back.kind in _FATAL:
            raise _Failed(whole.case, self._explained(whole, harm, back))
        return back

    def _patience(self, whole: _Whole, harm: Harm) -> float:
        if harm.like.dtype != whole.case.data.dtype or harm.like.ndim != whole.case.data.ndim:
            # It may have to be compiled first.
            return deadline_s(harm.like.nbytes)
        return max(_SOON_S, _TIMES * whole.seconds)

    def _once_more(self, whole: _Whole, harm: Harm, late: Failure) -> Reply | Failure:
        """With more time: it may have been compiled just then, or other work was in the way."""
        session = self._stack.enter_context(further(self._others.fresh, self._watch))
        if isinstance(session, Failure):
            return late
        self._session = session
        limit = _COMPILING_S + deadline_s(harm.like.nbytes)
        back = _decode(session, Harm("", whole.stream, whole.decoded), limit)
        if isinstance(back, Failure) and back.kind in _FATAL:
            return back
        _, _, stack = late.output.rpartition("most recent call first")
        compiling = "/numba/" in stack
        return _decode(session, harm, limit if compiling else _TWICE * self._patience(whole, harm))

    def _explained(self, whole: _Whole, harm: Harm, failure: Failure) -> Failure:
        """With the line that read beyond an array, if checking indices shows it."""
        if failure.kind is FailureKind.CRASH:
            with further(self._others.checked, self._watch) as session:
                if not isinstance(session, Failure):
                    failure = _overrun(session, whole, harm) or failure
        return _told(whole, harm, failure)


def _count(tally: _Tally, desk: _Desk, whole: _Whole, harm: Harm) -> None:
    back = desk.decode(whole, harm)
    tally.tried += 1
    if isinstance(back, Failure) or not _as_asked(back.outputs[0], harm.like):
        # Who asked would notice.
        tally.detected += 1
    elif _same(back.outputs[0][0], whole.decoded):
        tally.harmless += 1
    else:
        tally.quiet.append((whole, harm))


def _as_asked(outputs: Sequence[Array], like: Array) -> bool:
    return [(a.dtype, a.shape) for a in outputs] == [(like.dtype, like.shape)]


def _same(decoded: Array, whole: Array) -> bool:
    return decoded.dtype == whole.dtype and decoded.tobytes() == whole.tobytes()


def _decode(session: Session, harm: Harm, limit_s: float) -> Reply | Failure:
    arguments = (harm.stream, harm.like.shape, harm.like.dtype)
    room = output_room(harm.like.nbytes)
    return session.call_guarded("decompress", arguments, capacity=room, deadline_s=limit_s)


def _replayed(quiet: Sequence[tuple[_Whole, Harm]], others: Others, watch: Watch) -> bool:
    """Whether all was decoded again with indices checked. Raises _Failed if one was wrong."""
    with further(others.checked, watch) as session:
        if isinstance(session, Failure):
            return False
        for whole, harm in quiet[:: -(-len(quiet) // _REPLAYED)]:
            failure = _overrun(session, whole, harm)
            if failure is not None:
                raise _Failed(whole.case, _told(whole, harm, failure))
            if not session.alive():
                return False
    others.remember()
    return True


def _overrun(session: Session, whole: _Whole, harm: Harm) -> Failure | None:
    """An index that is wrong, in a session that checks them."""
    limit = _COMPILING_S + deadline_s(harm.like.nbytes)
    for one in (Harm("", whole.stream, whole.decoded), harm):
        back = _decode(session, one, limit)
        if isinstance(back, Failure) and "IndexError" in back.message:
            text = f"compiled code goes outside an array ({back.message})"
            return replace(back, kind=FailureKind.MEMORY, message=text)
        if isinstance(back, Failure) and back.kind in _FATAL:
            return None
    return None


def _told(whole: _Whole, harm: Harm, failure: Failure) -> Failure:
    """With what was done to which stream, so that it can be done again."""
    if failure.kind is FailureKind.CANCELLED:
        return failure
    text = (
        f"its own stream of {whole.stream.nbytes} bytes, damaged ({harm.what}): {failure.message}. "
        f"Any damage may be met: {_ADVICE}"
    )
    stage = failure.stage if failure.status is not Status.ERROR else Status.BOUND_OK
    return replace(failure, status=Status.ERROR, stage=stage, message=text)
