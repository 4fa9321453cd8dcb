"""If, switch and blocks where a value is wanted; what isn't taken is not looked at."""

from __future__ import annotations

from toolchains.csl import nodes, tree
from toolchains.csl.evaluation import Context, Item, Live, Site
from toolchains.csl.source import Note, Span, error
from toolchains.csl.types import VOID, Type
from toolchains.csl.values import Known

from .coercion import as_code, coerce, peer
from .execution import outside, run_block
from .names import Engine, Jump, inner, scope_of
from .numbers import is_literal, is_numeric
from .operands import VOID_VALUE
from .operators import condition
from .places import unknown
from .statements import arm, as_statement, body, check_label
from .switches import Cases, read_cases, taken


def if_expr(ev: Engine, node: nodes.IfExpr, at: Site, expected: Type | None) -> Item:
    """`if (c) a else b`."""
    truth = condition(ev, node.condition, at)
    if isinstance(truth, Known):
        if truth.data:
            return ev.item(node.then, at, expected)
        return VOID_VALUE if node.otherwise is None else ev.item(node.otherwise, at, expected)
    then = ev.item(node.then, at, expected)
    if node.otherwise is None:
        if then.type != VOID:
            message = f"without `else` there is no value, with it there is a `{then.type}`"
            raise error(node.span, "missing-else", message, "else …")
        otherwise: Item = VOID_VALUE
        last = node.span
    else:
        otherwise = ev.item(node.otherwise, at, expected)
        last = node.otherwise.span
    values = [(then, node.then.span), (otherwise, last)]
    kind = common(ev, values, expected, node.span)
    parts = [as_code(ev, coerce(ev, item, kind, span), span) for item, span in values]
    return Live(kind, tree.Select(kind, node.span, truth.tree, parts[0], parts[1]))


def common(ev: Engine, values: list[tuple[Item, Span]], expected: Type | None, span: Span) -> Type:
    """The type that all become; literals take the one that is expected."""
    if not values:
        return VOID
    items = [item for item, _ in values]
    if expected is not None and is_numeric(expected) and not is_literal(expected):
        items = [
            coerce(ev, item, expected, place) if is_literal(item.type) else item
            for item, place in values
        ]
    result = items[0]
    for item, (_, place) in zip(items[1:], values[1:], strict=True):
        kind = peer(ev, result, item)
        if kind is None:
            notes = (Note(f"this is `{result.type}`", values[0][1]),)
            message = f"the values differ in type: `{result.type}` and `{item.type}`"
            raise error(place, "mixed-types", message, "", notes)
        result = result if result.type == kind else coerce(ev, item, kind, place)
    if is_literal(result.type):
        message = "the value is a literal without a type, and which one is known only at run time"
        hint = "give what it goes to a type, or @as(i16, …)"
        raise error(span, "comptime-only", message, hint)
    return result.type


# --- switch --------------------------------------------------------------------------------------


def switch_expr(ev: Engine, node: nodes.SwitchExpr, at: Site, expected: Type | None) -> Item:
    """`switch (x) { … }` as a value."""
    cases = read_cases(ev, node, at)
    if isinstance(cases.scrutinee, Known):
        case = taken(cases, cases.scrutinee.data)
        return _case_value(ev, case, at, expected)
    if at.context is not Context.RUNTIME:
        raise unknown(cases.scrutinee, node.scrutinee.span)
    return _live_switch(ev, node, cases, at, expected)


def _case_value(ev: Engine, case: nodes.Case, at: Site, expected: Type | None) -> Item:
    if isinstance(case.body, nodes.Expr):
        return ev.item(case.body, at, expected)
    if at.context is not Context.RUNTIME:
        statement = as_statement(case.body)
        outside(run_block(ev, nodes.Block(case.span, (statement,)), at))
        return VOID_VALUE
    inside, _ = arm(ev, as_statement(case.body), at)
    return Live(VOID, tree.BlockValue(VOID, case.span, tree.Target(), inside))


def _live_switch(
    ev: Engine, node: nodes.SwitchExpr, cases: Cases, at: Site, expected: Type | None
) -> Item:
    every = [*cases.valued, *([((), cases.otherwise)] if cases.otherwise else [])]
    values = [(_case_value(ev, case, at, expected), case.body.span) for _, case in every]
    kind = common(ev, values, expected, node.span)
    target = tree.Target(broken=True)
    arms: list[tuple[tree.Stmt, ...]] = []
    for item, span in values:
        code = as_code(ev, coerce(ev, item, kind, span), span)
        if kind == VOID:
            arms.append((tree.Effect(span, code), tree.Break(span, target)))
        else:
            arms.append((tree.Break(span, target, code),))
    scrutinee = ev.live(cases.scrutinee, node.scrutinee.span)
    chosen = tuple(
        (numbers, found) for (numbers, _), found in zip(cases.valued, arms, strict=False)
    )
    otherwise = arms[-1] if cases.otherwise is not None else ()
    if cases.otherwise is None and chosen:
        # Every value has a case; the last one stands for what can't be, so that there is a value.
        chosen, otherwise = chosen[:-1], chosen[-1][1]
    switch = tree.Switch(node.span, scrutinee, chosen, otherwise)
    return Live(kind, tree.BlockValue(kind, node.span, target, (switch,)))


# --- blocks --------------------------------------------------------------------------------------


def block_expr(ev: Engine, node: nodes.BlockExpr, at: Site, expected: Type | None) -> Item:
    """`label: { … break :label x; }`."""
    label = node.label or node.body.label
    if at.context is not Context.RUNTIME or node.body.comptime:
        return _run(ev, node, label, at)
    check_label(label, scope_of(at).jump, node.span)
    first = Jump(label, False, tree.Target(label), None, outer=scope_of(at).jump)
    inside: list[tree.Stmt] = []
    reached = body(ev, node.body.statements, inner(at, first), inside)
    if not first.values:
        return Live(VOID, tree.BlockValue(VOID, node.span, first.target, tuple(inside)))
    if reached:
        message = "the block may end without a value"
        raise error(node.span, "missing-break", message, f"break :{label} …;")
    if len(first.values) == 1 and len(inside) == 1 and isinstance(first.values[0][0], Known):
        return first.values[0][0]
    kind = common(ev, first.values, expected, node.span)
    jump = Jump(label, False, tree.Target(label), None, kind, outer=scope_of(at).jump)
    again: list[tree.Stmt] = []
    body(ev, node.body.statements, inner(at, jump), again)
    return Live(kind, tree.BlockValue(kind, node.span, jump.target, tuple(again)))


def _run(ev: Engine, node: nodes.BlockExpr, label: str, at: Site) -> Item:
    there = at
    if at.context is Context.RUNTIME:
        there = Site(at.names, Context.COMPTIME, at.function, at.extra)
    signal = run_block(ev, node.body, there)
    if signal is None:
        return VOID_VALUE
    if signal.kind != "break" or not label or signal.label != label:
        outside(signal)
        raise error(signal.span, "return-outside", "a value can't return from the function")
    if signal.value is None:
        return VOID_VALUE
    if not isinstance(signal.value, Known):
        raise unknown(signal.value, signal.span)
    return signal.value
