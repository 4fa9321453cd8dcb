"""Statements that run while compiling: comptime and layout blocks, and functions called there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from toolchains.csl import nodes, types
from toolchains.csl.evaluation import Item, Live, Site
from toolchains.csl.source import Note, Span, error
from toolchains.csl.types import Array, Range
from toolchains.csl.values import Known

from .coercion import coerce
from .data import elements, has_zero, zero
from .names import Cell, Engine, Frame, Scope, inner, scope_of
from .operators import Spans, combine, condition
from .places import read, reference, unknown, write
from .switches import read_cases, taken

_MOST_ROUNDS = 3_000_000
"""Of loops, in one compilation."""


@dataclass(frozen=True, eq=False)
class Signal:
    """Why a block was left before its end."""

    kind: str
    """`break`, `continue`, `return`."""
    span: Span
    label: str = ""
    value: Item | None = None


def run_block(ev: Engine, block: nodes.Block, at: Site) -> Signal | None:
    """A block in a scope of its own."""
    return run(ev, block.statements, inner(at))


def run(ev: Engine, statements: tuple[nodes.Stmt, ...], at: Site) -> Signal | None:
    """Statements, one after the other."""
    for statement in statements:
        signal = _STATEMENTS[type(statement)](ev, statement, at)
        if signal is not None:
            return signal
    return None


def execute(ev: Engine, statement: nodes.Stmt, at: Site) -> Signal | None:
    """One statement."""
    return _STATEMENTS[type(statement)](ev, statement, at)


def _known(item: Item, span: Span) -> Known:
    if isinstance(item, Live):
        raise unknown(item, span)
    return item


def _block(ev: Engine, node: Any, at: Site) -> Signal | None:
    signal = run_block(ev, node, at)
    if (
        signal is not None
        and signal.kind == "break"
        and signal.label
        and signal.label == node.label
    ):
        return None
    return signal


def _declare(ev: Engine, node: Any, at: Site) -> None:
    declare_known(ev, node, at)


def declare_known(ev: Engine, node: nodes.LocalDecl, at: Site) -> None:
    """`var` or `const` of the compilation."""
    expected = None if node.type is None else ev.type(node.type, at)
    ev.naming.append(node.name)
    if node.value is None:
        if expected is None:
            raise error(node.name_span, "missing-type", f"`{node.name}` has neither type nor value")
        if not has_zero(expected):
            message = f"a variable of type `{expected}` needs a value while compiling"
            raise error(node.name_span, "missing-value", message, f"var {node.name} = …")
        value = Known(expected, zero(expected))
    elif expected is None:
        value = _known(ev.item(node.value, at), node.value.span)
    else:
        value = _known(ev.value(node.value, at, expected), node.value.span)
    ev.naming.pop()
    scope = scope_of(at)
    entry = Cell(value.type, value.data) if node.mutable else value
    scope.add(node.name, entry, node.name_span)


def assign_known(ev: Engine, node: nodes.Assign, at: Site) -> None:
    """`a = b`, `a += b` of a variable of the compilation."""
    cell, steps, kind = reference(ev, node.target, at)
    if not node.operator:
        value = ev.value(node.value, at, kind)
    else:
        before = Known(kind, read(cell, steps))
        operand = ev.item(node.value, at, kind)
        spans = Spans(node.span, node.target.span, node.value.span)
        value = coerce(ev, combine(ev, node.operator, before, operand, spans), kind, node.span)
    write(cell, steps, _known(value, node.value.span).data)


def _assign(ev: Engine, node: Any, at: Site) -> None:
    if isinstance(node.target, nodes.Name) and node.target.name == "_":
        ev.item(node.value, at)
        return
    assign_known(ev, node, at)


def _expression(ev: Engine, node: Any, at: Site) -> Signal | None:
    value = node.value
    if isinstance(value, nodes.SwitchExpr):
        return _switch(ev, value, at)
    item = ev.item(value, at)
    check_effect(value, item)
    if isinstance(item, Live) and item.type != types.VOID:
        raise unknown(item, value.span)
    return None


_WITHOUT_EFFECT = (
    nodes.IntLiteral,
    nodes.FloatLiteral,
    nodes.StringLiteral,
    nodes.BoolLiteral,
    nodes.Name,
    nodes.Unary,
    nodes.AddressOf,
    nodes.Binary,
    nodes.Index,
    nodes.Member,
    nodes.Dereference,
    nodes.StructLiteral,
    nodes.TupleLiteral,
    nodes.ArrayLiteral,
)


def check_effect(node: nodes.Expr, item: Item) -> None:
    """An expression that does nothing is no statement."""
    if isinstance(node, _WITHOUT_EFFECT) and item.type != types.VOID:
        hint = "return …, or x = …"
        if isinstance(item.type, types.Function):
            hint = "a call takes parentheses"
        message = f"a value of type `{item.type}` that nothing is done with"
        raise error(node.span, "unused-value", message, hint)


def _switch(ev: Engine, node: nodes.SwitchExpr, at: Site) -> Signal | None:
    cases = read_cases(ev, node, at)
    known = _known(cases.scrutinee, node.scrutinee.span)
    return run_arm(ev, taken(cases, known.data).body, at)


def run_arm(ev: Engine, body: nodes.Stmt | nodes.Expr, at: Site) -> Signal | None:
    """The body of a case: a block, another statement, or an expression for its effect."""
    handler = _STATEMENTS.get(type(body))
    if handler is not None:
        return handler(ev, body, inner(at))
    assert isinstance(body, nodes.Expr)
    return _expression(ev, nodes.ExprStmt(body.span, body), at)


def _if(ev: Engine, node: Any, at: Site) -> Signal | None:
    truth = _known(condition(ev, node.condition, at), node.condition.span)
    if truth.data:
        return execute(ev, node.then, inner(at))
    return None if node.otherwise is None else execute(ev, node.otherwise, inner(at))


def _for(ev: Engine, node: Any, at: Site) -> Signal | None:
    items = _known(ev.item(node.items, at), node.items.span)
    outer = scope_of(at)
    element, values = iterated(items, node)
    for position, value in enumerate(values):
        _count(ev, node)
        scope = Scope(outer.instance, outer)
        scope.add(node.variable, Known(element, value), node.span)
        if node.position:
            scope.add(node.position, Known(types.U16, position), node.span)
        site = Site(scope, at.context, at.function, at.extra)
        signal = run(ev, node.body.statements, site)
        if signal is not None and (left := _leaves(signal, node.label)):
            return signal if left == "further" else None
    return None


def iterated(items: Known, node: nodes.For) -> tuple[types.Type, Any]:
    """What a loop goes over: the type of the elements, and their data."""
    data: Any = items.data
    if isinstance(items.type, Range):
        return items.type.element, range(*data)
    if isinstance(items.type, Array):
        return items.type.element, elements(data)
    raise not_iterable(items.type, node)


def not_iterable(kind: types.Type, node: nodes.For) -> Exception:
    """An error for a loop over something else."""
    hint = ""
    if isinstance(kind, types.Int) or kind == types.COMPTIME_INT:
        hint = "@range(i16, n)"
    elif isinstance(kind, types.Pointer):
        hint = "what it points to is ….*"
    message = f"a loop goes over a range or an array, not over a `{kind}`"
    return error(node.items.span, "not-iterable", message, hint)


def _while(ev: Engine, node: Any, at: Site) -> Signal | None:
    while True:
        truth = _known(condition(ev, node.condition, at), node.condition.span)
        if not truth.data:
            return None
        _count(ev, node)
        signal = run_block(ev, node.body, at)
        if signal is not None and (left := _leaves(signal, node.label)):
            return signal if left == "further" else None
        if node.step is not None:
            execute(ev, node.step, at)


def _count(ev: Engine, node: nodes.Node) -> None:
    ev.steps += 1
    if ev.steps > _MOST_ROUNDS:
        message = "this loop goes on and on while compiling"
        raise error(node.span, "endless-comptime", message)


def _leaves(signal: Signal, label: str) -> str:
    """Whether a loop ends: `here`, or `further` out; empty if it goes on."""
    if signal.kind == "continue":
        return ""
    if signal.kind == "break" and (not signal.label or signal.label == label):
        return "here"
    return "further"


def _return(ev: Engine, node: Any, at: Site) -> Signal:
    frame = scope_of(at).frame
    if frame is None:
        raise error(node.span, "return-outside", "there is no function to return from")
    value = returned(ev, node, frame, at)
    if value is None:
        return Signal("return", node.span)
    return Signal("return", node.value.span, value=_known(value, node.value.span))


def returned(ev: Engine, node: nodes.Return, frame: Frame, at: Site) -> Item | None:
    """The value of a return as what the function promises; None if it promises nothing."""
    notes: tuple[Note, ...] = ()
    if frame.declaration is not None:
        notes = (Note("the type of its result is here", frame.declaration.result.span),)
    if node.value is None:
        if frame.result != types.VOID:
            message = f"the function returns a `{frame.result}`"
            raise error(node.span, "return-type", message, "return …;", notes)
        return None
    item = ev.item(node.value, at, frame.result)
    if frame.result == types.VOID and item.type != types.VOID:
        message = f"the function returns nothing, this is a `{item.type}`"
        raise error(node.value.span, "return-type", message, "", notes)
    return coerce(ev, item, frame.result, node.value.span, notes)


def _break(ev: Engine, node: Any, at: Site) -> Signal:
    value = None if node.value is None else ev.item(node.value, at)
    return Signal("break", node.span, node.label, value)


def _continue(_: Engine, node: Any, _at: Site) -> Signal:
    return Signal("continue", node.span)


_STATEMENTS: dict[type, Callable[[Engine, Any, Site], Signal | None]] = {
    nodes.Block: _block,
    nodes.LocalDecl: _declare,
    nodes.Assign: _assign,
    nodes.ExprStmt: _expression,
    nodes.If: _if,
    nodes.For: _for,
    nodes.While: _while,
    nodes.Return: _return,
    nodes.Break: _break,
    nodes.Continue: _continue,
}


def outside(signal: Signal | None) -> None:
    """A break or continue that nothing took is a mistake."""
    if signal is not None and signal.kind != "return":
        raise error(
            signal.span, f"{signal.kind}-outside", f"there is no loop here for `{signal.kind}`"
        )
