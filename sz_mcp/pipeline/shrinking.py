"""A minimal counterexample: the shortest, plainest array on which a kernel still breaks its bound.

The array of the case that decided flows in; the kernel is called again, many candidates in one
request, with the case's absolute bound; what flows out is an array to print in full. A candidate
counts if its error is of the same kind, so that what is shown is the fault that was found.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from kernels.modes.pointwise import transform
from kernels.records import (
    Array,
    Counterexample,
    Failure,
    FailureKind,
    Point,
    ValueRun,
    Verdict,
)
from kernels.shrink import (
    LARGEST,
    Candidates,
    alike,
    cost,
    fewer_dimensions,
    lone,
    plainer,
    rounder,
    run_starts,
    windows,
    without,
)
from kernels.verify import compare, counterexample
from toolchains.base import Session

from .cases import Case
from .experiments import Broken, Probe, seen
from .roundtrip import compress, decompress

BUDGET_S = 1.5
"""Processor time after which the best so far is taken, so that a busy machine finds the same."""
PATIENCE_S = 6.0
"""By the clock likewise; a request in progress is waited for."""
_ITEMS = 48
"""Candidates of one request, at most."""
_VALUES = 1 << 18
"""Values of one request, at most, if it has several candidates."""
_SLIGHT = 1.5
"""Errors up to so many bounds are another kind than larger ones: rounding, not a wrong number."""
_RUNS = 64
"""Runs of equal values that are printed, at most."""


def with_smallest(
    session: Session, cases: Sequence[Case], verdict: Verdict, going: Callable[[], bool]
) -> Verdict:
    """The verdict with the smallest array that shows the violation that decided it.

    As it was for a stage, for another failure than a violation, and where no array is found.
    going: whether the caller still waits.
    """
    failure, worst = verdict.failure, verdict.worst
    case = next((case for case in cases if case.name == verdict.decided_by), None)
    if case is None or case.wanted is None or worst is None or failure is None:
        return verdict
    if failure.kind is not FailureKind.BOUND or failure.pattern is None:
        return verdict
    data = case.data
    if case.wanted.mode == "pw_rel":
        # What broke its bound is what the kernel was given.
        data = transform(data, case.wanted.value).values
    kernel, give_up = _Kernel(session, verdict.abs_bound), time.monotonic() + PATIENCE_S
    start = time.thread_time()

    def in_time() -> bool:
        return going() and time.monotonic() < give_up

    found = smallest(
        kernel,
        data,
        (worst, verdict.abs_bound),
        lambda: in_time() and kernel.spent_s + time.thread_time() - start < BUDGET_S,
    )
    if found is None:
        return verdict
    known = seen(kernel, found, in_time)
    return replace(
        verdict,
        counterexample=_shown(case, found),
        failure=replace(failure, pattern=replace(failure.pattern, smallest=known)),
    )


def smallest(
    probe: Probe, data: Array, wrong: tuple[Point, float], going: Callable[[], bool]
) -> Broken | None:
    """The smallest array that can be found while `going`.

    wrong: the worst element of `data` and its bound. None where nothing breaks the bound twice, and
    where `data` is large and no small part of it does.
    """
    search = _Search(probe, data, wrong, going)
    if data.size <= LARGEST:
        first = probe([data])[0]
        if first is None:
            return None
        search.take(first)
    search.step(windows(data, wrong[0].flat))
    if search.best.size <= LARGEST:
        search.step(lone(search.best, search.worst))
        _shrink(search)
    for best in reversed(search.steps):
        again = probe([best.original])[0]
        if again is not None:
            return again
    # Where nothing can be run again, the last that was seen to break stands.
    return search.steps[-1] if search.steps and not going() else None


class _Search:
    """The smallest array so far, and the way to it."""

    def __init__(
        self, probe: Probe, data: Array, wrong: tuple[Point, float], running: Callable[[], bool]
    ) -> None:
        self.best = data
        self._first = wrong[0].flat
        self.steps: list[Broken] = []
        self.running = running
        self._probe = probe
        self._kind = _kind(*wrong)
        self._cost: tuple[int, ...] = (data.size,)
        self._tried: set[bytes] = set()

    @property
    def worst(self) -> int:
        """Flat index of the worst element of the best."""
        return self.steps[-1].worst.flat if self.steps else self._first

    def take(self, broken: Broken) -> None:
        """Go on from there."""
        self.best = broken.original
        self.steps.append(broken)
        self._cost = cost(self.best)

    def step(self, candidates: Iterable[Array]) -> bool:
        """Go to the first candidate that is smaller and breaks the bound in the same way."""
        for batch in _batches(self._new(candidates)):
            if not self.running():
                return False
            for broken in self._probe(batch):
                if broken and _kind(broken.worst, broken.comparison.abs_bound) == self._kind:
                    self.take(broken)
                    return True
        return False

    def reduce(self, candidates: Candidates) -> bool:
        """Take steps with pieces of half the array, a quarter, and so on to single values."""
        length, moved = self.best.size // 2, False
        while length and self.running():
            if self.step(candidates(self.best, length)):
                moved = True
                length = min(length, self.best.size // 2)
            else:
                length //= 2
        return moved

    def _new(self, candidates: Iterable[Array]) -> Iterator[Array]:
        for one in candidates:
            key = hashlib.sha256(one.tobytes() + repr(one.shape).encode()).digest()
            if key not in self._tried and cost(one) < self._cost:
                self._tried.add(key)
                yield one


def _shrink(search: _Search) -> None:
    moved = True
    while moved and search.running():
        moved = search.step(fewer_dimensions(search.best))
        moved |= search.reduce(without)
        moved |= search.step(alike(search.best))
        moved |= search.reduce(plainer)
        while search.running() and search.step(rounder(search.best)):
            moved = True


def _batches(candidates: Iterator[Array]) -> Iterator[list[Array]]:
    while batch := list(itertools.islice(candidates, 1)):
        room = _VALUES - batch[0].size
        for one in itertools.islice(candidates, _ITEMS - 1):
            batch.append(one)
            room -= one.size
            if room <= 0:
                break
        yield batch


def _kind(worst: Point, bound: float) -> str:
    """What sort of error the worst element has."""
    original, decoded = float(worst.original), float(worst.decoded)
    if not math.isfinite(original):
        return f"{abs(original)} lost"
    if not math.isfinite(decoded):
        return "made non-finite"
    return "slight" if float(worst.error) <= _SLIGHT * bound else "plain"


class _Kernel:
    """A `Probe`: the kernel at one absolute bound, and the time that it took."""

    def __init__(self, session: Session, bound: float) -> None:
        self.spent_s = 0.0
        self._session = session
        self._bound = bound

    def __call__(self, arrays: Sequence[Array]) -> Sequence[Broken | None]:
        """All in one request; one by one if any of them fails."""
        outputs = self._decoded(arrays)
        if outputs is not None:
            return [_broken(*pair, self._bound) for pair in zip(arrays, outputs, strict=True)]
        return [one for data in arrays for one in self([data])] if arrays[1:] else [None]

    def _decoded(self, arrays: Sequence[Array]) -> Sequence[Array] | None:
        if not self._session.alive():
            return None
        packed = compress(self._session, arrays, self._bound)
        if isinstance(packed, Failure):
            return None
        back = decompress(self._session, packed.streams, arrays)
        if isinstance(back, Failure):
            return None
        self.spent_s += packed.reply.cpu_seconds + back.cpu_seconds
        return [outputs[0] for outputs in back.outputs]


def _broken(original: Array, decoded: Array, bound: float) -> Broken | None:
    comparison = compare(original, decoded, bound)
    return None if comparison.holds else Broken(original, decoded.copy(), comparison)


def _shown(case: Case, found: Broken) -> Counterexample:
    shown = counterexample(case.name, found.original, found.decoded, found.comparison)
    return replace(shown, runs=_runs(found), shrunk_from=case.data.shape)


def _runs(found: Broken) -> tuple[ValueRun, ...]:
    x, y = found.original.reshape(-1), found.decoded.reshape(-1)
    starts = np.union1d(run_starts(x), run_starts(y)).tolist()
    if len(starts) > _RUNS:
        return ()
    return tuple(
        ValueRun(stop - start, repr(x[start].item()), repr(y[start].item()), _error(found, start))
        for start, stop in itertools.pairwise([*starts, x.size])
    )


def _error(found: Broken, flat: int) -> str:
    """Of one element, as the comparison tells it."""
    one = slice(flat, flat + 1)
    x, y = found.original.reshape(-1)[one], found.decoded.reshape(-1)[one]
    worst = compare(x, y, found.comparison.abs_bound).worst
    return worst.error if worst else "0.0"
