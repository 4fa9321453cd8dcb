"""What programs print and record: <simprint> and <debug> of the library, as text and as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum

import numpy as np

from .program import CodeClass


class Printed(IntEnum):
    """Kinds of what @wafer("print") is given."""

    TEXT = 0
    """A number of `CodeClass.texts`."""
    BOOL = 1
    DECIMAL = 2
    DECIMAL64 = 3
    HEX8 = 4
    HEX16 = 5
    HEX32 = 6
    HEX64 = 7
    F16 = 8
    BF16 = 9
    F32 = 10


class Traced(IntEnum):
    """Kinds of what @wafer("trace") is given."""

    TEXT = 0
    """A number of `CodeClass.texts`."""
    TIME = 1
    """Cycles."""
    BOOL = 2
    INTEGER = 3
    UNSIGNED64 = 4
    F16 = 5
    F32 = 6


_DIGITS: Mapping[Printed, int] = {
    Printed.HEX8: 2,
    Printed.HEX16: 4,
    Printed.HEX32: 8,
    Printed.HEX64: 16,
}
_ALL = (1 << 64) - 1


def printed_text(kind: int, value: int, texts: Sequence[bytes]) -> str:
    """What one call of <simprint> shows; `value` as a register holds it."""
    match Printed(kind):
        case Printed.TEXT:
            return texts[value].decode("utf-8", "replace")
        case Printed.BOOL:
            return "true" if value else "false"
        case Printed.DECIMAL:
            return str(value)
        case Printed.DECIMAL64:
            return str(value & _ALL)
        case Printed.F16:
            return str(_f16(value))
        case Printed.BF16:
            return str(_f32(value << 16))
        case Printed.F32:
            return str(_f32(value))
        case hexadecimal:
            digits = _DIGITS[hexadecimal]
            return f"0x{value & (1 << 4 * digits) - 1:0{digits}x}"


def traced_value(kind: int, value: int, texts: Sequence[bytes]) -> str | int | float | bool:
    """What one call of <debug> recorded; `value` as a register holds it."""
    match Traced(kind):
        case Traced.TEXT:
            return texts[value].decode("utf-8", "replace")
        case Traced.BOOL:
            return bool(value)
        case Traced.F16:
            return float(_f16(value))
        case Traced.F32:
            return float(_f32(value))
        case Traced.UNSIGNED64 | Traced.TIME:
            return value & _ALL
        case Traced.INTEGER:
            return value


def key_number(one: CodeClass, key: str) -> int:
    """The number of a <debug> instance's key among a class's texts; -1 if it has none."""
    wanted = key.encode()
    return one.texts.index(wanted) if wanted in one.texts else -1


def _f16(bits: int) -> np.float16:
    return np.uint16(bits & 0xFFFF).view(np.float16)


def _f32(bits: int) -> np.float32:
    return np.uint32(bits & 0xFFFFFFFF).view(np.float32)
