"""Routes of what code sends and takes: lost words, loops, several drivers, no sender."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from simulators.wafer.program import Port
from simulators.wafer.rectangles import rectangles
from simulators.wafer.routing import (
    STEPS,
    DeadEnd,
    Drivers,
    Hop,
    Reason,
    find_dead_ends,
    find_drivers,
    find_loops,
    hops_text,
    trace,
)
from toolchains.csl.layout import Layout
from toolchains.csl.source import Diagnostic, Note, Severity, Span
from toolchains.csl.tile import ColorConfig

from .operands import Stream
from .wafer import Wafer

Spot = tuple[int, int]


class Routes:
    """The checks, with what they need to find a route's place in the source."""

    def __init__(self, wafer: Wafer, layout: Layout) -> None:
        self.wafer = wafer
        self.layout = layout

    def config(self, x: int, y: int, color: int) -> ColorConfig | None:
        """What configured a colour at a PE."""
        found = self.layout.colors.get((x, y, color))
        if found is not None:
            return found
        tile = self.wafer.traffic[int(self.wafer.program.class_of[y, x])].tile
        return next((one for one in tile.color_configs if one.color == color), None)

    def span(self, x: int, y: int, color: int) -> Span | None:
        """Where that stands."""
        found = self.config(x, y, color)
        return None if found is None else found.span

    def check(self) -> Iterator[Diagnostic]:
        """All that is wrong, by kind."""
        yield from self._loops()
        yield from self._dead_ends()
        yield from self._drivers()
        yield from self._streams()

    # --- routers ---------------------------------------------------------------------------------

    def _loops(self) -> Iterator[Diagnostic]:
        if not self._may_turn_back():
            return
        for hops in find_loops(self.wafer.program):
            if not all(self._enters(hop) for hop in hops):
                continue
            first = min(hops, key=lambda hop: (hop.y, hop.x))
            at = hops.index(first)
            way = hops_text((*hops[at:], *hops[:at]))
            message = f"wavelets of colour {first.color} go round for ever: {way}"
            hint = "one of these routers has to send elsewhere, or a switch has to turn it"
            yield _warning("route-loop", message, self.span(first.x, first.y, first.color), hint)

    def _may_turn_back(self) -> bool:
        """Whether a colour leads both ways of some axis, as every loop does."""
        tables = self.wafer.tables
        if (tables.swaps >= 0).any():
            return True
        used = np.bitwise_or.reduce(tables.sends, axis=1)
        return any(
            (ways >> one & 1) and (ways >> other & 1)
            for routes in tables.routes
            for ways in [int(np.bitwise_or.reduce(used[np.unique(routes[routes >= 0])]))]
            for one, other in ((Port.EAST, Port.WEST), (Port.NORTH, Port.SOUTH))
        )

    def _enters(self, hop: Hop) -> bool:
        return bool(self.wafer.flow.entered[hop.receive, hop.color, hop.y, hop.x])

    def _dead_ends(self) -> Iterator[Diagnostic]:
        groups: dict[tuple[Span | None, str], list[DeadEnd]] = {}
        for end in find_dead_ends(self.wafer.program):
            if self._switched(end.x, end.y, end.color) or not self._sends(end):
                continue
            span = self.span(end.x, end.y, end.color)
            if end.reason is Reason.EDGE and self._further(span, end):
                continue
            groups.setdefault((span, f"{end.port.name} {end.reason}"), []).append(end)
        for (span, _), ends in groups.items():
            notes = self._way_to(ends[0])
            if len(ends) > 1:
                where = rectangles((end.x, end.y) for end in ends)
                notes = (*notes, Note(f"likewise from the PEs {where}"))
            hint = "leave this direction out of .tx there, or configure the neighbour to receive it"
            yield _warning("route-dead-end", f"wavelets are lost: {ends[0]}", span, hint, notes)

    def _further(self, span: Span | None, end: DeadEnd) -> bool:
        """Whether a statement also configures PEs from which it is not off the rectangle.

        Published programs let one loop configure a row to its end, where what is sent on is lost.
        """
        places = [key for key, one in self.layout.colors.items() if one.span == span]
        dx, dy = STEPS[end.port]
        width, height = self.wafer.program.width, self.wafer.program.height
        return not places or any(0 <= x + dx < width and 0 <= y + dy < height for x, y, _ in places)

    def _switched(self, x: int, y: int, color: int) -> bool:
        found = self.config(x, y, color)
        return found is None or bool(found.route.positions)

    def _sends(self, end: DeadEnd) -> bool:
        """Whether wavelets get there at all."""
        entered = self.wafer.flow.entered[:, end.color, end.y, end.x]
        route = self.wafer.tables.routes[end.color, end.y, end.x]
        sends = self.wafer.tables.sends[route]
        return any(entered[port] and sends[port] >> end.port & 1 for port in Port)

    def _way_to(self, end: DeadEnd) -> tuple[Note, ...]:
        """A path from a sender that leads there."""
        for x, y in _nearest(self.wafer, end.color, (end.x, end.y)):
            path = trace(self.wafer.program, x, y, end.color, every_position=True)
            if any((one.x, one.y, one.port) == (end.x, end.y, end.port) for one in path.dead_ends):
                return (Note(f"their path: {path}"),)
        return ()

    def _drivers(self) -> Iterator[Diagnostic]:
        for one in find_drivers(self.wafer.program):
            ports = [port for port in one.ports if self._driven(one, port)]
            if len(ports) < 2 or self._switched(one.x, one.y, one.color):
                continue
            names = " and ".join(port.name for port in ports)
            message = (
                f"({one.x},{one.y}) colour {one.color} receives from {names} at once: their"
                " wavelets mix in any order"
            )
            hint = "a colour of its own for each, or a switch that changes .rx"
            yield _warning("several-drivers", message, self.span(one.x, one.y, one.color), hint)

    def _driven(self, one: Drivers, port: Port) -> bool:
        return bool(self.wafer.flow.entered[port, one.color, one.y, one.x])

    # --- operations ------------------------------------------------------------------------------

    def _streams(self) -> Iterator[Diagnostic]:
        """Operations whose colour gets nowhere or from nowhere, in every program that has them.

        Programs for several PEs often choose at run time; where one class of PEs can do what an
        operation says, it is taken not to be meant for the others.
        """
        found: dict[tuple[Span, str], Diagnostic | None] = {}
        for number, traffic in enumerate(self.wafer.traffic):
            rows, columns = np.nonzero(self.wafer.program.class_of == number)
            spots = list(zip(columns.tolist(), rows.tolist(), strict=True))
            for stream in traffic.streams:
                for kind, problem in self._of(stream, spots):
                    key = (stream.node.span, kind)
                    if problem is None or key not in found:
                        found[key] = problem
        yield from (one for one in found.values() if one is not None)

    def _of(self, stream: Stream, spots: Sequence[Spot]) -> Iterator[tuple[str, Diagnostic | None]]:
        output = stream.output
        streams = {one.color for one in self.wafer.program.streams}
        if output is not None and output.color not in streams | {-1}:
            yield "sends", self._unread(stream, output.color, spots)
        for one in stream.inputs:
            if one.color not in streams | {-1}:
                yield f"takes {one.queue}", self._unsent(stream, one.color, spots)

    def _unsent(self, stream: Stream, color: int, spots: Sequence[Spot]) -> Diagnostic | None:
        """No PE with this code ever gets the colour that an operation waits for."""
        if any(self.wafer.flow.sinks[color, y, x] for x, y in spots):
            return None
        known = any(self.wafer.program.route_of[y, x, color] >= 0 for x, y in spots)
        why = "nothing sends it there" if known else "their routers don't know the colour"
        message = f"{stream.name} waits for colour {color} at {rectangles(spots)}, but {why}"
        hint = "a route that leads from a sender to the RAMP of these PEs"
        return _warning("never-sent", message, stream.node.span, hint, self._senders(color))

    def _senders(self, color: int) -> tuple[Note, ...]:
        rows, columns = np.nonzero(self.wafer.flow.entered[Port.RAMP, color])
        if not len(rows):
            return (Note("no PE's code sends this colour"),)
        x, y = int(columns[0]), int(rows[0])
        path = trace(self.wafer.program, x, y, color, every_position=True)
        return (Note(f"a sender's path: {path}"),)

    def _unread(self, stream: Stream, color: int, spots: Sequence[Spot]) -> Diagnostic | None:
        """What no PE with this code sends to anyone who takes it."""
        problem = ""
        for x, y in reversed(spots):
            problem = self._lost(x, y, color)
            if not problem:
                return None
        x, y = spots[0]
        message = f"{stream.name} sends colour {color} from ({x},{y}), but {problem}"
        path = trace(self.wafer.program, x, y, color, every_position=True)
        notes: tuple[Note, ...] = (Note(f"its path: {path}"),)
        if len(spots) > 1:
            notes = (*notes, Note(f"likewise from the PEs {rectangles(spots)}"))
        hint = "the last router sends to its RAMP, and code there reads the colour or has a task"
        return _warning("never-read", message, stream.node.span, hint, notes)

    def _lost(self, x: int, y: int, color: int) -> str:
        """Why what a PE sends is read by nobody; empty: somebody may read it."""
        if self.wafer.program.route_of[y, x, color] < 0:
            return "the colour is not configured there"
        path = trace(self.wafer.program, x, y, color, every_position=True)
        ends = [(hop.x, hop.y, hop.color) for hop in path.hops if Port.RAMP in hop.send]
        if any(Port.HOST in hop.send for hop in path.hops):
            return ""
        if not ends and path.dead_ends:
            return f"they are lost: {path.dead_ends[0]}"
        if not ends:
            return "no router on its way sends it to its RAMP"
        if any(self.wafer.takes[to_color, to_y, to_x] for to_x, to_y, to_color in ends):
            return ""
        return f"no code of {rectangles((end[0], end[1]) for end in ends)} takes it"


def _nearest(wafer: Wafer, color: int, to: Spot) -> list[Spot]:
    """The senders of a colour that are nearest to a PE."""
    rows, columns = np.nonzero(wafer.flow.entered[Port.RAMP, color])
    distance = abs(rows - to[1]) + abs(columns - to[0])
    order = np.argsort(distance, kind="stable")[:16]
    return [(int(columns[one]), int(rows[one])) for one in order]


def _warning(
    code: str, message: str, span: Span | None, hint: str, notes: tuple[Note, ...] = ()
) -> Diagnostic:
    return Diagnostic(Severity.WARNING, code, message, span, hint, notes)
