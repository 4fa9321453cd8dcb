"""A codec once over one array: what every check and every measurement of a codec is made of.

An array and the bound as asked go in; the stream, what was decoded and its exact comparison with
the original come out, or the kernel's failure. A kernel knows an absolute bound only: what other
modes need around it (`kernels.modes`) is done here, and is the server's, not the kernel's.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kernels.bounds import derive
from kernels.modes.names import SEARCHED
from kernels.modes.pointwise import restore, transform
from kernels.modes.search import (
    Found,
    noise_bound,
    norm_bound,
    search_norm,
    search_psnr,
    search_ratio,
)
from kernels.parts import Effort, Pair, over_parts
from kernels.records import (
    Array,
    Bound,
    Comparison,
    Failure,
    FailureKind,
    ModeOutcome,
    Status,
)
from kernels.verify import compare, compare_pointwise, value_range
from toolchains.base import Session

from .roundtrip import compress, decompress

SEARCH_S = 120.0
"""Time after which no further bound is tried: others wait for the machine."""

IN_LOGARITHMS = "In pw_rel a kernel is given y = log2 |x|, and these are values of y"

Tell = Callable[[str], None]
"""Hears what is going on."""


@dataclass(frozen=True)
class Wanted:
    """A bound as it was asked for one array."""

    mode: str
    value: float
    fill_value: float | None = None
    """Of the array; kept out of its value range."""

    def bound(self, data: Array) -> Bound:
        """The absolute bound for `data`; where it is searched for, the first. Raises BoundError.

        Nobody may ask for an absolute 0, but the suite does: a lossless stream.
        """
        if (self.mode, self.value) == ("abs", 0.0):
            return Bound("abs", 0.0, 0.0)
        return derive(data, self.fill_value, self.mode, self.value)


@dataclass(frozen=True)
class Pass:
    """What a codec made of one array."""

    stream: Array
    """The kernel's own bytes."""
    original: Array
    """What `comparison` is of: the array; where the kernel broke its bound, what it was given."""
    decoded: Array
    """What came of `original`; valid until the session's next call."""
    comparison: Comparison
    """Of `original` with `decoded`: whether the bound holds, as asked and as derived."""
    bound: Bound
    given: Array
    """What the kernel was given: the array, or its logarithms (pw_rel)."""
    outcome: ModeOutcome | None = None
    """Of modes other than abs and rel."""
    transform_seconds: float = 0.0
    """Of the server, before the kernel's compress: not the kernel's time."""
    detransform_seconds: float = 0.0
    """Likewise after its decompress."""

    def key(self, content: str) -> str:
        """What tells `given` from any other array; content: the same of the array itself."""
        pointwise = self.bound.mode == "pw_rel"
        return f"{content}/log2/{self.bound.value!r}" if pointwise else content

    @property
    def side_bytes(self) -> int:
        """Bytes beside the stream."""
        return self.outcome.side_bytes if self.outcome else 0

    @property
    def size(self) -> int:
        """Bytes that count."""
        return int(self.stream.nbytes) + self.side_bytes


@dataclass(frozen=True)
class Stopped:
    """Why there is no result, and in which function."""

    failure: Failure
    function: str
    """compress | decompress"""


def codec_pass(
    session: Session, data: Array, wanted: Wanted, tell: Tell = lambda _text: None
) -> Pass | Stopped:
    """Compress and decompress `data`, and compare. Raises BoundError.

    An element beyond the absolute bound that the kernel was given is a violation in every mode, at
    whichever bound it is met. tell: hears of every bound that is tried.
    """
    bound = wanted.bound(data)
    if bound.mode == "pw_rel":
        return _pointwise(session, data, wanted, bound)
    if bound.mode in SEARCHED:
        return _searched(session, data, wanted, bound, tell)
    return _plain(session, data, wanted, bound)


def _plain(session: Session, data: Array, wanted: Wanted, bound: Bound) -> Pass | Stopped:
    """As a kernel sees it."""
    packed = compress(session, (data,), bound.absolute)
    if isinstance(packed, Failure):
        return Stopped(packed, "compress")
    stream = packed.streams[0]
    back = decompress(session, (stream,), (data,))
    if isinstance(back, Failure):
        return Stopped(back, "decompress")
    decoded = back.outputs[0][0]
    comparison = compare(data, decoded, bound.absolute, wanted.fill_value)
    return Pass(stream, data, decoded, comparison, bound, data)


def _pointwise(session: Session, data: Array, wanted: Wanted, bound: Bound) -> Pass | Stopped:
    start = time.perf_counter()
    logarithms = transform(data, bound.value)
    transform_seconds = time.perf_counter() - start
    side_bytes = logarithms.side.nbytes
    done = _plain(session, logarithms.values, replace(wanted, fill_value=None), bound)
    if isinstance(done, Stopped):
        return done
    if not done.comparison.holds:
        return replace(done, outcome=ModeOutcome(side_bytes))
    start = time.perf_counter()
    decoded = restore(done.decoded, logarithms.side, data)
    detransform_seconds = time.perf_counter() - start
    comparison = compare_pointwise(data, decoded, bound.value, wanted.fill_value)
    if not comparison.holds:
        raise ArithmeticError(f"pw_rel breaks its own bound {bound.value!r}: {comparison.first}")
    worst = comparison.max_abs_error / comparison.abs_bound if comparison.abs_bound else 0.0
    return replace(
        done,
        original=data,
        decoded=decoded,
        comparison=comparison,
        outcome=ModeOutcome(side_bytes, 1, bound.value * worst, reached=True),
        transform_seconds=transform_seconds,
        detransform_seconds=detransform_seconds,
    )


class _Ended(Exception):
    """A search can't go on: the kernel failed, or broke the bound that was tried."""

    def __init__(self, why: Pass | Stopped) -> None:
        super().__init__()
        self.why = why


class _Trials:
    """The bounds that a search tries on one array."""

    def __init__(self, session: Session, data: Array, wanted: Wanted, tell: Tell) -> None:
        self._session, self._data, self._wanted, self._tell = session, data, wanted, tell
        self._give_up = time.monotonic() + SEARCH_S
        self._tried: set[float] = set()
        self.last: Pass | None = None

    def psnr(self, abs_bound: float) -> float:
        """dB, infinite if nothing differs; over what the metric of that name counts."""
        done = self.passed(abs_bound)
        share = _mean_square(self._data, done.decoded, self._wanted.fill_value, abs_bound)
        if share == 0.0:
            return math.inf
        span = done.comparison.value_range
        return 20 * (math.log10(span) - math.log10(abs_bound)) - 10 * math.log10(share)

    def norm(self, abs_bound: float) -> float:
        """Euclidean norm of the error."""
        return math.sqrt(self.passed(abs_bound).comparison.sum_squared_error)

    def ratio(self, abs_bound: float) -> float:
        """Of the stream; nothing is decompressed."""
        self._begin(abs_bound)
        packed = compress(self._session, (self._data,), abs_bound)
        if isinstance(packed, Failure):
            raise _Ended(Stopped(packed, "compress"))
        return _ratio(self._data, packed.streams[0].nbytes)

    def passed(self, abs_bound: float) -> Pass:
        """A whole pass. Raises _Ended if there is none, or the bound does not hold."""
        self._begin(abs_bound)
        wanted = self._wanted
        bound = Bound(wanted.mode, wanted.value, abs_bound)
        done = _plain(self._session, self._data, wanted, bound)
        if isinstance(done, Stopped):
            raise _Ended(done)
        if not done.comparison.holds:
            raise _Ended(replace(done, outcome=ModeOutcome(tries=len(self._tried))))
        self.last = done
        return done

    def _begin(self, abs_bound: float) -> None:
        if self._tried and time.monotonic() > self._give_up:
            raise _Ended(_took_too_long(self._wanted.mode, len(self._tried)))
        self._tried.add(abs_bound)
        self._tell(f"{self._wanted.mode} {self._wanted.value:g}: trying bound {abs_bound:.4g}")


def _mean_square(data: Array, decoded: Array, fill_value: float | None, unit: float) -> float:
    """Mean squared error in `unit`², of finite values other than the fill value.

    Holes come back as they were: counted, they would make it look smaller.
    """
    with np.errstate(over="ignore"):
        fill = np.array(math.nan if fill_value is None else fill_value).astype(data.dtype)

    def work(pair: Pair) -> tuple[float, int]:
        counted = np.isfinite(pair.x) & (pair.x != fill)
        x, y = pair.x[counted], pair.y[counted]
        errors = np.subtract(x, y, dtype=np.float64) / unit if unit else np.zeros(x.size)
        return float(errors @ errors), x.size

    found = list(over_parts(work, data, decoded, Effort()))
    return math.fsum(total for total, _ in found) / max(sum(count for _, count in found), 1)


def _took_too_long(mode: str, tries: int) -> Stopped:
    text = (
        f"the search for the bound of mode {mode} took more than {SEARCH_S:.0f} s and ended after "
        f"{tries} tries: make the kernel faster, or choose a smaller field"
    )
    failure = Failure(Status.INCONCLUSIVE, Status.ROUNDTRIPS, FailureKind.TIMEOUT, text)
    return Stopped(failure, "compress")


def _searched(
    session: Session, data: Array, wanted: Wanted, first: Bound, tell: Tell
) -> Pass | Stopped:
    trials = _Trials(session, data, wanted, tell)
    try:
        found = _search(trials, data, wanted, first)
        ratio = first.mode == "ratio"
        done = trials.passed(found.abs_bound) if ratio or trials.last is None else trials.last
    except _Ended as ended:
        return ended.why
    achieved, reached = found.achieved, found.reached
    if ratio:
        # The stream that counts is this one.
        achieved = _ratio(data, done.size)
        reached = achieved >= first.value
    told = achieved if math.isfinite(achieved) else None
    return replace(done, outcome=ModeOutcome(0, found.tries, told, reached))


def _search(trials: _Trials, data: Array, wanted: Wanted, first: Bound) -> Found:
    """first: as `derive` has it, 0 if the data have no range."""
    span = value_range(data, wanted.fill_value) if first.absolute else 0.0
    match first.mode:
        case "psnr":
            return search_psnr(first.value, noise_bound(first.value, span), trials.psnr)
        case "l2norm":
            guarantee = norm_bound(first.value, data.size) if span else 0.0
            return search_norm(first.value, guarantee, trials.norm)
    if span:
        return search_ratio(first.value, span, data.dtype.itemsize, trials.ratio)
    achieved = trials.ratio(0.0)
    return Found(0.0, achieved, 1, achieved >= first.value)


def _ratio(data: Array, nbytes: int) -> float:
    return data.nbytes / nbytes if nbytes else math.inf
