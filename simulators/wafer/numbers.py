"""Arithmetic on bit patterns, exactly as the hardware's types round, in compiled code.

Values are int64: integers sign- or zero-extended, floats as their bits. Every operation on floats
of 16 bits is done in double and rounded once; a fused multiply-add there first rounds to odd, which
makes the second rounding that of the exact result (Boldo and Melquiond, doi 10.1109/TC.2007.70819).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .compiling import compiled

Typed = tuple[Any, Callable[..., Any]]

BOOL, I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, CB16, F32, DSD = range(14)
"""`opcodes.Scalar`."""


def _to_double(_typing: Any, _bits: Any) -> Typed:
    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), emit


def _of_double(_typing: Any, _value: Any) -> Typed:
    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), emit


def _to_single(_typing: Any, _bits: Any) -> Typed:
    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        low = builder.trunc(arguments[0], ir.IntType(32))
        return builder.bitcast(low, ir.FloatType())

    return types.float32(types.int64), emit


def _of_single(_typing: Any, _value: Any) -> Typed:
    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        bits = builder.bitcast(arguments[0], ir.IntType(32))
        return builder.zext(bits, ir.IntType(64))

    return types.int64(types.float32), emit


double_of = cast("Callable[[int], float]", intrinsic(_to_double))
"""The float64 with these bits."""
bits_of_double = cast("Callable[[float], int]", intrinsic(_of_double))
single_of = cast("Callable[[int], float]", intrinsic(_to_single))
"""The float32 with these bits."""
bits_of_single = cast("Callable[[Any], int]", intrinsic(_of_single))

SINGLE_NAN = 0x7FC00000


@compiled
def narrow(value: float, exponent_bits: int, mantissa_bits: int) -> int:
    """A double rounded to nearest even to a float of 16 bits; its bits."""
    bits = bits_of_double(value)
    sign = (bits >> 63) & 1
    exponent = (bits >> 52) & 2047
    mantissa = bits & ((1 << 52) - 1)
    top = (1 << exponent_bits) - 1
    bias = top >> 1
    high = sign << (exponent_bits + mantissa_bits)
    if exponent == 2047:
        quiet = 1 << (mantissa_bits - 1) if mantissa else 0
        return high | top << mantissa_bits | quiet
    if exponent == 0:
        return high
    scale = exponent - 1023
    mantissa |= 1 << 52
    shift = 52 - mantissa_bits
    least = 1 - bias
    if scale < least:
        shift += least - scale
        scale = least
        if shift > 54:
            return high
        base = 0
    else:
        base = (scale + bias - 1) << mantissa_bits
    units = mantissa >> shift
    rest = mantissa & ((1 << shift) - 1)
    half = 1 << (shift - 1)
    if rest > half or (rest == half and units & 1):
        units += 1
    pattern = base + units
    infinite = top << mantissa_bits
    return high | (pattern if pattern < infinite else infinite)


@compiled
def widen(bits: int, exponent_bits: int, mantissa_bits: int) -> float:
    """The double that a float of 16 bits is."""
    top = (1 << exponent_bits) - 1
    sign = (bits >> 15) & 1
    exponent = (bits >> mantissa_bits) & top
    mantissa = bits & ((1 << mantissa_bits) - 1)
    if exponent == top:
        quiet = 1 << 51 if mantissa else 0
        return double_of(sign << 63 | 2047 << 52 | quiet)
    if exponent == 0:
        value = mantissa * double_of((2 - (top >> 1) - 1 - mantissa_bits + 1023) << 52)
        return -value if sign else value
    return double_of(
        sign << 63 | (exponent - (top >> 1) + 1023) << 52 | mantissa << (52 - mantissa_bits)
    )


@compiled
def to_number(bits: int, kind: int) -> float:
    """The double that a float of any type is."""
    if kind == F32:
        return float(np.float64(single_of(bits)))
    if kind == F16:
        return widen(bits, 5, 10)
    if kind == BF16:
        return widen(bits, 8, 7)
    return widen(bits, 6, 9)


@compiled
def of_number(value: float, kind: int) -> int:
    """A double rounded to a float type; its bits. NaN is the quiet one."""
    if kind == F32:
        if value != value:
            return SINGLE_NAN
        return bits_of_single(np.float32(value))
    if kind == F16:
        return narrow(value, 5, 10)
    if kind == BF16:
        return narrow(value, 8, 7)
    return narrow(value, 6, 9)


@compiled
def fused(x: float, y: float, z: float) -> float:
    """X * y + z rounded to odd in double, for x and y of at most 24 bits."""
    product = x * y
    total = product + z
    if total - total != 0.0:
        return total
    part = total - product
    error = (product - (total - part)) + (z - part)
    bits = bits_of_double(total)
    if error != 0.0 and bits & 1 == 0:
        away = (error > 0.0) == (total > 0.0)
        if total == 0.0:
            return error
        return double_of(bits + 1 if away else bits - 1)
    return total


@compiled
def wrap(value: int, kind: int) -> int:
    """An integer cut to a type and extended again."""
    if kind == I16:
        return ((value & 0xFFFF) ^ 0x8000) - 0x8000
    if kind == U16:
        return value & 0xFFFF
    if kind == I32:
        return ((value & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000
    if kind == U32:
        return value & 0xFFFFFFFF
    if kind == I8:
        return ((value & 0xFF) ^ 0x80) - 0x80
    if kind == U8:
        return value & 0xFF
    if kind == BOOL:
        return 1 if value != 0 else 0
    return value


@compiled
def width_of(kind: int) -> int:
    """Bits of an integer type."""
    if kind <= U8:
        return 8
    if kind <= U16:
        return 16
    return 32 if kind <= U32 else 64


@compiled
def truncated(value: float, kind: int) -> int:
    """A float as an integer: towards zero, then wrapped; what is not finite becomes 0."""
    if value - value != 0.0:
        return 0
    if -9.2e18 < value < 9.2e18:
        return wrap(int(value), kind)
    bits = bits_of_double(value)
    shift = ((bits >> 52) & 2047) - 1075
    if shift >= 64:
        return 0
    whole = ((bits & ((1 << 52) - 1)) | (1 << 52)) << shift
    return wrap(-whole if value < 0 else whole, kind)


@compiled
def converted(value: int, source: int, target: int) -> int:
    """A value of one type as another."""
    floating = F16 <= source <= F32
    if floating:
        number = to_number(value, source)
        if target == BOOL:
            return 1 if number != 0.0 else 0
        if F16 <= target <= F32:
            return of_number(number, target)
        return truncated(number, target)
    if F16 <= target <= F32:
        return _rounded_integer(value, source, target)
    return wrap(value, target)


@compiled
def _rounded_integer(value: int, source: int, target: int) -> int:
    """An integer as a float, rounded once: of 64 bits only 54 matter, the last of them odd."""
    negative = value < 0 and source != U64
    size = -value if negative else value
    lost = 0
    while size < 0 or size >> 54:
        lost += 1
        sticky = size & 1
        size = ((size >> 1) & 0x7FFFFFFFFFFFFFFF) | sticky
    number = float(size) * double_of((lost + 1023) << 52)
    if target == F32 and size >> 53 == 0:
        return of_number(-number if negative else number, target)
    if size >> 53:
        # Of 54 bits: to odd at 53, which double holds.
        number = float((size >> 1) | (size & 1)) * double_of((lost + 1 + 1023) << 52)
    return of_number(-number if negative else number, target)
