"""Builtins of values and types: conversions, assertions, imports."""

from __future__ import annotations

from typing import Any

from simulators.wafer.opcodes import SystemCall
from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Builtin, Context, Evaluator, Item, Live, Site
from toolchains.csl.source import Diagnostic, Severity, Span, error
from toolchains.csl.types import BOOL, COMPTIME_FLOAT, TYPE, U16, VOID, Enum, Float, Int, Type
from toolchains.csl.values import Known

from .arguments import (
    ANYWHERE,
    LAYOUT,
    NOTHING,
    RUNTIME,
    is_integer,
    text,
    type_argument,
    wrap,
)
from .bits import from_pattern, pattern_of, same_width
from .comptime_values import import_comptime_value
from .printing import shown

ARCHS = ("wse2", "wse3")


# --- conversions -------------------------------------------------------------------------------


def _is_number(kind: Type) -> bool:
    return is_integer(kind) or isinstance(kind, Float) or kind in (COMPTIME_FLOAT, BOOL)


def _as(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@as(T, value): bool, integers, floats and enums."""
    target = type_argument(ev, node, at)
    operand = node.arguments[1]
    item = ev.item(operand, at, target)
    if item.type == target:
        return item
    if not _convertible(item.type, target):
        return ev.coerce(item, target, operand.span)
    if isinstance(item, Known):
        return Known(target, _converted(ev, item, target, operand.span))
    return Live(target, tree.Convert(target, node.span, item.tree))


def _convertible(source: Type, target: Type) -> bool:
    if isinstance(source, Enum):
        return is_integer(target)
    if isinstance(target, Enum):
        return is_integer(source)
    return _is_number(source) and _is_number(target)


def _converted(ev: Evaluator, item: Known, target: Type, span: Span) -> object:
    value: Any = item.data
    if isinstance(target, Enum):
        if value not in dict(target.members).values():
            message = f"`{target}` has no member with the value {value}"
            raise error(span, "out-of-range", message)
        return value
    if target == BOOL:
        return value != 0
    if isinstance(target, Int | types.Simple) and is_integer(target):
        return _integer(item, value, target, span)
    result = ev.coerce(Known(COMPTIME_FLOAT, float(value)), target, span)
    assert isinstance(result, Known)
    return result.data


def _integer(item: Known, value: Any, target: Type, span: Span) -> int:
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise error(span, "out-of-range", f"{value} is no integer")
        whole = int(value)
        if isinstance(target, Int) and not target.low <= whole <= target.high:
            raise error(span, "out-of-range", f"{value} doesn't fit in `{target}`")
        return whole
    whole = int(value)
    if not isinstance(target, Int):
        return whole
    if item.type == types.COMPTIME_INT and not target.low <= whole <= target.high:
        raise error(span, "out-of-range", f"{whole} doesn't fit in `{target}`")
    return wrap(whole, target)


def _bitcast(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@bitcast(T, value): the same bits."""
    target = type_argument(ev, node, at)
    operand = node.arguments[1]
    expected = target if isinstance(target, Int | Float) else None
    item = ev.item(operand, at)
    if item.type in (types.COMPTIME_INT, COMPTIME_FLOAT):
        item = _literal(ev, item, target, expected, operand.span)
    same_width(item.type, target, operand.span)
    if isinstance(item, Known):
        bits = pattern_of(item)
        if bits is not None:
            return from_pattern(bits, target)
    return Live(target, tree.Bitcast(target, node.span, ev.live(item, operand.span)))


def _literal(ev: Evaluator, item: Item, target: Type, expected: Type | None, span: Span) -> Item:
    if isinstance(target, types.Pointer):
        return ev.coerce(item, U16, span)
    if item.type == types.COMPTIME_INT and isinstance(target, Float):
        return ev.coerce(item, types.U32 if target.name == "f32" else U16, span)
    if expected is None:
        message = f"a literal has no bits of its own to be read as `{target}`"
        raise error(span, "type-mismatch", message, "give it a type: @as(u16, …)")
    return ev.coerce(item, expected, span)


def _ptrcast(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@ptrcast(*T, pointer)."""
    target = type_argument(ev, node, at)
    operand = node.arguments[1]
    item = ev.item(operand, at)
    for kind, span in ((target, node.arguments[0].span), (item.type, operand.span)):
        if not isinstance(kind, types.Pointer):
            raise error(span, "type-mismatch", f"a pointer has to stand here, not `{kind}`")
    source: Any = item.type
    if source.constant and not getattr(target, "constant", False):
        message = f"`{source}` can't be written through, `{target}` can"
        raise error(operand.span, "type-mismatch", message, "cast to a pointer to const")
    return Live(target, tree.Bitcast(target, node.span, ev.live(item, operand.span)))


# --- types -------------------------------------------------------------------------------------


def _type_of(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@type_of(value)."""
    return Known(TYPE, ev.item(node.arguments[0], at).type)


def _is_same_type(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@is_same_type(A, B)."""
    one, other = (ev.type(argument, at) for argument in node.arguments)
    return Known(BOOL, one == other)


def _fp16(ev: Evaluator, _node: nodes.BuiltinCall, _at: Site, _: Type | None) -> Item:
    """@fp16(): the 16-bit float type of the compilation."""
    return Known(TYPE, ev.options.fp16)


# --- what is known -----------------------------------------------------------------------------


def _is_arch(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@is_arch("wse3")."""
    name = text(ev, node.arguments[0], at, "an architecture").decode("utf-8", "replace")
    if name not in ARCHS:
        message = f'there is no architecture "{name}"'
        raise error(node.arguments[0].span, "unknown-arch", message, '"wse2" or "wse3"')
    return Known(BOOL, name == ev.options.arch)


def _is_comptime(_ev: Evaluator, _node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@is_comptime()."""
    return Known(BOOL, at.context is not Context.RUNTIME)


def _comptime_assert(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@comptime_assert(condition, "text")."""
    holds = ev.known(node.arguments[0], at, BOOL).data
    reason = _reason(ev, node, at)
    if not holds:
        raise error(node.span, "assertion", f"this doesn't hold{reason}")
    return NOTHING


def _reason(ev: Evaluator, node: nodes.BuiltinCall, at: Site) -> str:
    if len(node.arguments) < 2:
        return ""
    return ": " + text(ev, node.arguments[1], at, "the text").decode("utf-8", "replace")


def _assert(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@assert(condition): where code runs, it stops a simulation."""
    condition = ev.value(node.arguments[0], at, BOOL)
    if at.context is not Context.RUNTIME:
        return _comptime_assert(ev, node, at, None)
    span = node.arguments[0].span
    words = span.source.text[span.start : span.end].encode()
    number = Known(U16, ev.tile.text(words))
    arguments = (ev.live(condition, span), ev.live(number, span))
    return Live(VOID, tree.System(VOID, node.span, SystemCall.ASSERT, arguments))


def _comptime_print(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@comptime_print(values…)."""
    values = [ev.known(argument, at) for argument in node.arguments]
    message = " ".join(shown(value) for value in values)
    ev.reports.add(Diagnostic(Severity.NOTE, "comptime-print", message, node.span))
    return NOTHING


# --- files -------------------------------------------------------------------------------------


def _import_module(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@import_module("file.csl", .{ .param = value })."""
    path = text(ev, node.arguments[0], at, "the path of a module").decode("utf-8", "replace")
    params = None
    if len(node.arguments) > 1:
        params = ev.known(node.arguments[1], at)
        if not isinstance(params.type, types.Anonymous | types.Struct):
            if params.type not in (types.Tuple(()), VOID):
                message = f"parameters are a struct with their names, not a `{params.type}`"
                hint = ".{ .name = value }"
                raise error(node.arguments[1].span, "type-mismatch", message, hint)
            params = None
    return ev.import_module(path, params, node)


# --- random numbers ----------------------------------------------------------------------------


def _random16(_ev: Evaluator, node: nodes.BuiltinCall, _at: Site, _: Type | None) -> Item:
    """@random16(): of the PE's shift register."""
    return Live(U16, tree.System(U16, node.span, SystemCall.RANDOM16, ()))


def _set_active_prng(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@set_active_prng(number)."""
    value = ev.live(ev.value(node.arguments[0], at, U16), node.arguments[0].span)
    return Live(VOID, tree.System(VOID, node.span, SystemCall.SET_PRNG, (value,)))


_NOT_LAYOUT = ANYWHERE - LAYOUT

LANGUAGE: dict[str, Builtin] = {
    "@as": Builtin(_as, ANYWHERE, (2, 2)),
    "@bitcast": Builtin(_bitcast, ANYWHERE, (2, 2)),
    "@ptrcast": Builtin(_ptrcast, RUNTIME, (2, 2)),
    "@type_of": Builtin(_type_of, ANYWHERE, (1, 1)),
    "@is_same_type": Builtin(_is_same_type, ANYWHERE, (2, 2)),
    "@fp16": Builtin(_fp16, ANYWHERE, (0, 0)),
    "@is_arch": Builtin(_is_arch, ANYWHERE, (1, 1)),
    "@is_comptime": Builtin(_is_comptime, ANYWHERE, (0, 0)),
    "@comptime_assert": Builtin(_comptime_assert, ANYWHERE, (1, 2)),
    "@assert": Builtin(_assert, ANYWHERE, (1, 1)),
    "@comptime_print": Builtin(_comptime_print, ANYWHERE, (1, -1)),
    "@import_module": Builtin(_import_module, ANYWHERE, (1, 2)),
    "@import_comptime_value": Builtin(import_comptime_value, ANYWHERE, (2, 2)),
    "@random16": Builtin(_random16, RUNTIME, (0, 0)),
    "@set_active_prng": Builtin(_set_active_prng, RUNTIME, (1, 1)),
}
