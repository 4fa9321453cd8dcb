"""Builtins of arrays and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Builtin, Evaluator, Item, Live, Site
from toolchains.csl.source import Span, error
from toolchains.csl.types import BOOL, TYPE, U16, U32, Array, Float, Int, Type
from toolchains.csl.values import Known

from .arguments import ANYWHERE, is_integer, number, type_argument


def array_data(kind: Array, items: Sequence[object]) -> object:
    """The data of an array, from those of its elements in order."""
    storage = _storage(kind.element)
    if storage is None:
        return tuple(items)
    data = np.array(items, dtype=storage)
    data.flags.writeable = False
    return data


def _storage(element: Type) -> type[np.generic] | None:
    if isinstance(element, Float):
        return np.float64
    if element == BOOL:
        return np.bool_
    if isinstance(element, Int) and element.bits <= 64:
        return np.int64 if element.signed or element.bits < 64 else np.uint64
    return None


def _array_type(ev: Evaluator, node: nodes.BuiltinCall, at: Site) -> Array:
    kind = type_argument(ev, node, at)
    if not isinstance(kind, Array):
        span = node.arguments[0].span
        raise error(span, "type-mismatch", f"an array type has to stand here, not `{kind}`", "[n]T")
    return kind


def _filled(kind: Array, value: object) -> Known:
    storage = _storage(kind.element)
    if storage is None:
        return Known(kind, (value,) * kind.count)
    data = np.full(kind.count, value, dtype=storage)
    data.flags.writeable = False
    return Known(kind, data)


def _zeros(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@zeros([n]T) of numbers."""
    kind = _array_type(ev, node, at)
    if not (is_integer(kind.element) or isinstance(kind.element, Float)):
        message = f"@zeros makes arrays of numbers, not of `{kind.element}`"
        hint = "@constants([n]bool, false)" if kind.element == BOOL else ""
        raise error(node.arguments[0].span, "type-mismatch", message, hint)
    return _filled(kind, 0)


def _constants(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@constants([n]T, value)."""
    kind = _array_type(ev, node, at)
    value = ev.value(node.arguments[1], at, kind.element)
    if isinstance(value, Known):
        return _filled(kind, value.data)
    return Live(kind, tree.Splat(kind, node.span, value.tree))


def _element_type(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@element_type([n]T)."""
    return Known(TYPE, _array_type(ev, node, at).element)


def _element_count(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@element_count([n]T)."""
    return Known(U32, _array_type(ev, node, at).count)


def _rank(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@rank([n, m]T)."""
    return Known(U16, len(_array_type(ev, node, at).shape))


def _dimensions(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@dimensions([n, m]T)."""
    shape = _array_type(ev, node, at).shape
    kind = Array((len(shape),), U32)
    return Known(kind, array_data(kind, shape))


# --- ranges ------------------------------------------------------------------------------------


def _range(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@range(T, stop) or @range(T, start, stop, step); the stop is not part of it."""
    element = type_argument(ev, node, at)
    if not is_integer(element):
        span = node.arguments[0].span
        raise error(span, "type-mismatch", f"a range is of integers, not of `{element}`")
    if len(node.arguments) == 3:
        message = "@range takes a stop, or a start, a stop and a step"
        hint = "@range(T, start, stop, 1)"
        raise error(node.span, "argument-count", message, hint)
    given = [(_bound(ev, one, at, element), one.span) for one in node.arguments[1:]]
    if len(given) == 1:
        zero, one = (Known(element, value) for value in (0, 1))
        given = [(zero, node.span), given[0], (one, node.span)]
    step = given[2][0]
    if isinstance(step, Known) and step.data == 0:
        raise error(given[2][1], "out-of-range", "the step of a range is not 0")
    known = [item.data for item, _ in given if isinstance(item, Known)]
    kind = types.Range(element)
    if len(known) == 3:
        return Known(kind, tuple(known))
    parts = tuple(ev.live(item, span) for item, span in given)
    return Live(kind, tree.Aggregate(kind, node.span, parts))


def _bound(ev: Evaluator, node: nodes.Expr, at: Site, element: Type) -> Item:
    """A start, stop or step. A stop just beyond the type and a step below 0 are fine if known."""
    item = ev.item(node, at, element)
    if isinstance(item, Known):
        number(item, node.span, "a bound of a range")
        if not isinstance(element, Int) or _near(item.data, element):
            return Known(element, item.data)
    return ev.coerce(item, element, node.span)


def _near(value: object, element: Int) -> bool:
    assert isinstance(value, int)
    return -element.high - 1 <= value <= element.high + 1


def _range_part(position: int) -> Any:
    def handler(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
        item = ev.item(node.arguments[0], at)
        kind = item.type
        if not isinstance(kind, types.Range):
            span = node.arguments[0].span
            raise error(span, "type-mismatch", f"a range has to stand here, not a `{kind}`")
        if isinstance(item, Known):
            assert isinstance(item.data, tuple)
            return Known(kind.element, item.data[position])
        return _live_part(item, kind, position, node.span)

    return handler


def _live_part(item: Live, kind: types.Range, position: int, span: Span) -> Item:
    if not isinstance(item.tree, tree.Aggregate):
        raise error(span, "comptime-only", "the parts of this range aren't known")
    part = item.tree.parts[position]
    return part.value if isinstance(part, tree.Constant) else Live(kind.element, part)


ARRAYS: dict[str, Builtin] = {
    "@zeros": Builtin(_zeros, ANYWHERE, (1, 1)),
    "@constants": Builtin(_constants, ANYWHERE, (2, 2)),
    "@element_type": Builtin(_element_type, ANYWHERE, (1, 1)),
    "@element_count": Builtin(_element_count, ANYWHERE, (1, 1)),
    "@rank": Builtin(_rank, ANYWHERE, (1, 1)),
    "@dimensions": Builtin(_dimensions, ANYWHERE, (1, 1)),
    "@range": Builtin(_range, ANYWHERE, (2, 4)),
    "@range_start": Builtin(_range_part(0), ANYWHERE, (1, 1)),
    "@range_stop": Builtin(_range_part(1), ANYWHERE, (1, 1)),
    "@range_step": Builtin(_range_part(2), ANYWHERE, (1, 1)),
}
