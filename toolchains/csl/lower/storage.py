"""Places: locals, variables, elements, fields, what pointers point to; and whole values there."""

from __future__ import annotations

from simulators.wafer.opcodes import SCALAR_BYTES, Flag, Op, Scalar
from toolchains.csl import tree, types
from toolchains.csl.source import error
from toolchains.csl.types import bit_width, field_offset, size_of
from toolchains.csl.values import Absolute, Address, Known

from .frame import Frame, Spot
from .scalars import in_memory, is_packed, scalar_of
from .symbols import is_zero, parts

_SHORT_FILL = 4
"""Up to so many words a constant is written word by word rather than copied."""


# --- places ------------------------------------------------------------------------------------


def local_spot(code: Frame, expr: tree.LocalRef) -> Spot:
    """The memory of a local that has an address."""
    symbol = code.symbols.get(expr.local)
    if symbol is not None:
        return Spot(symbol=symbol)
    if expr.local in code.registers:
        spot = code.temporary(expr.type, expr.span)
        kind = code.scalar(expr.type, expr.span)
        code.store_register(kind, spot, code.registers[expr.local])
        return spot
    symbol = code.unit.memory(f"{code.function.name}.{expr.local.name}", expr.type, expr.local.span)
    code.symbols[expr.local] = symbol
    return Spot(symbol=symbol)


def global_spot(code: Frame, expr: tree.GlobalRef) -> Spot:
    """A variable."""
    return Spot(symbol=code.unit.variable(expr.variable))


def deref_spot(code: Frame, expr: tree.Deref) -> Spot:
    """What a pointer points to."""
    return pointed(code, expr.pointer)


def pointed(code: Frame, pointer: tree.Expr) -> Spot:
    """The place that a pointer holds, known or not."""
    match pointer:
        case tree.Constant(value=Known(data=Address() as address)):
            return Spot(symbol=code.unit.variable(address.variable), offset=address.offset)
        case tree.Constant(value=Known(data=Absolute() as absolute)):
            return Spot(offset=absolute.address)
        case tree.AddressOf():
            return code.spot(pointer.place)
        case tree.Bitcast() | tree.Convert() if isinstance(pointer.operand.type, types.Pointer):
            return pointed(code, pointer.operand)
        case _:
            return Spot(base=code.value(pointer))


def element_spot(code: Frame, expr: tree.Element) -> Spot:
    """An element of an array, or of what a pointer to many points to."""
    kind = expr.base.type
    if isinstance(kind, types.Pointer):
        if kind.many or not isinstance(kind.target, types.Array):
            return _step(code, pointed(code, expr.base), expr, (0,))
        return _step(code, pointed(code, expr.base), expr, kind.target.shape)
    if not isinstance(kind, types.Array):
        raise error(expr.span, "not-an-array", f"{kind} has no elements")
    return _step(code, code.spot(expr.base), expr, kind.shape)


def _step(code: Frame, base: Spot, expr: tree.Element, shape: tuple[int, ...]) -> Spot:
    """Row-major; an extent of 0 is unknown, and not checked."""
    size = size_of(expr.type)
    known, register, stride = 0, -1, 1
    for extent, index in reversed(list(zip(shape, expr.indices, strict=True))):
        number = _constant_index(index)
        if number is not None and (not extent or 0 <= number < extent):
            known += number * stride
        else:
            part = _checked(code, index, extent)
            register = _sum(code, register, _times(code, part, stride))
        stride *= extent
    spot = base.plus(known * size)
    if register < 0:
        return spot
    if 0 in shape and spot.base < 0:
        # A negative index of a pointer wraps within 16 bits, if the whole address is in a register.
        spot = Spot(code.address(spot))
    offset = _times(code, register, size)
    if spot.base >= 0:
        offset = _sum(code, spot.base, offset)
    return Spot(offset, spot.offset, spot.symbol)


def _constant_index(index: tree.Expr) -> int | None:
    if isinstance(index, tree.Constant) and isinstance(index.value.data, int):
        return index.value.data
    return None


def _checked(code: Frame, index: tree.Expr, extent: int) -> int:
    register = code.value(index)
    if extent:
        code.emit(Op.CHECK, Scalar.I64, register, 0, extent)
    return register


def _times(code: Frame, register: int, factor: int) -> int:
    if factor == 1:
        return register
    target = code.fresh()
    shift = factor.bit_length() - 1
    power = factor == 1 << shift
    step = code.emit(Op.SHL if power else Op.MUL, Scalar.U16, target, register)
    step.c, step.flags = (shift if power else factor), int(Flag.IMMEDIATE)
    return target


def _sum(code: Frame, left: int, right: int) -> int:
    if left < 0:
        return right
    target = code.fresh()
    code.emit(Op.ADD, Scalar.U16, target, left, right)
    return target


def field_spot(code: Frame, expr: tree.FieldOf) -> Spot:
    """A field of a struct, union or tuple in memory."""
    kind = expr.base.type
    base = pointed(code, expr.base) if isinstance(kind, types.Pointer) else code.spot(expr.base)
    if isinstance(kind, types.Pointer):
        kind = kind.target
    if not isinstance(kind, types.Struct | types.Anonymous | types.Tuple):
        raise error(expr.span, "not-a-struct", f"{kind} has no fields")
    if is_packed(kind):
        raise error(expr.span, "packed-field-address", "a field of a packed struct has no address")
    return base.plus(field_offset(kind, expr.index))


def constant_spot(code: Frame, expr: tree.Constant) -> Spot:
    """A constant in memory of its own."""
    return Spot(symbol=code.unit.constant(expr, f"{code.function.name}.constant"))


# --- loading and packed fields -------------------------------------------------------------------


def load_place(code: Frame, expr: tree.Expr, into: int | None) -> int:
    """The value of a place that fits a register."""
    if isinstance(expr, tree.LocalRef) and expr.local in code.registers:
        return code.move(code.registers[expr.local], into)
    target = code.goal(into)
    saved = code.top
    code.load(code.scalar(expr.type, expr.span), code.spot(expr), target)
    code.top = saved
    return target


def load_field(code: Frame, expr: tree.FieldOf, into: int | None) -> int:
    """The value of a field that fits a register, be it of a packed struct."""
    kind = expr.base.type
    if not is_packed(kind) or not isinstance(kind, types.Struct):
        return load_place(code, expr, into)
    target = code.goal(into)
    saved = code.top
    whole = code.value(expr.base)
    first, width = field_bits(kind, expr.index)
    wide = code.scalar(kind, expr.span)
    shifted = immediate(code, Op.SHR, wide, code.fresh(), whole, first) if first else whole
    cut_to(code, expr.type, target, shifted, width, wide)
    code.top = saved
    return target


def field_bits(kind: types.Struct, index: int) -> tuple[int, int]:
    """First bit and width of a field of a packed struct or union."""
    first = 0 if kind.union else sum(bit_width(part) for _, part in kind.fields[:index])
    return first, bit_width(kind.fields[index][1])


def cut_to(
    code: Frame, kind: types.Type, target: int, source: int, width: int, wide: Scalar
) -> None:
    """The low bits of a register as a value of a type of that many bits."""
    scalar = scalar_of(kind)
    if width == 8 * SCALAR_BYTES[scalar]:
        convert = code.emit(Op.CONVERT, wide, target, source)
        convert.c = int(_as_integer(kind))
    elif isinstance(kind, types.Int) and kind.signed:
        by = 64 - width
        immediate(code, Op.SHL, Scalar.I64, target, source, by)
        immediate(code, Op.SHR, Scalar.I64, target, target, by)
    else:
        mask(code, target, source, width)


def _as_integer(kind: types.Type) -> Scalar:
    scalar = scalar_of(kind)
    if isinstance(kind, types.Float):
        return Scalar.U32 if scalar is Scalar.F32 else Scalar.U16
    return scalar


def mask(code: Frame, target: int, source: int, width: int) -> None:
    """The low bits, zero-extended."""
    if width < 32:
        immediate(code, Op.AND, Scalar.U64, target, source, (1 << width) - 1)
        return
    by = 64 - width
    immediate(code, Op.SHL, Scalar.U64, target, source, by)
    immediate(code, Op.SHR, Scalar.U64, target, target, by)


def immediate(code: Frame, op: Op, kind: Scalar, target: int, left: int, right: int) -> int:
    """An instruction whose second operand is a number."""
    code.emit(op, kind, target, left, right).flags = int(Flag.IMMEDIATE)
    return target


def insert_field(
    code: Frame, kind: types.Struct, index: int, whole: int, part: int, target: int
) -> None:
    """R[target] = R[whole] with a field replaced."""
    first, width = field_bits(kind, index)
    scalar = scalar_of(kind)
    total = bit_width(kind)
    bits = code.fresh()
    mask(code, bits, part, width)
    if first:
        immediate(code, Op.SHL, Scalar.U64, bits, bits, first)
    keep = code.fresh()
    _constant(code, ((1 << total) - 1) & ~(((1 << width) - 1) << first), keep)
    code.emit(Op.AND, scalar, keep, whole, keep)
    code.emit(Op.OR, scalar, target, keep, bits)


def _constant(code: Frame, bits: int, into: int) -> None:
    low, high = bits & 0xFFFFFFFF, bits >> 32 & 0xFFFFFFFF
    wide = code.emit(Op.CONST, Scalar.U64, into, _signed(low), _signed(high))
    wide.flags = int(Flag.WIDE)


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


# --- whole values --------------------------------------------------------------------------------


def store_constant(code: Frame, expr: tree.Constant, spot: Spot) -> None:
    """Zeros are filled in; other constants copied from memory of their own."""
    size = size_of(expr.type)
    if is_zero(expr.value.data):
        _fill_zero(code, spot, size)
        return
    code.copy(spot, constant_spot(code, expr), size)


def _fill_zero(code: Frame, spot: Spot, size: int) -> None:
    if not size:
        return
    kind = Scalar.U16 if size % 2 == 0 else Scalar.U8
    zero = code.fresh()
    code.emit(Op.CONST, kind, zero)
    _fill(code, spot, kind, size // SCALAR_BYTES[kind], zero)


def _fill(code: Frame, spot: Spot, kind: Scalar, count: int, value: int) -> None:
    if count <= _SHORT_FILL:
        for n in range(count):
            code.store_register(kind, spot.plus(n * SCALAR_BYTES[kind]), value)
        return
    code.emit(Op.FILL, kind, code.address(spot), value, count)


def store_aggregate(code: Frame, expr: tree.Aggregate, spot: Spot) -> None:
    """Part by part, in order."""
    union = isinstance(expr.type, types.Struct) and expr.type.union
    for (offset, _), part in zip(parts(expr.type), expr.parts, strict=not union):
        code.store(part, spot.plus(offset))


def store_splat(code: Frame, expr: tree.Splat, spot: Spot) -> None:
    """One value everywhere."""
    kind = expr.type
    if not isinstance(kind, types.Array):
        raise error(expr.span, "not-an-array", f"{kind} has no elements")
    if in_memory(kind.element):
        for offset, _ in parts(kind):
            code.store(expr.value, spot.plus(offset))
        return
    scalar = code.scalar(kind.element, expr.span)
    _fill(code, spot, scalar, kind.count, code.value(expr.value))
