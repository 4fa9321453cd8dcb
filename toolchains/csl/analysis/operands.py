"""Operands: literals, names, members, elements, addresses."""

from __future__ import annotations

from typing import Any

from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Context, Item, Live, Site
from toolchains.csl.foreign import suggestion
from toolchains.csl.source import CslError, Span, error
from toolchains.csl.types import (
    BOOL,
    COMPTIME_FLOAT,
    COMPTIME_INT,
    COMPTIME_STRING,
    TYPE,
    VOID,
    Anonymous,
    Array,
    Enum,
    Function,
    Pointer,
    Struct,
    Tuple,
    Type,
)
from toolchains.csl.values import Active, Address, FunctionValue, Known

from .data import address_of, array_data, element_data, flat, stored
from .names import (
    Cell,
    Engine,
    Instance,
    Literal,
    Runtime,
    Scope,
    Slot,
    comptime,
    no_member,
    predeclared,
    scope_of,
    undefined,
)
from .places import (
    field_of,
    index_items,
    index_trees,
    mark_addressed,
    place,
    pointed,
    read,
    read_only,
    tuple_position,
    unknown,
)

VOID_VALUE = Known(VOID, None)


def int_literal(_: Engine, node: nodes.IntLiteral, _at: Site, _expected: Type | None) -> Known:
    """`12`."""
    return Known(COMPTIME_INT, node.value)


def float_literal(_: Engine, node: nodes.FloatLiteral, _at: Site, _expected: Type | None) -> Known:
    """`1.5`."""
    return Known(COMPTIME_FLOAT, node.value)


def string_literal(
    _: Engine, node: nodes.StringLiteral, _at: Site, _expected: Type | None
) -> Known:
    """`"text"`."""
    return Known(COMPTIME_STRING, node.value)


def bool_literal(_: Engine, node: nodes.BoolLiteral, _at: Site, _expected: Type | None) -> Known:
    """`true`."""
    return Known(BOOL, node.value)


def void_literal(_: Engine, _node: nodes.VoidLiteral, _at: Site, _expected: Type | None) -> Known:
    """`{}`."""
    return VOID_VALUE


def name(ev: Engine, node: nodes.Name, at: Site, _: Type | None) -> Item:
    """A local name, a global one, or one of the language."""
    scope = scope_of(at)
    text = node.name
    entry = scope.entry(text)
    if entry is None:
        if text in scope.instance.slots:
            slot = ev.slot(scope.instance, text, node.span)
            return global_item(ev, slot, node.span, at)
        found = predeclared(text, ev.options.dialect, node.span)
        if found is None:
            raise undefined(scope, text, node.span)
        return found
    if isinstance(entry, Known):
        return entry
    if isinstance(entry, Runtime):
        local = entry.local
        return Live(local.type, tree.LocalRef(local.type, node.span, local))
    return Known(entry.type, read(entry, ()))


def global_item(ev: Engine, slot: Slot, span: Span, at: Site) -> Item:
    """The value of a global."""
    if slot.value is not None:
        return slot.value
    variable = slot.variable
    assert variable is not None
    if at.context is Context.RUNTIME:
        ev.use(variable)
    return Live(variable.type, tree.GlobalRef(variable.type, span, variable))


def member(ev: Engine, node: nodes.Member, at: Site, _: Type | None) -> Item:
    """`a.b`."""
    base = ev.item(node.base, at)
    if not isinstance(base, Known):
        position, kind = field_of(base.type, node)
        return Live(kind, tree.FieldOf(kind, node.span, base.tree, position))
    data: Any = base.data
    if isinstance(data, Instance):
        if node.name not in data.slots:
            raise no_member(data, node.name, node.name_span)
        return global_item(ev, ev.slot(data, node.name, node.name_span), node.span, at)
    if base.type == TYPE and isinstance(data, Enum):
        return _enum_member(node, data)
    position, kind = field_of(base.type, node)
    if isinstance(data, Active):
        return _active(node, data, position, kind)
    return Known(kind, data[position])


def _enum_member(node: nodes.Member, kind: Enum) -> Known:
    for label, value in kind.members:
        if label == node.name:
            return Known(kind, value)
    labels = [label for label, _ in kind.members]
    hint = suggestion(node.name, labels) or f"its members: {', '.join(labels)}"
    message = f"`{kind}` has no member `{node.name}`"
    raise error(node.name_span, "unknown-member", message, hint)


def _active(node: nodes.Member, data: Active, position: int, kind: Type) -> Known:
    if data.field != position:
        message = f"the union doesn't hold `{node.name}` now"
        raise error(node.name_span, "inactive-variant", message)
    return Known(kind, data.data)


def index(ev: Engine, node: nodes.Index, at: Site, _: Type | None) -> Item:
    """`a[i, j]`."""
    base = _indexed_base(ev, node, at)
    kind = base.type
    if isinstance(kind, Tuple):
        return _tuple_item(ev, node, base, at)
    element, items = index_items(ev, node, kind, at)
    if isinstance(base, Known) and isinstance(kind, Array):
        numbers: list[Any] = [one.data for one in items if isinstance(one, Known)]
        if len(numbers) == len(items):
            data: Any = base.data
            return Known(element, element_data(data, flat(kind.shape, numbers)))
        return _constant_element(ev, node, base, items, at)
    pointer = ev.live(base, node.base.span)
    return Live(element, tree.Element(element, node.span, pointer, index_trees(ev, node, items)))


def _indexed_base(ev: Engine, node: nodes.Index, at: Site) -> Item:
    """What is indexed; a variable of the compilation without being copied."""
    if isinstance(node.base, nodes.Name):
        entry = scope_of(at).entry(node.base.name)
        if isinstance(entry, Cell):
            return Known(entry.type, entry.data)
    return ev.item(node.base, at)


def _tuple_item(ev: Engine, node: nodes.Index, base: Item, at: Site) -> Item:
    assert isinstance(base.type, Tuple)
    position, kind = tuple_position(ev, node, base.type, at)
    if isinstance(base, Known):
        data: Any = base.data
        return Known(kind, data[position])
    return Live(kind, tree.FieldOf(kind, node.span, base.tree, position))


def _constant_element(
    ev: Engine, node: nodes.Index, base: Known, items: list[Item], at: Site
) -> Item:
    """An element of a known array by an index that isn't known: the array is in memory then."""
    kind = base.type
    assert isinstance(kind, Array)
    live = next(one for one in items if isinstance(one, Live))
    if at.context is not Context.RUNTIME:
        raise unknown(live, node.span)
    if types.comptime_only(kind):
        message = f"elements of type `{kind.element}` exist only while compiling"
        raise error(node.span, "comptime-only", message, "give the array a type: [n]u16 { … }")
    if isinstance(node.base, nodes.Name | nodes.Member | nodes.Index | nodes.Dereference):
        start = place(ev, node.base, at)
        if isinstance(start, tree.GlobalRef):
            ev.use(start.variable)
    else:
        start = ev.live(base, node.base.span)
    parts = index_trees(ev, node, items)
    return Live(kind.element, tree.Element(kind.element, node.span, start, parts))


def dereference(ev: Engine, node: nodes.Dereference, at: Site, _: Type | None) -> Item:
    """`p.*`."""
    pointer = ev.item(node.pointer, at)
    target = pointed(pointer.type, node)
    if isinstance(pointer, Known) and isinstance(pointer.data, Address):
        found = stored(pointer.data.variable, pointer.data.offset, target)
        if found is not None:
            return found
    return Live(target, tree.Deref(target, node.span, ev.live(pointer, node.pointer.span)))


def take_address(ev: Engine, node: nodes.AddressOf, at: Site, _: Type | None) -> Item:
    """`&x`."""
    operand = node.operand
    if isinstance(operand, nodes.Name | nodes.Member):
        function = _function(ev, operand, at)
        if function is not None:
            return function
    if not isinstance(operand, _STORED):
        message = "only what is stored has an address"
        raise error(operand.span, "address-of-value", message, "put it in a var first")
    found = place(ev, operand, at)
    if types.comptime_only(found.type):
        message = f"a value of type `{found.type}` exists only while compiling: it has no address"
        raise error(operand.span, "comptime-only", message, "give it a type: const x: i16 = …")
    if isinstance(found, tree.FieldOf) and _is_packed(found.base.type):
        raise error(operand.span, "packed-field-address", "a packed field has no address")
    kind = Pointer(found.type, constant=bool(read_only(ev, found)))
    address = address_of(found)
    if address is not None:
        return Known(kind, address)
    mark_addressed(found)
    return Live(kind, tree.AddressOf(kind, node.span, found))


_STORED = (nodes.Name, nodes.Member, nodes.Index, nodes.Dereference, nodes.BuiltinCall)


def _is_packed(kind: Type) -> bool:
    return isinstance(kind, Struct) and kind.layout == "packed"


def _function(ev: Engine, node: nodes.Name | nodes.Member, at: Site) -> Known | None:
    item = ev.item(node, at)
    if not isinstance(item, Known) or not isinstance(item.type, Function):
        return None
    assert isinstance(item.data, FunctionValue)
    if item.data.node.inline:
        raise error(node.span, "inline-address", f"`{item.data.node.name}` is inline: no address")
    return Known(Pointer(item.type, constant=True), item.data)


def comptime_value(ev: Engine, node: nodes.Comptime, at: Site, expected: Type | None) -> Item:
    """`comptime x`."""
    there = comptime(at)
    item = ev.item(node.operand, there, expected)
    if isinstance(item, Live):
        raise unknown(item, node.operand.span)
    return item


# --- aggregates ----------------------------------------------------------------------------------


def raw(item: Item, span: Span) -> tree.Expr:
    """A part of a struct value; a literal keeps its type until the struct gets one."""
    return tree.Constant(item.type, span, item) if isinstance(item, Known) else item.tree


def struct_literal(ev: Engine, node: nodes.StructLiteral, at: Site, expected: Type | None) -> Item:
    """`.{ .a = x }`, `T { .a = x }`."""
    if node.type is not None:
        return _named(ev, node, at)
    if expected is None and (kept := ev.literals.get(id(node))) is not None and kept.value:
        return kept.value
    wanted = dict(expected.fields) if isinstance(expected, Struct | Anonymous) else {}
    fields: list[tuple[str, Type]] = []
    items: list[Item] = []
    for one in node.fields:
        item = ev.item(one.value, at, wanted.get(one.name))
        fields.append((one.name, item.type))
        items.append(item)
    if len({label for label, _ in fields}) < len(fields):
        raise _twice(node)
    kind = Anonymous(tuple(fields))
    if all(type(item) is Known for item in items):
        data = tuple([item.data for item in items if isinstance(item, Known)])
        return _kept(ev, node, at, expected, Known(kind, data))
    parts = [raw(item, one.value.span) for item, one in zip(items, node.fields, strict=True)]
    return Live(kind, tree.Aggregate(kind, node.span, tuple(parts)))


def _kept(
    ev: Engine,
    node: nodes.StructLiteral | nodes.TupleLiteral,
    at: Site,
    expected: Type | None,
    value: Known,
) -> Known:
    """The value, remembered if nothing else decides it: layouts write `.{RAMP}` for each PE."""
    if expected is None and id(node) not in ev.literals:
        closed = _closed(node, scope_of(at))
        ev.literals[id(node)] = Literal(node, value if closed else None)
    return value


def _closed(node: nodes.Expr, scope: Scope) -> bool:
    """Whether an expression consists of literals and of names that the language gives."""
    match node:
        case nodes.StructLiteral():
            return node.type is None and all(_closed(one.value, scope) for one in node.fields)
        case nodes.TupleLiteral():
            return all(_closed(one, scope) for one in node.items)
        case nodes.Name():
            return scope.entry(node.name) is None and node.name not in scope.instance.slots
        case _:
            return isinstance(node, nodes.IntLiteral | nodes.BoolLiteral)


def _twice(node: nodes.StructLiteral) -> CslError:
    labels = [one.name for one in node.fields]
    second = next(one for n, one in enumerate(node.fields) if one.name in labels[:n])
    return error(second.span, "redeclared", f"field `{second.name}` is there twice")


def tuple_literal(ev: Engine, node: nodes.TupleLiteral, at: Site, expected: Type | None) -> Item:
    """`.{ x, y }`."""
    if expected is None and (kept := ev.literals.get(id(node))) is not None and kept.value:
        return kept.value
    wanted = expected.items if isinstance(expected, Tuple) else ()
    items = [
        ev.item(one, at, wanted[position] if position < len(wanted) else None)
        for position, one in enumerate(node.items)
    ]
    kind = Tuple(tuple([item.type for item in items]))
    if all(type(item) is Known for item in items):
        data = tuple([item.data for item in items if isinstance(item, Known)])
        return _kept(ev, node, at, expected, Known(kind, data))
    parts = [raw(item, one.span) for item, one in zip(items, node.items, strict=True)]
    return Live(kind, tree.Aggregate(kind, node.span, tuple(parts)))


def _named(ev: Engine, node: nodes.StructLiteral, at: Site) -> Item:
    assert node.type is not None
    kind = ev.type(node.type, at)
    if not isinstance(kind, Struct):
        raise error(node.type.span, "not-a-struct", f"`{kind}` has no fields to be given")
    given: dict[str, Item] = {}
    labels = [label for label, _ in kind.fields]
    for one in node.fields:
        if one.name not in labels:
            hint = suggestion(one.name, labels) or f"its fields: {', '.join(labels)}"
            raise error(one.span, "unknown-field", f"`{kind}` has no field `{one.name}`", hint)
        if one.name in given:
            raise error(one.span, "redeclared", f"field `{one.name}` is there twice")
        given[one.name] = ev.value(one.value, at, kind.fields[labels.index(one.name)][1])
    if kind.union:
        return _union(node, kind, given)
    missing = [label for label in labels if label not in given]
    if missing:
        message = f"`{kind}` also has {', '.join(f'`{label}`' for label in missing)}"
        raise error(node.span, "missing-field", message, f".{missing[0]} = …")
    items = [given[label] for label in labels]
    if all(isinstance(item, Known) for item in items):
        return Known(kind, tuple([item.data for item in items if isinstance(item, Known)]))
    parts = tuple(ev.live(item, node.span) for item in items)
    return Live(kind, tree.Aggregate(kind, node.span, parts))


def _union(node: nodes.StructLiteral, kind: Struct, given: dict[str, Item]) -> Item:
    if len(given) != 1:
        message = f"a value of union `{kind}` has one field, not {len(given)}"
        raise error(node.span, "union-fields", message)
    ((label, item),) = given.items()
    if not isinstance(item, Known):
        raise unknown(item, node.span)
    position = [name for name, _ in kind.fields].index(label)
    return Known(kind, Active(position, item.data))


def array_literal(ev: Engine, node: nodes.ArrayLiteral, at: Site, _: Type | None) -> Item:
    """`[n]T { x, y }`."""
    kind = ev.type(node.type, at)
    assert isinstance(kind, Array)
    if len(node.items) != kind.count:
        message = f"`{kind}` has {kind.count} elements, not {len(node.items)}"
        inside = len(node.items) if len(kind.shape) == 1 else "…"
        raise error(node.span, "element-count", message, f"[{inside}]{kind.element} {{ … }}")
    items = [ev.value(one, at, kind.element) for one in node.items]
    if all(type(item) is Known for item in items):
        values = [item.data for item in items if isinstance(item, Known)]
        return Known(kind, array_data(kind.element, values))
    parts = [ev.live(item, one.span) for item, one in zip(items, node.items, strict=True)]
    return Live(kind, tree.Aggregate(kind, node.span, tuple(parts)))
