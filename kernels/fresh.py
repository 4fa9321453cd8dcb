"""New content for every timed request, so that nothing a kernel remembers is of use.

A field becomes s·(field rolled along the flat index + a slow random walk): it compresses as the
field does, but most elements are further than the bound from anything seen before.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from kernels.records import Array

ROLL = 32
"""Rolls are multiples of this: the block of the specified streams."""
DEVIATION = 4.0
"""Standard deviation of the walk, in bounds."""
SPACING = 512
"""Elements between the walk's random points; it is straight between them."""
MEMORY = 16
"""Random points after which the walk has forgotten where it was."""

_SAMPLES = 257


@njit(nogil=True, cache=True)
def _next_random(state: npt.NDArray[np.uint64]) -> np.uint64:
    """One step of SplitMix64 (Steele, Lea, Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.uint64 = z ^ (z >> np.uint64(31))
    return mixed


@njit(nogil=True, cache=True)
def _normal(state: npt.NDArray[np.uint64]) -> float:
    """About N(0, 1): four uniform numbers, added."""
    total = 0.0
    for _ in range(4):
        total += np.float64(_next_random(state) >> np.uint64(11)) * 2.0**-53 - 0.5
    return total * math.sqrt(3.0)


@njit(nogil=True, cache=True)
def _vary(
    data: Array, out: Array, fill: float, deviation: float, state: npt.NDArray[np.uint64]
) -> None:
    n = data.size
    sign = 1.0 if _next_random(state) >> np.uint64(63) else -1.0
    turns = np.uint64(max(n // ROLL, 1))
    shift = int(np.int64(_next_random(state) % turns)) * ROLL
    keep = 1.0 - 1.0 / MEMORY
    push = deviation * math.sqrt(1.0 - keep * keep)
    here = deviation * _normal(state)
    for at in range(0, n, SPACING):
        there = keep * here + push * _normal(state)
        slope = (there - here) / SPACING
        m = min(SPACING, n - at)
        source = (at + shift) % n
        first = min(m, n - source)
        _copy_varied(data[source : source + first], out[at : at + first], fill, sign, here, slope)
        if first < m:
            middle = here + slope * first
            _copy_varied(data[: m - first], out[at + first : at + m], fill, sign, middle, slope)
        here = there


@njit(nogil=True, cache=True)
def _copy_varied(
    data: Array, out: Array, fill: float, sign: float, offset: float, slope: float
) -> None:
    """Write sign·(data + a line), except what must stay as it is: zeros, fill, non-finite."""
    for i in range(data.size):
        value = data[i]
        varied = out.dtype.type(sign * (np.float64(value) + (offset + slope * i)))
        kept = (value == 0) | (value == fill) | (not (abs(varied) < math.inf))
        out[i] = value if kept else varied


def fresh_variant(
    data: Array, fill_value: float | None, abs_bound: float, seed: int, out: Array
) -> None:
    """Write a variant of `data` into `out`, which has its shape and dtype.

    Zeros, fill and non-finite values are moved but keep their bits; what is finite stays finite.
    Where the walk would vanish in rounding (a lossless bound), it is a few ulps instead.
    """
    if out.shape != data.shape or out.dtype != data.dtype or not out.flags.c_contiguous:
        raise ValueError(
            f"out is {out.dtype}{list(out.shape)}: it must be a C-contiguous "
            f"{data.dtype}{list(data.shape)}"
        )
    # Read-only, so that one compiled specialisation serves fields and copies alike.
    source = np.ascontiguousarray(data).reshape(-1)
    source.flags.writeable = False
    fill = math.nan if fill_value is None else fill_value
    deviation = DEVIATION * max(abs_bound, _typical_ulp(source, fill))
    state = np.array([seed % 2**64], np.uint64)
    _vary(source, out.reshape(-1), source.dtype.type(fill), deviation, state)


def _typical_ulp(flat: Array, fill: float) -> float:
    """About the distance between neighbouring numbers at the median magnitude of a sample."""
    sample = flat[:: max(1, flat.size // _SAMPLES)]
    counted = np.abs(
        sample[np.isfinite(sample) & (sample != 0) & (sample != flat.dtype.type(fill))]
    )
    if counted.size == 0:
        return 0.0
    limits = np.finfo(flat.dtype.type)
    median = float(np.sort(counted)[counted.size // 2])
    return max(median * float(limits.eps), float(limits.smallest_subnormal))
