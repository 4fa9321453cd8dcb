"""Loops of code that runs on a PE, and those that are written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Item, Live, Site
from toolchains.csl.source import Span, error
from toolchains.csl.types import I32, Array, Int, Range
from toolchains.csl.values import Known

from .coercion import as_item, coerce
from .execution import iterated, not_iterable
from .names import Engine, Jump, Runtime, Scope, inner, scope_of
from .numbers import is_literal
from .operators import condition
from .places import place, unknown

Out = list[tree.Stmt]
Body = Callable[[Engine, tuple[nodes.Stmt, ...], Site, Out], bool]
One = Callable[[Engine, nodes.Stmt, Site, Out], bool]


def while_loop(ev: Engine, node: nodes.While, at: Site, out: Out, body: Body, one: One) -> bool:
    """`while (c) : (step) { … }`."""
    truth = condition(ev, node.condition, at)
    if isinstance(truth, Known) and not truth.data:
        return True
    target = tree.Target(node.label)
    jump = Jump(node.label, True, target, None, outer=scope_of(at).jump)
    inside: Out = []
    body(ev, node.body.statements, inner(at, jump), inside)
    step: Out = []
    if node.step is not None:
        one(ev, node.step, inner(at), step)
    test = None if isinstance(truth, Known) else truth.tree
    out.append(tree.Loop(node.span, target, test, tuple(inside), tuple(step)))
    return test is not None or target.broken


def for_loop(ev: Engine, node: nodes.For, at: Site, out: Out, body: Body) -> bool:
    """`for (items) |x, i| { … }`."""
    items = ev.item(node.items, at)
    if node.inline:
        return _unrolled(ev, node, items, at, out, body)
    if isinstance(items.type, Range):
        _over_range(ev, node, items, at, out, body)
    elif isinstance(items.type, Array):
        _over_array(ev, node, items, at, out, body)
    else:
        raise not_iterable(items.type, node)
    return True


def _site(node: nodes.For, at: Site, target: tree.Target) -> Site:
    jump = Jump(node.label, True, target, None, outer=scope_of(at).jump)
    return inner(at, jump)


def _capture(ev: Engine, name: str, kind: types.Type, node: nodes.For, at: Site) -> tree.Local:
    local = tree.Local(name, kind, node.span)
    scope_of(at).add(name, Runtime(local, False), node.span)
    ev.constants.add(local)
    if at.function is not None:
        at.function.locals.append(local)
    return local


def _over_range(ev: Engine, node: nodes.For, items: Item, at: Site, out: Out, body: Body) -> None:
    assert isinstance(items.type, Range)
    element = items.type.element
    if is_literal(element):
        element = types.I16
    start, stop, step = _bounds(items, node)
    target = tree.Target(node.label)
    site = _site(node, at, target)
    local = _capture(ev, node.variable, element, node, site)
    position = _capture(ev, node.position, types.U16, node, site) if node.position else None
    inside: Out = []
    span = node.items.span
    if isinstance(element, Int) and _fits(start, element) and _fits(stop, element):
        ends = [ev.live(coerce(ev, one, element, span), span) for one in (start, stop)]
        body(ev, node.body.statements, site, inside)
        count = tree.Count(
            node.span, target, local, ends[0], ends[1], step, tuple(inside), position
        )
        out.append(count)
        return
    ends = [_wide(ev, one, span) for one in (start, stop)]
    first, counter = (tree.Local(name, I32, span) for name in ("first", "round"))
    new_locals(ev, (first, counter), at)
    out.append(tree.Declare(span, first, ends[0]))
    rounds = _rounds(tree.LocalRef(I32, span, first), ends[1], step)
    inside.append(tree.Declare(span, local, _nth(first, counter, step, element)))
    if position is not None:
        index = tree.Convert(types.U16, span, tree.LocalRef(I32, span, counter))
        inside.append(tree.Declare(span, position, index))
    body(ev, node.body.statements, site, inside)
    zero = _constant(0, span)
    out.append(tree.Count(node.span, target, counter, zero, rounds, 1, tuple(inside)))


def new_locals(ev: Engine, locals_: tuple[tree.Local, ...], at: Site) -> None:
    """The function has more local variables, which nothing assigns to."""
    ev.constants.update(locals_)
    if at.function is not None:
        at.function.locals.extend(locals_)


def _bounds(items: Item, node: nodes.For) -> tuple[Item, Item, int]:
    """Start, stop and the step; known ones are numbers, whatever their type."""
    span = node.items.span
    if isinstance(items, Known):
        data: Any = items.data
        values: list[Item] = [Known(types.COMPTIME_INT, number) for number in data]
    elif isinstance(items.tree, tree.Aggregate):
        values = [_end(as_item(part)) for part in items.tree.parts]
    else:
        message = "a range that isn't known has to stand in the loop itself"
        raise error(span, "range-value", message, "for (@range(T, n)) |i| { … }")
    start, stop, step = values
    if not isinstance(step, Known):
        assert isinstance(step, Live)
        raise unknown(step, span)
    number: Any = step.data
    return start, stop, number


def _end(item: Item) -> Item:
    return Known(types.COMPTIME_INT, item.data) if isinstance(item, Known) else item


def _fits(end: Item, element: Int) -> bool:
    """A known end just beyond the type, such as -1 of u16, is no value of the type."""
    if not isinstance(end, Known):
        return True
    number: Any = end.data
    return bool(element.low <= number <= element.high)


def _wide(ev: Engine, end: Item, span: Span) -> tree.Expr:
    if isinstance(end, Known):
        return ev.live(coerce(ev, end, I32, span), span)
    return tree.Convert(I32, span, end.tree)


def _rounds(start: tree.Expr, stop: tree.Expr, step: int) -> tree.Expr:
    """(stop - start) / step, rounded up; below 1 if the stop is out of reach."""
    span = stop.span
    ends = (stop, start) if step > 0 else (start, stop)
    distance = tree.Binary(I32, span, "-", *ends)
    size = abs(step)
    if size == 1:
        return distance
    more = tree.Binary(I32, span, "+", distance, _constant(size - 1, span))
    return tree.Binary(I32, span, "/", more, _constant(size, span))


def _nth(first: tree.Local, counter: tree.Local, step: int, element: types.Type) -> tree.Expr:
    span = first.span
    by = tree.Binary(I32, span, "*", tree.LocalRef(I32, span, counter), _constant(step, span))
    value = tree.Binary(I32, span, "+", tree.LocalRef(I32, span, first), by)
    return tree.Convert(element, span, value)


def _constant(number: int, span: Span) -> tree.Expr:
    return tree.Constant(I32, span, Known(I32, number))


def _over_array(ev: Engine, node: nodes.For, items: Item, at: Site, out: Out, body: Body) -> None:
    kind = items.type
    assert isinstance(kind, Array)
    if len(kind.shape) != 1:
        message = f"a loop goes over an array of one dimension, not over `{kind}`"
        raise error(node.items.span, "not-iterable", message)
    values = _stored(ev, node, items, at, out)
    target = tree.Target(node.label)
    site = _site(node, at, target)
    span = node.span
    position = tree.Local(node.position or "position", types.U16, span)
    if node.position:
        scope_of(site).add(node.position, Runtime(position, False), span)
    ev.constants.add(position)
    local = _capture(ev, node.variable, kind.element, node, site)
    index = tree.LocalRef(types.U16, span, position)
    element = tree.Element(kind.element, node.items.span, values, (index,))
    inside: Out = [tree.Declare(node.items.span, local, element)]
    body(ev, node.body.statements, site, inside)
    start, stop = (
        tree.Constant(types.U16, span, Known(types.U16, number)) for number in (0, kind.count)
    )
    out.append(tree.Count(span, target, position, start, stop, 1, tuple(inside)))


def _stored(ev: Engine, node: nodes.For, items: Item, at: Site, out: Out) -> tree.Expr:
    """The array as something to index: a place, or a copy of a value."""
    if isinstance(node.items, nodes.Name | nodes.Member | nodes.Dereference | nodes.Index):
        return place(ev, node.items, at)
    value = ev.live(items, node.items.span)
    if isinstance(items, Known):
        return value
    local = tree.Local("items", items.type, node.items.span)
    if at.function is not None:
        at.function.locals.append(local)
    out.append(tree.Declare(node.items.span, local, value))
    return tree.LocalRef(items.type, node.items.span, local)


def _unrolled(ev: Engine, node: nodes.For, items: Item, at: Site, out: Out, body: Body) -> bool:
    if isinstance(items, Live):
        raise unknown(items, node.items.span)
    element, values = iterated(items, node)
    limit = ev.options.max_inlined_iterations
    if len(values) > limit:
        message = f"{len(values)} rounds are more than the {limit} that may be written out"
        raise error(node.items.span, "inline-limit", message, "--max-inlined-iterations")
    whole = tree.Target(node.label)
    rounds: Out = []
    reached = True
    for position, value in enumerate(values):
        again = tree.Target()
        outer = scope_of(at)
        scope = Scope(
            outer.instance, outer, None, Jump(node.label, True, whole, again, outer=outer.jump)
        )
        scope.add(node.variable, Known(element, value), node.span)
        if node.position:
            scope.add(node.position, Known(types.U16, position), node.span)
        inside: Out = []
        site = Site(scope, at.context, at.function, at.extra)
        reached = body(ev, node.body.statements, site, inside) or again.broken
        rounds.append(tree.Scope(node.body.span, tuple(inside), again if again.broken else None))
        if not reached:
            break
    out.append(tree.Scope(node.span, tuple(rounds), whole if whole.broken else None))
    return reached or whole.broken
