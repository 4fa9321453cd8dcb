"""Builtins by which a program offers names to the host."""

from __future__ import annotations

from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Builtin, Context, Evaluator, Item, Live, Site
from toolchains.csl.placement import ExportName
from toolchains.csl.source import Span, error
from toolchains.csl.tile import SymbolExport
from toolchains.csl.types import (
    BOOL,
    COLOR,
    DATA_TASK_ID,
    U16,
    VOID,
    Float,
    Function,
    Int,
    Pointer,
    Type,
)
from toolchains.csl.values import FunctionValue, Known, Variable

from .arguments import ANYWHERE, BLOCK, LAYOUT, NOTHING, RUNTIME, first, known_int, text

MOST_PARAMETERS = 15


def _export_name(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@export_name("name", T, mutable); functions without the third."""
    name = text(ev, node.arguments[0], at, "a name").decode("utf-8", "replace")
    kind = ev.type(node.arguments[1], at)
    _check_type(kind, node.arguments[1].span)
    mutable = _mutability(ev, node, at, kind)
    other = ev.placement.names.get(name)
    if other is not None:
        message = f'the name "{name}" is exported twice'
        raise error(node.span, "duplicate-name", message, "", first(other.span))
    ev.placement.names[name] = ExportName(name, kind, mutable, node.span)
    return NOTHING


def _mutability(ev: Evaluator, node: nodes.BuiltinCall, at: Site, kind: Type) -> bool:
    given = len(node.arguments) > 2
    if isinstance(kind, Function):
        if given:
            message = "a function has no mutability"
            raise error(node.arguments[2].span, "argument-count", message)
        return False
    if not given:
        message = "a variable's name is exported with whether the host may write it"
        hint = "@export_name(…, …, true) or false"
        raise error(node.span, "argument-count", message, hint)
    return bool(ev.known(node.arguments[2], at, BOOL).data)


def _scalar(kind: Type) -> bool:
    return isinstance(kind, Int | Float) or kind in (BOOL, COLOR)


def _check_type(kind: Type, span: Span) -> None:
    if isinstance(kind, Pointer) and not types.comptime_only(kind.target):
        return
    if isinstance(kind, Function) and not kind.task:
        if len(kind.parameters) > MOST_PARAMETERS:
            message = f"a function for the host has at most {MOST_PARAMETERS} parameters"
            raise error(span, "bad-export", message)
        bad = next((one for one in kind.parameters if not _parameter(one)), None)
        if bad is not None or kind.result != VOID:
            wrong = f"a parameter of type `{bad}`" if bad is not None else "a result"
            message = f"a function for the host has no {wrong.removeprefix('a ')}"
            raise error(span, "bad-export", message, "numbers only; results go by exported memory")
        return
    if not _scalar(kind):
        message = f"the host can't use a `{kind}`"
        hint = "export a pointer to it: [*]f32, *T" if isinstance(kind, types.Array) else ""
        raise error(span, "bad-export", message, hint)


def _parameter(kind: Type) -> bool:
    return _scalar(kind) or isinstance(kind, Pointer)


def _export_symbol(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@export_symbol(variable or function, "name")."""
    argument = node.arguments[0]
    variable, value = None, None
    kind: Type
    item = _function_of(ev, argument, at)
    if item is not None:
        value, kind = item
    else:
        variable = ev.variable(argument, at)
        if variable is None:
            message = "what is exported is a variable or function of a module"
            raise error(argument.span, "bad-export", message)
        kind = variable.type
    name = _symbol_name(ev, node, at)
    for other in ev.tile.exports:
        if other.name == name:
            message = f'the name "{name}" is exported twice'
            raise error(node.span, "duplicate-name", message, "", first(other.span))
    made = ev.specialise(value, argument.span) if value is not None else None
    if variable is not None:
        _use(ev, argument, at, variable)
    ev.tile.exports.append(SymbolExport(name, variable, made, kind, node.span))
    return NOTHING


def _function_of(
    ev: Evaluator, node: nodes.Expr, at: Site
) -> tuple[FunctionValue, Function] | None:
    if not isinstance(node, nodes.Name | nodes.Member):
        return None
    item = ev.item(node, at)
    if isinstance(item, Known) and isinstance(item.data, FunctionValue):
        kind = item.type
        if isinstance(kind, Function):
            if kind.task:
                message = "the host can call functions, not tasks"
                raise error(node.span, "bad-export", message, "export a function that activates it")
            return item.data, kind
    return None


def _use(ev: Evaluator, node: nodes.Expr, at: Site, variable: Variable) -> None:
    """It gets memory, and so does what it points to."""
    runtime = Site(at.names, Context.RUNTIME, at.function, at.extra)
    ev.place(node, runtime)
    ev.tile.use(variable)


def _symbol_name(ev: Evaluator, node: nodes.BuiltinCall, at: Site) -> str:
    if len(node.arguments) > 1:
        return text(ev, node.arguments[1], at, "a name").decode("utf-8", "replace")
    argument = node.arguments[0]
    if isinstance(argument, nodes.Member | nodes.Name):
        return argument.name
    raise error(node.span, "bad-export", "this needs a name", '@export_symbol(…, "name")')


# --- ids of symbols ----------------------------------------------------------------------------


def _get_symbol_id(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@get_symbol_id(symbol): its position among the exported names."""
    argument = node.arguments[0]
    variable = ev.variable(argument, at)
    found = _function_of(ev, argument, at) if variable is None else None
    for export in ev.tile.exports:
        same = export.variable is variable if variable is not None else False
        if found is not None and export.function is ev.specialise(found[0], argument.span):
            same = True
        if same and export.name in ev.placement.names:
            return Known(U16, list(ev.placement.names).index(export.name))
    raise error(argument.span, "not-exported", "this isn't exported", "@export_symbol(…)")


def _exported(ev: Evaluator, node: nodes.Expr, at: Site) -> SymbolExport:
    names = list(ev.placement.names)
    which = known_int(ev, node, at, "the id of a symbol", max(0, len(names) - 1))
    name = names[which] if names else ""
    for export in ev.tile.exports:
        if export.name == name and export.variable is not None:
            return export
    raise error(node.span, "not-exported", f"no variable with the id {which} is exported here")


def _get_symbol_value(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@get_symbol_value(T, id)."""
    kind = ev.type(node.arguments[0], at)
    export = _exported(ev, node.arguments[1], at)
    variable = export.variable
    assert variable is not None
    if variable.type != kind:
        message = f'"{export.name}" is of type `{variable.type}`, not `{kind}`'
        raise error(node.arguments[0].span, "type-mismatch", message)
    return Live(kind, tree.GlobalRef(kind, node.span, variable))


def _get_tensor_ptr(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@get_tensor_ptr(id): the pointer as [*]u16."""
    export = _exported(ev, node.arguments[0], at)
    variable = export.variable
    assert variable is not None
    if not isinstance(variable.type, Pointer):
        message = f'"{export.name}" is a `{variable.type}`, no pointer'
        raise error(node.arguments[0].span, "type-mismatch", message)
    target = Pointer(U16, many=True)
    source = tree.GlobalRef(variable.type, node.span, variable)
    return Live(target, tree.Bitcast(target, node.span, source))


def _has_exported_tensors(
    ev: Evaluator, _node: nodes.BuiltinCall, _at: Site, _: Type | None
) -> Item:
    """@has_exported_tensors()."""
    return Known(BOOL, any(isinstance(one.type, Pointer) for one in ev.placement.names.values()))


def _rpc(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@rpc(data_task_id), of older memcpy; the host's launches need none."""
    ev.known(node.arguments[0], at, DATA_TASK_ID)
    return NOTHING


EXPORTS: dict[str, Builtin] = {
    "@export_name": Builtin(_export_name, LAYOUT, (2, 3)),
    "@export_symbol": Builtin(_export_symbol, BLOCK, (1, 2)),
    "@rpc": Builtin(_rpc, BLOCK, (1, 1)),
    "@get_symbol_id": Builtin(_get_symbol_id, ANYWHERE - LAYOUT, (1, 1)),
    "@get_symbol_value": Builtin(_get_symbol_value, RUNTIME, (2, 2)),
    "@get_tensor_ptr": Builtin(_get_tensor_ptr, RUNTIME, (1, 1)),
    "@has_exported_tensors": Builtin(
        _has_exported_tensors, frozenset({Context.RUNTIME, Context.COMPTIME}), (0, 0)
    ),
}
