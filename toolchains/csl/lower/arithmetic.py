"""Expressions whose values fit registers: constants, operators, conversions, conditions."""

from __future__ import annotations

from simulators.wafer.opcodes import Op, Scalar
from toolchains.csl import tree
from toolchains.csl.source import error
from toolchains.csl.types import Struct, Type, bit_width, size_of
from toolchains.csl.values import Known

from .frame import Exit, Frame, Label
from .scalars import (
    FLOATS,
    INTEGERS,
    SIGNED,
    holds,
    in_memory,
    is_void,
    odd_width,
    unsigned,
)
from .storage import cut_to, immediate, mask

_OPERATORS = {
    "+": Op.ADD,
    "-": Op.SUB,
    "*": Op.MUL,
    "/": Op.DIV,
    "%": Op.REM,
    "&": Op.AND,
    "|": Op.OR,
    "^": Op.XOR,
    "<<": Op.SHL,
    ">>": Op.SHR,
    "==": Op.EQ,
    "!=": Op.NE,
    "<": Op.LT,
    "<=": Op.LE,
    ">": Op.LT,
    ">=": Op.LE,
}
_SWAPPED = frozenset({">", ">="})
_COMMUTE = frozenset({Op.ADD, Op.MUL, Op.AND, Op.OR, Op.XOR, Op.EQ, Op.NE})
_GROWING = frozenset({"+", "-", "*", "<<"})
"""Operators whose result may need more bits than their operands."""
_UNARY = {"-": Op.NEG, "~": Op.INVERT, "!": Op.NOT}


def constant(code: Frame, expr: tree.Constant, into: int | None) -> int:
    """A known value."""
    if is_void(expr.type):
        return code.goal(into)
    word = code.unit.naming.word(expr.type, expr.value.data)
    return code.word(word, code.scalar(expr.type, expr.span), into)


def function_address(code: Frame, expr: tree.FunctionAddress, into: int | None) -> int:
    """The number of a function."""
    target = code.goal(into)
    code.unit.addressed_functions.add(expr.function)
    code.emit(Op.CONST, Scalar.U16, target, 0, code.unit.number(expr.function))
    return target


def packed_aggregate(code: Frame, expr: tree.Aggregate, into: int | None) -> int:
    """A packed struct of its fields; of a packed union one part is given."""
    kind = expr.type
    if not isinstance(kind, Struct):
        raise error(expr.span, "not-a-struct", f"{kind} has no fields")
    target = code.goal(into)
    saved = code.top
    whole = code.fresh()
    code.emit(Op.CONST, Scalar.U64, whole)
    first = 0
    for part in expr.parts:
        inner = code.top
        width = bit_width(part.type)
        part_bits = code.fresh()
        mask(code, part_bits, code.value(part), width)
        if first:
            immediate(code, Op.SHL, Scalar.U64, part_bits, part_bits, first)
        code.emit(Op.OR, Scalar.U64, whole, whole, part_bits)
        first += width
        code.top = inner
    code.move(whole, target)
    code.top = saved
    return target


def address_of(code: Frame, expr: tree.AddressOf, into: int | None) -> int:
    """The address of a place."""
    target = code.goal(into)
    saved = code.top
    spot = code.spot(expr.place)
    code.address(spot, target)
    code.top = saved
    return target


def unary(code: Frame, expr: tree.Unary, into: int | None) -> int:
    """Negation, complement, not."""
    target = code.goal(into)
    saved = code.top
    kind = code.scalar(expr.type, expr.span)
    code.emit(_UNARY[expr.operator], kind, target, code.value(expr.operand))
    if expr.operator != "!":
        fit(code, expr.type, target)
    code.top = saved
    return target


def binary(code: Frame, expr: tree.Binary, into: int | None) -> int:
    """Arithmetic and comparisons."""
    target = code.goal(into)
    saved = code.top
    op = _OPERATORS[expr.operator]
    kind = code.scalar(expr.left.type, expr.span)
    left, right = expr.left, expr.right
    number = _immediate(right, kind, op)
    if number is None and op in _COMMUTE and _immediate(left, kind, op) is not None:
        number, left, right = _immediate(left, kind, op), right, left
    if number is not None and expr.operator not in _SWAPPED:
        immediate(code, op, kind, target, code.value(left), number)
    else:
        first = _kept(code, left, right)
        second = code.value(right)
        if expr.operator in _SWAPPED:
            first, second = second, first
        code.emit(op, kind, target, first, second)
    if expr.operator in _GROWING:
        fit(code, expr.type, target)
    code.top = saved
    return target


def _kept(code: Frame, left: tree.Expr, right: tree.Expr) -> int:
    """The left operand; a copy of a local's register if the right one may assign to it."""
    register = code.value(left)
    if not _simple(right) and register in code.registers.values():
        return code.move(register, code.fresh())
    return register


def _simple(expr: tree.Expr) -> bool:
    """Whether it certainly assigns to no local."""
    match expr:
        case tree.Constant() | tree.LocalRef() | tree.GlobalRef() | tree.FunctionAddress():
            return True
        case tree.Binary() | tree.Logical():
            return _simple(expr.left) and _simple(expr.right)
        case tree.Unary() | tree.Convert() | tree.Bitcast():
            return _simple(expr.operand)
        case tree.Element():
            return _simple(expr.base) and all(_simple(index) for index in expr.indices)
        case tree.FieldOf():
            return _simple(expr.base)
        case tree.Deref():
            return _simple(expr.pointer)
        case tree.Call():
            return all(_simple(argument) for argument in expr.arguments)
        case _:
            return False


def _immediate(expr: tree.Expr, kind: Scalar, op: Op) -> int | None:
    """A number that fits an instruction, if the operand is one."""
    if not isinstance(expr, tree.Constant):
        return None
    data = expr.value.data
    if op in (Op.SHL, Op.SHR):
        return data if isinstance(data, int) and 0 <= data < 1 << 16 else None
    if kind in INTEGERS or kind is Scalar.BOOL:
        return int(data) if isinstance(data, int) and -(1 << 31) <= data < 1 << 31 else None
    return None


def fit(code: Frame, kind: Type, register: int) -> None:
    """Cut the result of an operation on integers of a width that no register type has."""
    odd = odd_width(kind)
    if odd is not None:
        cut_to(code, odd, register, register, odd.bits, Scalar.I64)


def convert(code: Frame, expr: tree.Convert, into: int | None) -> int:
    """`@as`; nothing to do where the bits stay the same."""
    if in_memory(expr.operand.type):
        raise error(expr.span, "conversion", f"{expr.operand.type} can't become {expr.type}")
    source = code.scalar(expr.operand.type, expr.operand.span)
    target_kind = code.scalar(expr.type, expr.span)
    odd = odd_width(expr.type)
    if holds(target_kind, source) and odd is None:
        return code.value(expr.operand, into)
    target = code.goal(into)
    saved = code.top
    register = code.value(expr.operand)
    code.emit(Op.CONVERT, source, target, register, int(target_kind))
    fit(code, expr.type, target)
    code.top = saved
    return target


def bitcast(code: Frame, expr: tree.Bitcast, into: int | None) -> int:
    """The same bits in the canonical form of another type."""
    operand = expr.operand
    if in_memory(operand.type):
        target = code.goal(into)
        saved = code.top
        code.load(code.scalar(expr.type, expr.span), code.spot(operand), target)
        code.top = saved
        return target
    source = code.scalar(operand.type, operand.span)
    kind = code.scalar(expr.type, expr.span)
    if source is kind or (source not in SIGNED and kind not in SIGNED):
        return code.value(operand, into)
    target = code.goal(into)
    saved = code.top
    plain = unsigned(source) if source in FLOATS else source
    final = unsigned(kind) if kind in FLOATS else kind
    code.emit(Op.CONVERT, plain, target, code.value(operand), int(final))
    code.top = saved
    return target


def bitcast_spot(expr: tree.Bitcast) -> tree.Expr:
    """What to look at as the other type, if that is in memory."""
    if size_of(expr.type) != size_of(expr.operand.type):
        raise error(expr.span, "bitcast", f"{expr.operand.type} and {expr.type} differ in size")
    return expr.operand


# --- conditions ----------------------------------------------------------------------------------


def branch(code: Frame, expr: tree.Expr, target: Label, when: bool) -> None:
    """Jump if a condition has that value, else go on."""
    code.at(expr.span)
    saved = code.top
    match expr:
        case tree.Constant(value=Known(data=bool() | int() as data)):
            if bool(data) == when:
                code.jump(Op.JUMP, target)
        case tree.Unary(operator="!"):
            branch(code, expr.operand, target, not when)
        case tree.Logical():
            _branch_logical(code, expr, target, when)
        case _:
            code.jump(Op.JUMP_IF if when else Op.JUMP_UNLESS, target, code.value(expr))
    code.top = saved


def _branch_logical(code: Frame, expr: tree.Logical, target: Label, when: bool) -> None:
    if (expr.operator == "or") == when:
        branch(code, expr.left, target, when)
        branch(code, expr.right, target, when)
        return
    past = Label()
    branch(code, expr.left, past, not when)
    branch(code, expr.right, target, when)
    code.mark(past)


def logical(code: Frame, expr: tree.Logical, into: int | None) -> int:
    """`and`, `or` as a value."""
    target = code.goal(into)
    short, end = Label(), Label()
    stop = expr.operator == "or"
    branch(code, expr.left, short, stop)
    code.value(expr.right, target)
    code.jump(Op.JUMP, end)
    code.mark(short)
    code.emit(Op.CONST, Scalar.BOOL, target, 0, int(stop))
    code.mark(end)
    return target


def select(code: Frame, expr: tree.Select, into: int | None) -> int:
    """One of two values."""
    target = code.goal(into)
    other, end = Label(), Label()
    branch(code, expr.condition, other, when=False)
    code.value(expr.then, target)
    code.jump(Op.JUMP, end)
    code.mark(other)
    code.value(expr.otherwise, target)
    code.mark(end)
    return target


def block_value(code: Frame, expr: tree.BlockValue, into: int | None) -> int:
    """A labelled block that breaks with its value."""
    target = code.goal(into)
    end = Label()
    code.exits[expr.target] = Exit(end, register=target)
    saved = code.top
    code.statements(expr.body)
    code.top = saved
    code.mark(end)
    return target
