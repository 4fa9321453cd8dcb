"""What a tile's code may start: calls, and tasks by activation or at the end of operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from simulators.wafer.dsd import Completion, OnControl
from simulators.wafer.opcodes import SystemCall
from simulators.wafer.program import TaskKind
from toolchains.csl import tree, types
from toolchains.csl.source import Span
from toolchains.csl.tile import Tile
from toolchains.csl.types import Type
from toolchains.csl.values import FifoValue, FunctionValue

from .trees import Code, Node


@dataclass(frozen=True, eq=False)
class Start:
    """Something that code may start: a function it calls, or a task."""

    function: tree.Function
    how: str
    """`calls`, `activates`, `unblocks`."""
    span: Span


@dataclass(frozen=True, eq=False)
class Target:
    """A task id, or a task, that code names as what is to run."""

    operation: str
    """`activate` or `unblock`."""
    id: int | None
    """None: not known while compiling, or `task` is given."""
    kind: Type | None
    """Of the id, where code states it."""
    task: FunctionValue | None
    span: Span


def targets(node: Node) -> Iterator[Target]:
    """What a node of the tree activates or unblocks, now or at its end."""
    match node:
        case tree.TaskOp() if node.operation != "block" and not node.target.microthread:
            yield _named(node)
        case tree.VectorOp() | tree.LoadDsr():
            yield from _ends(node.behaviour, node.span)


def _named(node: tree.TaskOp) -> Target:
    where = node.target.id
    known = where.value.data if isinstance(where, tree.Constant) else None
    number = known if isinstance(known, int) else None
    return Target(node.operation, number, where.type, None, node.span)


_OPERATIONS: Mapping[int, str] = {
    Completion.ACTIVATE: "activate",
    Completion.UNBLOCK: "unblock",
}
_CONTROL: Mapping[int, str] = {OnControl.ACTIVATE: "activate", OnControl.UNBLOCK: "unblock"}


def _ends(how: tree.Behaviour, span: Span) -> Iterator[Target]:
    if how.completion in _OPERATIONS:
        operation = _OPERATIONS[how.completion]
        number = how.completion_id if how.completion_id >= 0 else None
        yield Target(operation, number, None, how.completion_task, span)
    if how.on_control in _CONTROL:
        operation = _CONTROL[how.on_control]
        number = how.on_control_id if how.on_control_id >= 0 else None
        yield Target(operation, number, None, how.on_control_task, span)


def bound_to(tile: Tile, target: Target) -> list[tree.Function]:
    """The functions of the tasks that a target names; every local one, if its id isn't known."""
    if target.task is not None:
        return [one.function for one in tile.bindings if one.value is target.task]
    if target.id is None:
        return [one.function for one in tile.bindings if one.kind is TaskKind.LOCAL]
    return [one.function for one in tile.bindings if one.id == target.id]


def unblocks_commands(node: Node) -> bool:
    """Whether it lets the host's next command pass."""
    return isinstance(node, tree.System) and node.call is SystemCall.UNBLOCK_COMMANDS


@dataclass(frozen=True, eq=False)
class Graph:
    """Which functions a function may start, and which of them let the host's commands pass."""

    onward: Mapping[tree.Function, tuple[Start, ...]]
    passing: frozenset[tree.Function]
    """From which unblock_cmd_stream may be reached."""

    def passes(self, starts: list[Start]) -> bool:
        """Whether one of these may get there."""
        return any(one.function in self.passing for one in starts)


def graph_of(tile: Tile, code: Code) -> Graph:
    """The graph of a tile."""
    addressed = _addressed(tile, code)
    onward = {
        function: tuple(start for node in nodes for start in starts(tile, node, addressed))
        for function, nodes in code.nodes.items()
    }
    passing = {
        function for function, nodes in code.nodes.items() if any(map(unblocks_commands, nodes))
    }
    before: dict[tree.Function, list[tree.Function]] = {}
    for function, found in onward.items():
        for start in found:
            before.setdefault(start.function, []).append(function)
    waiting = list(passing)
    while waiting:
        for function in before.get(waiting.pop(), ()):
            if function not in passing:
                passing.add(function)
                waiting.append(function)
    return Graph(onward, frozenset(passing))


def _addressed(tile: Tile, code: Code) -> list[tree.Function]:
    """Functions that a pointer may name: all that something else than a call could reach."""
    called = {node.function for node in code.all() if isinstance(node, tree.Call)}
    bound = {one.function for one in tile.bindings}
    named = {node.function for node in code.all() if isinstance(node, tree.FunctionAddress)}
    return [one for one in tile.functions if one in named or one not in called | bound]


def starts(tile: Tile, node: Node, addressed: list[tree.Function]) -> Iterator[Start]:
    """What one node may start."""
    match node:
        case tree.Call() | tree.Map():
            yield Start(node.function, "calls", node.span)
        case tree.CallPointer():
            fitting = (one for one in addressed if _fits(one, node.pointer.type))
            yield from (Start(one, "calls", node.span) for one in fitting)
        case tree.Constant() if isinstance(node.value.data, FifoValue):
            yield from _of_fifo(tile, node.value.data, node.span)
    for target in targets(node):
        for function in bound_to(tile, target):
            yield Start(function, f"{target.operation}s", target.span)


def _of_fifo(tile: Tile, fifo: FifoValue, span: Span) -> Iterator[Start]:
    for one in tile.fifos:
        if one.value is not fifo:
            continue
        for number, task in (
            (one.activate_push, one.push_task),
            (one.activate_pop, one.pop_task),
        ):
            if number >= 0 or task is not None:
                target = Target("activate", number, None, task, span)
                for function in bound_to(tile, target):
                    yield Start(function, "activates", span)


def _fits(function: tree.Function, pointer: Type) -> bool:
    target = pointer.target if isinstance(pointer, types.Pointer) else pointer
    if not isinstance(target, types.Function):
        return True
    parameters = tuple(local.type for local in function.parameters)
    return target.parameters == parameters and target.result == function.result
