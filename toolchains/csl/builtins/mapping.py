"""@map: a function for each element of data structures."""

from __future__ import annotations

from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Builtin, Evaluator, Item, Live, Site
from toolchains.csl.source import Note, Span, error
from toolchains.csl.types import FIFO, VOID, Pointer, Simple, Type, size_of
from toolchains.csl.values import FunctionValue, Known

from .arguments import RUNTIME, function
from .operands import bits_of_element, check_element, element_of, is_structure

_INPUTS = frozenset({"mem1d_dsd", "mem4d_dsd", "circbuf_dsd", "fabin_dsd", "dsr_src0", "dsr_src1"})
_OUTPUTS = frozenset({"mem1d_dsd", "mem4d_dsd", "circbuf_dsd", "fabout_dsd", "dsr_dest"})


def _map(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@map(function, inputs…, output)."""
    callback = node.arguments[0]
    value, kind = function(ev, callback, at, "a function")
    if kind.task:
        message = f"@map calls a function, and `{value.node.name}` is a task"
        raise error(callback.span, "type-mismatch", message)
    code = _callback(ev, node, at, value, kind)
    rest = node.arguments[1:]
    _check_count(node, value, code)
    inputs = tuple(
        _input(ev, argument, at, parameter)
        for argument, parameter in zip(rest, code.parameters, strict=False)
    )
    output = None
    if code.result != VOID:
        output = _output(ev, rest[-1], at, code.result)
    walking = [one for one in (*inputs, output) if one is not None and is_structure(one.type)]
    if not walking:
        message = "@map needs at least one DSD or DSR: nothing says how often to call"
        raise error(node.span, "map-operands", message)
    return Live(VOID, tree.Map(VOID, node.span, code, inputs, output))


def _callback(
    ev: Evaluator, node: nodes.BuiltinCall, at: Site, value: FunctionValue, kind: types.Function
) -> tree.Function:
    """The function's code; parameters of any type get that of the elements or values."""
    span = node.arguments[0].span
    wanted = [str(one) == "anytype" for one in kind.parameters]
    if not any(wanted) or any(one.comptime for one in value.node.formals):
        return ev.specialise(value, span)
    kinds = list(kind.parameters)
    for position, argument in enumerate(node.arguments[1 : len(kinds) + 1]):
        item = ev.item(argument, at)
        found = element_of(item) if is_structure(item.type) else item.type
        if wanted[position] and (found is None or types.comptime_only(found)):
            message = f"`{value.node.name}` has a parameter of any type, and none is known here"
            hint = "a function with types, such as math.sqrt_f32"
            raise error(span, "generic-function", message, hint)
        if wanted[position] and found is not None:
            kinds[position] = found
    if any(str(one) == "anytype" for one in kinds):
        return ev.specialise(value, span)
    return ev.specialised(value, {}, kinds, span)


def _check_count(node: nodes.BuiltinCall, value: FunctionValue, code: tree.Function) -> None:
    wanted = len(code.parameters) + (code.result != VOID)
    found = len(node.arguments) - 1
    if wanted == found:
        return
    outputs = "" if code.result == VOID else " and an output for its result"
    message = (
        f"`{value.node.name}` needs {len(code.parameters)} inputs{outputs}, not {found} in all"
    )
    note = Note(f"`{value.node.name}` is declared here", value.node.name_span)
    hint = "without a result there is no output" if code.result == VOID and found > wanted else ""
    raise error(node.span, "argument-count", message, hint, (note,))


def _input(ev: Evaluator, node: nodes.Expr, at: Site, parameter: tree.Local) -> tree.Expr:
    """A data structure whose elements the parameter gets, or a value that stays the same."""
    item = ev.item(node, at, parameter.type)
    kind = item.type
    if not is_structure(kind):
        return ev.live(ev.coerce(item, parameter.type, node.span), node.span)
    name = str(kind)
    if kind == FIFO or name not in _INPUTS:
        what = "a FIFO" if kind == FIFO else f"a `{kind}`"
        raise error(node.span, "map-operands", f"@map can't read from {what}")
    check_element(parameter.type, node.span, f"`{parameter.name}` gets elements, and @map")
    _check_width(item, parameter.type, node.span, f"the parameter `{parameter.name}`")
    return ev.live(item, node.span)


def _output(ev: Evaluator, node: nodes.Expr, at: Site, result: Type) -> tree.Expr:
    item = ev.item(node, at)
    kind = item.type
    if isinstance(kind, Pointer):
        if kind.constant or kind.many or kind.target != result:
            message = f"the result goes to a `*{result}`, not to a `{kind}`"
            raise error(node.span, "type-mismatch", message)
        return ev.live(item, node.span)
    if not isinstance(kind, Simple) or kind.name not in _OUTPUTS:
        message = f"the output of @map can't be a value of type `{kind}`"
        hint = "a mem1d_dsd, a fabout_dsd, a dsr_dest or a pointer: the last argument"
        raise error(node.span, "map-operands", message, hint)
    check_element(result, node.span, "the output of @map")
    _check_width(item, result, node.span, "the result")
    return ev.live(item, node.span)


def _check_width(item: Item, kind: Type, span: Span, what: str) -> None:
    element = element_of(item) if isinstance(item, Known) else None
    if element is None or bits_of_element(element) == 8 * size_of(kind):
        return
    message = f"{what} is a `{kind}`, and elements here are `{element}`"
    raise error(span, "element-width", message)


MAPPING: dict[str, Builtin] = {"@map": Builtin(_map, RUNTIME, (2, -1))}
