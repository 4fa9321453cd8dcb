"""PW_REL: a relative bound for every element, by way of logarithms (contract §5).

Data and ε → y = log₂ |x|, the absolute bound δ that y is compressed with, and side data. What a
kernel made of y, with the side data → the data, each finite element within fl64(ε·|x|) and of its
own sign. Works part by part: beyond its inputs and outputs it needs about 16 MB.

Guaranteed for any y' with |y − y'| ≤ δ, NaN and infinities included: that is what the margin is
for. For float32 data and ε from 1e-5 up y is float32, rounded by up to 2⁻¹⁸ (half an ulp of a |y|
up to 128); rounding x' to float32 adds up to 2⁻²³·⁴⁷, and what is left of 2⁻²³ covers the
logarithm, the power and fl64. Else y is float64: half an ulp of a |y| up to 1024 and an ulp of
error in the logarithm come to less than 2⁻⁴², which the rounding of x' to double does not fill up.
Of float32 data x' is rounded to float32 all the same: another 2⁻²³ is kept for that, or the bound
is one under which every value comes back exactly, whichever is larger.
Upwards the error is at most 2^δ − 1 < ε, downwards 1 − 2^−δ, which is smaller.

Not guaranteed: anything about |x − x'| in absolute terms, or about a y' that breaks δ.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from kernels.modes.errors import BoundError
from kernels.records import Array

SINGLE_EPS = 1e-5
"""From here up the logarithm of float32 data is float32."""
LEAST_EPS = 1e-11
"""Below this rounding in double takes up the bound."""
SINGLE_MARGIN = 2.0**-18 + 2.0**-23
DOUBLE_MARGIN = 2.0**-42
SINGLE_ROUNDING = 2.0**-23
"""Of x' to float32, in log₂ (2⁻²³·⁴⁷, rounded up)."""
EXACT_EPS = 2.0**-25
"""Nearer than this to a float32, in parts of it, nothing else rounds to: it comes back exactly."""

_PART = 1 << 18
"""Elements of a part."""
_LEVEL = 1
"""Of zlib: a higher one gains a few percent of the side data and takes up to ten times as long."""
_ZERO, _EXCEPTION = 1, 2
_MIXED_SIGNS, _NEGATIVE, _ZEROS = 1, 2, 4
"""Flags of a part: signs differ and a bitmap follows, else all are negative; zeros, a bitmap."""


@dataclass(frozen=True)
class Transformed:
    """Data as a kernel is given it."""

    values: Array
    """y: float32 or float64, of the data's shape. Where there is no logarithm, the y before."""
    side: npt.NDArray[np.uint8]
    """Compressed: per part the signs, where zeros are, and what is neither as index and bits."""
    abs_bound: float
    """δ, what y is compressed with."""


def log_dtype(dtype: np.dtype[np.generic], eps: float) -> np.dtype[np.generic]:
    """What y is for data of `dtype`."""
    return np.dtype(np.float32 if dtype == np.float32 and eps >= SINGLE_EPS else np.float64)


def log_bound(dtype: np.dtype[np.generic], eps: float) -> float:
    """δ: the absolute bound for y. Raises BoundError for an ε that rounding alone would break."""
    if eps < LEAST_EPS:
        raise BoundError(
            f"bound {eps!r} is too small for mode pw_rel: it must be at least {LEAST_EPS}, below "
            "which rounding in double takes up the bound"
        )
    whole = _log2_1p(eps)
    if log_dtype(dtype, eps) == np.float32:
        return whole - SINGLE_MARGIN
    if dtype == np.float32:
        whole = max(whole - SINGLE_ROUNDING, _log2_1p(min(eps, EXACT_EPS)))
    return whole - DOUBLE_MARGIN


def _log2_1p(eps: float) -> float:
    return math.log1p(eps) / math.log(2.0)


def transform(data: Array, eps: float) -> Transformed:
    """What a kernel is given in place of `data` (float32 or float64, C-contiguous).

    Raises BoundError for an ε that is too small.
    """
    bound = log_bound(data.dtype, eps)
    values = np.empty(data.shape, log_dtype(data.dtype, eps))
    source, target = _flat(data), values.reshape(-1)
    packer = zlib.compressobj(_LEVEL)
    packed: list[bytes] = []
    kinds, negative = np.empty(_PART, np.uint8), np.empty(_PART, np.bool_)
    carry = 0.0
    for part in _parts(source.size):
        x, count = source[part], part.stop - part.start
        limits = _limits(data.dtype)
        bits = x.view(limits.dtype)
        carry, flags, exceptions = _forward(
            x, bits, limits, target[part], kinds[:count], negative[:count], carry
        )
        side = _side(bits, kinds[:count], negative[:count], int(flags), int(exceptions))
        packed += (packer.compress(piece) for piece in side)
    packed.append(packer.flush())
    return Transformed(values, np.frombuffer(b"".join(packed), np.uint8), bound)


def restore(values: Array, side: Array, like: Array) -> Array:
    """The data that a kernel's `values` stand for, of the shape and dtype of `like`.

    An element whose y' is not finite, or too large, comes back NaN or of the largest magnitude.
    """
    decoded = np.empty(like.shape, like.dtype)
    source, target = _flat(values), decoded.reshape(-1)
    read = _Reader(side)
    limits = _limits(like.dtype)
    ends = _ends(like.dtype)
    for part in _parts(target.size):
        count = part.stop - part.start
        flags, exceptions = (int(each) for each in read.array(np.dtype("<u4"), 2))
        negative = read.bitmap(count) if flags & _MIXED_SIGNS else None
        zeros = read.bitmap(count) if flags & _ZEROS else None
        x = target[part]
        _backward(source[part], x, ends)
        if zeros is not None:
            x[zeros] = 0
        if negative is not None:
            np.negative(x, out=x, where=negative)
        elif flags & _NEGATIVE:
            np.negative(x, out=x)
        if exceptions:
            gaps = read.array(np.dtype("<u4"), exceptions)
            places = np.cumsum(gaps, dtype=np.int64) - 1
            x.view(limits.dtype)[places] = read.array(limits.dtype.newbyteorder("<"), exceptions)
    return decoded


def _parts(size: int) -> Iterator[slice]:
    return (slice(at, min(at + _PART, size)) for at in range(0, size, _PART))


def _flat(array: Array) -> Array:
    """Read-only, so that one compiled specialisation serves fields and copies alike."""
    flat = np.ascontiguousarray(array).reshape(-1)
    flat.flags.writeable = False
    return flat


def _limits(dtype: np.dtype[np.generic]) -> Array:
    """Bit patterns, as unsigned integers: the smallest normal number, infinity."""
    if dtype == np.float32:
        return np.array([np.finfo(np.float32).smallest_normal, np.inf], np.float32).view(np.uint32)
    return np.array([np.finfo(np.float64).smallest_normal, np.inf]).view(np.uint64)


def _ends(dtype: np.dtype[np.generic]) -> npt.NDArray[np.float64]:
    """The smallest number above 0, the largest."""
    real = np.finfo(np.float32) if dtype == np.float32 else np.finfo(np.float64)
    return np.array([real.smallest_subnormal, real.max], np.float64)


@njit(nogil=True, cache=True)
def _forward(  # noqa: PLR0913 - one hot loop: everything it needs, unpacked
    x: Array,
    bits: Array,
    limits: Array,
    values: Array,
    kinds: Array,
    negative: Array,
    carry: float,
) -> tuple[float, int, int]:
    """One part into `values`, `kinds` and `negative`; the last y, flags, number of exceptions.

    The sign of an exception is in its bits: here it has that of the element before it.
    """
    smallest, infinity = limits[0], limits[1]
    one = bits.dtype.type(1)
    top = bits.dtype.type(8 * bits.itemsize - 1)
    everything_else = (one << top) - one
    last = values.dtype.type(carry)
    before = False
    minus, zeros, exceptions, counted = 0, 0, 0, 0
    for i in range(x.size):
        magnitude = bits[i] & everything_else
        sign = (bits[i] >> top) != 0
        kind = 0
        if magnitude >= smallest and magnitude < infinity:
            last = values.dtype.type(np.log2(np.float64(abs(x[i]))))
        elif magnitude == 0:
            kind = _ZERO
            zeros += 1
        else:
            kind = _EXCEPTION
            exceptions += 1
            sign = before
        before = sign
        minus += sign
        counted += 1
        values[i] = last
        kinds[i] = kind
        negative[i] = sign
    flags = _ZEROS if zeros > 0 else 0
    if minus == counted:
        flags |= _NEGATIVE
    elif minus > 0:
        flags |= _MIXED_SIGNS
    return float(last), flags, exceptions


@njit(nogil=True, cache=True)
def _backward(values: Array, x: Array, ends: npt.NDArray[np.float64]) -> None:
    """Magnitudes; never 0, so that none loses its sign, and never infinite."""
    smallest, largest = ends[0], ends[1]
    for i in range(x.size):
        y = np.float64(values[i])
        power = np.exp2(y)
        # A NaN fails both tests and stays.
        power = largest if power > largest else power
        x[i] = x.dtype.type(smallest if power < smallest else power)


def _side(
    bits: Array, kinds: Array, negative: Array, flags: int, exceptions: int
) -> Iterator[bytes]:
    """One part's side data, before compression: flags and count as u32, bitmaps, exceptions.

    Exceptions by how far each is from the one before, which is mostly 1 in masked data.
    """
    yield np.array([flags, exceptions], "<u4").tobytes()
    if flags & _MIXED_SIGNS:
        yield np.packbits(negative).tobytes()
    if flags & _ZEROS:
        yield np.packbits(kinds == _ZERO).tobytes()
    if exceptions:
        places = np.flatnonzero(kinds == _EXCEPTION)
        yield np.diff(places, prepend=-1).astype("<u4").tobytes()
        yield bits[places].astype(bits.dtype.newbyteorder("<")).tobytes()


class _Reader:
    """The side data again, as much at a time as is asked for."""

    def __init__(self, side: Array) -> None:
        self._left = side.tobytes()
        self._unpacker = zlib.decompressobj()

    def array(self, dtype: np.dtype[np.generic], count: int) -> Array:
        """The next `count` numbers."""
        return np.frombuffer(self._read(count * dtype.itemsize), dtype)

    def bitmap(self, count: int) -> npt.NDArray[np.bool_]:
        """The next `count` bits, padded to bytes."""
        packed = self.array(np.dtype(np.uint8), (count + 7) // 8)
        return np.unpackbits(packed, count=count).view(np.bool_)

    def _read(self, size: int) -> bytes:
        pieces = []
        while size:
            piece = self._unpacker.decompress(self._left, size)
            self._left = self._unpacker.unconsumed_tail
            if not piece:
                raise ValueError("the side data ends too early: it is not that of this data")
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)
