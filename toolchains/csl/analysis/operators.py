"""Operators: which types they take, and their values where those are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Item, Live, Site
from toolchains.csl.source import CslError, Note, Span, error
from toolchains.csl.types import BOOL, COMPTIME_INT, TYPE, U16, Enum, Float, Int, Type
from toolchains.csl.values import Known

from .coercion import coerce, origin, peer
from .names import Engine
from .numbers import integer, is_float, is_integer, is_literal, is_numeric, real, wrap

_ARITHMETIC = frozenset({"+", "-", "*", "/", "%"})
_ORDER = frozenset({"<", ">", "<=", ">="})
_EQUALITY = frozenset({"==", "!="})
_COMPARISONS = _ORDER | _EQUALITY
_SHIFTS = frozenset({"<<", ">>"})

_COMPARABLE = {
    types.BOOL,
    types.DIRECTION,
    types.COMPTIME_STRING,
    types.COLOR,
    types.INPUT_QUEUE,
    types.OUTPUT_QUEUE,
    types.DATA_TASK_ID,
    types.LOCAL_TASK_ID,
    types.CONTROL_TASK_ID,
    types.UT_ID,
}
_COMPARABLE_LATER = {TYPE, *types.DSR_TYPES.values()}


@dataclass(frozen=True)
class Spans:
    """Of an operation and its operands."""

    whole: Span
    left: Span
    right: Span


def known_bool(value: bool) -> Known:
    """A known bool."""
    return TRUE if value else FALSE


TRUE = Known(BOOL, True)
FALSE = Known(BOOL, False)


def condition(ev: Engine, node: nodes.Expr, at: Site) -> Item:
    """What decides an if or a loop."""
    item = ev.item(node, at, BOOL)
    if item.type != BOOL:
        hint = "compare it: … != 0" if is_numeric(item.type) else ""
        message = f"a condition is a `bool`, not a `{item.type}`"
        raise error(node.span, "condition-not-bool", message, hint)
    return item


def binary(ev: Engine, node: nodes.Binary, at: Site, expected: Type | None) -> Item:
    """`a + b` and the like."""
    operator = node.operator
    if operator in ("and", "or"):
        return _logical(ev, node, at)
    wanted = None if operator in _COMPARISONS else expected
    left = ev.item(node.left, at, wanted)
    kind = left.type
    hint = kind if isinstance(kind, Int | Float | Enum) and operator not in _SHIFTS else wanted
    right = ev.item(node.right, at, hint)
    if operator in _SHIFTS and is_literal(kind) and not isinstance(right, Known):
        left = coerce(ev, left, expected if isinstance(expected, Int) else U16, node.left.span)
    return combine(ev, operator, left, right, Spans(node.span, node.left.span, node.right.span))


def combine(ev: Engine, operator: str, left: Item, right: Item, spans: Spans) -> Item:
    """The value of an operation other than `and` and `or`."""
    if operator in _SHIFTS:
        return _shift(ev, operator, left, right, spans)
    if operator in _COMPARISONS:
        return _compare(ev, operator, left, right, spans)
    kind = peer(ev, left, right)
    _check_operands(ev, operator, kind, (left, right), spans)
    assert kind is not None
    left = coerce(ev, left, kind, spans.left)
    right = coerce(ev, right, kind, spans.right)
    if isinstance(left, Known) and isinstance(right, Known):
        return _calculated(operator, left, right, spans)
    if operator in "/%" and isinstance(right, Known) and right.data == 0 and is_integer(kind):
        raise error(spans.right, "division-by-zero", "the divisor is zero")
    left_tree, right_tree = ev.live(left, spans.left), ev.live(right, spans.right)
    return Live(kind, tree.Binary(kind, spans.whole, operator, left_tree, right_tree))


def _calculated(operator: str, left: Known, right: Known, spans: Spans) -> Known:
    kind = left.type
    one: Any = left.data
    other: Any = right.data
    try:
        if is_integer(kind):
            return Known(kind, integer(operator, one, other, kind))
        return Known(kind, real(operator, one, other, kind))
    except ZeroDivisionError as problem:
        raise error(spans.right, "division-by-zero", "the divisor is zero") from problem
    except ArithmeticError as problem:
        message = f"{one} {operator} {other} is not a number of `{kind}`"
        raise error(spans.whole, "not-a-number", message) from problem


def _check_operands(
    ev: Engine, operator: str, kind: Type | None, items: tuple[Item, Item], spans: Spans
) -> None:
    arithmetic = operator in _ARITHMETIC and operator != "%"
    fits = is_numeric if arithmetic else is_integer
    if kind is not None and fits(kind):
        return
    what = "numbers" if arithmetic else "integers"
    for item, span in zip(items, (spans.left, spans.right), strict=True):
        if not fits(item.type):
            message = f"`{operator}` takes {what}, not a `{item.type}`"
            raise error(span, "operand-type", message, _operand_hint(operator, item.type))
    raise _mixed(ev, operator, items, spans)


def _operand_hint(operator: str, kind: Type) -> str:
    if kind == types.COMPTIME_STRING and operator == "+":
        return "@strcat(a, b)"
    if kind == BOOL and operator in "&|":
        return "for truth values: and, or"
    if isinstance(kind, types.Pointer):
        return "there is no arithmetic with pointers: index, or take the address of an element"
    if isinstance(kind, types.Array):
        return "arrays: a loop over the elements, or DSDs"
    if is_numeric(kind):
        return "@as(u16, …) makes an integer"
    return ""


def _mixed(ev: Engine, operator: str, items: tuple[Item, Item], spans: Spans) -> CslError:
    left, right = items[0].type, items[1].type
    target = right if is_literal(left) else left
    hint = f"@as({target}, …) on the other side"
    if ev.options.dialect == "1.4" and not is_float(left) and not is_float(right):
        hint += "; integers of different types don't mix"
    notes = (
        Note(f"this is `{left}`", spans.left),
        Note(f"this is `{right}`", spans.right),
        *(note for item in items if isinstance(item, Live) for note in origin(item.tree)),
    )
    message = f"`{operator}` of `{left}` and `{right}`: the types differ"
    return error(spans.whole, "mixed-types", message, hint, notes)


# --- comparisons ----------------------------------------------------------------------------------


def _compare(ev: Engine, operator: str, left: Item, right: Item, spans: Spans) -> Item:
    kind = peer(ev, left, right)
    order = operator in _ORDER
    # Our library is one for both dialects.
    newer = ev.options.dialect != "1.4" or spans.whole.source.library
    for item, span in ((left, spans.left), (right, spans.right)):
        if not _comparable(item.type, order, newer):
            message = f"`{operator}` does not compare values of type `{item.type}`"
            raise error(span, "operand-type", message, _compare_hint(item.type, order))
    if kind is None:
        raise _mixed(ev, operator, (left, right), spans)
    left = coerce(ev, left, kind, spans.left)
    right = coerce(ev, right, kind, spans.right)
    if isinstance(left, Known) and isinstance(right, Known):
        return known_bool(_compared(operator, left.data, right.data))
    left_tree, right_tree = ev.live(left, spans.left), ev.live(right, spans.right)
    return Live(BOOL, tree.Binary(BOOL, spans.whole, operator, left_tree, right_tree))


def _comparable(kind: Type, order: bool, newer: bool) -> bool:
    if is_numeric(kind):
        return True
    if order:
        return False
    if isinstance(kind, Enum) or kind in _COMPARABLE:
        return True
    return newer and kind in _COMPARABLE_LATER


def _compare_hint(kind: Type, order: bool) -> str:
    if kind == TYPE:
        return "@is_same_type(A, B)"
    if kind == BOOL and order:
        return "comparisons don't chain: a < b and b < c"
    if isinstance(kind, types.Pointer):
        return "compare what they point to: p.*"
    return ""


def _compared(operator: str, left: Any, right: Any) -> bool:
    match operator:
        case "==":
            return bool(left == right)
        case "!=":
            return bool(left != right)
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
        case _:
            return bool(left >= right)


# --- shifts, logic, one operand -------------------------------------------------------------------


def _shift(ev: Engine, operator: str, left: Item, right: Item, spans: Spans) -> Item:
    kind = left.type
    if not is_integer(kind):
        message = f"`{operator}` shifts integers, not a `{kind}`"
        raise error(spans.left, "operand-type", message, _operand_hint(operator, kind))
    amount = _amount(operator, kind, right, spans.right)
    if isinstance(left, Known) and isinstance(right, Known):
        value: Any = left.data
        return Known(kind, integer(operator, value, amount or 0, kind))
    if is_literal(right.type):
        right = coerce(ev, right, U16, spans.right)
    left_tree, right_tree = ev.live(left, spans.left), ev.live(right, spans.right)
    return Live(kind, tree.Binary(kind, spans.whole, operator, left_tree, right_tree))


def _amount(operator: str, kind: Type, right: Item, span: Span) -> int | None:
    by = right.type
    if not is_integer(by):
        message = f"`{operator}` shifts by an unsigned integer, not by a `{by}`"
        raise error(span, "shift-amount", message, "@as(u16, …)")
    if not isinstance(right, Known):
        if isinstance(by, Int) and by.signed:
            message = f"`{operator}` shifts by an unsigned integer, not by a `{by}`"
            raise error(span, "shift-amount", message, "@as(u16, …)")
        return None
    amount: Any = right.data
    limit = kind.bits if isinstance(kind, Int) else 1 << 20
    if not 0 <= amount < limit:
        message = f"`{kind}` can't be shifted by {amount}"
        hint = f"0 to {limit - 1}" if isinstance(kind, Int) else ""
        raise error(span, "shift-amount", message, hint)
    return int(amount)


def _logical(ev: Engine, node: nodes.Binary, at: Site) -> Item:
    left = _truth(ev, node.operator, node.left, at)
    stop = node.operator == "or"
    if isinstance(left, Known):
        return left if left.data == stop else _truth(ev, node.operator, node.right, at)
    right = _truth(ev, node.operator, node.right, at)
    right_tree = ev.live(right, node.right.span)
    return Live(BOOL, tree.Logical(BOOL, node.span, node.operator, left.tree, right_tree))


def _truth(ev: Engine, operator: str, node: nodes.Expr, at: Site) -> Item:
    item = ev.item(node, at, BOOL)
    if item.type != BOOL:
        hint = "compare it: … != 0" if is_numeric(item.type) else ""
        message = f"`{operator}` takes a `bool`, not a `{item.type}`"
        raise error(node.span, "operand-type", message, hint)
    return item


def unary(ev: Engine, node: nodes.Unary, at: Site, expected: Type | None) -> Item:
    """`-x`, `!x`, `~x`."""
    item = ev.item(node.operand, at, expected)
    kind = item.type
    fits = {
        "-": is_numeric(kind),
        "!": kind == BOOL,
        "~": isinstance(kind, Int),
    }[node.operator]
    if not fits:
        raise _unary_type(node, kind)
    if isinstance(item, Known):
        return Known(kind, _unary_value(node.operator, item))
    return Live(kind, tree.Unary(kind, node.span, node.operator, item.tree))


def _unary_type(node: nodes.Unary, kind: Type) -> CslError:
    takes = {"-": "a number", "!": "a `bool`", "~": "an integer of a fixed width"}[node.operator]
    hint = ""
    if node.operator == "!" and is_numeric(kind):
        hint = "compare it: … == 0"
    elif node.operator == "~":
        hint = "! for a bool" if kind == BOOL else "give it a type: @as(u16, …)"
        hint = hint if kind in (BOOL, COMPTIME_INT) else ""
    message = f"`{node.operator}` takes {takes}, not a `{kind}`"
    return error(node.operand.span, "operand-type", message, hint)


def _unary_value(operator: str, item: Known) -> object:
    data: Any = item.data
    if operator == "!":
        return not data
    if isinstance(item.type, Int):
        return wrap(-data if operator == "-" else ~data, item.type)
    return -data
