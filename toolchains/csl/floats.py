"""The float types as numbers: rounding, and their bits.

cb16 has 6 bits of exponent (bias 31) and 9 of mantissa, bf16 8 and 7, f16 5 and 10; all but for
their widths as IEEE 754, with subnormals, infinities and NaN.
"""

from __future__ import annotations

import math
import struct

from .types import Float

_EXPONENT_BITS = {"f16": 5, "bf16": 8, "cb16": 6, "f32": 8}


def width(kind: Float) -> int:
    """Bits."""
    return 32 if kind.name == "f32" else 16


def bits_of(value: float, kind: Float) -> int:
    """Its bit pattern, rounded to nearest even."""
    exponent_bits = _EXPONENT_BITS[kind.name]
    mantissa_bits = width(kind) - 1 - exponent_bits
    top = (1 << exponent_bits) - 1
    sign = (1 if math.copysign(1.0, value) < 0 else 0) << (width(kind) - 1)
    if math.isnan(value):
        return sign | top << mantissa_bits | 1 << (mantissa_bits - 1)
    if math.isinf(value):
        return sign | top << mantissa_bits
    if value == 0:
        return sign
    bias = top >> 1
    _, exponent = math.frexp(abs(value))
    scale = max(exponent - 1, 1 - bias)
    units = _even(math.ldexp(abs(value), mantissa_bits - scale))
    # `units` of a normal number has its leading one at bit `mantissa_bits`: added to the exponent
    # less one, a carry of the rounding included, it gives the pattern.
    pattern = units if scale == 1 - bias else ((scale + bias - 1) << mantissa_bits) + units
    return sign | min(pattern, top << mantissa_bits)


def from_bits(bits: int, kind: Float) -> float:
    """The number with a bit pattern."""
    if kind.name == "f32":
        return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0])
    exponent_bits = _EXPONENT_BITS[kind.name]
    mantissa_bits = 15 - exponent_bits
    top = (1 << exponent_bits) - 1
    exponent = bits >> mantissa_bits & top
    mantissa = bits & ((1 << mantissa_bits) - 1)
    sign = -1.0 if bits >> 15 & 1 else 1.0
    if exponent == top:
        return math.nan if mantissa else sign * math.inf
    bias = top >> 1
    if exponent:
        mantissa |= 1 << mantissa_bits
    return sign * math.ldexp(mantissa, max(exponent, 1) - bias - mantissa_bits)


def rounded(value: float, kind: Float) -> float:
    """The nearest number of a type; infinite where it is too large."""
    return from_bits(bits_of(value, kind), kind)


def _even(value: float) -> int:
    return round(value)
