"""Statements: locals, assignments, branches, loops, and leaving them."""

from __future__ import annotations

from simulators.wafer.opcodes import Flag, Op, Scalar
from toolchains.csl import tree, types
from toolchains.csl.source import error
from toolchains.csl.types import Int, size_of
from toolchains.csl.values import Known

from .arithmetic import branch
from .calls import local_memory
from .frame import Exit, Frame, Label, Spot
from .scalars import in_memory, is_packed, is_void
from .storage import immediate, insert_field

_RANGE_CASES = 4
"""From so many consecutive values on, a case is two comparisons."""


def declare(code: Frame, statement: tree.Declare) -> None:
    """A local begins."""
    local = statement.local
    if is_void(local.type):
        if statement.value is not None:
            code.value(statement.value)
        return
    if in_memory(local.type) or local.addressed:
        spot = local_memory(code, local)
        if statement.value is not None:
            code.store(statement.value, spot)
        return
    register = code.fresh()
    if statement.value is not None:
        code.value(statement.value, register)
    code.registers[local] = register
    code.top = register + 1


def assign(code: Frame, statement: tree.Assign) -> None:
    """Place = value."""
    place, value = statement.place, statement.value
    if is_void(place.type):
        code.value(value)
    elif isinstance(place, tree.LocalRef) and place.local in code.registers:
        code.value(value, code.registers[place.local])
    elif isinstance(place, tree.FieldOf) and is_packed(place.base.type):
        _assign_packed(code, place, value)
    elif in_memory(place.type):
        _assign_memory(code, place, value)
    else:
        register = code.value(value)
        spot = code.spot(place)
        code.store_register(code.scalar(place.type, place.span), spot, register)


def _assign_memory(code: Frame, place: tree.Expr, value: tree.Expr) -> None:
    """Values that may read what they replace are made elsewhere first."""
    spot = code.spot(place)
    match value:
        case tree.Constant() | tree.Splat():
            code.store(value, spot)
        case _ if type(value) in code.tables.stores:
            code.copy(spot, code.spot(value), size_of(place.type))
        case _:
            code.store(value, spot)


def _assign_packed(code: Frame, place: tree.FieldOf, value: tree.Expr) -> None:
    """Read, change, write; fields of fields change the outer one."""
    kind = place.base.type
    if not isinstance(kind, types.Struct):
        raise error(place.span, "not-a-struct", f"{kind} has no fields")
    part = code.value(value)
    base = place.base
    if isinstance(base, tree.LocalRef) and base.local in code.registers:
        whole = code.registers[base.local]
        insert_field(code, kind, place.index, whole, part, whole)
        return
    whole, changed = code.value(base), code.fresh()
    insert_field(code, kind, place.index, whole, part, changed)
    if isinstance(base, tree.FieldOf) and is_packed(base.base.type):
        local = tree.Local("changed", kind, place.span)
        code.registers[local] = changed
        _assign_packed(code, base, tree.LocalRef(kind, place.span, local))
        return
    code.store_register(code.scalar(kind, place.span), code.spot(base), changed)


def effect(code: Frame, statement: tree.Effect) -> None:
    """An expression for its effect."""
    code.value(statement.value)


def if_statement(code: Frame, statement: tree.If) -> None:
    """Two arms."""
    other, end = Label(), Label()
    branch(code, statement.condition, other, when=False)
    _body(code, statement.then)
    if statement.otherwise:
        code.jump(Op.JUMP, end)
    code.mark(other)
    _body(code, statement.otherwise)
    code.mark(end)


def _body(code: Frame, body: tuple[tree.Stmt, ...]) -> None:
    saved = code.top
    code.statements(body)
    code.top = saved


def loop(code: Frame, statement: tree.Loop) -> None:
    """The condition stands at the end, and before the first round."""
    begin, again, end = Label(), Label(), Label()
    code.exits[statement.target] = Exit(end, again)
    condition = statement.condition
    if condition is not None:
        branch(code, condition, end, when=False)
    code.mark(begin)
    _body(code, statement.body)
    code.mark(again)
    _body(code, statement.step)
    code.at(statement.span)
    if condition is None:
        code.jump(Op.JUMP, begin)
    else:
        branch(code, condition, begin, when=True)
    code.mark(end)


def count(code: Frame, statement: tree.Count) -> None:
    """A counter that can't wrap: where the step could pass the type's limit it is a wider one."""
    saved = code.top
    counter = code.fresh()
    code.value(statement.start, counter)
    stop = _limit(code, statement.stop)
    kind = _counting(code, statement)
    position = code.fresh() if statement.position is not None else -1
    if position >= 0:
        code.emit(Op.CONST, Scalar.U16, position)
    begin, again, end = Label(), Label(), Label()
    code.exits[statement.target] = Exit(end, again)
    if not _runs_once(statement):
        _compare(code, statement.step, kind, counter, stop)
        code.jump(Op.JUMP_UNLESS, end, code.top)
    code.mark(begin)
    _give(code, statement.local, counter)
    if statement.position is not None:
        _give(code, statement.position, position)
    _body(code, statement.body)
    code.mark(again)
    code.at(statement.span)
    immediate(code, Op.ADD, kind, counter, counter, statement.step)
    if position >= 0:
        immediate(code, Op.ADD, Scalar.U16, position, position, 1)
    _compare(code, statement.step, kind, counter, stop)
    code.jump(Op.JUMP_IF, begin, code.top)
    code.mark(end)
    code.top = saved


def _limit(code: Frame, stop: tree.Expr) -> int | tree.Constant:
    """A number that fits an instruction, or a register of its own."""
    if isinstance(stop, tree.Constant) and abs(int(_number(stop))) < 1 << 31:
        return stop
    return code.value(stop, code.fresh())


def _number(expr: tree.Constant) -> int:
    data = expr.value.data
    return data if isinstance(data, int) else 0


def _counting(code: Frame, statement: tree.Count) -> Scalar:
    kind = code.scalar(statement.start.type, statement.span)
    if abs(statement.step) == 1:
        return kind if statement.step > 0 or kind in (Scalar.I16, Scalar.I32) else _wider(kind)
    stop = statement.stop
    element = stop.type
    if isinstance(stop, tree.Constant) and isinstance(element, Int):
        last = _number(stop) + statement.step
        if element.low <= last <= element.high:
            return kind
    return _wider(kind)


def _wider(kind: Scalar) -> Scalar:
    narrow = (Scalar.I8, Scalar.U8, Scalar.I16, Scalar.U16)
    return Scalar.I32 if kind in narrow else Scalar.I64


def _runs_once(statement: tree.Count) -> bool:
    """Whether the first round is known to take place."""
    match statement.start, statement.stop:
        case tree.Constant(value=Known(data=int() as start)), tree.Constant(
            value=Known(data=int() as stop)
        ):
            return start < stop if statement.step > 0 else start > stop
        case _:
            return False


def _compare(code: Frame, step: int, kind: Scalar, counter: int, stop: int | tree.Constant) -> None:
    """R[top] = whether the counter is still before the stop."""
    saved = code.top
    result = code.fresh()
    if not isinstance(stop, int):
        number = _number(stop)
        if step > 0:
            immediate(code, Op.LT, kind, result, counter, number)
            code.top = saved
            return
        stop = code.value(stop)
    left, right = (counter, stop) if step > 0 else (stop, counter)
    code.emit(Op.LT, kind, result, left, right)
    code.top = saved


def _give(code: Frame, local: tree.Local, register: int) -> None:
    """A loop's local, which can't be assigned to, for this round."""
    if local.addressed:
        kind = code.scalar(local.type, local.span)
        code.store_register(kind, local_memory(code, local), register)
    else:
        code.registers[local] = register


def switch(code: Frame, statement: tree.Switch) -> None:
    """Cases are tried in order."""
    saved = code.top
    scrutinee = code.value(statement.scrutinee)
    kind = code.scalar(statement.scrutinee.type, statement.span)
    end = Label()
    labels = [Label() for _ in statement.cases]
    for label, (cases, _) in zip(labels, statement.cases, strict=True):
        for low, high in _ranges(cases):
            _try(code, kind, scrutinee, (low, high), label)
    _body(code, statement.otherwise)
    for label, (_, body) in zip(labels, statement.cases, strict=True):
        code.jump(Op.JUMP, end)
        code.mark(label)
        _body(code, body)
    code.mark(end)
    code.top = saved


def _try(code: Frame, kind: Scalar, register: int, case: tuple[int, int], label: Label) -> None:
    low, high = case
    saved = code.top
    test = code.fresh()
    limit = code.fresh()
    if low == high:
        _number_into(code, kind, low, limit)
        code.emit(Op.EQ, kind, test, register, limit)
    else:
        other = code.fresh()
        _number_into(code, kind, low, limit)
        code.emit(Op.LE, kind, test, limit, register)
        _number_into(code, kind, high, limit)
        code.emit(Op.LE, kind, other, register, limit)
        code.emit(Op.AND, Scalar.BOOL, test, test, other)
    code.jump(Op.JUMP_IF, label, test)
    code.top = saved


def _number_into(code: Frame, kind: Scalar, number: int, into: int) -> None:
    low = number & 0xFFFFFFFF
    if -(1 << 31) <= number < 1 << 31:
        code.emit(Op.CONST, kind, into, 0, number)
    else:
        wide = code.emit(Op.CONST, kind, into, low - (low >> 31 << 32), number >> 32)
        wide.flags = int(Flag.WIDE)


def _ranges(values: tuple[int, ...]) -> list[tuple[int, int]]:
    """Runs of consecutive values, longer ones whole."""
    runs: list[tuple[int, int]] = []
    for value in sorted(set(values)):
        if runs and value == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], value)
        else:
            runs.append((value, value))
    found: list[tuple[int, int]] = []
    for low, high in runs:
        if high - low + 1 < _RANGE_CASES:
            found += [(value, value) for value in range(low, high + 1)]
        else:
            found.append((low, high))
    return found


def scope(code: Frame, statement: tree.Scope) -> None:
    """A block; what breaks out of it goes to its end."""
    end = Label()
    if statement.target is not None:
        code.exits[statement.target] = Exit(end)
    _body(code, statement.body)
    code.mark(end)


def break_statement(code: Frame, statement: tree.Break) -> None:
    """Leave a loop or block, with a value or none."""
    where = code.exits[statement.target]
    if statement.value is not None and not is_void(statement.value.type):
        _leave_value(code, statement.value, where.register, where.spot)
    code.jump(Op.JUMP, where.leave)


def continue_statement(code: Frame, statement: tree.Continue) -> None:
    """The next round."""
    where = code.exits[statement.target]
    code.jump(Op.JUMP, where.again or where.leave)


def return_statement(code: Frame, statement: tree.Return) -> None:
    """Leave the function, or code that was put in line."""
    value = statement.value
    if code.endings:
        ending = code.endings[-1]
        if value is not None and not is_void(value.type):
            _leave_value(code, value, ending.register, ending.spot)
        code.jump(Op.JUMP, ending.leave)
        return
    if value is None:
        code.emit(Op.RETURN)
        return
    if in_memory(value.type):
        code.store(value, Spot(base=code.result))
    elif is_void(value.type):
        code.value(value)
    else:
        code.value(value, 0)
    code.emit(Op.RETURN)


def _leave_value(code: Frame, value: tree.Expr, register: int, spot: Spot | None) -> None:
    if spot is not None:
        code.store(value, spot)
    else:
        code.value(value, register)
