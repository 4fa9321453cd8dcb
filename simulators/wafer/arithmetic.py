"""Scalar arithmetic and comparisons on every type, in compiled code."""

from __future__ import annotations

import numpy as np

from .compiling import compiled
from .numbers import F16, F32, U64, bits_of_single, of_number, single_of, to_number, width_of, wrap
from .opcodes import Op

_TOP = -(1 << 63)


@compiled
def _singles(op: int, x: int, y: int) -> int:
    p, q = single_of(x), single_of(y)
    if op == Op.ADD:
        return bits_of_single(p + q)
    if op == Op.SUB:
        return bits_of_single(p - q)
    if op == Op.MUL:
        return bits_of_single(p * q)
    return of_number(_quotient(float(p), float(q)), F32)


@compiled
def _quotient(x: float, y: float) -> float:
    if y == 0.0:
        if x != x or x == 0.0:
            return np.nan
        negative = np.signbit(x) != np.signbit(y)
        return -np.inf if negative else np.inf
    return x / y


@compiled
def _compared(op: int, p: float, q: float) -> int:
    if op == Op.EQ:
        return 1 if p == q else 0
    if op == Op.NE:
        return 1 if p != q else 0
    if op == Op.LT:
        return 1 if p < q else 0
    return 1 if p <= q else 0


@compiled
def _floats(op: int, kind: int, x: int, y: int) -> int:
    if op >= Op.EQ:
        return _compared(op, to_number(x, kind), to_number(y, kind))
    if kind == F32:
        return _singles(op, x, y)
    p, q = to_number(x, kind), to_number(y, kind)
    if op == Op.ADD:
        return of_number(p + q, kind)
    if op == Op.SUB:
        return of_number(p - q, kind)
    if op == Op.MUL:
        return of_number(p * q, kind)
    return of_number(_quotient(p, q), kind)


@compiled
def _divided(op: int, kind: int, x: int, y: int) -> int:
    if kind == U64 and (x < 0 or y < 0):
        p, q = np.uint64(x), np.uint64(y)
        return int(np.int64(p // q)) if op == Op.DIV else int(np.int64(p % q))
    quotient = abs(x) // abs(y)
    if (x < 0) != (y < 0):
        quotient = -quotient
    return quotient if op == Op.DIV else x - quotient * y


@compiled
def _shifted(op: int, kind: int, x: int, y: int) -> int:
    width = width_of(kind)
    if y < 0 or y >= width:
        return -1 if op == Op.SHR and x < 0 and kind != U64 else 0
    if op == Op.SHL:
        return wrap(x << y, kind)
    if kind == U64:
        return int(np.int64(np.uint64(x) >> np.uint64(y)))
    return x >> y


@compiled
def compute(op: int, kind: int, x: int, y: int) -> int:  # noqa: C901 - compiled: a table of cases
    """X op y for operands of one type (a shift's amount is any integer); y is not 0 to divide."""
    if F16 <= kind <= F32:
        return _floats(op, kind, x, y)
    if op == Op.ADD:
        return wrap(x + y, kind)
    if op == Op.SUB:
        return wrap(x - y, kind)
    if op == Op.MUL:
        return wrap(x * y, kind)
    if op >= Op.EQ:
        if kind == U64:
            x ^= _TOP
            y ^= _TOP
        if op == Op.EQ:
            return 1 if x == y else 0
        if op == Op.NE:
            return 1 if x != y else 0
        if op == Op.LT:
            return 1 if x < y else 0
        return 1 if x <= y else 0
    if op == Op.AND:
        return x & y
    if op == Op.OR:
        return x | y
    if op == Op.XOR:
        return x ^ y
    if op == Op.SHL or op == Op.SHR:
        return _shifted(op, kind, x, y)
    return wrap(_divided(op, kind, x, y), kind)


@compiled
def negate(op: int, kind: int, x: int) -> int:
    """NEG, INVERT or NOT of x."""
    if op == Op.NOT:
        return 1 - x
    if op == Op.INVERT:
        return wrap(~x, kind)
    if kind == F32:
        return x ^ 0x80000000
    if F16 <= kind < F32:
        return x ^ 0x8000
    return wrap(-x, kind)
