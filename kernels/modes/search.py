"""PSNR, L2NORM and RATIO: the absolute bound under which a kernel reaches what was asked.

`measure(abs_bound)` compresses with that bound and says what came of it; a search asks it a few
times and returns the bound to use. What is guaranteed (contract §5): with every |x − x'| ≤ e, the
root of the mean squared error is at most e. So PSNR ≥ P at e = range·10^(−P/20), and ‖x − x'‖₂ ≤ τ
at e = τ/√N, whatever the kernel does within its bound. Errors spread evenly between −e and e have
the variance e²/3, which is where the search begins; it goes down by what is missing, and never
below the guarantee. Not guaranteed: that no larger bound would do; and of a ratio nothing, for it
need not grow with the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from kernels.modes.errors import BoundError

Measure = Callable[[float], float]
"""Absolute bound → what was achieved with it."""

GRID = 12
"""Bounds of a ratio's first look."""
MOST_TRIES = 24
_DESCENTS = 8
"""Tries before the guarantee is taken."""
_SHAVED = 1.0 - 2.0**-30
"""Kept from a guarantee, for the rounding of its formula and of the sum of squares."""
_BEYOND = 0.999
"""How much further down than what is missing: the error need not follow the bound exactly."""
_FINEST = {4: 2.0**-26, 8: 2.0**-55}
"""Bytes of a value → smallest bound of a ratio's grid, in ranges: few values differ by less."""
_NARROW = 1.001
"""Ratio of the ends of a bracket that needs no further look."""


@dataclass(frozen=True)
class Found:
    """Where a search ended."""

    abs_bound: float
    achieved: float
    tries: int
    reached: bool


def noise_bound(psnr: float, value_range: float) -> float:
    """The largest absolute bound under which any kernel reaches `psnr` dB; 0: lossless."""
    return _possible(value_range * 10.0 ** (-psnr / 20.0) * _SHAVED)


def norm_bound(norm: float, count: int) -> float:
    """The largest absolute bound under which any kernel keeps ‖x − x'‖₂ ≤ `norm`."""
    return _possible(norm / math.sqrt(max(count, 1)) * _SHAVED)


def first_bound(guarantee: float) -> float:
    """Where a search for PSNR or L2NORM begins: what it takes if errors are spread evenly."""
    return _possible(math.sqrt(3.0) * guarantee)


def search_psnr(target: float, guarantee: float, measure: Measure) -> Found:
    """The first of a few bounds at which PSNR ≥ `target` (dB); the guarantee at the last."""
    return _descend(
        guarantee,
        measure,
        enough=lambda achieved: achieved >= target,
        shortfall=lambda achieved: 10.0 ** ((achieved - target) / 20.0),
    )


def search_norm(target: float, guarantee: float, measure: Measure) -> Found:
    """The first of a few bounds at which ‖x − x'‖₂ ≤ `target`; the guarantee at the last."""
    return _descend(
        guarantee,
        measure,
        enough=lambda achieved: achieved <= target,
        shortfall=lambda achieved: target / achieved,
    )


def _descend(
    guarantee: float,
    measure: Measure,
    enough: Callable[[float], bool],
    shortfall: Callable[[float], float],
) -> Found:
    """shortfall: by what factor the error is too small to be allowed, below 1 if it is too large.

    At the guarantee it is reached by proof, even where the sum of squares overflows.
    """
    bound = first_bound(guarantee)
    for tries in range(1, _DESCENTS + 1):
        achieved = measure(bound)
        if enough(achieved) or bound <= guarantee:
            return Found(bound, achieved, tries, reached=True)
        lower = bound * shortfall(achieved) * _BEYOND
        bound = max(lower, guarantee) if tries < _DESCENTS - 1 else guarantee
    raise AssertionError("the last bound that is tried is the guarantee")


def ratio_grid(value_range: float, itemsize: int) -> tuple[float, ...]:
    """Bounds to look at first, smallest first: evenly spaced logarithms up to the range."""
    widest = math.log(_possible(value_range))
    step = math.log(grid_step(itemsize))
    return tuple(math.exp(widest - i * step) for i in reversed(range(GRID)))


def grid_step(itemsize: int) -> float:
    """By what factor a bound of the grid is larger than the one before."""
    return float(_FINEST[itemsize] ** (-1.0 / (GRID - 1)))


def search_ratio(target: float, value_range: float, itemsize: int, measure: Measure) -> Found:
    """The smallest bound tried whose ratio is at least `target`, or the one that comes nearest.

    A grid is climbed up to the first bound that reaches the target; then the interval below it is
    halved. Where none does, the surroundings of the best are looked at more closely: the ratio may
    have a peak there.
    """
    looks = _Looks(measure, target)
    grid = ratio_grid(value_range, itemsize)
    for i, bound in enumerate(grid):
        if looks.at(bound):
            looks.narrow(grid[i - 1] if i else 0.0, bound)
            return looks.found()
    looks.around(grid_step(itemsize), grid[-1])
    return looks.found()


class _Looks:
    """Bounds that were tried, and what came of each."""

    def __init__(self, measure: Measure, target: float) -> None:
        self._measure, self._target = measure, target
        self._seen: dict[float, float] = {}

    def at(self, bound: float) -> bool:
        """Try a bound: whether it reaches the target."""
        if bound not in self._seen:
            self._seen[bound] = self._measure(bound)
        return self._seen[bound] >= self._target

    def narrow(self, low: float, high: float) -> None:
        """Halve the interval between a bound that misses and one that reaches it.

        Below the grid's first bound comes 0, which was not tried yet.
        """
        if low == 0.0:
            self.at(low)
            return
        while high > _NARROW * low and len(self._seen) < MOST_TRIES:
            middle = math.sqrt(low) * math.sqrt(high)
            if not low < middle < high:
                return
            low, high = (low, middle) if self.at(middle) else (middle, high)

    def around(self, step: float, widest: float) -> None:
        """Look between the best bound and its neighbours, ever closer, until one reaches it."""
        step = math.sqrt(step)
        while len(self._seen) + 2 <= MOST_TRIES and step > _NARROW:
            # The step shrinks every time, so that this ends where doubles leave nothing between.
            best = max(self._seen, key=lambda bound: (self._seen[bound], -bound))
            for bound in (best / step, min(best * step, widest)):
                if self.at(bound):
                    self.narrow(best if bound > best else bound / step, bound)
                    return
            step = math.sqrt(step)

    def found(self) -> Found:
        """The smallest that reaches the target, else the nearest."""
        reaching = [bound for bound, achieved in self._seen.items() if achieved >= self._target]
        seen = self._seen
        bound = min(reaching) if reaching else max(seen, key=lambda b: (seen[b], -b))
        return Found(bound, seen[bound], len(seen), bool(reaching))


def _possible(value: float) -> float:
    if not math.isfinite(value):
        raise BoundError("what was asked is too large for the range of this data: ask for less")
    return value
