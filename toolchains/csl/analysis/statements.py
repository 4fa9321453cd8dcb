"""Statements of code that runs on a PE: from syntax to the typed tree.

Every handler appends to `out` and says whether what follows can be reached.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Item, Live, Site
from toolchains.csl.source import Note, Span, error
from toolchains.csl.types import VOID, Type
from toolchains.csl.values import Known

from .coercion import coerce, origin
from .execution import (
    assign_known,
    check_effect,
    declare_known,
    outside,
    returned,
    run_block,
)
from .loops import for_loop, while_loop
from .names import Engine, Frame, Jump, Runtime, comptime, inner, scope_of
from .operators import Spans, combine, condition
from .places import place, read_only, root_cell
from .switches import read_cases, taken

Out = list[tree.Stmt]

_LEAVES = (nodes.Return, nodes.Break, nodes.Continue)


def body(ev: Engine, statements: tuple[nodes.Stmt, ...], at: Site, out: Out) -> bool:
    """Statements, one after the other."""
    for position, statement in enumerate(statements):
        if not _STATEMENTS[type(statement)](ev, statement, at, out):
            if isinstance(statement, _LEAVES) and position + 1 < len(statements):
                span = statements[position + 1].span
                ev.reports.warn(span, "unreachable-code", "this is never reached")
            return False
    return True


def one(ev: Engine, statement: nodes.Stmt, at: Site, out: Out) -> bool:
    """One statement."""
    return _STATEMENTS[type(statement)](ev, statement, at, out)


# --- blocks --------------------------------------------------------------------------------------


def _block(ev: Engine, node: Any, at: Site, out: Out) -> bool:
    if node.comptime:
        outside(run_block(ev, node, comptime(at)))
        return True
    target = tree.Target(node.label) if node.label else None
    jump = None
    if target is not None:
        jump = Jump(node.label, False, target, None, outer=scope_of(at).jump)
        check_label(node.label, scope_of(at).jump, node.span)
    inside: Out = []
    reached = body(ev, node.statements, inner(at, jump), inside)
    out.append(tree.Scope(node.span, tuple(inside), target))
    return reached or (target is not None and target.broken)


def check_label(label: str, jump: Jump | None, span: Span) -> None:
    """Labels in each other differ."""
    while jump is not None:
        if label and jump.label == label:
            raise error(span, "redeclared", f"label `{label}` is already around this")
        jump = jump.outer


def arm(ev: Engine, node: nodes.Stmt, at: Site) -> tuple[tuple[tree.Stmt, ...], bool]:
    """One way that code may take."""
    inside: Out = []
    if isinstance(node, nodes.Block) and not node.comptime and not node.label:
        reached = body(ev, node.statements, inner(at), inside)
    else:
        reached = one(ev, node, inner(at), inside)
    return tuple(inside), reached


# --- declarations and assignments ----------------------------------------------------------------


def _declare(ev: Engine, node: Any, at: Site, out: Out) -> bool:
    if node.comptime:
        declare_known(ev, node, comptime(at))
        return True
    declared = None if node.type is None else ev.type(node.type, at)
    ev.naming.append(node.name)
    value: Item | None = None
    if node.value is not None:
        value = ev.item(node.value, at, declared)
        if declared is not None:
            value = coerce(ev, value, declared, node.value.span)
    ev.naming.pop()
    if isinstance(value, Known) and not node.mutable:
        scope_of(at).add(node.name, value, node.name_span)
        return True
    kind = declared if value is None else value.type
    if kind is None:
        raise error(node.name_span, "missing-type", f"`{node.name}` has neither type nor value")
    _check_variable(node, kind)
    local = tree.Local(node.name, kind, node.name_span)
    scope_of(at).add(node.name, Runtime(local, node.mutable), node.name_span)
    new_local(ev, local, node.mutable, at)
    given = None if value is None else ev.live(value, node.value.span)
    out.append(tree.Declare(node.span, local, given))
    return True


def _check_variable(node: nodes.LocalDecl, kind: Type) -> None:
    if kind == VOID and node.value is not None:
        raise error(node.value.span, "void-value", "this has no value that could be kept")
    if types.comptime_only(kind):
        integer = kind == types.COMPTIME_INT
        hint = f"var {node.name}: {'i16' if integer else 'f32'} = …"
        message = f"`{node.name}` can't be a variable of type `{kind}`"
        numeric = integer or kind == types.COMPTIME_FLOAT
        span = node.name_span
        raise error(span, "comptime-only", message, hint if numeric else f"const {node.name} = …")


def new_local(ev: Engine, local: tree.Local, mutable: bool, at: Site) -> None:
    """The function has one more local variable."""
    if not mutable:
        ev.constants.add(local)
    if at.function is not None:
        at.function.locals.append(local)


def _assign(ev: Engine, node: Any, at: Site, out: Out) -> bool:
    target = node.target
    if isinstance(target, nodes.Name) and target.name == "_" and scope_of(at).entry("_") is None:
        item = ev.item(node.value, at)
        if isinstance(item, Live):
            out.append(tree.Effect(node.span, item.tree))
        return True
    if root_cell(target, at) is not None:
        assign_known(ev, node, comptime(at))
        return True
    spot = _writable(ev, node, at)
    if not node.operator:
        value = ev.live(ev.value(node.value, at, spot.type), node.value.span)
        out.append(tree.Assign(node.span, spot, value))
        return True
    spot = _stable(ev, spot, at, out)
    operand = ev.item(node.value, at, spot.type)
    spans = Spans(node.span, target.span, node.value.span)
    result = combine(ev, node.operator, Live(spot.type, spot), operand, spans)
    result = coerce(ev, result, spot.type, node.value.span)
    out.append(tree.Assign(node.span, spot, ev.live(result, node.span)))
    return True


def _writable(ev: Engine, node: nodes.Assign, at: Site) -> tree.Expr:
    target = node.target
    if not isinstance(target, _PLACES):
        message = "this is a value: nothing can be assigned to it"
        raise error(target.span, "assign-value", message)
    if isinstance(target, nodes.Name):
        _check_name(ev, target, at)
    spot = place(ev, target, at)
    reason = read_only(ev, spot)
    if reason:
        hint = f"var {target.name} = …" if isinstance(target, nodes.Name) else ""
        raise error(target.span, "assign-const", reason, hint, origin(spot))
    if isinstance(spot, tree.GlobalRef):
        ev.use(spot.variable)
    return spot


_PLACES = (nodes.Name, nodes.Member, nodes.Index, nodes.Dereference, nodes.BuiltinCall)


def _check_name(ev: Engine, target: nodes.Name, at: Site) -> None:
    """Constants whose value is known have no place to speak of."""
    scope = scope_of(at)
    entry = scope.entry(target.name)
    known: Known | None = entry if isinstance(entry, Known) else None
    if entry is None and target.name in scope.instance.slots:
        known = ev.slot(scope.instance, target.name, target.span).value
    if known is not None:
        hint = f"var {target.name} = …"
        if isinstance(known.type, types.Function):
            hint = ""
        notes = scope.declared(target.name)
        raise error(target.span, "assign-const", f"`{target.name}` is constant", hint, notes)


def _stable(ev: Engine, spot: tree.Expr, at: Site, out: Out) -> tree.Expr:
    """The place with what calls something evaluated once, since it is read and written."""
    match spot:
        case tree.Element():
            base = _stable(ev, spot.base, at, out)
            indices = tuple(_once(ev, index, at, out) for index in spot.indices)
            return tree.Element(spot.type, spot.span, base, indices)
        case tree.FieldOf():
            base = _stable(ev, spot.base, at, out)
            return tree.FieldOf(spot.type, spot.span, base, spot.index)
        case tree.Deref():
            return tree.Deref(spot.type, spot.span, _once(ev, spot.pointer, at, out))
        case _:
            return spot


def _once(ev: Engine, expr: tree.Expr, at: Site, out: Out) -> tree.Expr:
    if _repeatable(expr):
        return expr
    local = tree.Local("once", expr.type, expr.span)
    new_local(ev, local, False, at)
    out.append(tree.Declare(expr.span, local, expr))
    return tree.LocalRef(expr.type, expr.span, local)


def _repeatable(expr: tree.Expr) -> bool:
    match expr:
        case tree.Constant() | tree.LocalRef() | tree.GlobalRef() | tree.FunctionAddress():
            return True
        case tree.Binary():
            return _repeatable(expr.left) and _repeatable(expr.right)
        case tree.Convert() | tree.Bitcast() | tree.Unary():
            return _repeatable(expr.operand)
        case tree.AddressOf():
            return _repeatable(expr.place)
        case tree.FieldOf():
            return _repeatable(expr.base)
        case tree.Deref():
            return _repeatable(expr.pointer)
        case tree.Element():
            return _repeatable(expr.base) and all(map(_repeatable, expr.indices))
        case _:
            return False


# --- effects and choices -------------------------------------------------------------------------


def _expression(ev: Engine, node: Any, at: Site, out: Out) -> bool:
    value = node.value
    if isinstance(value, nodes.SwitchExpr):
        return _switch(ev, value, at, out)
    item = ev.item(value, at)
    check_effect(value, item)
    if isinstance(item, Live):
        out.append(tree.Effect(node.span, item.tree))
    return True


def _if(ev: Engine, node: Any, at: Site, out: Out) -> bool:
    truth = condition(ev, node.condition, at)
    if isinstance(truth, Known):
        taken_arm = node.then if truth.data else node.otherwise
        return True if taken_arm is None else _inline_arm(ev, taken_arm, at, out)
    then, first = arm(ev, node.then, at)
    otherwise: tuple[tree.Stmt, ...] = ()
    second = True
    if node.otherwise is not None:
        otherwise, second = arm(ev, node.otherwise, at)
    out.append(tree.If(node.span, truth.tree, then, otherwise))
    return first or second


def _inline_arm(ev: Engine, node: nodes.Stmt, at: Site, out: Out) -> bool:
    inside, reached = arm(ev, node, at)
    if inside:
        out.append(tree.Scope(node.span, inside))
    return reached


def _switch(ev: Engine, node: nodes.SwitchExpr, at: Site, out: Out) -> bool:
    cases = read_cases(ev, node, at)
    if isinstance(cases.scrutinee, Known):
        return _inline_arm(ev, as_statement(taken(cases, cases.scrutinee.data).body), at, out)
    reached = False
    found = []
    for numbers, case in cases.valued:
        inside, falls = arm(ev, as_statement(case.body), at)
        reached = reached or falls
        found.append((numbers, inside))
    otherwise: tuple[tree.Stmt, ...] = ()
    if cases.otherwise is not None:
        otherwise, falls = arm(ev, as_statement(cases.otherwise.body), at)
        reached = reached or falls
    scrutinee = ev.live(cases.scrutinee, node.scrutinee.span)
    out.append(tree.Switch(node.span, scrutinee, tuple(found), otherwise))
    return reached


def as_statement(node: nodes.Stmt | nodes.Expr) -> nodes.Stmt:
    """The body of a case."""
    if isinstance(node, nodes.Stmt):
        return node
    return nodes.ExprStmt(node.span, node)


# --- leaving -------------------------------------------------------------------------------------


def _return(ev: Engine, node: Any, at: Site, out: Out) -> bool:
    frame = scope_of(at).frame
    if frame is None:
        raise error(node.span, "return-outside", "there is no function to return from")
    value: tree.Expr | None = None
    item = returned(ev, node, frame, at)
    if item is not None:
        frame.values.append((item, node.value.span))
        value = ev.live(item, node.value.span)
    if frame.target is None:
        out.append(tree.Return(node.span, value))
    else:
        frame.target.broken = True
        out.append(tree.Break(node.span, frame.target, value))
    return False


def _break(ev: Engine, node: Any, at: Site, out: Out) -> bool:
    jump = scope_of(at).jump
    while jump is not None and (jump.label != node.label if node.label else not jump.loop):
        jump = jump.outer
    if jump is None:
        what = f"no block or loop `{node.label}`" if node.label else "no loop"
        raise error(node.span, "break-outside", f"there is {what} here to leave")
    value: tree.Expr | None = None
    if node.value is not None:
        item = ev.item(node.value, at, jump.expected)
        if jump.expected is not None:
            item = coerce(ev, item, jump.expected, node.value.span)
            value = ev.live(item, node.value.span)
        jump.values.append((item, node.value.span))
    elif jump.expected is not None and jump.expected != VOID:
        raise error(node.span, "break-value", f"the block's value is a `{jump.expected}`")
    jump.target.broken = True
    out.append(tree.Break(node.span, jump.target, value))
    return False


def _continue(_: Engine, node: Any, at: Site, out: Out) -> bool:
    jump = scope_of(at).jump
    while jump is not None and not jump.loop:
        jump = jump.outer
    if jump is None:
        raise error(node.span, "continue-outside", "there is no loop here for `continue`")
    if jump.again is not None:
        jump.again.broken = True
        out.append(tree.Break(node.span, jump.again))
    else:
        out.append(tree.Continue(node.span, jump.target))
    return False


def _for(ev: Engine, node: Any, at: Site, out: Out) -> bool:
    check_label(node.label, scope_of(at).jump, node.span)
    return for_loop(ev, node, at, out, body)


def _while(ev: Engine, node: Any, at: Site, out: Out) -> bool:
    check_label(node.label, scope_of(at).jump, node.span)
    return while_loop(ev, node, at, out, body, one)


_STATEMENTS: dict[type, Callable[[Engine, Any, Site, Out], bool]] = {
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


def function_body(ev: Engine, node: nodes.FunctionDecl, frame: Frame, at: Site) -> Out:
    """The body of a function; every way through it has to return what it promises."""
    assert node.body is not None
    out: Out = []
    if body(ev, node.body.statements, at, out) and frame.result != VOID:
        end = node.body.span
        span = Span(end.source, max(end.start, end.end - 1), end.end)
        message = f"`{node.name}` may end here without returning its `{frame.result}`"
        note = Note("the type of its result is here", node.result.span)
        raise error(span, "missing-return", message, "return …;", (note,))
    return out
