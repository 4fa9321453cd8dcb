"""A short search for a broken bound around the values that a kernel handles worst.

The cases that held flow in, each with its worst element. Around those, values are moved by ulps, to
the middle of bins, to other signs and scales, beside NaN and fill values and to borders of blocks;
what comes closest to its bound is moved on, until the time is up or the bound breaks. Everything
but when it ends follows from the seed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernels.records import Array, Status
from kernels.suite import LAND
from kernels.tasks.base import CodecTask
from toolchains.base import Session

from .cases import Case, Outcome
from .codec_cases import ruled
from .passes import Pass, Wanted, codec_pass

BUDGET_S = 0.7
FIELD_BUDGET_S = 0.3
_ROUNDS = 40
"""Of one place to search at, at most."""
_TIGHTEST, _OTHERS = 6, 3
"""Cases that are searched around: those closest to their bound, and some at random."""
_WIDTH = 8
"""Values of a snippet: one that is hot, and what stands around it."""
_SNIPPETS = 504
_KEPT = 48
"""Snippets of a round that the next one begins with."""
_SHAPES = {1: (4099,), 2: (67, 61), 3: (16, 16, 17)}
"""A little more than all snippets take."""
_BORDERS = (0, 31, 32, 33, 127, 128, 129, 4031, 4032, 4033, -1)
"""Of the first blocks of 32 and 128 values, of a late one, and of the array."""
_LATE = (4095, 4096, 4097)
"""Of the first chunk of 4096, in arrays of one dimension and of three."""

Rng = np.random.Generator
Doubles = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Found:
    """What a search came to."""

    values: int = 0
    """That were tried."""
    worst_over_bound: float = 0.0
    """Largest error, in bounds."""
    failed: tuple[Case, Outcome] | None = None
    """The array on which the kernel failed, if there is one."""


@dataclass
class _Place:
    """Where to search: at one bound, from the neighbourhood of one element."""

    wanted: Wanted
    shape: tuple[int, ...]
    window: Array
    """Values around the worst element, as they were."""
    snippets: Array
    """Those that came closest to the bound, [k, _WIDTH], the closest first."""
    hot: Rows
    """Which value of each that was."""
    scores: Doubles
    rng: Rng


def search(
    session: Session,
    task: CodecTask,
    held: Sequence[tuple[Case, Outcome]],
    seed: int,
    budget_s: float = BUDGET_S,
) -> Found:
    """Look for an array on which the kernel fails, around the worst elements of cases that held."""
    places = _places(held, seed)
    give_up = time.monotonic() + budget_s
    found = Found()
    for place in places * _ROUNDS:
        if time.monotonic() > give_up:
            break
        data, wanted = _array(place), place.wanted
        done = codec_pass(session, data, wanted)
        found = replace(found, values=found.values + data.size)
        outcome = ruled(task, f"adversarial:{seed}", data, done)
        if outcome.failure is None and isinstance(done, Pass):
            worst = _learn(place, data, done)
            found = replace(found, worst_over_bound=max(found.worst_over_bound, worst))
        elif outcome.failure is not None and outcome.failure.status is not Status.REFUSED:
            return replace(found, failed=(_case(task, seed, data, wanted), outcome))
    return found


def _case(task: CodecTask, seed: int, data: Array, wanted: Wanted) -> Case:
    name = f"adversarial:{seed}"

    def run(session: Session) -> Outcome:
        return ruled(task, name, data, codec_pass(session, data, wanted))

    return Case(name, True, data, wanted.bound(data).absolute, run, wanted=wanted)


def _places(held: Sequence[tuple[Case, Outcome]], seed: int) -> list[_Place]:
    """The cases that came closest to their bounds, and a few others."""
    rng = np.random.default_rng([seed, len(held)])
    tight = [(_tightness(outcome), i) for i, (_, outcome) in enumerate(held)]
    order = [i for tightness, i in sorted(tight, key=lambda t: (-t[0], t[1])) if tightness > 0.0]
    rest = order[_TIGHTEST:]
    others = rng.choice(rest, min(_OTHERS, len(rest)), replace=False).tolist() if rest else []
    chosen = [held[i] for i in (*order[:_TIGHTEST], *others)]
    return [
        _place(case, outcome, np.random.default_rng([seed, i]))
        for i, (case, outcome) in enumerate(chosen)
    ]


def _tightness(outcome: Outcome) -> float:
    """The largest error in bounds; 0 where there is no room around it."""
    comparison = outcome.comparison
    if comparison is None or comparison.worst is None or not comparison.abs_bound:
        return 0.0
    ratio = comparison.max_abs_error / comparison.abs_bound
    return ratio if math.isfinite(ratio) else 0.0


def _place(case: Case, outcome: Outcome, rng: Rng) -> _Place:
    comparison, wanted = outcome.comparison, case.wanted
    assert comparison is not None
    assert comparison.worst is not None
    assert wanted is not None
    if wanted.mode != "pw_rel":
        # What is tried has another range: the bound stays that of the case.
        wanted = Wanted("abs", comparison.abs_bound, wanted.fill_value)
    shape = _SHAPES[min(max(case.data.ndim, 1), 3)]
    flat, at = case.data.reshape(-1), comparison.worst.flat
    window = _around(flat, at, math.prod(shape))
    begin = min(max(at - _WIDTH // 2, 0), max(flat.size - _WIDTH, 0))
    snippet = np.resize(_around(flat, at, _WIDTH), (1, _WIDTH))
    hot, score = np.array([at - begin]), np.array([_tightness(outcome)])
    return _Place(wanted, shape, window, snippet, hot, score, rng)


def _around(flat: Array, at: int, count: int) -> Array:
    """Up to `count` values with the one at `at` about in the middle."""
    begin = min(max(at - count // 2, 0), max(flat.size - count, 0))
    return flat[begin : begin + count].copy()


def _array(place: _Place) -> Array:
    """An array to try: moved snippets, densely or here and there in the original neighbourhood."""
    rng, size = place.rng, math.prod(place.shape)
    parents = rng.integers(0, len(place.snippets), _SNIPPETS)
    snippets, hot = place.snippets[parents].copy(), place.hot[parents]
    kinds = rng.integers(0, len(_MOVES), _SNIPPETS)
    with np.errstate(all="ignore"):
        for kind, move in enumerate(_MOVES):
            rows = np.flatnonzero(kinds == kind)
            move(snippets, hot, rows, place)
    flat = np.resize(place.window, size)
    slots = flat[: size // _WIDTH * _WIDTH].reshape(-1, _WIDTH)
    used = _SNIPPETS if rng.random() < 0.5 else _SNIPPETS // 8
    slots[rng.choice(len(slots), used, replace=False)] = snippets[:used]
    flat = np.roll(flat, int(rng.integers(0, 64)))
    borders = [b for b in (*_BORDERS, *_LATE) if b < size]
    best = place.snippets[0, place.hot[0]]
    flat[borders] = _by_ulps(np.full(len(borders), best), rng.integers(-2, 3, len(borders)))
    return flat.reshape(place.shape)


def _learn(place: _Place, data: Array, done: Pass) -> float:
    """Keep the snippets around the largest errors, in bounds; the largest of those."""
    flat = data.reshape(-1)
    scores = _scores(place.wanted, flat, done.decoded.reshape(-1), done.comparison.abs_bound)
    top = np.argpartition(scores, -_KEPT)[-_KEPT:]
    # The same value in other places is not worth a snippet of its own.
    _, once = np.unique(flat[top], return_index=True)
    top = top[once]
    begin = np.clip(top - _WIDTH // 2, 0, flat.size - _WIDTH)
    found = flat[begin[:, None] + np.arange(_WIDTH)]
    scored = np.concatenate([place.scores, scores[top]])
    order = np.argsort(-scored, kind="stable")[:_KEPT]
    place.snippets = np.concatenate([place.snippets, found])[order]
    place.hot = np.concatenate([place.hot, top - begin])[order]
    place.scores = scored[order]
    return float(scores.max())


def _scores(wanted: Wanted, original: Array, decoded: Array, abs_bound: float) -> Doubles:
    """The error of each element in bounds; 0 where it is not finite."""
    with np.errstate(all="ignore"):
        x, y = original.astype(np.float64), decoded.astype(np.float64)
        limit = wanted.value * np.abs(x) if wanted.mode == "pw_rel" else abs_bound
        scores = np.abs(x - y) / limit
    return np.where(np.isfinite(scores), scores, 0.0)


def _by_ulps(values: Array, ulps: Rows) -> Array:
    """The same values so many representable numbers further from 0."""
    signed = np.int32 if values.dtype == np.float32 else np.int64
    moved = (values.view(signed) + ulps.astype(signed)).view(values.dtype)
    return np.where(np.isfinite(values), moved, values)


def _few_ulps(snippets: Array, hot: Rows, rows: Rows, place: _Place) -> None:
    ulps = place.rng.integers(-3, 4, rows.size)
    snippets[rows, hot[rows]] = _by_ulps(snippets[rows, hot[rows]], ulps)


def _many_ulps(snippets: Array, hot: Rows, rows: Rows, place: _Place) -> None:
    most = 20 if snippets.dtype == np.float32 else 50
    sizes = np.ldexp(1.0, place.rng.integers(0, most, rows.size)).astype(np.int64)
    ulps = sizes * place.rng.choice([-1, 1], rows.size)
    snippets[rows, hot[rows]] = _by_ulps(snippets[rows, hot[rows]], ulps)


def _half_bins(snippets: Array, hot: Rows, rows: Rows, place: _Place) -> None:
    """Where a bin two bounds wide ends and the next one begins, give or take some ulps."""
    width = 2 * _width(snippets, hot, rows, place)
    bins = np.round(snippets[rows, hot[rows]].astype(np.float64) / width)
    middle = place.rng.choice([-0.5, 0.0, 0.5], rows.size)
    moved = ((bins + middle) * width).astype(snippets.dtype)
    snippets[rows, hot[rows]] = _by_ulps(moved, place.rng.integers(-3, 4, rows.size))


def _within_bins(snippets: Array, hot: Rows, rows: Rows, place: _Place) -> None:
    by = place.rng.uniform(-4, 4, rows.size) * _width(snippets, hot, rows, place)
    snippets[rows, hot[rows]] += by.astype(snippets.dtype)


def _width(snippets: Array, hot: Rows, rows: Rows, place: _Place) -> Doubles:
    """The bound of each hot value."""
    if place.wanted.mode != "pw_rel":
        return np.full(rows.size, place.wanted.value)
    return np.asarray(place.wanted.value * np.abs(snippets[rows, hot[rows]].astype(np.float64)))


def _other_sign(snippets: Array, _hot: Rows, rows: Rows, _place: _Place) -> None:
    snippets[rows] = -snippets[rows]


def _other_scale(snippets: Array, _hot: Rows, rows: Rows, place: _Place) -> None:
    by = np.ldexp(1.0, place.rng.integers(-4, 5, rows.size))
    snippets[rows] *= by[:, None].astype(snippets.dtype)


def _near_scale(snippets: Array, _hot: Rows, rows: Rows, place: _Place) -> None:
    by = 1 + place.rng.choice([-1, 1], rows.size) * 2.0 ** -place.rng.uniform(1, 20, rows.size)
    snippets[rows] *= by[:, None].astype(snippets.dtype)


def _beside_others(snippets: Array, hot: Rows, rows: Rows, place: _Place) -> None:
    """What stands beside the hot value is no number, nothing, or huge."""
    fill = place.wanted.fill_value if place.wanted.fill_value is not None else LAND
    strange = np.array([np.nan, np.inf, -np.inf, fill, 0.0, -0.0, 1e30])
    side = np.clip(hot[rows] + place.rng.choice([-1, 1], rows.size), 0, _WIDTH - 1)
    strangers = place.rng.choice(strange, rows.size).astype(snippets.dtype)
    snippets[rows, side] = np.where(side == hot[rows], snippets[rows, side], strangers)


def _all_alike(snippets: Array, hot: Rows, rows: Rows, place: _Place) -> None:
    alike = np.repeat(snippets[rows, hot[rows]][:, None], _WIDTH, axis=1)
    snippets[rows] = _by_ulps(alike, place.rng.integers(-1, 2, alike.shape))


def _other_neighbours(snippets: Array, hot: Rows, rows: Rows, place: _Place) -> None:
    kept = snippets[rows, hot[rows]]
    spread = _width(snippets, hot, rows, place) * 2.0 ** place.rng.integers(0, 12, rows.size)
    noise = place.rng.standard_normal((rows.size, _WIDTH)) * spread[:, None]
    snippets[rows] += noise.astype(snippets.dtype)
    snippets[rows, hot[rows]] = kept


_MOVES: tuple[Callable[[Array, Rows, Rows, _Place], None], ...] = (
    _few_ulps, _many_ulps, _half_bins, _within_bins, _other_sign, _other_scale, _near_scale,
    _beside_others, _all_alike, _other_neighbours,
)  # fmt: skip
"""Each changes some rows of the snippets, in place."""
