"""The bits of known values."""

from __future__ import annotations

from toolchains.csl import types
from toolchains.csl.floats import bits_of, from_bits
from toolchains.csl.source import Span, error
from toolchains.csl.types import BOOL, Enum, Float, Int, Pointer, Type, bit_width
from toolchains.csl.values import Absolute, Known

from .arguments import wrap

_IDS = (
    types.COLOR,
    types.INPUT_QUEUE,
    types.OUTPUT_QUEUE,
    types.DATA_TASK_ID,
    types.LOCAL_TASK_ID,
    types.CONTROL_TASK_ID,
    types.UT_ID,
)
"""Sixteen bits each: the examples read colours as `u16` so."""


def same_width(source: Type, target: Type, span: Span) -> None:
    """Error unless both have bits, and as many."""
    for kind in (source, target):
        if not _has_bits(kind):
            message = f"@bitcast is for numbers and pointers, not `{kind}`"
            raise error(span, "type-mismatch", message)
    if bit_width(source) != bit_width(target):
        message = (
            f"`{source}` has {bit_width(source)} bits, `{target}` {bit_width(target)}: "
            "they have to be as many"
        )
        raise error(span, "type-mismatch", message, f"@as({target}, …) converts the value")


def _has_bits(kind: Type) -> bool:
    packed = isinstance(kind, types.Struct) and kind.layout == "packed"
    return isinstance(kind, Int | Float | Pointer | Enum) or kind in _IDS or kind == BOOL or packed


def pattern_of(value: Known) -> int | None:
    """The bits, as an unsigned number; None if the address isn't known yet."""
    kind, data = value.type, value.data
    if isinstance(kind, Float):
        assert isinstance(data, float)
        return bits_of(data, kind)
    if isinstance(data, Absolute):
        return data.address
    if isinstance(kind, Pointer | types.Struct) or not isinstance(data, int):
        return None
    return int(data) & ((1 << bit_width(kind)) - 1)


def from_pattern(bits: int, kind: Type) -> Known:
    """The value of a type with these bits."""
    if isinstance(kind, Float):
        return Known(kind, from_bits(bits, kind))
    if isinstance(kind, Pointer):
        return Known(kind, Absolute(bits))
    if isinstance(kind, Int):
        return Known(kind, wrap(bits, kind))
    return Known(kind, bool(bits) if kind == BOOL else bits)
