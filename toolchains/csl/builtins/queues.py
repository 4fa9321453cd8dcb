"""Builtins of queues and of the handlers of their states."""

from __future__ import annotations

from simulators.wafer.opcodes import SystemCall
from toolchains.csl import nodes, tree
from toolchains.csl.evaluation import Builtin, Evaluator, Item, Live, Site
from toolchains.csl.source import Span, error
from toolchains.csl.tile import QueueInit
from toolchains.csl.types import COLOR, INPUT_QUEUE, OUTPUT_QUEUE, U16, VOID, Function, Type
from toolchains.csl.values import Known

from .arguments import (
    BLOCK,
    NOTHING,
    RUNTIME,
    Field,
    choice,
    fields,
    first,
    function,
    number,
    only,
    within,
)
from .tasks import TEARDOWN_ID, known_id

PRIORITIES = {"low": -1, "medium": 0, "high": 1}
MEMCPY_QUEUES = (0, 1)
"""On WSE-3 (SDK documentation, task ids)."""
FLUSH_INPUT = 16
"""Added to an input queue's number where both kinds of queues are named by one."""


def _initialize_queue(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@initialize_queue(queue, .{ .color = c, .priority = …, .ctrl_table_id = n })."""
    queue = _queue(ev, node.arguments[0], at)
    output, which = queue.type == OUTPUT_QUEUE, known_id(queue)
    found = (
        fields(ev, node.arguments[1], at, "the configuration") if len(node.arguments) > 1 else {}
    )
    _check_fields(ev, node, output, found)
    for other in ev.tile.queues:
        if (other.output, other.id) == (output, which) and other.explicit:
            message = f"{queue.type} {which} is initialised twice"
            raise error(node.span, "duplicate-queue", message, "", first(other.span))
    _check_memcpy(ev, which, output, node)
    priority = found.get("priority")
    table = found.get("ctrl_table_id")
    ev.tile.queues.append(
        QueueInit(
            output,
            which,
            _color(found["color"]) if "color" in found else -1,
            PRIORITIES[choice(priority, PRIORITIES, ".priority")] if priority else 0,
            _small(table, ".ctrl_table_id") if table else -1,
            node.span,
        )
    )
    return NOTHING


def _queue(ev: Evaluator, node: nodes.Expr, at: Site) -> Known:
    value = ev.known(node, at)
    if value.type not in (INPUT_QUEUE, OUTPUT_QUEUE):
        message = f"a queue has to stand here, not a `{value.type}`"
        hint = "@get_input_queue(n) or @get_output_queue(n)"
        raise error(node.span, "type-mismatch", message, hint)
    return value


def _check_fields(
    ev: Evaluator, node: nodes.BuiltinCall, output: bool, found: dict[str, Field]
) -> None:
    wse3 = ev.options.arch == "wse3"
    if output and not wse3:
        if found:
            message = "an output queue of wse2 takes no configuration"
            hint = "its colour is that of the DSD; @initialize_queue(queue)"
            raise error(node.arguments[1].span, "unknown-field", message, hint)
        return
    allowed = ["color"]
    if not output:
        allowed.append("ctrl_table_id" if wse3 else "priority")
    only(found, allowed, f"the configuration of this queue on {ev.options.arch}", found)
    if "color" not in found:
        kind = "an output" if output else "an input"
        message = f"{kind} queue of {ev.options.arch} is initialised with its colour"
        hint = "@initialize_queue(queue, .{ .color = c })"
        raise error(node.span, "missing-field", message, hint)


def _check_memcpy(ev: Evaluator, which: int, output: bool, node: nodes.BuiltinCall) -> None:
    wse3 = ev.options.arch == "wse3" and ev.options.memcpy
    if not wse3 or which not in MEMCPY_QUEUES or node.span.source.library:
        return
    kind = OUTPUT_QUEUE if output else INPUT_QUEUE
    taken = {one.id for one in ev.tile.queues if one.output is output}
    free = [one for one in range(2, 8) if one not in taken]
    ev.reports.warn(
        node.arguments[0].span,
        "memcpy-queue",
        f"{kind} {which} is memcpy's on wse3",
        f"free here: {', '.join(map(str, free)) or 'none'}",
    )


def _color(one: Field) -> int:
    if one.value.type != COLOR:
        message = f".color is a color, not a `{one.value.type}`"
        raise error(one.span, "type-mismatch", message, "@get_color(n)")
    return known_id(one.value)


def _small(one: Field, what: str) -> int:
    return within(number(one.value, one.span, what), 7, one.span, what)


# --- handlers ----------------------------------------------------------------------------------


def _set_teardown_handler(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@set_teardown_handler(fn()void, color)."""
    made = _handler(ev, node, at)
    value = ev.known(node.arguments[1], at)
    if value.type != COLOR:
        message = f"a color has to stand here, not a `{value.type}`"
        raise error(node.arguments[1].span, "type-mismatch", message)
    which = known_id(value)
    if which in ev.tile.teardown_handlers:
        raise error(
            node.span, "duplicate-handler", f"colour {which} has a teardown handler already"
        )
    ev.tile.teardown_handlers[which] = made
    return NOTHING


def _set_empty_queue_handler(
    ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None
) -> Item:
    """@set_empty_queue_handler(fn()void, queue)."""
    made = _handler(ev, node, at)
    queue = _queue(ev, node.arguments[1], at)
    which = known_id(queue) + (FLUSH_INPUT if queue.type == INPUT_QUEUE else 0)
    if which in ev.tile.empty_handlers:
        message = f"{queue.type} {known_id(queue)} has a handler already"
        raise error(node.span, "duplicate-handler", message)
    ev.tile.empty_handlers[which] = made
    return NOTHING


def _handler(ev: Evaluator, node: nodes.BuiltinCall, at: Site) -> tree.Function:
    value, kind = function(ev, node.arguments[0], at, "a function")
    if kind != Function((), VOID):
        message = f"a handler is a `fn()void`, not a `{kind}`"
        raise error(node.arguments[0].span, "type-mismatch", message)
    _no_teardown_task(ev, node.span)
    return ev.specialise(value, node.arguments[0].span)


def _no_teardown_task(ev: Evaluator, span: Span) -> None:
    for binding in ev.tile.bindings:
        if binding.id == TEARDOWN_ID:
            message = f"task id {TEARDOWN_ID} is bound: there can be no handlers besides"
            raise error(span, "duplicate-binding", message, "", first(binding.span))


def _queue_flush(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@queue_flush(queue): the teardown task, or the queue's handler, runs once it is empty."""
    item = ev.item(node.arguments[0], at)
    span = node.arguments[0].span
    if item.type not in (INPUT_QUEUE, OUTPUT_QUEUE):
        raise error(span, "type-mismatch", f"a queue has to stand here, not a `{item.type}`")
    which: tree.Expr
    base = FLUSH_INPUT if item.type == INPUT_QUEUE else 0
    if isinstance(item, Known):
        which = ev.live(Known(U16, known_id(item) + base), span)
    else:
        which = tree.Bitcast(U16, span, item.tree)
        if base:
            which = tree.Binary(U16, span, "+", which, ev.live(Known(U16, base), span))
    return Live(VOID, tree.System(VOID, node.span, SystemCall.QUEUE_FLUSH, (which,)))


def _set_control_task_table(
    ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None
) -> Item:
    """@set_control_task_table(.{ .instructions = 2, 4 or 8, .stride = 1 to 7 })."""
    if ev.tile.control_table is not None:
        raise error(node.span, "duplicate-table", "the table of control tasks is set already")
    found = fields(ev, node.arguments[0], at, "the configuration") if node.arguments else {}
    only(found, ("instructions", "stride"), "the configuration", found)
    instructions, stride = 4, 1
    if "instructions" in found:
        one = found["instructions"]
        instructions = number(one.value, one.span, ".instructions")
        if instructions not in (2, 4, 8):
            message = f".instructions is 2, 4 or 8, not {instructions}"
            raise error(one.span, "out-of-range", message)
    if "stride" in found:
        one = found["stride"]
        stride = number(one.value, one.span, ".stride")
        if not 1 <= stride <= 7:
            raise error(one.span, "out-of-range", f".stride is from 1 to 7, not {stride}")
    ev.tile.control_table = (instructions, stride)
    return NOTHING


QUEUES: dict[str, Builtin] = {
    "@initialize_queue": Builtin(_initialize_queue, BLOCK, (1, 2)),
    "@set_teardown_handler": Builtin(_set_teardown_handler, BLOCK, (2, 2)),
    "@set_empty_queue_handler": Builtin(_set_empty_queue_handler, BLOCK, (2, 2), archs=("wse3",)),
    "@queue_flush": Builtin(_queue_flush, RUNTIME, (1, 1), archs=("wse3",)),
    "@set_control_task_table": Builtin(_set_control_task_table, BLOCK, (0, 1), archs=("wse3",)),
}
