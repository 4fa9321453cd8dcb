"""Conversions that nobody has to ask for, and the common type of two values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from toolchains.csl import tree, types
from toolchains.csl.evaluation import Item, Live
from toolchains.csl.floats import rounded
from toolchains.csl.source import CslError, Note, Span, error
from toolchains.csl.types import (
    ANYOPAQUE,
    COMPTIME_FLOAT,
    COMPTIME_INT,
    COMPTIME_STRUCT,
    F32,
    Anonymous,
    Array,
    Float,
    Function,
    Int,
    Pointer,
    Struct,
    Tuple,
    Type,
)
from toolchains.csl.values import Address, Dsd, FifoValue, FunctionValue, Known

from .data import array_data, elements, field_names
from .names import Engine
from .numbers import exact, is_float, is_integer, is_literal, is_numeric


def mismatch(found: Type, wanted: Type, span: Span, notes: tuple[Note, ...] = ()) -> CslError:
    """An error for a value of the wrong type."""
    message = f"expected `{wanted}`, found `{found}`"
    return error(span, "type-mismatch", message, _hint(found, wanted), notes)


def _hint(found: Type, wanted: Type) -> str:
    castable = (types.Enum, Int, Float)
    numeric = isinstance(wanted, castable) or wanted == types.BOOL
    if numeric and (isinstance(found, castable) or is_literal(found) or found == types.BOOL):
        return f"@as({wanted}, …)"
    if isinstance(wanted, Pointer) and isinstance(found, Pointer):
        if found.constant and not wanted.constant:
            return "what it points to is constant"
        if wanted.many and not found.many and found.target == wanted.target:
            return "the address of the whole array: &a, not that of an element: &a[0]"
        return f"@ptrcast({wanted}, …)"
    if isinstance(wanted, Pointer) and not isinstance(found, Pointer):
        return "its address is &…"
    if isinstance(found, Pointer) and found.target == wanted:
        return "what it points to is ….*"
    return ""


# --- values -------------------------------------------------------------------------------------


def coerce(ev: Engine, item: Item, target: Type, span: Span, notes: tuple[Note, ...] = ()) -> Item:
    """A value as another type, if the language converts without being asked."""
    source = item.type
    if source is target or source == target:
        return item
    if type(target) is types.Simple and _generic(source, target):
        return item
    result: Item | None
    if isinstance(item, Known):
        result = _known(ev, item, target, span)
    else:
        result = _live(ev, item, target, span)
    if result is None:
        declared = () if isinstance(item, Known) else origin(item.tree)
        raise mismatch(source, target, span, (*notes, *declared))
    return result


def origin(expr: tree.Expr) -> tuple[Note, ...]:
    """Where the variable is declared that an expression names, or names a part of."""
    match expr:
        case tree.LocalRef():
            return (Note(f"`{expr.local.name}` is declared here", expr.local.span),)
        case tree.GlobalRef():
            node = expr.variable.node
            span = getattr(node, "name_span", node.span)
            return (Note(f"`{expr.variable.name}` is declared here", span),)
        case tree.Element() | tree.FieldOf():
            return origin(expr.base)
        case tree.Deref():
            return origin(expr.pointer)
        case _:
            return ()


def _generic(source: Type, target: types.Simple) -> bool:
    """A name for many types: the value keeps its own."""
    if target == COMPTIME_STRUCT:
        return isinstance(source, Anonymous | Tuple)
    return target.name == "range" and isinstance(source, types.Range)


def _known(ev: Engine, item: Known, target: Type, span: Span) -> Item | None:
    handler = _KNOWN.get(type(target))
    return handler(ev, item, target, span) if handler else None


def _to_int(_: Engine, item: Known, target: Any, span: Span) -> Known | None:
    if not is_integer(item.type):
        return None
    value = item.data
    assert isinstance(value, int)
    if not target.low <= value <= target.high:
        message = f"{value} does not fit `{target}` ({target.low} to {target.high})"
        raise error(span, "value-range", message)
    return Known(target, value)


def _to_float(ev: Engine, item: Known, target: Any, span: Span) -> Known | None:
    value: Any = item.data
    if item.type == COMPTIME_INT:
        found = exact(value, target)
        if found is None:
            raise error(span, "value-range", f"{value} is not exact as `{target}`", f"{value}.0")
        return Known(target, found)
    if item.type != COMPTIME_FLOAT and not _widens(ev, item.type, target):
        return None
    result = rounded(value, target)
    if math.isinf(result) and not math.isinf(value):
        raise error(span, "value-range", f"{value} is too large for `{target}`")
    return Known(target, result)


def _to_simple(_: Engine, item: Known, target: Any, _span: Span) -> Known | None:
    value: Any = item.data
    if target == COMPTIME_INT and is_integer(item.type):
        return Known(target, value)
    if target == COMPTIME_FLOAT and is_numeric(item.type) and not isinstance(item.type, Int):
        return Known(target, float(value))
    return None


def _to_array(ev: Engine, item: Known, target: Any, span: Span) -> Known | None:
    source = item.type
    if not isinstance(source, Array) or source.shape != target.shape:
        return None
    if not is_literal(source.element) and not isinstance(source.element, Anonymous):
        return None
    parts = []
    for data in elements(item.data):
        part = coerce(ev, Known(source.element, data), target.element, span)
        assert isinstance(part, Known)
        parts.append(part.data)
    return Known(target, array_data(target.element, parts))


def _to_pointer(ev: Engine, item: Known, target: Any, _: Span) -> Known | None:
    return Known(target, item.data) if points(item.type, target, ev.options.dialect) else None


def _to_struct(ev: Engine, item: Known, target: Any, span: Span) -> Known | None:
    order = _fields(ev, item.type, target)
    if order is None:
        return None
    data: Any = item.data
    source: Any = item.type
    parts = []
    for (_, wanted), position in zip(target.fields, order, strict=True):
        part = Known(source.fields[position][1], data[position])
        done = coerce(ev, part, wanted, span)
        assert isinstance(done, Known)
        parts.append(done.data)
    return Known(target, tuple(parts))


def _to_tuple(ev: Engine, item: Known, target: Any, span: Span) -> Known | None:
    source = item.type
    data: Any = item.data
    if not isinstance(source, Tuple) or len(source.items) != len(target.items):
        return None
    parts = []
    for found, wanted, part in zip(source.items, target.items, data, strict=True):
        done = coerce(ev, Known(found, part), wanted, span)
        assert isinstance(done, Known)
        parts.append(done.data)
    return Known(target, tuple(parts))


_KNOWN: dict[type, Callable[[Engine, Known, Any, Span], Known | None]] = {
    Int: _to_int,
    Float: _to_float,
    types.Simple: _to_simple,
    Array: _to_array,
    Pointer: _to_pointer,
    Struct: _to_struct,
    Anonymous: _to_struct,
    Tuple: _to_tuple,
}


def _fields(ev: Engine, source: Type, target: Struct | Anonymous) -> list[int] | None:
    """For each field of the target its position in the source; None if they don't correspond."""
    if source == Tuple(()) and not target.fields:
        return []
    if not isinstance(source, Anonymous):
        return None
    found, wanted = field_names(source), field_names(target)
    if isinstance(target, Anonymous):
        return list(range(len(found))) if found == wanted else None
    if target.union or ev.options.dialect == "1.4" or sorted(found) != sorted(wanted):
        return None
    return [found.index(name) for name in wanted]


def _live(ev: Engine, item: Live, target: Type, span: Span) -> Item | None:
    source = item.type
    if isinstance(source, Pointer) and isinstance(target, Pointer):
        if points(source, target, ev.options.dialect):
            return Live(target, tree.Bitcast(target, item.tree.span, item.tree))
        return None
    if _widens(ev, source, target):
        return Live(target, tree.Convert(target, item.tree.span, item.tree))
    if isinstance(target, Struct | Anonymous):
        return _live_struct(ev, item, target, span)
    if isinstance(target, Tuple) and isinstance(source, Tuple):
        if len(source.items) != len(target.items):
            return None
        return _aggregate(ev, item, target, list(range(len(source.items))), span)
    return None


def _live_struct(ev: Engine, item: Live, target: Struct | Anonymous, span: Span) -> Item | None:
    order = _fields(ev, item.type, target)
    return None if order is None else _aggregate(ev, item, target, order, span)


def _aggregate(
    ev: Engine, item: Live, target: Struct | Anonymous | Tuple, order: list[int], span: Span
) -> Live:
    source = item.type
    assert isinstance(source, Anonymous | Tuple)
    kinds = source.items if isinstance(source, Tuple) else tuple(k for _, k in source.fields)
    goals = target.items if isinstance(target, Tuple) else tuple(k for _, k in target.fields)
    parts = []
    for wanted, position in zip(goals, order, strict=True):
        part: Item
        if isinstance(item.tree, tree.Aggregate):
            part = as_item(item.tree.parts[position])
        else:
            kind = kinds[position]
            part = Live(kind, tree.FieldOf(kind, item.tree.span, item.tree, position))
        parts.append(ev.live(coerce(ev, part, wanted, span), span))
    return Live(target, tree.Aggregate(target, item.tree.span, tuple(parts)))


def as_item(expr: tree.Expr) -> Item:
    """A part of a tree as a value again."""
    return expr.value if isinstance(expr, tree.Constant) else Live(expr.type, expr)


def points(source: Type, target: Pointer, dialect: str) -> bool:
    """Whether a pointer (or a function) of one type is one of the other."""
    if isinstance(source, Function):
        return target.constant and not target.many and target.target == source
    if not isinstance(source, Pointer) or (source.constant and not target.constant):
        return False
    inside = source.target
    if source.many == target.many and inside == target.target:
        return True
    if target.many and not source.many:
        # Of any rank: two examples of the vendor's take the address of a matrix so.
        return isinstance(inside, Array) and inside.element == target.target
    if dialect == "1.4" or target.many:
        return False
    return target.target == ANYOPAQUE or (not source.many and target.target == Array((1,), inside))


def _widens(ev: Engine, source: Type, target: Type) -> bool:
    """In 2.10, integers and floats become wider ones."""
    return ev.options.dialect != "1.4" and widens(source, target)


def widens(source: Type, target: Type) -> bool:
    """Whether every value of one type is one of the other, by the rules of 2.10."""
    if isinstance(source, Int) and isinstance(target, Int):
        if source.signed and not target.signed:
            return False
        return target.bits > source.bits
    return isinstance(source, Float) and source != F32 and target == F32


# --- two values ---------------------------------------------------------------------------------


def peer(ev: Engine, left: Item, right: Item) -> Type | None:
    """The type that both become; None if there is none."""
    one, other = left.type, right.type
    if one is other or one == other:
        return one
    if is_numeric(one) and is_numeric(other):
        return _numeric_peer(ev, left, right)
    for source, target in ((left, other), (right, one)):
        if _becomes(ev, source.type, target):
            return target
    return None


def _becomes(ev: Engine, source: Type, target: Type) -> bool:
    if isinstance(target, Pointer):
        return points(source, target, ev.options.dialect)
    return isinstance(target, Struct) and _fields(ev, source, target) is not None


def _numeric_peer(ev: Engine, left: Item, right: Item) -> Type | None:
    one, other = left.type, right.type
    if is_literal(one) or is_literal(other):
        return _literal_peer(one, other)
    if isinstance(one, Int) and isinstance(other, Int):
        known = _known_peer(left, right)
        if known is not None:
            return known
    for source, target in ((one, other), (other, one)):
        if _widens(ev, source, target):
            return target
    return None


def _literal_peer(one: Type, other: Type) -> Type | None:
    if is_literal(one) and is_literal(other):
        return COMPTIME_FLOAT
    literal, fixed = (one, other) if is_literal(one) else (other, one)
    return None if literal == COMPTIME_FLOAT and not is_float(fixed) else fixed


def _known_peer(left: Item, right: Item) -> Type | None:
    """Known integers take the other's type, by their value."""
    if isinstance(right, Known) and _holds(left.type, right.data):
        return left.type
    if isinstance(left, Known) and _holds(right.type, left.data):
        return right.type
    return None


def _holds(kind: Type, value: object) -> bool:
    return isinstance(kind, Int) and isinstance(value, int) and kind.low <= value <= kind.high


# --- code ---------------------------------------------------------------------------------------


def as_code(ev: Engine, item: Item, span: Span) -> tree.Expr:
    """A value as code."""
    if isinstance(item, Live):
        return item.tree
    kind = item.type
    if isinstance(kind, Pointer) and isinstance(item.data, FunctionValue):
        return tree.FunctionAddress(kind, span, ev.specialise(item.data, span))
    if isinstance(kind, Function):
        assert isinstance(item.data, FunctionValue)
        pointer = Pointer(kind, constant=True)
        return tree.FunctionAddress(pointer, span, ev.specialise(item.data, span))
    if is_literal(kind):
        message = f"a value of type `{kind}` exists only while compiling"
        raise error(span, "comptime-only", message, "give it a type: @as(i16, …), or : i16")
    if types.comptime_only(kind):
        message = f"a value of type `{kind}` exists only while compiling"
        raise error(span, "comptime-only", message)
    if isinstance(item.data, Address | Dsd | FifoValue | tuple):
        ev.reach(item.data, span)
    return tree.Constant(kind, span, item)
