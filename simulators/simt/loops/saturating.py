"""Conversions of floating-point values to integers as GPUs do them, which saturate.

In instructions that LLVM makes vectors of: of its own intrinsic it makes scalar code.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

_TYPES = {"f32": "float", "f64": "double"}


def saturated(result: str, value: str, sign: str, bits: str, kind: str) -> Iterator[str]:
    """Lines that give `result`: too small is the least, too large the largest, NaN 0."""
    count, type_ = int(bits), _TYPES[kind]
    least, most = (
        (-(1 << count - 1), (1 << count - 1) - 1) if sign == "s" else (0, (1 << count) - 1)
    )
    low, high = _text(float(least)), _text(float(most + 1))
    name, integer = f"%{result}", f"i{bits}"
    # Outside the range the conversion gives any value, which is then replaced.
    yield f"  {name}.c = fpto{sign}i {type_} {value} to {integer}"
    yield f"  {name}.f = freeze {integer} {name}.c"
    yield f"  {name}.l = fcmp ogt {type_} {low}, {value}"
    yield f"  {name}.h = fcmp oge {type_} {value}, {high}"
    yield f"  {name}.n = fcmp uno {type_} {value}, {value}"
    yield f"  {name}.1 = select i1 {name}.l, {integer} {least}, {integer} {name}.f"
    yield f"  {name}.2 = select i1 {name}.h, {integer} {most}, {integer} {name}.1"
    yield f"  {name} = select i1 {name}.n, {integer} 0, {integer} {name}.2"


def _text(value: float) -> str:
    """A constant as LLVM writes it, exact in either type."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
