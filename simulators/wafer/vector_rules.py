"""What each vector operation computes for one element, and the widths of its operands."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiling import compiled
from .dsd import Vector
from .fabric_bits import count_bits
from .numbers import (
    F16,
    F32,
    bits_of_single,
    fused,
    of_number,
    single_of,
    to_number,
    truncated,
)

_WIDE = frozenset(
    {
        Vector.MOV32, Vector.FABSS, Vector.FNEGS, Vector.FMOVS, Vector.FADDS, Vector.FSUBS,
        Vector.FMULS, Vector.FMAXS, Vector.FMACS, Vector.FNORMS, Vector.FSCALES,
    }
)  # fmt: skip
"""All operands have 32 bits."""
_WIDE_DEST = frozenset({Vector.FADDHS, Vector.FMACHS, Vector.FH2S, Vector.XP162FS})
_WIDE_FIRST = frozenset({Vector.FS2H, Vector.FS2XP16, Vector.FMACHS})
"""The first source has 32 bits."""
_WIDE_SECOND = frozenset({Vector.FADDHS})


def widths() -> npt.NDArray[np.int64]:
    """Per operation four bits: 1 destination, 2, 4, 8 sources one to three have 32 bits."""
    table = np.zeros(len(Vector), np.int64)
    for vector in Vector:
        mask = 15 if vector in _WIDE else 0
        mask |= 1 if vector in _WIDE_DEST else 0
        mask |= 2 if vector in _WIDE_FIRST else 0
        mask |= 4 if vector in _WIDE_SECOND else 0
        table[vector] = mask
    return table


@compiled
def _leading_zeros(value: int) -> int:
    count = 0
    while count < 16 and value & (0x8000 >> count) == 0:
        count += 1
    return count


@compiled
def _trailing_zeros(value: int) -> int:
    count = 0
    while count < 16 and value & (1 << count) == 0:
        count += 1
    return count


@compiled
def _larger(x: float, y: float) -> float:
    """The greater; of a number and a NaN the number (IEEE 754 maxNum)."""
    if x != x:
        return y
    return y if y > x else x


@compiled
def _norm(bits: int, kind: int) -> int:
    """The mantissa as a number in [1, 2); 0, infinities and NaN as they are."""
    value = to_number(bits, kind)
    if value == 0.0 or value - value != 0.0:
        return bits
    while abs(value) >= 2.0:
        value *= 0.5
    while abs(value) < 1.0:
        value *= 2.0
    return of_number(value, kind)


@compiled
def _scaled(bits: int, power: int, kind: int) -> int:
    """Times 2 to the power of a 16-bit integer, rounded once."""
    value = to_number(bits, kind)
    steps = ((power & 0xFFFF) ^ 0x8000) - 0x8000
    steps = min(max(steps, -400), 400)
    while steps > 0:
        value *= 2.0
        steps -= 1
    while steps < 0:
        value *= 0.5
        steps += 1
    return of_number(value, kind)


@compiled
def _integer(op: int, x: int, y: int, carry: int) -> int:  # noqa: C901 - compiled: a table of cases
    if op == Vector.ADD16:
        return (x + y) & 0xFFFF
    if op == Vector.ADDC16:
        return (x + y + carry) & 0xFFFF
    if op == Vector.SUB16:
        return (x - y) & 0xFFFF
    if op == Vector.AND16:
        return x & y
    if op == Vector.OR16:
        return x | y
    if op == Vector.XOR16:
        return x ^ y
    amount = y & 0xFFFF
    if op == Vector.SLL16:
        return (x << amount) & 0xFFFF if amount < 16 else 0
    if op == Vector.SLR16:
        return (x & 0xFFFF) >> amount if amount < 16 else 0
    if op == Vector.SAR16:
        signed = ((x & 0xFFFF) ^ 0x8000) - 0x8000
        return (signed >> min(amount, 15)) & 0xFFFF
    if op == Vector.CLZ:
        return _leading_zeros(x & 0xFFFF)
    if op == Vector.CTZ:
        return _trailing_zeros(x & 0xFFFF)
    return count_bits(x & 0xFFFF)


@compiled
def _converted(op: int, x: int, y: int) -> int:  # noqa: C901 - compiled: a table of cases
    if op == Vector.FH2S:
        return of_number(to_number(x, F16), F32)
    if op == Vector.FS2H:
        return of_number(to_number(x, F32), F16)
    if op == Vector.FH2XP16:
        return truncated(to_number(x, F16), 3) & 0xFFFF
    if op == Vector.FS2XP16:
        return truncated(to_number(x, F32), 3) & 0xFFFF
    signed = ((x & 0xFFFF) ^ 0x8000) - 0x8000
    if op == Vector.XP162FH:
        return of_number(float(signed), F16)
    if op == Vector.XP162FS:
        return of_number(float(signed), F32)
    if op == Vector.FNORMH:
        return _norm(x, F16)
    if op == Vector.FNORMS:
        return _norm(x, F32)
    if op == Vector.FSCALEH:
        return _scaled(x, y, F16)
    return _scaled(x, y, F32)


@compiled
def _half(op: int, x: int, y: int, z: int) -> int:
    if op == Vector.FMOVH:
        return x
    if op == Vector.FABSH:
        return x & 0x7FFF
    if op == Vector.FNEGH:
        return x ^ 0x8000
    a, b = to_number(x, F16), to_number(y, F16)
    if op == Vector.FADDH:
        return of_number(a + b, F16)
    if op == Vector.FSUBH:
        return of_number(a - b, F16)
    if op == Vector.FMULH:
        return of_number(a * b, F16)
    if op == Vector.FMAXH:
        return of_number(_larger(a, b), F16)
    return of_number(fused(b, to_number(z, F16), a), F16)


@compiled
def _mixed(op: int, x: int, y: int, z: int) -> int:
    if op == Vector.FADDHS:
        return of_number(fused(to_number(x, F16), 1.0, to_number(y, F32)), F32)
    return of_number(fused(to_number(y, F16), to_number(z, F16), to_number(x, F32)), F32)


@compiled
def multiply_add(x: int, y: int, z: int) -> int:
    """f32 x + y * z, rounded once."""
    # numba's float() leaves a float32 one, and `fused` must compute in double.
    exact = fused(np.float64(single_of(y)), np.float64(single_of(z)), np.float64(single_of(x)))
    return of_number(exact, F32)


@compiled
def combine(  # noqa: C901 - compiled: a table of cases
    op: int, x: int, y: int, z: int, carry: int
) -> int:
    """One element of an operation: x, y and z are the bits of its sources in their order."""
    if op == Vector.MOV32 or op == Vector.FMOVS or op == Vector.MOV16:
        return x
    if op == Vector.FADDS:
        return bits_of_single(single_of(x) + single_of(y))
    if op == Vector.FSUBS:
        return bits_of_single(single_of(x) - single_of(y))
    if op == Vector.FMULS:
        return bits_of_single(single_of(x) * single_of(y))
    if op == Vector.FMACS:
        return multiply_add(x, y, z)
    if op == Vector.FMAXS:
        return of_number(_larger(float(single_of(x)), float(single_of(y))), F32)
    if op == Vector.FABSS:
        return x & 0x7FFFFFFF
    if op == Vector.FNEGS:
        return x ^ 0x80000000
    if op <= Vector.POPCNT:
        return _integer(op, x, y, carry)
    if op == Vector.FADDHS or op == Vector.FMACHS:
        return _mixed(op, x, y, z)
    if op >= Vector.FH2S:
        return _converted(op, x, y)
    return _half(op, x, y, z)


@compiled
def carries(op: int, x: int, y: int, carry: int) -> int:
    """The carry that an element leaves for the next one of @addc16."""
    if op == Vector.ADDC16:
        return 1 if (x & 0xFFFF) + (y & 0xFFFF) + carry > 0xFFFF else 0
    return 0
