"""Configurations of operations and of DSR loads: how they run, and what follows their end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulators.wafer.dsd import Completion, OnControl
from simulators.wafer.program import TaskKind
from toolchains.csl import tree, types
from toolchains.csl.evaluation import Evaluator
from toolchains.csl.source import CslError, Note, Span, error
from toolchains.csl.tile import NamedTask
from toolchains.csl.types import (
    COLOR,
    DATA_TASK_ID,
    INPUT_QUEUE,
    LOCAL_TASK_ID,
    U16,
    UT_ID,
    Type,
)
from toolchains.csl.values import FunctionValue, Known

from .arguments import Field, choice
from .operands import Part, allow, known_flag, known_part

PRIORITIES = {"low": -1, "medium": 0, "high": 1}
_ENDS = ("async", "activate", "unblock", "on_control")
_OF_OPERATION = {
    "wse2": (*_ENDS, "index", "priority"),
    "wse3": (*_ENDS, "index", "ut_id"),
}
_OF_LOAD = {
    "wse2": (*_ENDS, "priority", "save_address", "single_step"),
    "wse3": (*_ENDS, "ut_id", "save_address", "single_step"),
}
_ACTIVATES: tuple[Type, ...] = (LOCAL_TASK_ID,)
_UNBLOCKS: Mapping[str, tuple[Type, ...]] = {
    "wse2": (LOCAL_TASK_ID, DATA_TASK_ID, COLOR),
    "wse3": (LOCAL_TASK_ID, DATA_TASK_ID, INPUT_QUEUE),
}


@dataclass(frozen=True)
class Target:
    """A task that something activates or unblocks: its id, or the task itself."""

    id: int = -1
    task: FunctionValue | None = None


NO_TARGET = Target()


def of_operation(ev: Evaluator, found: dict[str, Part], name: str, simd: int) -> tree.Behaviour:
    """The configuration of a DSD operation."""
    allow(found, _OF_OPERATION[ev.options.arch], f"the configuration of {name}")
    return _behaviour(ev, found, simd)


def of_load(ev: Evaluator, found: dict[str, Part], name: str) -> tree.Behaviour:
    """The configuration of @load_to_dsr."""
    allow(found, _OF_LOAD[ev.options.arch], f"the configuration of {name}")
    for one in ("save_address", "single_step"):
        if one in found and found[one].item.type != types.BOOL:
            known_flag(found, one)
    return _behaviour(ev, found, -1)


def _behaviour(ev: Evaluator, found: dict[str, Part], simd: int) -> tree.Behaviour:
    asynchronous = known_flag(found, "async")
    completion, target = _completion(ev, found, asynchronous)
    on_control, control = _on_control(ev, found)
    index = None
    if "index" in found:
        part = found["index"]
        index = ev.live(ev.coerce(part.item, U16, part.span), part.span)
    return tree.Behaviour(
        asynchronous,
        completion,
        target.id,
        on_control,
        control.id,
        index,
        _microthread(found),
        _priority(found),
        simd,
        known_flag(found, "save_address"),
        known_flag(found, "single_step"),
        target.task,
        control.task,
    )


def _completion(
    ev: Evaluator, found: dict[str, Part], asynchronous: bool
) -> tuple[Completion, Target]:
    named = [one for one in ("activate", "unblock") if one in found]
    if len(named) == 2:
        message = "an operation either activates or unblocks at its end"
        raise error(found["unblock"].span, "bad-completion", message, "leave one of them out")
    if not named:
        return Completion.NOTHING, NO_TARGET
    part = found[named[0]]
    if not asynchronous:
        message = f".{named[0]} is of asynchronous operations: others are done when code goes on"
        hint = f".async = true, or @{named[0]}(…) afterwards"
        raise error(part.span, "bad-completion", message, hint)
    what = Completion.ACTIVATE if named[0] == "activate" else Completion.UNBLOCK
    return what, target_of(ev, part, named[0])


def _on_control(ev: Evaluator, found: dict[str, Part]) -> tuple[OnControl, Target]:
    part = found.get("on_control")
    if part is None:
        return OnControl.DEFAULT, NO_TARGET
    names = ("terminate", "activate", "unblock")
    kind = part.item.type
    fields = kind.fields if isinstance(kind, types.Anonymous | types.Struct) else ()
    if len(fields) != 1 or fields[0][0] not in names:
        message = ".on_control has one field: terminate, activate or unblock"
        raise error(part.span, "bad-choice", message, ".{ .terminate = true }")
    name = fields[0][0]
    value = known_part(part, ".on_control")
    data: Any = value.data
    inner = Part(Known(fields[0][1], data[0]), part.span)
    if name == "terminate":
        on = known_flag({name: inner}, name)
        return (OnControl.TERMINATE if on else OnControl.DEFAULT), NO_TARGET
    how = OnControl.ACTIVATE if name == "activate" else OnControl.UNBLOCK
    return how, target_of(ev, inner, name)


def _microthread(found: dict[str, Part]) -> int:
    if "ut_id" not in found:
        return -1
    value = known_part(found["ut_id"], ".ut_id")
    if value.type != UT_ID:
        message = f".ut_id is a `ut_id`, not a `{value.type}`"
        raise error(found["ut_id"].span, "type-mismatch", message, "@get_ut_id(n)")
    data: Any = value.data
    return int(data)


def _priority(found: dict[str, Part]) -> int:
    if "priority" not in found:
        return 0
    part = found["priority"]
    return PRIORITIES[
        choice(Field(known_part(part, ".priority"), part.span), PRIORITIES, ".priority")
    ]


def target_of(ev: Evaluator, part: Part, operation: str) -> Target:
    """What is activated or unblocked: an id, or a task that is bound to one somewhere."""
    value = known_part(part, f".{operation}")
    kind = value.type
    if isinstance(value.data, FunctionValue):
        if isinstance(kind, types.Function) and kind.task:
            ev.tile.named_tasks.append(NamedTask(value.data, operation, part.span))
            return Target(task=value.data)
        message = f".{operation} takes a task, and `{value.data.node.name}` is a function"
        raise error(part.span, "type-mismatch", message, f"task {value.data.node.name}() void")
    allowed = _ACTIVATES if operation == "activate" else _UNBLOCKS[ev.options.arch]
    if kind not in allowed:
        names = ", ".join(f"`{one}`" for one in allowed)
        message = f".{operation} takes {names} or the name of a task, not a `{kind}`"
        raise error(part.span, "type-mismatch", message)
    data: Any = value.data
    return Target(int(data))


# --- at the end of the analysis ------------------------------------------------------------------


def check_named_tasks(ev: Evaluator) -> None:
    """Every task that is named where an id could stand is bound to exactly one."""
    for one in ev.tile.named_tasks:
        try:
            _check_named(ev, one)
        except CslError as problem:
            ev.reports.add(problem.diagnostic)


def _check_named(ev: Evaluator, one: NamedTask) -> None:
    bound = [binding for binding in ev.tile.bindings if binding.value is one.value]
    name = one.value.node.name
    if not bound:
        message = f"`{name}` is bound to no id, so nothing can {one.operation} it"
        hint = f"@bind_local_task({name}, @get_local_task_id(n)) in a comptime block"
        raise error(one.span, "unbound-task", message, hint)
    if len({binding.id for binding in bound}) > 1:
        notes = tuple(Note(f"bound to {binding.id} here", binding.span) for binding in bound)
        ids = " and ".join(str(binding.id) for binding in bound)
        message = f"`{name}` is bound to {ids}"
        raise error(one.span, "ambiguous-task", message, "name the id instead", notes)
    if one.operation == "activate" and bound[0].kind is not TaskKind.LOCAL:
        message = f"only local tasks can be activated, and `{name}` is a {bound[0].kind} task"
        raise error(one.span, "type-mismatch", message, "", (_bound_here(bound[0].span),))


def _bound_here(span: Span) -> Note:
    return Note("bound here", span)
