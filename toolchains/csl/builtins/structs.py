"""Builtins of structs."""

from __future__ import annotations

from toolchains.csl import nodes, types
from toolchains.csl.evaluation import Builtin, Evaluator, Item, Live, Site
from toolchains.csl.source import error
from toolchains.csl.types import BOOL, Type
from toolchains.csl.values import Known

from .arguments import ANYWHERE, text


def field_member(ev: Evaluator, node: nodes.BuiltinCall, at: Site) -> nodes.Member:
    """What @field(value, "name") is short for: `value.name`."""
    name = text(ev, node.arguments[1], at, "the name of a field").decode("utf-8", "replace")
    return nodes.Member(node.span, node.arguments[0], name, node.arguments[1].span)


def _field(ev: Evaluator, node: nodes.BuiltinCall, at: Site, expected: Type | None) -> Item:
    """@field(value, "name"); it may be assigned to."""
    return ev.item(field_member(ev, node, at), at, expected)


def _has_field(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@has_field(value, "name")."""
    item = ev.item(node.arguments[0], at)
    kind = item.data if item.type == types.TYPE and isinstance(item, Known) else item.type
    name = text(ev, node.arguments[1], at, "the name of a field").decode("utf-8", "replace")
    named = isinstance(kind, types.Struct | types.Anonymous)
    return Known(BOOL, named and any(name == one for one, _ in getattr(kind, "fields", ())))


def _concat_structs(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@concat_structs(a, b): both with names, or both without."""
    one, other = (ev.item(argument, at) for argument in node.arguments)
    for item, argument in zip((one, other), node.arguments, strict=True):
        if isinstance(item, Live) or not isinstance(item.type, types.Anonymous | types.Tuple):
            message = f"@concat_structs takes known anonymous structs, not a `{item.type}`"
            raise error(argument.span, "type-mismatch", message)
    assert isinstance(one, Known)
    assert isinstance(other, Known)
    assert isinstance(one.data, tuple)
    assert isinstance(other.data, tuple)
    data = one.data + other.data
    # `.{}` is of either kind.
    for empty, full in ((one, other), (other, one)):
        if empty.type == types.Tuple(()):
            return full
    if isinstance(one.type, types.Tuple) and isinstance(other.type, types.Tuple):
        return Known(types.Tuple(one.type.items + other.type.items), data)
    if not (isinstance(one.type, types.Anonymous) and isinstance(other.type, types.Anonymous)):
        message = "a struct with names and one without can't be one struct"
        raise error(node.span, "type-mismatch", message)
    return Known(_joined(one.type, other.type, node), data)


def _joined(
    one: types.Anonymous, other: types.Anonymous, node: nodes.BuiltinCall
) -> types.Anonymous:
    taken = {name for name, _ in one.fields}
    for name, _ in other.fields:
        if name in taken:
            message = f"both structs have a field `{name}`"
            raise error(node.span, "duplicate-field", message)
    return types.Anonymous(one.fields + other.fields)


STRUCTS: dict[str, Builtin] = {
    "@field": Builtin(_field, ANYWHERE, (2, 2)),
    "@has_field": Builtin(_has_field, ANYWHERE, (2, 2)),
    "@concat_structs": Builtin(_concat_structs, ANYWHERE, (2, 2), ("1.4",)),
}
