"""Ratios of times with an interval: two kernels side by side, and a run against an older one.

Timings are skewed and have outliers, so everything is done with ranks of log ratios. Side by side,
the times of one pair differ by d = log(b/a); if both kernels are equally fast and the order within
a pair is random, d is symmetric about 0 whatever its distribution, and the Hodges-Lehmann interval
(Walsh averages cut by the exact signed-rank distribution) misses 1 in at most 5% of comparisons.
Sources: J. L. Hodges and E. L. Lehmann, Estimates of location based on rank tests, 1963;
M. Hollander, D. A. Wolfe, Nonparametric Statistical Methods, 3rd ed., sections 3.2, 3.3 and 4.2.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kernels.records import Failure, RunResult

Verdict = Literal["faster", "slower", "inconclusive"]

MISSED = 0.05
"""Chance that an interval does not hold the true ratio."""
FEWEST_PAIRS = 6
"""With fewer pairs no interval of ranks reaches 95%: (1/2)^5 = 3% on each side."""
_NORMAL = 1.96
"""Standard deviations that hold 95% of a normal distribution."""


@dataclass(frozen=True)
class Interval:
    """A ratio and where it lies with 95% confidence."""

    ratio: float
    low: float
    """0 if there is too little data for a lower end."""
    high: float
    """Infinity if there is too little data for an upper end."""

    @property
    def verdict(self) -> Verdict:
        """Whether the ratio of speeds is surely above or below 1."""
        if self.low > 1:
            return "faster"
        return "slower" if self.high < 1 else "inconclusive"


@dataclass(frozen=True)
class Contrast:
    """One direction of two kernels, timed in pairs."""

    direction: str
    """compress, decompress or run."""
    seconds: tuple[float, ...]
    """Per input, of the kernel that is judged, one per pair."""
    against_seconds: tuple[float, ...]
    """Per input, of the other one."""
    speedup: Interval
    """Speed of the first over that of the other."""


@dataclass(frozen=True)
class Compared:
    """Two kernels side by side on one field at one bound."""

    result: RunResult
    """Of the kernel that is judged, its repetitions among the other's."""
    against: str
    """kernel_id of the other."""
    contrasts: tuple[Contrast, ...] = ()
    """Empty if it came to no comparison: `result.failure` says why."""

    @property
    def failure(self) -> Failure | None:
        """Why there is no comparison."""
        return self.result.failure


def contrast(
    direction: str, seconds: Sequence[float], against_seconds: Sequence[float]
) -> Contrast:
    """The comparison of one direction; pair i is seconds[i] and against_seconds[i]."""
    interval = paired_ratio(against_seconds, seconds)
    return Contrast(direction, tuple(seconds), tuple(against_seconds), interval)


def paired_ratio(over: Sequence[float], under: Sequence[float]) -> Interval:
    """Ratio over/under of paired times: Hodges-Lehmann estimate, signed-rank interval."""
    logs = [math.log(a / b) for a, b in zip(over, under, strict=True)]
    if not logs:
        return Interval(1.0, 0.0, math.inf)
    averages = sorted((x + y) / 2 for i, x in enumerate(logs) for y in logs[i:])
    return _interval(averages, _signed_rank_cut(len(logs)))


def unpaired_ratio(over: Sequence[float], under: Sequence[float]) -> Interval:
    """Ratio over/under of independent times: Hodges-Lehmann shift, Mann-Whitney interval."""
    m, n = len(over), len(under)
    if not m or not n:
        return Interval(1.0, 0.0, math.inf)
    differences = sorted(math.log(a / b) for a in over for b in under)
    spread = math.sqrt(m * n * (m + n + 1) / 12)
    return _interval(differences, math.floor(m * n / 2 - _NORMAL * spread))


def _interval(ordered: Sequence[float], cut: int) -> Interval:
    """The median of `ordered` log ratios, and the cut-th from either end."""
    ratio = math.exp(statistics.median(ordered))
    if cut < 1:
        return Interval(ratio, 0.0, math.inf)
    return Interval(ratio, math.exp(ordered[cut - 1]), math.exp(ordered[-cut]))


def _signed_rank_cut(n: int) -> int:
    """The largest k with P(W <= k - 1) <= MISSED / 2, W being the signed-rank sum of n values.

    The k-th smallest and k-th largest Walsh average are the ends of the interval; 0: there is none.
    """
    ways = [1] + [0] * (n * (n + 1) // 2)
    for rank in range(1, n + 1):
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    room, cut = MISSED / 2 * 2**n, 0
    while (room := room - ways[cut]) >= 0:
        cut += 1
    return cut
