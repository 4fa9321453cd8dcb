"""Calls: of functions, of the machine, and functions put in line; activating and blocking."""

from __future__ import annotations

from simulators.wafer.opcodes import Flag, Op, Scalar
from toolchains.csl import tree
from toolchains.csl.source import error
from toolchains.csl.types import size_of

from .frame import CallSite, Ending, Frame, Label, Spot
from .scalars import in_memory, is_void


def call(code: Frame, expr: tree.Call, into: int | None) -> int:
    """A call whose result, if any, fits a register."""
    target = code.goal(into)
    base = code.top if into is not None else target
    _call(code, expr, base, None)
    return _result(code, expr, base, target)


def call_pointer(code: Frame, expr: tree.CallPointer, into: int | None) -> int:
    """Likewise by a pointer."""
    target = code.goal(into)
    base = code.top if into is not None else target
    _call(code, expr, base, None)
    return _result(code, expr, base, target)


def _result(code: Frame, expr: tree.Expr, base: int, target: int) -> int:
    code.reserve(base + 1)
    if target != base:
        code.top = base
        if not is_void(expr.type):
            code.move(base, target)
    return target


def store_call(code: Frame, expr: tree.Call | tree.CallPointer, spot: Spot) -> None:
    """A call whose result is in memory: it gets the address as its first argument."""
    _call(code, expr, code.top, spot)


def _call(code: Frame, expr: tree.Call | tree.CallPointer, base: int, spot: Spot | None) -> None:
    pointer = -1
    code.top = base
    if isinstance(expr, tree.CallPointer):
        pointer = code.value(expr.pointer)
        if pointer >= base:
            # The frame begins above, so that the arguments don't overwrite the pointer.
            pointer = code.move(pointer, base)
            code.reserve(base + 1)
    begin = code.top
    if spot is not None:
        code.reserve(begin + 1)
        code.address(spot, begin)
    first = begin + (spot is not None)
    for position, argument in enumerate(expr.arguments):
        code.reserve(first + position + 1)
        if not is_void(argument.type):
            code.value(argument, first + position)
    code.reserve(max(first + len(expr.arguments), begin + 1))
    code.at(expr.span)
    _emit_call(code, expr, begin, pointer)
    if begin != base and spot is None and not is_void(expr.type):
        code.move(begin, base)


def _emit_call(code: Frame, expr: tree.Call | tree.CallPointer, begin: int, pointer: int) -> None:
    if isinstance(expr, tree.Call):
        code.emit(Op.CALL, Scalar.U16, begin, 0, code.unit.number(expr.function))
        _note_call(code, expr, begin, expr.function, None)
    else:
        code.emit(Op.CALL_POINTER, Scalar.U16, begin, pointer)
        _note_call(code, expr, begin, None, expr.pointer)


def _note_call(
    code: Frame,
    expr: tree.Expr,
    begin: int,
    function: tree.Function | None,
    pointer: tree.Expr | None,
) -> None:
    code.calls.append(CallSite(function, begin, expr.span, pointer, code.cursors > 0))


def inline(code: Frame, function: tree.Function, arguments: list[int], result: int) -> None:
    """The body of a function with its parameters in these registers; its value goes to `result`."""
    if function in code.inlining:
        raise error(function.span, "recursion", f"`{function.name}` calls itself")
    for local, register in zip(function.parameters, arguments, strict=True):
        bind_parameter(code, local, register)
    end = Label()
    code.endings.append(Ending(end, register=result))
    code.inlining.append(function)
    saved = code.top
    code.statements(function.body)
    code.top = saved
    code.inlining.pop()
    code.endings.pop()
    code.mark(end)


def bind_parameter(code: Frame, local: tree.Local, register: int) -> None:
    """A parameter arrives in a register; copy it to memory of its own if it needs that."""
    if is_void(local.type):
        return
    if in_memory(local.type):
        spot = local_memory(code, local)
        code.copy(spot, Spot(base=register), size_of(local.type))
    elif local.addressed:
        kind = code.scalar(local.type, local.span)
        code.store_register(kind, local_memory(code, local), register)
    else:
        code.registers[local] = register


def local_memory(code: Frame, local: tree.Local) -> Spot:
    """The memory of a local."""
    symbol = code.symbols.get(local)
    if symbol is None:
        name = f"{code.function.name}.{local.name}"
        symbol = code.symbols[local] = code.unit.memory(name, local.type, local.span)
    return Spot(symbol=symbol)


def system(code: Frame, expr: tree.System, into: int | None) -> int:
    """A call of the machine."""
    target = code.goal(into)
    base = code.top if into is not None else target
    code.top = base
    for position, argument in enumerate(expr.arguments):
        code.reserve(base + position + 1)
        code.value(argument, base + position)
    code.reserve(base + max(1, len(expr.arguments)))
    kind = Scalar.U16 if is_void(expr.type) else code.scalar(expr.type, expr.span)
    code.emit(Op.SYSTEM, kind, base, len(expr.arguments), int(expr.call))
    return _result(code, expr, base, target)


_TASK_OPS = {"activate": Op.ACTIVATE, "block": Op.BLOCK, "unblock": Op.UNBLOCK}


def task_op(code: Frame, expr: tree.TaskOp, into: int | None) -> int:
    """@activate, @block, @unblock."""
    target = code.goal(into)
    saved = code.top
    flags = int(Flag.MICROTHREAD) if expr.target.microthread else 0
    task = expr.target.id
    op = _TASK_OPS[expr.operation]
    if isinstance(task, tree.Constant):
        number = code.unit.naming.word(task.type, task.value.data).bits
        code.emit(op, Scalar.U16, 0, -1, number).flags = flags
    else:
        code.emit(op, Scalar.U16, 0, code.value(task)).flags = flags
    code.top = saved
    return target
