"""Calls: while compiling, put in line, or of a function's code for the arguments at hand."""

from __future__ import annotations

from typing import Any

from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Context, Item, Live, Site
from toolchains.csl.source import CslError, Note, Span, error
from toolchains.csl.types import VOID, Function, Pointer, Type
from toolchains.csl.values import FunctionValue, Known

from .coercion import as_code, coerce
from .execution import outside, run
from .keys import key_of
from .names import ANYTYPE, Engine, Frame, Instance, Runtime, Scope, comptime
from .operands import VOID_VALUE
from .places import unknown
from .purity import pure
from .statements import function_body

_DEEPEST = 400
"""Calls in each other while compiling, or put in line."""


def call(ev: Engine, node: nodes.Call, at: Site, _: Type | None) -> Item:
    """`f(x)`."""
    callee = ev.item(node.function, at)
    kind = callee.type
    if isinstance(kind, Pointer) and isinstance(kind.target, Function):
        kind = kind.target
    if not isinstance(kind, Function):
        raise _not_callable(node, callee)
    if kind.task:
        message = "a task can't be called"
        raise error(node.span, "task-call", message, "@activate(id): it runs when its turn comes")
    if isinstance(callee, Live):
        return _by_pointer(ev, node, callee, kind, at)
    value = callee.data
    assert isinstance(value, FunctionValue)
    _check_count(node, value.node)
    if at.context is not Context.RUNTIME or _forced(ev, value):
        return _while_compiling(ev, node, value, comptime(at))
    if value.node.body is None:
        message = f"`{value.node.name}` has no body in this program"
        raise error(node.span, "extern-function", message)
    if value.node.inline:
        return _in_line(ev, node, value, at)
    return _live(ev, node, value, at)


def _not_callable(node: nodes.Call, callee: Item) -> CslError:
    hint = ""
    if callee.type == types.TYPE and isinstance(callee, Known):
        hint = f"@as({callee.data}, …) converts"
    message = f"a value of type `{callee.type}` can't be called"
    return error(node.function.span, "not-callable", message, hint)


def _check_count(node: nodes.Call, declaration: nodes.FunctionDecl) -> None:
    wanted, found = len(declaration.formals), len(node.arguments)
    if wanted == found:
        return
    plural = "" if wanted == 1 else "s"
    message = f"`{declaration.name}` takes {wanted} argument{plural}, not {found}"
    names = ", ".join(one.name for one in declaration.formals)
    note = Note("it is declared here", declaration.name_span)
    span = node.arguments[wanted].span if found > wanted else node.span
    raise error(span, "argument-count", message, f"{declaration.name}({names})", (note,))


def _forced(ev: Engine, value: FunctionValue) -> bool:
    """Whether every call happens while compiling."""
    kind = ev.function_type(value)
    if types.comptime_only(kind.result):
        return True
    pairs = zip(kind.parameters, value.node.formals, strict=True)
    return any(
        types.comptime_only(one) and not formal.comptime and not isinstance(one, Function)
        for one, formal in pairs
    )


def _explained(problem: CslError, formal: nodes.Formal) -> CslError:
    """With where the parameter is declared."""
    old = problem.diagnostic
    note = Note(f"the parameter `{formal.name}` is declared here", formal.span)
    return error(old.span, old.code, old.message, old.hint, (*old.notes, note))


def _argument(
    ev: Engine, node: nodes.Expr, at: Site, kind: Type | None, formal: nodes.Formal
) -> Item:
    item = ev.item(node, at, kind)
    if kind is None:
        return item
    try:
        return coerce(ev, item, kind, node.span)
    except CslError as problem:
        raise _explained(problem, formal) from problem


def _formal_type(ev: Engine, formal: nodes.Formal, declared: Type, at: Site) -> Type | None:
    """Of a parameter, given those before it; None for anytype."""
    if formal.type is None:
        return None
    return ev.type(formal.type, at) if declared is ANYTYPE else declared


# --- while compiling ------------------------------------------------------------------------------


def _while_compiling(ev: Engine, node: nodes.Call, value: FunctionValue, at: Site) -> Known:
    declaration, instance = value.node, value.instance
    assert isinstance(instance, Instance)
    if declaration.body is None:
        message = f"`{declaration.name}` has no body to run while compiling"
        raise error(node.span, "extern-function", message)
    declared = ev.function_type(value)
    ev.mark(value)
    frame = Frame(declared.result, declaration, None)
    scope = Scope(instance, None, frame)
    there = Site(scope, at.context, None, at.extra)
    arguments: list[Known] = []
    for formal, given, kind in zip(
        declaration.formals, node.arguments, declared.parameters, strict=True
    ):
        item = _argument(ev, given, at, _formal_type(ev, formal, kind, there), formal)
        if isinstance(item, Live):
            raise _needs_comptime(item, given, declaration)
        arguments.append(item)
        scope.add(formal.name, item, formal.span)
    key = (value, *map(key_of, arguments))
    simple = all(isinstance(one.data, int | str) for one in arguments) and pure(ev, value)
    if simple and key in ev.results:
        return ev.results[key]
    if declared.result is ANYTYPE:
        frame.result = ev.type(declaration.result, there)
    try:
        result = _ran(ev, node, declaration, there, frame)
    except CslError as problem:
        raise _at_call(problem, node, declaration) from problem
    if simple:
        ev.results[key] = result
    return result


def _ran(
    ev: Engine, node: nodes.Call, declaration: nodes.FunctionDecl, at: Site, frame: Frame
) -> Known:
    assert declaration.body is not None
    ev.inline_depth += 1
    try:
        if ev.inline_depth > _DEEPEST:
            raise _too_deep(node, declaration)
        signal = run(ev, declaration.body.statements, at)
    except RecursionError as problem:
        raise _too_deep(node, declaration) from problem
    finally:
        ev.inline_depth -= 1
    outside(signal)
    if frame.result == VOID:
        return VOID_VALUE
    if signal is None or not isinstance(signal.value, Known):
        message = f"`{declaration.name}` ends without returning its `{frame.result}`"
        span = declaration.body.span
        end = Span(span.source, max(span.start, span.end - 1), span.end)
        raise error(end, "missing-return", message, "return …;", (Note("called here", node.span),))
    return signal.value


def _at_call(problem: CslError, node: nodes.Call, declaration: nodes.FunctionDecl) -> CslError:
    """What is wrong within the library is wrong with how it was called, where a user can see it."""
    old = problem.diagnostic
    if old.span is None or not old.span.source.library or node.span.source.library:
        return problem
    message = f"`{declaration.name}`: {old.message}"
    return error(node.span, old.code, message, old.hint, (*old.notes, Note("here", old.span)))


def _too_deep(node: nodes.Call, declaration: nodes.FunctionDecl) -> CslError:
    message = f"calls of `{declaration.name}` while compiling are too deep"
    return error(node.span, "endless-comptime", message, "a loop")


def _needs_comptime(item: Live, node: nodes.Expr, declaration: nodes.FunctionDecl) -> CslError:
    problem = unknown(item, node.span).diagnostic
    note = Note(f"`{declaration.name}` is called while compiling", declaration.name_span)
    return error(problem.span, problem.code, problem.message, problem.hint, (note,))


# --- at run time ----------------------------------------------------------------------------------


def _by_pointer(ev: Engine, node: nodes.Call, callee: Live, kind: Function, at: Site) -> Item:
    if len(node.arguments) != len(kind.parameters):
        message = f"`{kind}` takes {len(kind.parameters)} arguments, not {len(node.arguments)}"
        raise error(node.span, "argument-count", message)
    arguments = tuple(
        ev.live(ev.value(one, at, wanted), one.span)
        for one, wanted in zip(node.arguments, kind.parameters, strict=True)
    )
    return Live(kind.result, tree.CallPointer(kind.result, node.span, callee.tree, arguments))


def _live(ev: Engine, node: nodes.Call, value: FunctionValue, at: Site) -> Item:
    declared = ev.function_type(value)
    instance = value.instance
    assert isinstance(instance, Instance)
    scope = Scope(instance)
    there = Site(scope, Context.COMPTIME, None, at.extra)
    fixed: dict[str, Known] = {}
    kinds: list[Type] = []
    arguments: list[tree.Expr] = []
    for formal, given, kind in zip(
        value.node.formals, node.arguments, declared.parameters, strict=True
    ):
        wanted = _formal_type(ev, formal, kind, there)
        item = _argument(ev, given, at, wanted, formal)
        if formal.comptime or types.comptime_only(item.type):
            if isinstance(item, Live):
                raise _needs_comptime(item, given, value.node)
            fixed[formal.name] = item
            scope.names[formal.name] = item
        else:
            kinds.append(item.type)
            code = as_code(ev, item, given.span)
            arguments.append(code)
            scope.names[formal.name] = Runtime(
                tree.Local(formal.name, item.type, formal.span), False
            )
    if declared.result is ANYTYPE and types.comptime_only(ev.type(value.node.result, there)):
        return _while_compiling(ev, node, value, comptime(at))
    function = ev.specialised(value, fixed, kinds, node.span)
    return Live(function.result, tree.Call(function.result, node.span, function, tuple(arguments)))


def _in_line(ev: Engine, node: nodes.Call, value: FunctionValue, at: Site) -> Item:
    """The body in place of the call, with what is known of the arguments."""
    declaration, instance = value.node, value.instance
    assert isinstance(instance, Instance)
    declared = ev.function_type(value)
    ev.mark(value)
    target = tree.Target(declaration.name)
    frame = Frame(declared.result, declaration, at.function, target)
    scope = Scope(instance, None, frame)
    there = Site(scope, Context.RUNTIME, at.function, at.extra)
    inside: list[tree.Stmt] = []
    for formal, given, kind in zip(
        declaration.formals, node.arguments, declared.parameters, strict=True
    ):
        item = _argument(ev, given, at, _formal_type(ev, formal, kind, there), formal)
        _bind(ev, formal, item, there, inside)
    if declared.result is ANYTYPE:
        frame.result = ev.type(declaration.result, there)
    ev.inline_depth += 1
    try:
        if ev.inline_depth > _DEEPEST // 4:
            raise _too_deep(node, declaration)
        inside.extend(function_body(ev, declaration, frame, there))
    finally:
        ev.inline_depth -= 1
    if len(inside) == 1 and len(frame.values) == 1 and isinstance(frame.values[0][0], Known):
        return frame.values[0][0]
    kind = frame.result
    return Live(kind, tree.BlockValue(kind, node.span, target, tuple(inside)))


def _bind(ev: Engine, formal: nodes.Formal, item: Item, at: Site, inside: list[tree.Stmt]) -> None:
    scope: Any = at.names
    if isinstance(item, Known):
        scope.add(formal.name, item, formal.span)
        return
    if formal.comptime:
        raise unknown(item, item.tree.span)
    local = tree.Local(formal.name, item.type, formal.span)
    ev.constants.add(local)
    if at.function is not None:
        at.function.locals.append(local)
    scope.add(formal.name, Runtime(local, False), formal.span)
    inside.append(tree.Declare(formal.span, local, item.tree))
