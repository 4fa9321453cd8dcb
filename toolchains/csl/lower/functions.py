"""Lowering of one function: which file lowers which node, its parameters and its end."""

from __future__ import annotations

from simulators.wafer.opcodes import Op, Scalar
from toolchains.csl import tree
from toolchains.csl.source import error
from toolchains.csl.types import size_of

from .arithmetic import (
    address_of,
    binary,
    bitcast,
    bitcast_spot,
    block_value,
    branch,
    constant,
    convert,
    function_address,
    logical,
    packed_aggregate,
    select,
    unary,
)
from .calls import bind_parameter, call, call_pointer, store_call, system, task_op
from .frame import Exit, Frame, Label, Spot, Tables
from .scalars import in_memory, is_void
from .statements import (
    assign,
    break_statement,
    continue_statement,
    count,
    declare,
    effect,
    if_statement,
    loop,
    return_statement,
    scope,
    switch,
)
from .storage import (
    constant_spot,
    deref_spot,
    element_spot,
    field_spot,
    global_spot,
    load_field,
    load_place,
    local_spot,
    store_aggregate,
    store_constant,
    store_splat,
)
from .unit import Unit
from .vectors import dsd_make, dsd_update, load_dsr, map_op, vector_op


def _store_select(code: Frame, expr: tree.Select, spot: Spot) -> None:
    other, end = Label(), Label()
    branch(code, expr.condition, other, when=False)
    code.store(expr.then, spot)
    code.jump(Op.JUMP, end)
    code.mark(other)
    code.store(expr.otherwise, spot)
    code.mark(end)


def _store_block(code: Frame, expr: tree.BlockValue, spot: Spot) -> None:
    end = Label()
    code.exits[expr.target] = Exit(end, spot=spot)
    code.statements(expr.body)
    code.mark(end)


def _store_bitcast(code: Frame, expr: tree.Bitcast, spot: Spot) -> None:
    code.store(bitcast_spot(expr), spot)


def _store_convert(code: Frame, expr: tree.Convert, spot: Spot) -> None:
    """Of values in memory, only the name of the type changes."""
    if not in_memory(expr.operand.type) or size_of(expr.operand.type) != size_of(expr.type):
        message = f"{expr.operand.type} can't become {expr.type}"
        raise error(expr.span, "conversion", message, "convert its parts one by one")
    code.store(expr.operand, spot)


TABLES = Tables(
    values={
        tree.Constant: constant,
        tree.LocalRef: load_place,
        tree.GlobalRef: load_place,
        tree.Deref: load_place,
        tree.Element: load_place,
        tree.FieldOf: load_field,
        tree.AddressOf: address_of,
        tree.Unary: unary,
        tree.Binary: binary,
        tree.Logical: logical,
        tree.Convert: convert,
        tree.Bitcast: bitcast,
        tree.Call: call,
        tree.CallPointer: call_pointer,
        tree.FunctionAddress: function_address,
        tree.Select: select,
        tree.BlockValue: block_value,
        tree.Aggregate: packed_aggregate,
        tree.DsdMake: dsd_make,
        tree.DsdUpdate: dsd_update,
        tree.VectorOp: vector_op,
        tree.LoadDsr: load_dsr,
        tree.Map: map_op,
        tree.TaskOp: task_op,
        tree.System: system,
    },
    spots={
        tree.Constant: constant_spot,
        tree.LocalRef: local_spot,
        tree.GlobalRef: global_spot,
        tree.Deref: deref_spot,
        tree.Element: element_spot,
        tree.FieldOf: field_spot,
    },
    stores={
        tree.Constant: store_constant,
        tree.Aggregate: store_aggregate,
        tree.Splat: store_splat,
        tree.Call: store_call,
        tree.CallPointer: store_call,
        tree.Select: _store_select,
        tree.BlockValue: _store_block,
        tree.Bitcast: _store_bitcast,
        tree.Convert: _store_convert,
    },
    statements={
        tree.Declare: declare,
        tree.Assign: assign,
        tree.Effect: effect,
        tree.If: if_statement,
        tree.Loop: loop,
        tree.Count: count,
        tree.Switch: switch,
        tree.Scope: scope,
        tree.Break: break_statement,
        tree.Continue: continue_statement,
        tree.Return: return_statement,
    },
)


def lower_function(unit: Unit, function: tree.Function) -> Frame:
    """Its code, with labels and symbols still open."""
    code = Frame(unit, function, TABLES)
    code.at(function.span)
    code.reserve((1 if in_memory(function.result) else 0) + len(function.parameters))
    code.reserve(max(code.top, 0 if is_void(function.result) else 1))
    first = 0
    if in_memory(function.result):
        code.result, first = 0, 1
    for position, local in enumerate(function.parameters):
        bind_parameter(code, local, first + position)
    code.statements(function.body)
    if not code.code or code.code[-1].op is not Op.RETURN or _is_target(code):
        code.at(function.span)
        code.emit(Op.RETURN, Scalar.U16)
    return code


def _is_target(code: Frame) -> bool:
    """Whether a label stands behind the last instruction."""
    end = len(code.code)
    return any(step.target is not None and step.target.position == end for step in code.code)
