"""Arithmetic while compiling: integers of any size, fixed ones that wrap, floats rounded once."""

from __future__ import annotations

import math
from collections.abc import Callable

from toolchains.csl.floats import rounded
from toolchains.csl.types import COMPTIME_FLOAT, COMPTIME_INT, Float, Int, Simple, Type


def wrap(value: int, kind: Int) -> int:
    """The number that the low bits are."""
    value &= (1 << kind.bits) - 1
    if kind.signed and kind.bits and value >> (kind.bits - 1):
        value -= 1 << kind.bits
    return value


def divided(left: int, right: int) -> int:
    """The quotient, truncated toward zero. ZeroDivisionError."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def remainder(left: int, right: int) -> int:
    """What is left, with the sign of the dividend. ZeroDivisionError."""
    return left - right * divided(left, right)


_INTEGER: dict[str, Callable[[int, int], int]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "/": divided,
    "%": remainder,
    "&": int.__and__,
    "|": int.__or__,
    "^": int.__xor__,
    "<<": int.__lshift__,
    ">>": int.__rshift__,
}

_REAL: dict[str, Callable[[float, float], float]] = {
    "+": float.__add__,
    "-": float.__sub__,
    "*": float.__mul__,
    "/": float.__truediv__,
}


def integer(operator: str, left: int, right: int, kind: Type) -> int:
    """Of two integers of a type (or an integer and a shift). ZeroDivisionError."""
    result = _INTEGER[operator](left, right)
    return wrap(result, kind) if isinstance(kind, Int) else result


def real(operator: str, left: float, right: float, kind: Type) -> float:
    """Of two floats of a type. ZeroDivisionError; ArithmeticError where the result is no number."""
    result = _REAL[operator](left, right)
    if isinstance(kind, Float):
        result = rounded(result, kind)
    if math.isnan(result) or (math.isinf(result) and kind == COMPTIME_FLOAT):
        raise ArithmeticError
    return result


_LITERAL = frozenset({COMPTIME_INT.name, COMPTIME_FLOAT.name})


def is_integer(kind: Type) -> bool:
    """`i16`, …, `comptime_int`."""
    return type(kind) is Int or kind is COMPTIME_INT or kind == COMPTIME_INT


def is_float(kind: Type) -> bool:
    """`f16`, …, `comptime_float`."""
    return type(kind) is Float or kind is COMPTIME_FLOAT or kind == COMPTIME_FLOAT


def is_numeric(kind: Type) -> bool:
    """An integer or a float."""
    return is_integer(kind) or is_float(kind)


def is_literal(kind: Type) -> bool:
    """`comptime_int` or `comptime_float`."""
    return type(kind) is Simple and kind.name in _LITERAL


def exact(value: int, kind: Float) -> float | None:
    """An integer as a float of a type, if that is the same number."""
    try:
        result = rounded(float(value), kind)
    except OverflowError:
        return None
    return result if not math.isinf(result) and int(result) == value else None
