"""What the smallest array on which a bound breaks says of the cause, tried on a few more arrays.

The array and a way to ask the kernel flow in, a `Smallest` flows out: what is in the array, whether
its worst value is wrong by itself, at which places, and from which size on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels.error_pattern import Smallest
from kernels.patterns import last_place
from kernels.records import Array, Comparison, Point
from kernels.shrink import run_starts

_FAR = 1e6
"""A value so many times another is taken for a fill value."""
_FEW = 4
"""Values of an array, at most, whose worst one is tried at other places."""
_PLACES = 260
"""Places at which one value is tried: blocks of 128 twice."""
_TURNS, _SOME = 2, 0.1
"""Where a sample is checked, a value is right and wrong in turns, at more places than a few."""
_LONG, _SHORT = 4099, 259
"""Length along an axis of a value repeated, in one dimension and in several: three more than whole
blocks of all usual lengths."""
_BLOCK = 4
"""Length of a block, at least."""
_OCTAVES = 64
"""Powers of two of the step that are tried as values."""
_BETWEEN = 1.37
"""Times a power of two: neither at the border of a bin nor of a number of bits."""
_GROWTH = 1.01
"""Bounds by which an error changes from one value to the next where roundings add up."""

Mask = npt.NDArray[np.bool_]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Broken:
    """An array on which the bound breaks."""

    original: Array
    decoded: Array
    comparison: Comparison

    @property
    def worst(self) -> Point:
        """Element of the largest error."""
        if self.comparison.worst is None:
            raise ValueError("an empty array breaks no bound")
        return self.comparison.worst

    @property
    def value(self) -> Array:
        """That element, as an array of one."""
        return self.original.reshape(-1)[self.worst.flat : self.worst.flat + 1]


Probe = Callable[[Sequence[Array]], Sequence[Broken | None]]
"""Which of some arrays break the bound."""


def seen(probe: Probe, found: Broken, going: Callable[[], bool]) -> Smallest:
    """What is to be seen of the smallest array that was found; nothing is tried once it is late."""
    others = np.delete(found.original.reshape(-1), found.worst.flat)
    wrong, bound = abs(float(found.worst.original)), found.comparison.abs_bound
    finite = np.abs(others[np.isfinite(others)].astype(np.float64))
    alone = found.original.size == 1 or probe([found.value])[0] is not None
    value_limit, jump_limit = _limits(probe, found) if going() else (0, 0)
    in_tail = _in_tail(probe, found) if alone and going() else (0, 0)
    from_on, in_place = _shifted(probe, found) if going() else (False, False)
    spared, period = _spared(probe, found) if going() else (0.0, 0)
    return Smallest(
        size=found.original.size,
        at=found.worst.flat,
        runs=int(run_starts(found.original.reshape(-1)).size),
        alone=alone,
        beside_special=math.isfinite(wrong) and finite.size < others.size,
        too_wide=_too_wide(found),
        beside_fill=bool((finite > _FAR * max(wrong, bound)).any()),
        excess_ulps=_excess_ulps(found),
        mirrored=_mirrored(found),
        grows=not alone and _grows(found),
        in_tail=in_tail[0],
        in_tail_of=in_tail[1],
        from_on=from_on,
        in_place=in_place,
        spared=spared,
        spared_period=period,
        value_limit=value_limit,
        jump_limit=jump_limit,
    )


def _excess_ulps(found: Broken) -> float:
    """By how much the worst error exceeds the bound, in units of the last place."""
    original, decoded = float(found.worst.original), float(found.worst.decoded)
    if not (math.isfinite(original) and math.isfinite(decoded)):
        return math.inf
    largest = np.array(max(abs(original), abs(decoded)), found.original.dtype)
    excess = max(0.0, float(found.worst.error) - found.comparison.abs_bound)
    return excess / float(last_place(largest))


def _too_wide(found: Broken) -> bool:
    """All is finite, but the largest minus the smallest is not, in the data type."""
    with np.errstate(over="ignore", invalid="ignore"):
        span = found.original.max() - found.original.min()
    return bool(np.isinf(span) and np.isfinite(found.original).all())


def _mirrored(found: Broken) -> bool:
    """A negative value came back as its magnitude."""
    original, decoded = float(found.worst.original), float(found.worst.decoded)
    bound = found.comparison.abs_bound
    return original < -2 * bound < 0 and abs(original + decoded) <= 1.1 * bound


def _grows(found: Broken) -> bool:
    """Each value adds an error within the bound to the error of those before it.

    Of predictors that extrapolate from one, two or three values before.
    """
    bound = found.comparison.abs_bound
    with np.errstate(all="ignore"):
        errors = found.decoded.astype(np.float64) - found.original.astype(np.float64)
    if not 2 <= errors.size <= 64 or not np.isfinite(errors).all() or not bound:
        return False
    added = [errors]
    for axis in range(errors.ndim):
        added[0] = np.diff(added[0], axis=axis, prepend=0.0)
    flat = errors.reshape(-1)
    added += [np.diff(np.concatenate((np.zeros(n), flat)), n=n) for n in (1, 2, 3)]
    return any(bool((np.abs(one) <= _GROWTH * bound).all()) for one in added)


def _in_tail(probe: Probe, found: Broken) -> tuple[int, int]:
    """Repeated along an axis, at how many last places of how many the worst value is wrong.

    0, 0 if it is wrong elsewhere.
    """
    dimensions = max(1, found.original.ndim)
    lengths = [(_LONG if dimensions == 1 else _SHORT) if a == 0 else 3 for a in range(dimensions)]
    shapes = [np.roll(lengths, axis) for axis in range(dimensions)]
    tried = probe([np.full(shape, found.value[0]) for shape in shapes])
    for axis, broken in enumerate(tried):
        if broken is None:
            continue
        wrong = np.nonzero(_wrong(broken))[axis]
        length = broken.original.shape[axis]
        last = length - int(wrong.min())
        if last < length // 2 and np.unique(wrong).size == last:
            return last, length
    return 0, 0


def _wrong(broken: Broken) -> Mask:
    """Where the bound is broken; a tie may be taken for right."""
    x, y = broken.original.astype(np.float64), broken.decoded.astype(np.float64)
    with np.errstate(all="ignore"):
        near = np.abs(x - y) <= broken.comparison.abs_bound
    wrong: Mask = ~(near | (x == y) | (np.isnan(x) & np.isnan(y)))
    return wrong


def _spared(probe: Probe, found: Broken) -> tuple[float, int]:
    """At which share of the places, and at every so manyth, the worst value comes back right.

    0, 0 if it is right, or wrong, at nearly all of them, or first right and then wrong.
    """
    value = found.value[0]
    if found.original.size > _FEW or value == 0:
        return 0.0, 0
    others = np.delete(found.original.reshape(-1), found.worst.flat)
    row = np.resize(others, _PLACES) if others.size else np.zeros(_PLACES, value.dtype)
    tried = np.tile(row, (_PLACES, 1))
    np.fill_diagonal(tried, value)
    right = np.array([broken is None for broken in probe(list(tried))])
    places = np.flatnonzero(right)
    if places.size < 2 or np.count_nonzero(np.diff(right)) < _TURNS:
        return 0.0, 0
    steps = np.unique(np.diff(places))
    share = places.size / _PLACES
    regular = steps.size == 1 and places[0] < steps[0] and places[-1] + steps[0] >= _PLACES
    if np.unique(others).size > 1 and not (regular and steps[0] > others.size):
        # The neighbours differ from place to place, too.
        return 0.0, 0
    if not regular and (_is_border(~right) or not _SOME < share < 1 - _SOME):
        return 0.0, 0
    return (share, int(steps[0])) if regular else (share, 0)


def _is_border(wrong: Mask) -> bool:
    """Once in every block."""
    steps = np.unique(np.diff(np.flatnonzero(wrong)))
    return bool(steps.size == 1 and steps[0] >= _BLOCK)


def _shifted(probe: Probe, found: Broken) -> tuple[bool, bool]:
    """After more zeros than it needs: is it still wrong; or is what then stands at its place."""
    flat = found.original.reshape(-1)
    if flat.size <= _FEW or found.original.ndim != 1 or flat[0] != 0:
        return False, False
    more = (1, 2, 3, 5, 7)
    tried = probe([np.concatenate((np.zeros(n, flat.dtype), flat)) for n in more])
    places = [broken.worst.flat if broken else -1 for broken in tried]
    at = found.worst.flat
    return places == [at + n for n in more], places == [at for _ in more]


def _limits(probe: Probe, found: Broken) -> tuple[int, int]:
    """From which power of two of the step on values, and jumps from 0, are wrong; 0: none."""
    bound, dtype = found.comparison.abs_bound, found.original.dtype
    if not bound or found.original.size > _FEW:
        return 0, 0
    top = math.log2(float(np.finfo(dtype).max)) - math.log2(2 * _BETWEEN * bound)
    octaves = range(min(_OCTAVES, math.floor(top)))
    steps = np.abs(found.original[np.isfinite(found.original)].astype(np.float64)) / (2 * bound)
    largest = math.log2(max(float(steps.max(initial=0.0)), 1.0))
    values = [np.array([2 * _BETWEEN * bound * 2.0**k], dtype) for k in octaves]
    jumps = [np.concatenate((np.zeros(1, dtype), value)) for value in values]
    limits = (_limit(probe(values)), _limit(probe(jumps)))
    # A limit that the array itself does not reach has nothing to do with it.
    return limits[0] if limits[0] <= largest + 1 else 0, limits[1] if limits[
        1
    ] <= largest + 1 else 0


def _limit(tried: Sequence[Broken | None]) -> int:
    """The first that is wrong, and by much, if those that are wrong follow each other."""
    wrong = np.array([broken is not None and _excess_ulps(broken) > 4 for broken in tried])
    at = np.flatnonzero(wrong)
    return int(at[0]) if at.size and at[0] >= 3 and at.size == at[-1] - at[0] + 1 else 0
