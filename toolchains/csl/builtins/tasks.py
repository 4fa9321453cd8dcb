"""Builtins that bind tasks and start, stop and release them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulators.wafer.program import TaskKind
from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Builtin, Context, Evaluator, Item, Live, Site
from toolchains.csl.source import Span, error
from toolchains.csl.tile import Binding
from toolchains.csl.types import (
    COLOR,
    CONTROL_TASK_ID,
    DATA_TASK_ID,
    INPUT_QUEUE,
    LOCAL_TASK_ID,
    UT_ID,
    VOID,
    Type,
)
from toolchains.csl.values import Known

from .arguments import (
    BLOCK,
    BLOCK_OR_RUNTIME,
    NOTHING,
    fields,
    first,
    function,
    number,
    only,
    within,
)

RESERVED_IDS = frozenset({21, 22, 23, 27, 28, 30})
"""Of memcpy (SDK documentation, task ids)."""
TEARDOWN_ID = 29
_KINDS: Mapping[TaskKind, Type] = {
    TaskKind.LOCAL: LOCAL_TASK_ID,
    TaskKind.DATA: DATA_TASK_ID,
    TaskKind.CONTROL: CONTROL_TASK_ID,
}


def _binder(kind: TaskKind) -> Any:
    def handler(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
        id_node = node.arguments[1]
        number = _task_id(ev, id_node, at, kind)
        bind(ev, node.arguments[0], at, kind, number, node.span)
        return NOTHING

    return handler


def _task_id(ev: Evaluator, node: nodes.Expr, at: Site, kind: TaskKind) -> int:
    value = ev.known(node, at)
    wanted = _KINDS[kind]
    if value.type != wanted:
        message = f"a {kind} task is bound to a `{wanted}`, not to a `{value.type}`"
        hint = f"@get_{wanted}(…)"
        raise error(node.span, "type-mismatch", message, hint)
    assert isinstance(value.data, int)
    return value.data


def bind(
    ev: Evaluator, node: nodes.Expr, at: Site, kind: TaskKind, number: int, span: Span
) -> None:
    """Bind the task that a node names to an id."""
    value, signature = function(ev, node, at, "a task")
    if not signature.task:
        message = f"`{value.node.name}` is a function"
        raise error(
            node.span, "type-mismatch", message, f"declare it so: task {value.node.name}(…) void"
        )
    _check_arguments(kind, len(signature.parameters), node.span)
    for other in ev.tile.bindings:
        if other.id == number and not _apart(ev, kind, other.kind):
            message = f"task id {number} is bound twice: to `{other.value.node.name}` already"
            hint = "all kinds of tasks share one table of ids"
            raise error(span, "duplicate-binding", message, hint, first(other.span))
    _check_reserved(ev, number, kind, span)
    binding = Binding(kind, number, value, ev.specialise(value, node.span), span)
    ev.tile.bindings.append(binding)


def _check_arguments(kind: TaskKind, count: int, span: Span) -> None:
    if kind is TaskKind.LOCAL and count:
        message = "a local task has no parameters: nothing arrives with it"
        raise error(span, "task-parameters", message, "@bind_data_task is for tasks that take data")
    if kind is TaskKind.DATA and not count:
        message = "a data task has a parameter for the wavelet's data"
        raise error(span, "task-parameters", message, "task name(data: f32) void")


def _apart(ev: Evaluator, one: TaskKind, other: TaskKind) -> bool:
    """Control tasks have a table of their own after @set_control_task_table."""
    table = ev.tile.control_table is not None
    return table and TaskKind.CONTROL in (one, other) and one is not other


def _check_reserved(ev: Evaluator, number: int, kind: TaskKind, span: Span) -> None:
    if not ev.options.memcpy or span.source.library or number not in RESERVED_IDS:
        return
    taken = {binding.id for binding in ev.tile.bindings} | RESERVED_IDS
    low = 8 if ev.options.arch == "wse3" else 0
    free = [one for one in range(low, TEARDOWN_ID) if one not in taken]
    message = f"task id {number} is memcpy's"
    hint = f"free for {kind} tasks: {', '.join(map(str, free))}"
    raise error(span, "reserved-id", message, hint)


def _bind_rotating(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@bind_rotating_tasks(data task, control task, data_task_id, .{ .limit = n })."""
    number_ = _task_id(ev, node.arguments[2], at, TaskKind.DATA)
    config = fields(ev, node.arguments[3], at, "the configuration")
    only(config, ("limit", "init"), "the configuration", config)
    if "limit" not in config:
        raise error(node.arguments[3].span, "missing-field", "the configuration needs a .limit")
    for name, one in config.items():
        within(number(one.value, one.span, f".{name}"), 0xFFFF, one.span, f".{name}")
    bind(ev, node.arguments[0], at, TaskKind.DATA, number_, node.span)
    bind(ev, node.arguments[1], at, TaskKind.CONTROL, 0, node.span)
    message = "the tasks don't rotate in the simulation: the data task always runs"
    ev.reports.warn(node.span, "unsupported", message)
    return NOTHING


# --- activate, block, unblock ------------------------------------------------------------------

_MAY_BLOCK: Mapping[str, tuple[Type, ...]] = {
    "wse2": (COLOR, DATA_TASK_ID, LOCAL_TASK_ID),
    "wse3": (INPUT_QUEUE, DATA_TASK_ID, LOCAL_TASK_ID, UT_ID),
}


def _activate(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@activate(local_task_id)."""
    item = _target(ev, node, at, (LOCAL_TASK_ID,))
    if at.context is Context.COMPTIME_BLOCK:
        ev.tile.active.append((_id(item, node), node.span))
        return NOTHING
    return _operation(ev, "activate", item, node)


def _blocker(operation: str) -> Any:
    def handler(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
        item = _target(ev, node, at, _MAY_BLOCK[ev.options.arch])
        if at.context is Context.COMPTIME_BLOCK:
            listed = ev.tile.blocked if operation == "block" else ev.tile.unblocked
            listed.append((_id(item, node), node.span))
            return NOTHING
        return _operation(ev, operation, item, node)

    return handler


def _id(item: Item, node: nodes.BuiltinCall) -> int:
    if isinstance(item, Live) or not isinstance(item.data, int):
        raise error(node.arguments[0].span, "not-comptime", "this isn't known while compiling")
    if item.type == UT_ID:
        message = f"{node.name} of a microthread is for code that runs"
        raise error(node.arguments[0].span, "type-mismatch", message)
    return item.data


def _target(ev: Evaluator, node: nodes.BuiltinCall, at: Site, allowed: tuple[Type, ...]) -> Item:
    argument = node.arguments[0]
    item = ev.item(argument, at)
    if item.type not in allowed:
        names = ", ".join(f"`{kind}`" for kind in allowed)
        message = f"{node.name} takes {'one of ' if len(allowed) > 1 else ''}{names}"
        message += f", not a `{item.type}`"
        raise error(argument.span, "type-mismatch", f"{message} on {ev.options.arch}", _hint(item))
    return item


def _hint(item: Item) -> str:
    if isinstance(item.type, types.Function) and item.type.task:
        return "name the id that the task is bound to"
    if item.type == COLOR:
        return "@get_data_task_id(@get_input_queue(n)), or the queue itself"
    return ""


def _operation(ev: Evaluator, operation: str, item: Item, node: nodes.BuiltinCall) -> Item:
    target = tree.TaskTarget(ev.live(item, node.arguments[0].span), item.type == UT_ID)
    return Live(VOID, tree.TaskOp(VOID, node.span, operation, target))


def _bind_task(_ev: Evaluator, node: nodes.BuiltinCall, _at: Site, _: Type | None) -> Item:
    """@bind_task is from before SDK 1.1."""
    message = "@bind_task is no longer part of CSL"
    hint = "@bind_local_task, @bind_data_task or @bind_control_task, with an id of its kind"
    raise error(node.name_span, "old-builtin", message, hint)


TASKS: dict[str, Builtin] = {
    "@bind_local_task": Builtin(_binder(TaskKind.LOCAL), BLOCK, (2, 2)),
    "@bind_data_task": Builtin(_binder(TaskKind.DATA), BLOCK, (2, 2)),
    "@bind_control_task": Builtin(_binder(TaskKind.CONTROL), BLOCK, (2, 2)),
    "@bind_rotating_tasks": Builtin(_bind_rotating, BLOCK, (4, 4), ("2.10",), ("wse3",)),
    "@bind_task": Builtin(_bind_task, frozenset(Context), (0, -1)),
    "@activate": Builtin(_activate, BLOCK_OR_RUNTIME, (1, 1)),
    "@block": Builtin(_blocker("block"), BLOCK_OR_RUNTIME, (1, 1)),
    "@unblock": Builtin(_blocker("unblock"), BLOCK_OR_RUNTIME, (1, 1)),
}


def known_id(value: Known) -> int:
    """The number of a known id."""
    assert isinstance(value.data, int)
    return value.data
