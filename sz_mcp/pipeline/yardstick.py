"""What the machine did while a kernel was timed: a copy of the data beside every repetition.

Times of a kernel and of the copies flow in, metrics flow out: the speed of a copy in this very run,
how far the kernel's own speeds can be told apart (noise), and the kernel's speed in units of the
copy's, in which what slows the whole machine cancels. Noise is half the width of a 95% interval
relative to the value: a difference that is smaller is no difference.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kernels.records import Array, Metric, Sample
from results_db.statistics import FEWEST_PAIRS, Interval, paired_ratio
from results_db.summary import BASELINE

_MOST_BYTES = 16 << 20
"""Of a copy: larger ones are no other, and would take time from the kernel."""
_COPIES = 3
"""Per repetition, of which the best counts: the first may have to bring the data near."""


class Yardstick:
    """Copies the same bytes again and again, on the core that waits for the kernel."""

    def __init__(self, data: Array) -> None:
        self._source = np.frombuffer(data, np.uint8)[:_MOST_BYTES] if data.size else _NOTHING
        self._target = np.ones_like(self._source)
        self._seconds: list[float] = []

    @property
    def seconds(self) -> tuple[float, ...]:
        """Per byte, of every measurement."""
        return tuple(self._seconds)

    def measure(self) -> None:
        """Copy once more."""
        best = math.inf
        for _ in range(_COPIES):
            begun = time.perf_counter()
            np.copyto(self._target, self._source)
            best = min(best, time.perf_counter() - begun)
        self._seconds.append(max(best, 1e-9) / max(1, self._source.nbytes))


_NOTHING = np.zeros(0, np.uint8)


@dataclass(frozen=True)
class _Repetition:
    """Seconds per byte, of a kernel's call and of the copy beside it."""

    kernel: float
    copy: float


def noise_metrics(samples: Sequence[Sample], copies: Sequence[float]) -> tuple[Metric, ...]:
    """copies: seconds per byte, by repetition. Of undisturbed repetitions; none without two."""
    if len(copies) < 2:
        return ()
    metrics = [
        Metric(BASELINE, 1e-9 / statistics.median(copies), "GB/s", "measured"),
        Metric(f"{BASELINE}_noise", noise(copies), "relative", "measured"),
    ]
    for direction, pairs in _by_direction(samples, copies).items():
        if len(pairs) >= 2:
            metrics += _of_direction(direction, pairs)
    return tuple(metrics)


def _by_direction(
    samples: Sequence[Sample], copies: Sequence[float]
) -> Mapping[str, list[_Repetition]]:
    calm: dict[str, list[_Repetition]] = {}
    for one in samples:
        if not one.disturbed and one.nbytes and one.repetition < len(copies):
            pair = _Repetition(max(one.seconds, 1e-9) / one.nbytes, copies[one.repetition])
            calm.setdefault(one.direction, []).append(pair)
    return calm


def _of_direction(direction: str, pairs: Sequence[_Repetition]) -> Iterator[Metric]:
    copies, kernels = [p.copy for p in pairs], [p.kernel for p in pairs]
    over = ratio(copies, kernels)
    yield Metric(f"{direction}_noise", noise(kernels), "relative", "measured")
    yield Metric(f"{direction}_over_copy", over.ratio, "x the copy's speed", "measured")
    yield Metric(f"{direction}_over_copy_noise", _half_width(over), "relative", "measured")


def noise(seconds: Sequence[float]) -> float:
    """Half the width of the interval of the typical time, relative to it."""
    return _half_width(ratio(seconds, [1.0] * len(seconds)))


def ratio(over: Sequence[float], under: Sequence[float]) -> Interval:
    """Paired, with an interval of 95%; of fewer pairs than that takes, the range of them all."""
    found = paired_ratio(over, under)
    if len(over) >= FEWEST_PAIRS:
        return found
    each = [a / b for a, b in zip(over, under, strict=True)]
    return Interval(found.ratio, min(each), max(each))


def _half_width(interval: Interval) -> float:
    return math.sqrt(interval.high / interval.low) - 1
