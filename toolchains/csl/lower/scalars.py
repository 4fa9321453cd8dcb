"""How values are held: which types fit a register, as which scalar, and which live in memory."""

from __future__ import annotations

from simulators.wafer.opcodes import SCALAR_BYTES, Scalar
from toolchains.csl.types import (
    DSD_TYPES,
    VOID,
    Anonymous,
    Array,
    Enum,
    Float,
    Int,
    Range,
    Simple,
    Struct,
    Tuple,
    Type,
    bit_width,
)

_SIGNED = {8: Scalar.I8, 16: Scalar.I16, 32: Scalar.I32, 64: Scalar.I64}
_UNSIGNED = {8: Scalar.U8, 16: Scalar.U16, 32: Scalar.U32, 64: Scalar.U64}
_FLOATS = {"f16": Scalar.F16, "bf16": Scalar.BF16, "cb16": Scalar.CB16, "f32": Scalar.F32}
_NAMED = {"bool": Scalar.BOOL, **dict.fromkeys(DSD_TYPES, Scalar.DSD)}
"""Of types without parts; the others are ids and numbers of 16 bits."""

SIGNED = frozenset(_SIGNED.values())
INTEGERS = frozenset({*_SIGNED.values(), *_UNSIGNED.values()})
FLOATS = frozenset(_FLOATS.values())


def is_packed(kind: Type) -> bool:
    """Whether it is a struct or union whose fields are bits of one integer."""
    return isinstance(kind, Struct) and kind.layout == "packed"


def in_memory(kind: Type) -> bool:
    """Whether values are handled by their address rather than in a register."""
    if is_packed(kind):
        return False
    return isinstance(kind, Array | Struct | Anonymous | Tuple | Range)


def is_void(kind: Type) -> bool:
    """Whether there is nothing to hold."""
    return kind == VOID


def container(bits: int) -> int:
    """Bits of the register type that holds an integer; ValueError above 64."""
    return next((n for n in (8, 16, 32, 64) if bits <= n), 0)


def scalar_of(kind: Type) -> Scalar:
    """The register type of a type that isn't in memory. ValueError if it is wider than 64 bits."""
    match kind:
        case Int():
            width = container(kind.bits)
            if not width:
                raise ValueError(f"{kind} is wider than 64 bits")
            return (_SIGNED if kind.signed else _UNSIGNED)[width]
        case Float():
            return _FLOATS[kind.name]
        case Enum():
            return scalar_of(kind.backing)
        case Struct():
            return scalar_of(Int(bit_width(kind), False))
        case Simple():
            return _NAMED.get(kind.name, Scalar.U16)
        case _:
            return Scalar.U16


def odd_width(kind: Type) -> Int | None:
    """The integer type, if it is narrower than the register type that holds it."""
    if isinstance(kind, Enum):
        kind = kind.backing
    if is_packed(kind):
        kind = Int(bit_width(kind), False)
    if isinstance(kind, Int) and kind.bits != container(kind.bits):
        return kind
    return None


def bits(scalar: Scalar) -> int:
    """Of a register type, in memory."""
    return 8 * SCALAR_BYTES[scalar]


def holds(target: Scalar, source: Scalar) -> bool:
    """Whether every canonical value of one integer type is the same in the other."""
    if source is target:
        return True
    if source is Scalar.BOOL:
        return target in INTEGERS
    if source not in INTEGERS or target not in INTEGERS:
        return False
    if (source in SIGNED) == (target in SIGNED):
        return bits(source) <= bits(target)
    return source not in SIGNED and bits(source) < bits(target)


def unsigned(scalar: Scalar) -> Scalar:
    """The unsigned integer type with the bits of another type."""
    return _UNSIGNED[bits(scalar)]
