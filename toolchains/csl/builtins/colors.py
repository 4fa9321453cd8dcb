"""Builtins that make colours, queues and task ids of numbers, and numbers of them."""

from __future__ import annotations

from collections.abc import Mapping

from simulators.wafer.program import COLORS
from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Builtin, Evaluator, Handler, Item, Live, Site
from toolchains.csl.source import Span, error
from toolchains.csl.types import U16, Enum, Int, Type
from toolchains.csl.values import Dsr, Known

from .arguments import ANYWHERE, number

INPUT_QUEUES: Mapping[str, int] = {"wse2": 8, "wse3": 8}
OUTPUT_QUEUES: Mapping[str, int] = {"wse2": 6, "wse3": 8}
"""How many there are (SDK documentation, queue depths)."""
LOCAL_TASKS: Mapping[str, tuple[int, int]] = {"wse2": (0, 30), "wse3": (8, 30)}
TASK_IDS = 64
MICROTHREADS = 8

_NUMBERED = (
    types.COLOR,
    types.INPUT_QUEUE,
    types.OUTPUT_QUEUE,
    types.DATA_TASK_ID,
    types.LOCAL_TASK_ID,
    types.CONTROL_TASK_ID,
    types.UT_ID,
)


def make(
    ev: Evaluator, node: nodes.BuiltinCall, at: Site, kind: Type, limits: tuple[int, int]
) -> Item:
    """A value of an id type from a known number within limits, or a `u16`."""
    argument = node.arguments[0]
    item = ev.item(argument, at)
    if item.type == kind:
        return item
    if item.type in _NUMBERED or isinstance(item.type, Enum):
        message = f"an integer has to stand here, not a `{item.type}`"
        hint = f"{node.name}(@get_int(…)) for the same number"
        raise error(argument.span, "type-mismatch", message, hint)
    if isinstance(item, Known):
        value = number(item, argument.span, f"the number of a {kind}")
        _check(value, kind, limits, argument.span, ev.options.arch)
        return Known(kind, value)
    if item.type != U16:
        message = f"a number that isn't known while compiling has to be a `u16`, not `{item.type}`"
        raise error(argument.span, "type-mismatch", message, "@as(u16, …)")
    return Live(kind, tree.Bitcast(kind, node.span, item.tree))


def _check(value: int, kind: Type, limits: tuple[int, int], span: Span, arch: str) -> None:
    low, high = limits
    if not low <= value <= high:
        message = f"a {kind} of {arch} is from {low} to {high}, not {value}"
        raise error(span, "out-of-range", message, _why(kind, value, arch))


def _why(kind: Type, value: int, arch: str) -> str:
    if kind == types.COLOR:
        return "a program has 24 colours; with memcpy, 21 to 23 are the host's"
    if kind == types.LOCAL_TASK_ID and arch == "wse3" and 0 <= value < 8:
        return "0 to 7 are the data tasks of the input queues"
    return ""


def _maker(kind: Type, limits: Mapping[str, tuple[int, int]]) -> Handler:
    def handler(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
        return make(ev, node, at, kind, limits[ev.options.arch])

    return handler


def _both(low: int, high: int) -> dict[str, tuple[int, int]]:
    return {"wse2": (low, high), "wse3": (low, high)}


def _queues(counts: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    return {arch: (0, count - 1) for arch, count in counts.items()}


def _get_data_task_id(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@get_data_task_id(color), on WSE-3 of an input queue."""
    wanted = types.COLOR if ev.options.arch == "wse2" else types.INPUT_QUEUE
    argument = node.arguments[0]
    item = ev.item(argument, at)
    if item.type != wanted:
        message = f"on {ev.options.arch} a data task id is made of a `{wanted}`, not `{item.type}`"
        maker = "@get_color" if wanted == types.COLOR else "@get_input_queue"
        hint = f"@get_data_task_id({maker}(n))"
        raise error(argument.span, "type-mismatch", message, hint)
    if isinstance(item, Known):
        return Known(types.DATA_TASK_ID, item.data)
    kind = types.DATA_TASK_ID
    return Live(kind, tree.Bitcast(kind, node.span, item.tree))


def _get_int(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@get_int(id): the number of a colour, queue, task id or microthread; an enum's value."""
    item = ev.item(node.arguments[0], at)
    kind = item.type
    if isinstance(kind, Int) or kind == types.COMPTIME_INT:
        return item
    target: Type = kind.backing if isinstance(kind, Enum) else U16
    if isinstance(item, Known) and isinstance(item.data, Dsr) and ev.options.dialect != "1.4":
        return Known(U16, item.data.number)
    if not isinstance(kind, Enum) and kind not in _NUMBERED:
        message = f"@get_int takes ids, queues, colours, enums and integers, not a `{kind}`"
        raise error(node.arguments[0].span, "type-mismatch", message)
    if isinstance(item, Known):
        return Known(target, item.data)
    return Live(target, tree.Bitcast(target, node.span, item.tree))


IDS: dict[str, Builtin] = {
    "@get_color": Builtin(_maker(types.COLOR, _both(0, COLORS - 1)), ANYWHERE, (1, 1)),
    "@get_local_task_id": Builtin(_maker(types.LOCAL_TASK_ID, LOCAL_TASKS), ANYWHERE, (1, 1)),
    "@get_control_task_id": Builtin(
        _maker(types.CONTROL_TASK_ID, _both(0, TASK_IDS - 1)), ANYWHERE, (1, 1)
    ),
    "@get_data_task_id": Builtin(_get_data_task_id, ANYWHERE, (1, 1)),
    "@get_input_queue": Builtin(_maker(types.INPUT_QUEUE, _queues(INPUT_QUEUES)), ANYWHERE, (1, 1)),
    "@get_output_queue": Builtin(
        _maker(types.OUTPUT_QUEUE, _queues(OUTPUT_QUEUES)), ANYWHERE, (1, 1)
    ),
    "@get_ut_id": Builtin(
        _maker(types.UT_ID, _both(0, MICROTHREADS - 1)), ANYWHERE, (1, 1), archs=("wse3",)
    ),
    "@get_int": Builtin(_get_int, ANYWHERE, (1, 1)),
}
