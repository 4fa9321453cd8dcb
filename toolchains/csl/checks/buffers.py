"""PEs that all send first and read then: what the queues on the way must hold, and can't.

Only what is certain: synchronous sends of a known length that no condition guards, and colours that
nobody reads before. A circle of PEs of which each waits for the next one's reading is a deadlock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from simulators.wafer.profiles import make_profile
from simulators.wafer.program import Port
from simulators.wafer.routing import trace
from toolchains.csl import tree
from toolchains.csl.source import Diagnostic, Note, Severity

from .operands import Operands, Stream
from .trees import everything, parts
from .wafer import Traffic, Wafer

_LEAVES = (tree.Return, tree.Break)
_DEEPEST = 20
_LEAST = 8
"""Wavelets that any way holds."""
_FOLLOWED = 1000
"""PEs with such sends that are looked at."""


@dataclass(eq=False)
class _Order:
    """The operations of a task in the order of its code, calls in place."""

    operands: Operands
    busy: frozenset[tree.Function]
    streams: list[Stream] = field(default_factory=list)
    certain: set[int] = field(default_factory=set)
    """Positions of those that run whenever the task does."""
    guards: int = 0
    depth: int = 0

    def body(self, statements: Sequence[tree.Stmt]) -> None:
        for statement in statements:
            guarded = isinstance(statement, tree.If | tree.Switch | tree.Loop)
            self.guards += guarded
            self.node(statement)
            self.guards -= guarded
            if guarded and any(isinstance(one, _LEAVES) for one in everything((statement,))):
                # For good: what follows may not be reached.
                self.guards += 1

    def node(self, node: object) -> None:
        """Statements and expressions alike; of a call its body, after its arguments."""
        match node:
            case tree.Scope() | tree.BlockValue():
                self.body(node.body)
                return
        for part in parts(node):  # type: ignore[arg-type]
            self.node(part)
        match node:
            case tree.Call() if self.depth < _DEEPEST and node.function in self.busy:
                self.depth += 1
                self.body(node.function.body)
                self.depth -= 1
            case tree.VectorOp():
                stream = self.operands.stream(node)
                if stream is not None:
                    if not self.guards:
                        self.certain.add(len(self.streams))
                    self.streams.append(stream)


@dataclass(frozen=True, eq=False)
class _Send:
    """A synchronous send before anything that could let it end."""

    stream: Stream
    task: str
    later: frozenset[int]
    """Colours that this code reads only after it."""


@dataclass(frozen=True, eq=False)
class _Waiting:
    """A PE's send, and the PEs whose reading it needs."""

    send: _Send
    room: int
    on: tuple[tuple[int, int], ...]


def check_buffers(wafer: Wafer) -> Iterator[Diagnostic]:
    """Circles of PEs that send before they read, more than fits between them."""
    sends = [list(_sends(one)) for one in wafer.traffic]
    if not any(sends):
        return
    waiting: dict[tuple[int, int], _Waiting] = {}
    for number, found in enumerate(sends):
        rows, columns = np.nonzero(wafer.program.class_of == number)
        for y, x in list(zip(rows.tolist(), columns.tolist(), strict=True))[:_FOLLOWED]:
            for send in found:
                one = _blocked(wafer, sends, (x, y), send)
                if one is not None:
                    waiting.setdefault((x, y), one)
    said: set[int] = set()
    for start in waiting:
        circle = _circle(start, waiting)
        if circle and id(waiting[start].send) not in said:
            said.update(id(waiting[spot].send) for spot in circle)
            yield _report(circle, waiting)


def _sends(traffic: Traffic) -> Iterator[_Send]:
    """Synchronous sends of a program, each with the colours that are read only after it."""
    tile = traffic.tile
    if not any(map(_sends_long, traffic.streams)):
        return
    roots = [one.function for one in tile.bindings]
    roots += [one.function for one in tile.exports if one.function is not None]
    orders = []
    for root in dict.fromkeys(roots):
        order = _Order(traffic.operands, traffic.busy)
        order.body(root.body)
        orders.append((root, order))
    for root, order in orders:
        others = {
            one.color
            for function, other in orders
            if function is not root
            for stream in other.streams
            for one in stream.inputs
        }
        for position, stream in enumerate(order.streams):
            if position in order.certain and _sends_long(stream):
                before = {one.color for s in order.streams[:position] for one in s.inputs}
                after = {one.color for s in order.streams[position:] for one in s.inputs}
                yield _Send(stream, root.name, frozenset(after - before - others - {-1}))


def _sends_long(stream: Stream) -> bool:
    """Whether it holds its task until all of a known number of wavelets are sent."""
    output = stream.output
    if output is None or stream.asynchronous or stream.inputs:
        return False
    return output.extent > _LEAST


def _blocked(
    wafer: Wafer, sends: Sequence[Sequence[_Send]], spot: tuple[int, int], send: _Send
) -> _Waiting | None:
    """Which PEs must read before a send can end; None if it can end without."""
    output = send.stream.output
    assert output is not None
    path = trace(wafer.program, *spot, output.color)
    profile = make_profile(wafer.program.arch)
    room = profile.output_depths[output.queue] + profile.router_depth * len(path.hops)
    on = []
    for hop in path.hops:
        if Port.RAMP not in hop.send:
            continue
        number = int(wafer.program.class_of[hop.y, hop.x])
        traffic = wafer.traffic[number]
        if hop.color in traffic.tasks or traffic.takes_any:
            return None
        if any(hop.color in one.later for one in sends[number]):
            queue = traffic.queue(hop.color)
            if output.extent > room + profile.input_depths[queue]:
                room += profile.input_depths[queue]
                on.append((hop.x, hop.y))
    return _Waiting(send, room, tuple(on)) if on else None


def _circle(
    start: tuple[int, int], waiting: dict[tuple[int, int], _Waiting]
) -> list[tuple[int, int]]:
    """PEs from `start` back to it, each waiting for the next; empty if there are none."""
    came: dict[tuple[int, int], tuple[int, int]] = {}
    left = [start]
    for spot in left:
        for on in waiting[spot].on:
            if on == start:
                circle = [spot]
                while circle[0] != start:
                    circle.insert(0, came[circle[0]])
                return circle
            if on in waiting and on not in came:
                came[on] = spot
                left.append(on)
    return []


def _report(
    circle: Sequence[tuple[int, int]], waiting: dict[tuple[int, int], _Waiting]
) -> Diagnostic:
    first = waiting[circle[0]]
    output = first.send.stream.output
    assert output is not None
    names = " → ".join(f"({x},{y})" for x, y in (*circle, circle[0]))
    message = (
        f"`{first.send.task}` sends {output.extent} wavelets of colour {output.color} before it"
        f" reads, and the queues on the way hold {first.room}: {names} wait for each other"
    )
    hint = (
        "send with .async = true, or start the reading first with .async = true;"
        f" a FIFO of {output.extent - first.room} or more would do, too"
    )
    notes = tuple(
        Note(f"({x},{y}) waits here", waiting[x, y].send.stream.node.span)
        for x, y in circle[1:]
        if waiting[x, y].send is not first.send
    )
    return Diagnostic(
        Severity.WARNING, "buffer-need", message, first.send.stream.node.span, hint, notes[:4]
    )
