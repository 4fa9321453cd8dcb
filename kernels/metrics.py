"""How good a reconstruction is: original + decoded → error metrics by libpressio's definitions.

For people who compare compressors; whether a bound holds is decided in `verify`, by exact
arithmetic. Arrays in memory or mapped flow in and are gone through in parts, but that entropy sorts
a copy. Everything is over elements that are finite in both arrays and not the fill value. What is
not defined for the data (a constant, a lossless reconstruction) is None: never NaN or infinite.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels import metrics_loops as loops
from kernels.parts import Effort, Pair, over_parts
from kernels.records import Array, Metric
from kernels.ssim import ssim

_NOISE = 1e-12
"""A variance below this part of a sum of squares is rounding. True ones are above 1e-4 of it, as
sums are taken from the mean of the first 2¹⁸ elements of at most 2³¹."""
BINS = 10
"""Of the error histogram."""
ENTROPY_BYTES = 1 << 28
"""Entropy is not computed of larger arrays: their values have to be sorted in memory."""


@dataclass(frozen=True)
class Histogram:
    """Errors x − x' by size (libpressio: `diff_pdf`, over the bound instead of the largest)."""

    bound: float
    """The bins divide [−bound, bound] evenly; each holds its lower edge, the last both."""
    counts: tuple[int, ...]
    outside: int
    """Errors beyond the bound."""


@dataclass(frozen=True)
class Metrics:
    """With x the original, x' the decoded values, n elements that count, e = x − x'."""

    counted: int
    """n."""
    value_range: float | None = None
    """max x − min x (libpressio `error_stat:value_range`)."""
    max_error: float | None = None
    """max |e| (`error_stat:max_error`), in double arithmetic."""
    max_rel_error: float | None = None
    """max |e| / value_range (`error_stat:max_rel_error`)."""
    max_pw_rel_error: float | None = None
    """max |e| / |x| over x ≠ 0 (`error_stat:max_pw_rel_error`)."""
    rmse: float | None = None
    """√(Σe²/n) (`error_stat:rmse`)."""
    nrmse: float | None = None
    """rmse / value_range, as SZ3 and Z-checker print it."""
    l2_error: float | None = None
    """√Σe², the norm that SZ3's L2NORM mode bounds."""
    psnr: float | None = None
    """20·log₁₀(value_range / rmse), dB (`error_stat:psnr`); None if nothing differs."""
    pearson_r: float | None = None
    """Σ(x−x̄)(x'−x̄') / √(Σ(x−x̄)² Σ(x'−x̄')²) (`pearson:r`); None if either is constant."""
    error_autocorrelation: float | None = None
    """Lag 1, in C order: mean of (eᵢ−ē)(eᵢ₊₁−ē) over neighbours that both count / mean of (e−ē)²
    (`autocorr:autocorr`[1], in its form for more than 4096 elements); None if e is constant."""
    ssim: float | None = None
    """Structural similarity, see `kernels.ssim` (`ssim:ssim`)."""
    entropy_input: float | None = None
    """−Σ p·log₂ p over distinct values x, bits per value (`entropy:input`); +0 and −0 are one."""
    entropy_decompressed: float | None = None
    """The same of x' (`entropy:decompressed`)."""
    histogram: Histogram | None = None
    """None for a bound of 0."""
    bit_rate: float | None = None
    """Bits of the stream per value, of all values (`size:bit_rate`)."""
    compression_ratio: float | None = None
    """Original bytes / stream bytes (`size:compression_ratio`)."""

    def listed(self) -> tuple[Metric, ...]:
        """Those that are defined, as records of the data line."""
        named = [
            ("counted_values", float(self.counted), ""),
            *((name, getattr(self, name), unit) for name, unit in _UNITS.items()),
            *self._bins(),
        ]
        return tuple(
            Metric(name, value, unit, "derived") for name, value, unit in named if value is not None
        )

    def _bins(self) -> Iterator[tuple[str, float, str]]:
        """Counts by the lower and upper edge of their bin, in bounds."""
        found = self.histogram
        if found is None:
            return
        width = 2 / len(found.counts)
        for i, count in enumerate(found.counts):
            edges = f"{i * width - 1:+.4g}..{(i + 1) * width - 1:+.4g}"
            yield f"errors[{edges}]", float(count), "values by error/bound"
        yield "errors[outside]", float(found.outside), "values by error/bound"


_UNITS = {
    "value_range": "",
    "max_error": "",
    "max_rel_error": "of value_range",
    "max_pw_rel_error": "of |x|",
    "rmse": "",
    "nrmse": "of value_range",
    "l2_error": "",
    "psnr": "dB",
    "pearson_r": "",
    "error_autocorrelation": "lag 1",
    "ssim": "",
    "entropy_input": "bits/value",
    "entropy_decompressed": "bits/value",
    "bit_rate": "bits/value",
    "compression_ratio": "",
}
"""Fields of `Metrics` in the order in which they are listed; numbers without one have the data's
unit, or none."""


def measure(
    original: Array,
    decoded: Array,
    abs_bound: float = 0.0,
    fill_value: float | None = None,
    stream_bytes: int | None = None,
    threads: int = 1,
) -> Metrics:
    """All metrics of a reconstruction; those of size only if the stream's is given.

    abs_bound: what the histogram spans. Raises ValueError if shapes differ or it is not real data.
    """
    if original.shape != decoded.shape or original.dtype.kind not in "fiub":
        raise ValueError(
            f"decoded is {decoded.dtype}{list(decoded.shape)}, "
            f"the original {original.dtype}{list(original.shape)}"
        )
    fill = math.nan if fill_value is None else _stored(fill_value, original.dtype)
    sums, histogram = _summed(original, decoded, fill, abs_bound, threads)
    known = _of_sums(sums) if original.size else {}
    small = original.nbytes <= ENTROPY_BYTES
    entropies = [_entropy(array, original, decoded, fill) for array in (original, decoded) if small]
    streamed = bool(stream_bytes) and original.size > 0
    size = float(stream_bytes or 0)
    return Metrics(
        counted=int(sums[:, loops.COUNTED].sum()),
        **{name: value for name, value in known.items() if math.isfinite(value)},
        ssim=_finite(ssim(original, decoded, fill_value, threads)),
        entropy_input=entropies[0] if small else None,
        entropy_decompressed=entropies[1] if small else None,
        histogram=histogram,
        bit_rate=8 * size / original.size if streamed else None,
        compression_ratio=original.nbytes / size if streamed else None,
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _stored(value: float, dtype: np.dtype[np.generic]) -> float:
    """What a fill value is in the data."""
    with np.errstate(over="ignore"):
        return float(np.array(value, dtype)) if dtype.kind == "f" else value


def _real(part: Array) -> Array:
    """Integers as doubles: beyond 2⁵³ they are rounded."""
    if part.dtype.kind == "f":
        return part
    real = part.astype(np.float64)
    real.flags.writeable = False
    return real


def _summed(
    original: Array, decoded: Array, fill: float, abs_bound: float, threads: int
) -> tuple[npt.NDArray[np.float64], Histogram | None]:
    """A row of sums per part, and the histogram of all."""

    def middle(pair: Pair) -> tuple[float, float, float]:
        found: tuple[float, float, float] = loops.centre(_real(pair.x), _real(pair.y), fill)
        return found

    centres = next(over_parts(middle, original, decoded, Effort()), (0.0, 0.0, 0.0))

    def work(pair: Pair) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        sums, bins = np.zeros(loops.COLUMNS), np.zeros(BINS + 1, np.int64)
        x, y = _real(pair.x), _real(pair.y)
        loops.add_up(x, y, fill, centres, sums, bins, abs_bound)
        return sums, bins

    rows: list[npt.NDArray[np.float64]] = []
    counts = np.zeros(BINS + 1, np.int64)
    for sums, bins in over_parts(work, original, decoded, Effort(threads)):
        rows.append(sums)
        counts += bins
    histogram = None
    if abs_bound > 0:
        *inside, outside = counts.tolist()
        histogram = Histogram(abs_bound, tuple(inside), outside)
    return np.array(rows).reshape(len(rows), loops.COLUMNS), histogram


def _of_sums(rows: npt.NDArray[np.float64]) -> dict[str, float]:
    """Name → value; undefined ones are left out or not finite."""
    total = [_sum(column.tolist()) for column in rows[:, : loops.FIRST].T]
    n = total[loops.COUNTED]
    if n == 0:
        return {}
    span = float(rows[:, loops.HIGHEST].max()) - float(rows[:, loops.LOWEST].min())
    largest = float(rows[:, loops.LARGEST].max())
    mean_square = total[loops.SQUARES] / n
    rmse = math.sqrt(mean_square)
    known = {
        "value_range": span,
        "max_error": largest,
        "max_pw_rel_error": float(rows[:, loops.LARGEST_POINTWISE].max()),
        "rmse": rmse,
        "l2_error": math.sqrt(total[loops.SQUARES]),
    }
    if 0 < span < math.inf:
        known |= {"max_rel_error": largest / span, "nrmse": rmse / span}
        if mean_square > 0:
            known["psnr"] = 20 * math.log10(span) - 10 * math.log10(mean_square)
    return known | _correlations(rows, total)


def _sum(values: list[float]) -> float:
    """To an ulp; infinite if it overflows."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return math.inf


def _correlations(rows: npt.NDArray[np.float64], total: list[float]) -> dict[str, float]:
    """Pearson's r of the values, and the autocorrelation of the errors."""
    n, known = total[loops.COUNTED], {}
    x, y, shift = total[loops.X], total[loops.Y], total[loops.SHIFTED] / n
    xx, yy = total[loops.XX] - x * x / n, total[loops.YY] - y * y / n
    if xx > _NOISE * total[loops.XX] and yy > _NOISE * total[loops.YY]:
        r = (total[loops.XY] - x * y / n) / (math.sqrt(xx) * math.sqrt(yy))
        known["pearson_r"] = min(1.0, max(-1.0, r))
    variance = total[loops.SHIFTED_SQUARES] / n - shift * shift
    # Neighbours in two parts: the last element of one, the first of the next.
    left, right = rows[:-1, loops.LAST], rows[1:, loops.FIRST]
    left_counts, right_counts = rows[:-1, loops.LAST_COUNTS], rows[1:, loops.FIRST_COUNTS]
    with np.errstate(over="ignore", invalid="ignore"):
        pairs = total[loops.PAIRS] + float(left_counts @ right_counts)
        products = total[loops.PRODUCTS] + float(left @ right)
        singles = float(left @ right_counts) + float(right @ left_counts)
    singles += total[loops.LEFT] + total[loops.RIGHT]
    if variance > _NOISE * total[loops.SHIFTED_SQUARES] / n and pairs > 0:
        mean = (products - shift * singles) / pairs + shift * shift
        known["error_autocorrelation"] = mean / variance
    return known


def _entropy(values: Array, original: Array, decoded: Array, fill: float) -> float | None:
    """Shannon entropy of those of the values that count."""
    real = original.dtype.kind == "f"
    good = (original != fill) if fill == fill else np.ones(original.shape, np.bool_)
    if real:
        good &= np.isfinite(original) & np.isfinite(decoded)
    kept = values[good].astype(values.dtype.newbyteorder("="), copy=False)
    if kept.size == 0:
        return None
    kept.sort()
    return max(0.0, float(loops.runs_entropy(kept)))
