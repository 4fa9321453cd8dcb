"""Types as expressions."""

from __future__ import annotations

from typing import Any

from toolchains.csl import nodes, types
from toolchains.csl.evaluation import Site
from toolchains.csl.source import error
from toolchains.csl.types import TYPE, Array, Enum, Function, Int, Pointer, Struct, Type
from toolchains.csl.values import Known

from .names import Engine
from .numbers import is_integer

_MOST_ELEMENTS = 1 << 24


def array_type(ev: Engine, node: nodes.ArrayType, at: Site, _: Type | None) -> Known:
    """`[n, m]T`."""
    shape = tuple(extent(ev, one, at) for one in node.dimensions)
    element = ev.type(node.element, at)
    if isinstance(element, Array):
        inside = ", ".join(map(str, (*shape, *element.shape)))
        hint = f"[{inside}]{element.element}"
        message = "the element of an array can't be an array"
        raise error(node.element.span, "array-of-arrays", message, hint)
    found = Array(shape, element)
    if found.count > _MOST_ELEMENTS:
        raise error(node.span, "too-large", f"{found.count} elements are too many")
    return Known(TYPE, found)


def extent(ev: Engine, node: nodes.Expr, at: Site) -> int:
    """The size of one dimension."""
    item = ev.known(node, at)
    if not is_integer(item.type):
        message = f"a size is an integer, not a `{item.type}`"
        raise error(node.span, "array-size", message)
    value: Any = item.data
    if value < 0:
        raise error(node.span, "array-size", f"a size can't be negative: {value}")
    return int(value)


def pointer_type(ev: Engine, node: nodes.PointerType, at: Site, _: Type | None) -> Known:
    """`*T`, `[*]T`."""
    target = ev.type(node.target, at)
    if types.comptime_only(target) and not isinstance(target, Function):
        message = f"values of `{target}` exist only while compiling: nothing can point to them"
        raise error(node.target.span, "comptime-only", message)
    return Known(TYPE, Pointer(target, node.constant, node.many))


def function_type(ev: Engine, node: nodes.FunctionType, at: Site, _: Type | None) -> Known:
    """`fn(A)R`."""
    parameters = tuple(ev.type(one, at) for one in node.parameters)
    return Known(TYPE, Function(parameters, ev.type(node.result, at), node.task))


def enum_type(ev: Engine, node: nodes.EnumType, at: Site, _: Type | None) -> Known:
    """`enum(u16) { a, b = 3 }`."""
    backing = types.U16 if node.backing is None else ev.type(node.backing, at)
    if not isinstance(backing, Int):
        span = node.span if node.backing is None else node.backing.span
        raise error(span, "enum-type", f"an enum is stored as an integer, not as `{backing}`")
    explicit = {
        one.name: ev.known(one.value, at, backing).data for one in node.members if one.value
    }
    used = set(explicit.values())
    members: list[tuple[str, int]] = []
    following = 0
    for one in node.members:
        value: Any = explicit.get(one.name)
        if one.value is None:
            while following in used:
                following += 1
            value = following
            used.add(following)
        _check_member(one, value, members, backing)
        members.append((one.name, value))
    name = ev.naming[-1] if ev.naming else "enum"
    return Known(TYPE, Enum((node, backing, tuple(members)), name, backing, tuple(members)))


def _check_member(
    one: nodes.EnumMember, value: int, members: list[tuple[str, int]], backing: Int
) -> None:
    if any(one.name == name for name, _ in members):
        raise error(one.span, "redeclared", f"`{one.name}` is there twice")
    if any(value == other for _, other in members):
        raise error(one.span, "enum-value", f"{value} is the value of two members")
    if not backing.low <= value <= backing.high:
        raise error(one.span, "value-range", f"{value} does not fit `{backing}`")


def struct_type(ev: Engine, node: nodes.StructType, at: Site, _: Type | None) -> Known:
    """`struct { a: T }`, `union { … }`."""
    fields: list[tuple[str, Type]] = []
    for one in node.fields:
        if any(one.name == name for name, _ in fields):
            raise error(one.span, "redeclared", f"`{one.name}` is there twice")
        fields.append((one.name, ev.type(one.type, at)))
    if node.layout == "packed":
        _check_packed(node, fields)
    name = ev.naming[-1] if ev.naming else ("union" if node.union else "struct")
    key = (node, tuple(fields))
    return Known(TYPE, Struct(key, name, tuple(fields), node.layout, node.union))


def _check_packed(node: nodes.StructType, fields: list[tuple[str, Type]]) -> None:
    widths = []
    for one, (_, kind) in zip(node.fields, fields, strict=True):
        try:
            widths.append(types.bit_width(kind))
        except ValueError as problem:
            message = f"`{kind}` can't be a field of a packed struct"
            raise error(one.span, "packed-field", message) from problem
    if node.union and len(set(widths)) > 1:
        message = "variants of a packed union have the same width"
        raise error(node.span, "packed-field", message)
