"""Structural similarity of two fields as QCAT and libpressio compute it (`ssim:ssim`).

Fields of 1 to 3 axes, in memory or mapped, flow in; the mean over windows comes out. Only as much
as a slab of windows is looked at, and copied only if it does not lie as compiled code takes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numba import njit

from kernels.parts import in_order
from kernels.records import Array

WINDOW = 7
"""Elements along each axis (Wang et al. 2004 use 11 with Gaussian weights; QCAT 7, unweighted)."""
STRIDE = 2
_K1, _K2 = 0.01, 0.03
_SLAB = 1 << 18
"""About how many elements one piece of work covers."""
# Rows of what is known of columns.
_A, _B, _LOW, _HIGH, _OUT, _AA, _BB, _AB, _ROWS = range(9)


def ssim(
    original: Array, decoded: Array, fill_value: float | None = None, threads: int = 1
) -> float | None:
    """Mean over windows of luminance · contrast · structure.

    With means μ, deviations σ and covariance of a window, L the range of the original in it,
    C₁ = (0.01 L)², C₂ = (0.03 L)² (L = 1 where it is 0), C₃ = C₂/2:
    (2μₓμᵧ + C₁)/(μₓ² + μᵧ² + C₁) · (2σₓσᵧ + C₂)/(σₓ² + σᵧ² + C₂) · (σₓᵧ + C₃)/(σₓσᵧ + C₃).
    Windows have 7 elements along each axis (all, along a shorter one) and start at every second.
    A window with a fill value or a non-finite one is left out; None if all are. Of four axes, the
    mean over the first of what the other three give, where QCAT has windows of four axes.
    """
    fill = math.nan if fill_value is None else _as_stored(fill_value, original.dtype)
    if original.ndim <= 3:
        return _of_three(original, decoded, fill, threads)
    pairs = zip(original, decoded, strict=True)
    several = [ssim(a, b, fill_value, threads) for a, b in pairs]
    known = [one for one in several if one is not None]
    return math.fsum(known) / len(known) if known else None


def _as_stored(value: float, dtype: np.dtype[np.generic]) -> float:
    """What a fill value is in the data; integers are compared as they are."""
    with np.errstate(over="ignore"):
        return float(np.array(value, dtype)) if dtype.kind == "f" else value


def _of_three(x: Array, y: Array, fill: float, threads: int) -> float | None:
    shape = (1,) * (3 - x.ndim) + x.shape
    if 0 in shape:
        return None
    x, y = np.asarray(x).reshape(shape), np.asarray(y).reshape(shape)

    def work(part: tuple[slice, ...]) -> tuple[float, int]:
        total, count = _windows(_plain(x[part]), _plain(y[part]), fill)
        return total, count

    found = list(in_order(work, _slabs(shape), threads))
    count = sum(n for _, n in found)
    return math.fsum(total for total, _ in found) / count if count else None


def _slabs(shape: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    """Cuts along the first axis that has more than one element, that hold whole windows."""
    axis = next((i for i, n in enumerate(shape) if n > 1), 2)
    n, rest = shape[axis], math.prod(shape[axis + 1 :])
    window = min(WINDOW, n)
    starts = range(0, n - window + 1, STRIDE)
    step = max(1, _SLAB // (rest * STRIDE))
    for first in range(0, len(starts), step):
        last = min(first + step, len(starts)) - 1
        cut = [slice(None)] * 3
        cut[axis] = slice(starts[first], starts[last] + window)
        yield tuple(cut)


def _plain(part: Array) -> Array:
    kept = part.dtype.newbyteorder("=") if part.dtype.kind == "f" else np.dtype(np.float64)
    plain = np.require(part, kept, ("C", "A")).view()
    plain.flags.writeable = False
    return plain


@njit(nogil=True, cache=True)
def _windows(x: Array, y: Array, fill: float) -> tuple[float, int]:
    """Sum of the similarity of all windows of a slab, and how many there are.

    Along the last axis windows share columns: means and squares of deviations are had of each
    column, and put together as Chan, Golub and LeVeque do, which loses no digits.
    """
    size0, size1, size2 = min(WINDOW, x.shape[0]), min(WINDOW, x.shape[1]), min(WINDOW, x.shape[2])
    columns = np.empty((_ROWS, x.shape[2]))
    total, count = 0.0, 0
    for i in range(0, x.shape[0] - size0 + 1, STRIDE):
        for j in range(0, x.shape[1] - size1 + 1, STRIDE):
            a, b = x[i : i + size0, j : j + size1], y[i : i + size0, j : j + size1]
            _first_moments(a, b, fill, columns)
            _second_moments(a, b, columns)
            for k in range(0, x.shape[2] - size2 + 1, STRIDE):
                value = _similarity(columns[:, k : k + size2], size0 * size1)
                if not math.isnan(value):
                    total += value
                    count += 1
    return total, count


@njit(nogil=True, cache=True)
def _first_moments(x: Array, y: Array, fill: float, columns: Array) -> None:
    """Means, extremes of x, and values that are left out, of each column."""
    mean_a, mean_b, out = columns[_A], columns[_B], columns[_OUT]
    low, high = columns[_LOW], columns[_HIGH]
    mean_a[:], mean_b[:], low[:], high[:], out[:] = 0.0, 0.0, math.inf, -math.inf, 0.0
    for p in range(x.shape[0]):
        for q in range(x.shape[1]):
            row_a, row_b = x[p, q], y[p, q]
            for r in range(row_a.size):
                a, b = np.float64(row_a[r]), np.float64(row_b[r])
                good = (abs(a) < math.inf) & (abs(b) < math.inf) & (a != fill)
                mean_a[r] += a
                mean_b[r] += b
                low[r] = a if a < low[r] else low[r]
                high[r] = a if a > high[r] else high[r]
                out[r] += 0.0 if good else 1.0
    rows = x.shape[0] * x.shape[1]
    for r in range(mean_a.size):
        mean_a[r] /= rows
        mean_b[r] /= rows


@njit(nogil=True, cache=True)
def _second_moments(x: Array, y: Array, columns: Array) -> None:
    """Squares and products of deviations from the column's means."""
    mean_a, mean_b = columns[_A], columns[_B]
    aa, bb, ab = columns[_AA], columns[_BB], columns[_AB]
    aa[:], bb[:], ab[:] = 0.0, 0.0, 0.0
    for p in range(x.shape[0]):
        for q in range(x.shape[1]):
            row_a, row_b = x[p, q], y[p, q]
            for r in range(row_a.size):
                a, b = np.float64(row_a[r]) - mean_a[r], np.float64(row_b[r]) - mean_b[r]
                aa[r] += a * a
                bb[r] += b * b
                ab[r] += a * b


@njit(nogil=True, cache=True, error_model="numpy")
def _similarity(columns: Array, rows: int) -> float:
    """Of the window that these columns make; NaN if it is left out."""
    width = columns.shape[1]
    mean_a = mean_b = out = 0.0
    low, high = columns[_LOW, 0], columns[_HIGH, 0]
    for r in range(width):
        mean_a += columns[_A, r] / width
        mean_b += columns[_B, r] / width
        out += columns[_OUT, r]
        low, high = min(low, columns[_LOW, r]), max(high, columns[_HIGH, r])
    if out > 0.0:
        return math.nan
    aa = bb = ab = 0.0
    for r in range(width):
        a, b = columns[_A, r] - mean_a, columns[_B, r] - mean_b
        aa += columns[_AA, r] / rows + a * a
        bb += columns[_BB, r] / rows + b * b
        ab += columns[_AB, r] / rows + a * b
    aa, bb, ab = aa / width, bb / width, ab / width
    span = high - low if high > low else 1.0
    c1, c2 = (_K1 * span) ** 2, (_K2 * span) ** 2
    deviations = math.sqrt(aa) * math.sqrt(bb)
    luminance = (2.0 * mean_a * mean_b + c1) / (mean_a * mean_a + mean_b * mean_b + c1)
    contrast = (2.0 * deviations + c2) / (aa + bb + c2)
    structure = (ab + c2 / 2.0) / (deviations + c2 / 2.0)
    return float(luminance * contrast * structure)
