"""Quantisation that keeps a bound in the data's own precision, and flags what it can't keep.

An absolute bound (double) becomes a tolerance T and a step s in the data type; x becomes
q = rint(x/s), accepted iff |x − q·s| ≤ T as computed in that type. Why this is safe, and why s is
slightly below 2T, is argued where the constants are defined.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels.records import Array

BATCH = 64 * 4096
"""Elements worked on at a time: a whole number of chunks, few enough to stay in cache."""


@dataclass(frozen=True)
class Precision:
    """What the quantiser needs to know of a data type."""

    real: type[np.float32] | type[np.float64]
    bits: type[np.uint32] | type[np.uint64]
    """Unsigned integer of the same size."""
    unit: float
    """Unit roundoff u."""
    magic: float
    """1.5·2^(mantissa bits): adding it rounds to an integer, which then sits in the low bits."""
    limit: float
    """|q| must stay below this."""
    reach: float
    """|x| below reach·T is expected to pass; half of limit, since s is about 2T."""
    floor: float
    """A tolerance below this is lossless: products could become subnormal."""
    ceiling: float
    """Tolerances are clamped to this, so that flush-to-zero can't change a result."""


PRECISIONS: dict[np.dtype[np.generic], Precision] = {
    np.dtype(np.float32): Precision(
        real=np.float32,
        bits=np.uint32,
        unit=2.0**-24,
        magic=12582912.0,
        limit=2.0**22,
        reach=2.0**21,
        floor=2.0**-100,
        ceiling=2.0**100,
    ),
    np.dtype(np.float64): Precision(
        real=np.float64,
        bits=np.uint64,
        unit=2.0**-53,
        magic=1.5 * 2.0**52,
        limit=2.0**30,
        reach=2.0**29,
        floor=2.0**-900,
        ceiling=2.0**900,
    ),
}


def tolerance(abs_bound: float, precision: Precision) -> float:
    """Largest T such that a rounded difference ≤ T proves an exact difference ≤ the bound.

    0.0 means lossless: the bound is zero, or T is below the precision's floor.
    For float32, a difference beyond the bound lies past the midpoint above T and so rounds to at
    least succ(T); for float64, T is the predecessor of the bound.
    """
    bound = min(abs_bound, 4.0 * precision.ceiling)
    if precision.real is np.float64:
        candidate = math.nextafter(bound, -math.inf)
    else:
        candidate = float(np.float32(bound))
        while candidate > 0.0 and _midpoint_above(candidate) > bound:
            candidate = float(np.nextafter(np.float32(candidate), np.float32(-np.inf)))
    if candidate < precision.floor:
        return 0.0
    return min(candidate, precision.ceiling)


def _midpoint_above(value: float) -> float:
    above = float(np.nextafter(np.float32(value), np.float32(np.inf)))
    return value + (above - value) / 2.0


def step(tol: float, largest: float, precision: Precision) -> float:
    """The step for which every |x| ≤ largest passes the check; a value of the data type."""
    slack = 3.001 * precision.unit * largest
    ideal = 2.0 * (tol - slack) * (1.0 - 8.0 * precision.unit)
    if precision.real is np.float64:
        return ideal
    rounded = np.float32(ideal)
    if float(rounded) > ideal:
        rounded = np.nextafter(rounded, np.float32(-np.inf))
    return float(rounded)


def batches(flat: Array) -> Iterator[slice]:
    """Consecutive slices of a flat array, BATCH elements each but the last."""
    return (slice(at, min(at + BATCH, flat.size)) for at in range(0, flat.size, BATCH))


def largest_within(flat: Array, limit: float) -> float:
    """Max |x| among the elements with |x| < limit; 0.0 if there are none."""
    largest = 0.0
    for part in batches(flat):
        magnitude = np.abs(flat[part])
        largest = max(largest, float(np.max(magnitude, initial=0.0, where=magnitude < limit)))
    return largest


@dataclass(frozen=True)
class Quantised:
    """One batch: what each element became, and whether that keeps the bound."""

    q: npt.NDArray[np.int32]
    """Meaningless where not ok."""
    ok: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Quantiser:
    """Tolerance and step for one array. `tol` 0 is lossless: nothing is ok."""

    precision: Precision
    tol: float
    step: float

    @classmethod
    def of(cls, flat: Array, abs_bound: float) -> Quantiser:
        """Derive both from the data, as the canonical encoder does."""
        precision = PRECISIONS[flat.dtype]
        tol = tolerance(abs_bound, precision)
        if tol == 0.0 or flat.size == 0:
            return cls(precision, tol, 0.0)
        largest = largest_within(flat, tol * precision.reach)
        return cls(precision, tol, step(tol, largest, precision))

    def apply(self, part: Array) -> Quantised:
        """Quantise; every operation is rounded to the data type, none is fused.

        |scaled| < limit need not be asked: rounding is monotonic, so |rounded| < limit implies it.
        """
        if self.step == 0.0:
            return Quantised(np.zeros(part.shape, np.int32), np.zeros(part.shape, np.bool_))
        p = self.precision
        s, magic = p.real(self.step), p.real(p.magic)
        values: npt.NDArray[np.floating] = part.view(p.real)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = values * (p.real(1.0) / s)
            shifted = scaled + magic
            rounded = shifted - magic
            error = np.abs(values - rounded * s)
            ok = np.abs(rounded) < p.limit
            ok &= error <= self.tol
        low = shifted.view(p.bits).astype(np.uint32) - magic.view(p.bits).astype(np.uint32)
        return Quantised(low.view(np.int32), ok)


def quantise(data: Array, abs_bound: float) -> npt.NDArray[np.int32]:
    """Every element's q, same shape; 0 where the bound can't be kept, everywhere if lossless."""
    flat = np.ascontiguousarray(data).reshape(-1)
    quantiser = Quantiser.of(flat, abs_bound)
    out = np.empty(flat.size, np.int32)
    for part in batches(flat):
        quantised = quantiser.apply(flat[part])
        out[part] = np.where(quantised.ok, quantised.q, np.int32(0))
    return out.reshape(data.shape)
