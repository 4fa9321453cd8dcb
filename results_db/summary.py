"""A run in a few numbers: ratio, speeds, error against the bound, the size rule, and the score.

The one place where they are computed. The ledger stores them as columns and the server puts them
into its reply, so that an agent and an analyst see the same figures.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from kernels.records import Comparison, RunResult, Sample

COPY_PEAK = "copy_peak_gbps"
"""Name of the metric that holds the memcpy bandwidth measured at the size of the run's field."""
FRESH_BYTES = "fresh_stream_bytes"
"""Metric of a run: median size of the streams that were timed."""
FRESH_FACTOR = 1.05
BASELINE = "copy_in_run_gbps"
"""Metric of a run: speed of a copy of its field's data, made beside every repetition."""

SIZE_RULE_FACTOR = 1.02
SIZE_RULE_BYTES = 64
"""A fixed-format stream is within the rule up to factor × golden + bytes (contract §3)."""

LINKS = 61
"""Link bandwidths of the transfer score, log-spaced over three decades: 20 per decade."""


@dataclass(frozen=True)
class Speed:
    """GB/s of original data in one direction, over the undisturbed repetitions (all, if none)."""

    median: float
    best: float
    low: float
    """Lower quartile."""
    high: float
    """Upper quartile."""
    repetitions: int
    disturbed: int


@dataclass(frozen=True)
class RunSummary:
    """None wherever a number does not exist for the run."""

    ratio: float | None
    """Original bytes / bytes of stream and side data."""
    bit_rate: float | None
    """Bits of both per value."""
    psnr: float | None
    """dB; None if nothing differs or the error is not finite."""
    worst_over_bound: float | None
    """Largest error / bound; above 1 the bound is broken."""
    within_size_rule: bool | None
    """None where the task has no golden stream."""
    compress: Speed | None
    decompress: Speed | None
    run: Speed | None
    both_ways_gbps: float | None
    """Harmonic mean of the two directions: the score in szp and szx."""
    copy_peak_gbps: float | None
    transfer_bits: float | None
    """The score in sz-open: see `transfer_bits`."""

    @property
    def score(self) -> float | None:
        """What the leaderboard ranks by, for the kind of task that the figures are of."""
        if self.run is not None:
            return self.run.median
        return self.transfer_bits if self.within_size_rule is None else self.both_ways_gbps


def summarise(result: RunResult) -> RunSummary:
    """The figures of one run."""
    compress = speed(result.samples, "compress")
    decompress = speed(result.samples, "decompress")
    copy_peak = next((m.value for m in result.metrics if m.name == COPY_PEAK), None)
    fresh = next((m.value for m in result.metrics if m.name == FRESH_BYTES), 0.0)
    ratio = result.raw_bytes / result.counted_bytes if result.stream_bytes > 0 else None
    both, score = None, None
    if compress is not None and decompress is not None:
        both = 2 / (1 / compress.median + 1 / decompress.median)
        if ratio is not None and copy_peak is not None:
            # What is timed must be as small as what is shown: else a kernel that knows the field
            # takes its time there and stores raw while it is timed.
            side = result.counted_bytes - result.stream_bytes
            counted = min(ratio, result.raw_bytes / (fresh + side)) if fresh > 0 else ratio
            score = transfer_bits(compress.median, decompress.median, counted, copy_peak)
    return RunSummary(
        ratio=ratio,
        bit_rate=_bit_rate(result),
        psnr=None if result.comparison is None else _psnr(result.comparison),
        worst_over_bound=_worst_over_bound(result.comparison),
        within_size_rule=within_size_rule(result.stream_bytes, result.golden_bytes, fresh),
        compress=compress,
        decompress=decompress,
        run=speed(result.samples, "run"),
        both_ways_gbps=both,
        copy_peak_gbps=copy_peak,
        transfer_bits=score,
    )


def speed(samples: Sequence[Sample], direction: str) -> Speed | None:
    """GB/s of one direction; None without a usable repetition."""
    usable = [s for s in samples if s.direction == direction and s.seconds > 0 and s.nbytes > 0]
    if not usable:
        return None
    calm = [s for s in usable if not s.disturbed]
    rates = [s.nbytes / s.seconds / 1e9 for s in calm or usable]
    low, median, high = _quartiles(rates)
    return Speed(
        median=median,
        best=max(rates),
        low=low,
        high=high,
        repetitions=len(usable),
        disturbed=len(usable) - len(calm),
    )


def transfer_bits(
    compress_gbps: float, decompress_gbps: float, ratio: float, memcpy_gbps: float
) -> float:
    """How many times faster data arrives than sent raw, in bits: S of contract §7.

    The mean over links B, log-spaced from memcpy/1000 to memcpy, of
    log₂ max(1, (1/B) / (1/C + 1/(ρB) + 1/D)). Storing raw at memcpy speed scores 0.
    """
    if min(compress_gbps, decompress_gbps, ratio, memcpy_gbps) <= 0:
        return 0.0
    gains = []
    for step in range(LINKS):
        link = memcpy_gbps * 10 ** (-3 * step / (LINKS - 1))
        through = 1 / compress_gbps + 1 / (ratio * link) + 1 / decompress_gbps
        gains.append(math.log2(max(1.0, 1 / link / through)))
    return statistics.fmean(gains)


def within_size_rule(
    stream_bytes: int, golden_bytes: int | None, fresh_bytes: float = 0.0
) -> bool | None:
    """Whether a fixed-format stream is small enough to be ranked; None without a golden stream.

    fresh_bytes: of the streams that were timed, of content made from the field. They may be a
    little larger: golden streams of such content are, by up to 1.7% on the shipped fields.
    """
    if golden_bytes is None:
        return None
    most = SIZE_RULE_FACTOR * golden_bytes + SIZE_RULE_BYTES
    return stream_bytes <= most and fresh_bytes <= FRESH_FACTOR * most


def over_bound(max_abs_error: float, abs_bound: float) -> float:
    """Largest error over the bound; with a bound of 0, 0 or infinity."""
    if abs_bound > 0:
        return max_abs_error / abs_bound
    return 0.0 if max_abs_error == 0 else math.inf


def _worst_over_bound(comparison: Comparison | None) -> float | None:
    return over_bound(comparison.max_abs_error, comparison.abs_bound) if comparison else None


def _bit_rate(result: RunResult) -> float | None:
    if result.comparison is None or result.comparison.checked == 0 or result.stream_bytes <= 0:
        return None
    return 8 * result.counted_bytes / result.comparison.checked


def _psnr(comparison: Comparison) -> float | None:
    """20 log₁₀(range) − 10 log₁₀(mean squared error)."""
    squared = comparison.sum_squared_error
    if comparison.checked == 0 or not math.isfinite(squared) or squared <= 0:
        return None
    if not 0 < comparison.value_range < math.inf:
        return None
    return 20 * math.log10(comparison.value_range) - 10 * math.log10(squared / comparison.checked)


def _quartiles(rates: Sequence[float]) -> tuple[float, float, float]:
    if len(rates) == 1:
        return rates[0], rates[0], rates[0]
    low, median, high = statistics.quantiles(rates, n=4, method="inclusive")
    return low, median, high
