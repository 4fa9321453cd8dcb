"""Routes as the layout states them: where words of a colour go, without running anything.

`trace` follows one colour from one PE; the `find_` functions look at a whole program. Both follow
the switches' initial positions, or with `every_position` whatever any position would do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from .program import COLORS, Port, Program, Route

STEPS = {Port.NORTH: (0, -1), Port.SOUTH: (0, 1), Port.EAST: (1, 0), Port.WEST: (-1, 0)}
LINKS = tuple(STEPS)

Grid = npt.NDArray[np.int64]
Entry = tuple[int, int, int, Port]
"""Where words enter a router, or leave it: x, y, colour, port."""


@dataclass(frozen=True)
class Hop:
    """What one router does with the words of a path."""

    x: int
    y: int
    color: int
    receive: Port
    send: tuple[Port, ...]

    def __str__(self) -> str:
        """Such as `(1,0) WEST->RAMP+EAST`."""
        sent = "+".join(port.name for port in self.send) or "nowhere"
        return f"({self.x},{self.y}) {self.receive.name}->{sent}"


class Reason(StrEnum):
    """Why words can't go on."""

    EDGE = "it leaves the program's rectangle"
    UNCONFIGURED = "the colour is not configured there"
    NOT_RECEIVED = "that router doesn't receive the colour from this side"


@dataclass(frozen=True)
class DeadEnd:
    """A router that sends a colour where nobody takes it."""

    x: int
    y: int
    color: int
    port: Port
    reason: Reason
    to_color: int

    def __str__(self) -> str:
        """Such as `(0,0) colour 4 sends EAST to (1,0), but the colour is not configured there`."""
        dx, dy = STEPS[self.port]
        swapped = f" as colour {self.to_color}" if self.to_color != self.color else ""
        return (
            f"({self.x},{self.y}) colour {self.color} sends {self.port.name}{swapped}"
            f" to ({self.x + dx},{self.y + dy}), but {self.reason}"
        )


@dataclass(frozen=True)
class Drivers:
    """A router that several neighbours send one colour to at once."""

    x: int
    y: int
    color: int
    ports: tuple[Port, ...]

    def __str__(self) -> str:
        """Such as `(2,0) colour 4 receives from WEST and RAMP at once`."""
        names = " and ".join(port.name for port in self.ports)
        return f"({self.x},{self.y}) colour {self.color} receives from {names} at once"


@dataclass(frozen=True)
class Path:
    """Where the words go that a PE sends by a colour: a tree of hops, nearest first."""

    hops: tuple[Hop, ...]
    sinks: tuple[tuple[int, int], ...]
    """PEs that get the words by their ramp."""
    dead_ends: tuple[DeadEnd, ...]
    loops: tuple[Hop, ...]
    """Hops that are reached more than once: words come back, or branches meet."""

    def __str__(self) -> str:
        """Such as `(0,0) RAMP->EAST, (1,0) WEST->RAMP`; at most 12 hops."""
        return hops_text(self.hops)


def hops_text(hops: Sequence[Hop], limit: int = 12) -> str:
    """Hops in a line; of more than `limit`, the first and the last."""
    texts = [str(hop) for hop in hops]
    if len(texts) > limit:
        left = len(texts) - limit + 1
        texts[limit - 2 : -1] = [f"... {left} more ..."]
    return ", ".join(texts)


def masks(route: Route, position: int) -> tuple[int, int]:
    """Masks (receive, send) at a position: each replaces what it names of the one before it.

    25-pt-stencil works only so: its third position sends to the RAMP what it receives from the one
    that the second names.
    """
    receive, send = route.receive, route.send
    for switch in route.positions[:position]:
        receive = receive if switch.receive is None else switch.receive
        send = send if switch.send is None else switch.send
    return receive, send


def reachable(route: Route) -> Iterator[int]:
    """Positions that advances and resets can lead to, the initial one first."""
    yield route.position
    later = route.position
    while later < len(route.positions) and not route.positions[later].invalid:
        later += 1
        yield later
    for earlier in range(route.position):
        if earlier and route.positions[earlier - 1].invalid:
            return
        yield earlier


def reach(route: Route) -> tuple[int, int]:
    """All ports that some position receives from and sends to."""
    receive = send = 0
    for position in reachable(route):
        more = masks(route, position)
        receive |= more[0]
        send |= more[1]
    return receive, send


def ports_of(mask: int) -> tuple[Port, ...]:
    """The ports of a mask."""
    return tuple(port for port in Port if mask >> port & 1)


def opposite(port: Port) -> Port:
    """The port of the neighbour that this link leads to."""
    return Port(port ^ 1)


def color_after(route: Route, port: Port, color: int) -> int:
    """The colour as which words leave by a port."""
    swap = route.swap_x if port in (Port.EAST, Port.WEST) else route.swap_y
    return swap if swap >= 0 and port in STEPS else color


def _route(program: Program, x: int, y: int, color: int) -> Route | None:
    if not (0 <= x < program.width and 0 <= y < program.height):
        return None
    index = int(program.route_of[y, x, color])
    return program.routes[index] if index >= 0 else None


def _sent(route: Route, receive: Port, *, every_position: bool) -> int:
    """Mask that words from a port are sent to; 0: it isn't received from."""
    positions = reachable(route) if every_position else (route.position,)
    sent = 0
    for position in positions:
        taken, send = masks(route, position)
        if taken >> receive & 1:
            sent |= send
    return sent


def trace(program: Program, x: int, y: int, color: int, *, every_position: bool = False) -> Path:
    """Where the words go that the PE at (x, y) sends by a colour."""
    return trace_from(program, (x, y, color, Port.RAMP), every_position=every_position)


def trace_from(program: Program, start: Entry, *, every_position: bool = False) -> Path:
    """Where words go that enter a router at (x, y, colour, port)."""
    hops: dict[Entry, Hop] = {}
    dead_ends: list[DeadEnd] = []
    loops: list[Hop] = []
    waiting = [start]
    for entry in waiting:
        if entry in hops:
            loops.append(hops[entry])
            continue
        hops[entry], onward, ends = _onward(program, entry, every_position=every_position)
        waiting += onward
        dead_ends += ends
    sinks = tuple((hop.x, hop.y) for hop in hops.values() if Port.RAMP in hop.send)
    return Path(tuple(hops.values()), sinks, tuple(dead_ends), tuple(loops))


def _onward(
    program: Program, entry: Entry, *, every_position: bool
) -> tuple[Hop, list[Entry], list[DeadEnd]]:
    """What a router does with words that enter it, and where they enter next or can't."""
    x, y, color, receive = entry
    route = _route(program, x, y, color)
    if route is None:
        return Hop(x, y, color, receive, ()), [], []
    sent = ports_of(_sent(route, receive, every_position=every_position))
    onward: list[Entry] = []
    dead_ends = []
    for port in sent:
        if port not in STEPS:
            continue
        after = color_after(route, port, color)
        reason = _refused(program, (x, y, after, port), every_position=every_position)
        if reason:
            dead_ends.append(DeadEnd(x, y, color, port, reason, after))
        else:
            dx, dy = STEPS[port]
            onward.append((x + dx, y + dy, after, opposite(port)))
    return Hop(x, y, color, receive, sent), onward, dead_ends


def _refused(program: Program, leaving: Entry, *, every_position: bool) -> Reason | None:
    """Why the neighbour at a port doesn't take words of a colour that leave (x, y)."""
    x, y, color, port = leaving
    to_x, to_y = x + STEPS[port][0], y + STEPS[port][1]
    if not (0 <= to_x < program.width and 0 <= to_y < program.height):
        return Reason.EDGE
    route = _route(program, to_x, to_y, color)
    if route is None:
        return Reason.UNCONFIGURED
    receive = reach(route)[0] if every_position or route.positions else route.receive
    return None if receive >> opposite(port) & 1 else Reason.NOT_RECEIVED


def find_dead_ends(program: Program, *, every_position: bool = False) -> tuple[DeadEnd, ...]:
    """All routers that send a colour where nobody ever takes it, by colour, row, column."""
    receives = _port_grid(program, 0, every_position=True)
    sends = _port_grid(program, 1, every_position=every_position)
    found = []
    for color, port in np.ndindex(COLORS, 4):
        after = _colors_after(program, color, Port(port))
        dx, dy = STEPS[Port(port)]
        for y, x in np.argwhere(sends[:, :, color] >> port & 1):
            to_x, to_y, to_color = x + dx, y + dy, int(after[y, x])
            inside = 0 <= to_x < program.width and 0 <= to_y < program.height
            if inside and receives[to_y, to_x, to_color] >> (port ^ 1) & 1:
                continue
            leaving = (int(x), int(y), to_color, Port(port))
            reason = _refused(program, leaving, every_position=True) or Reason.NOT_RECEIVED
            found.append(DeadEnd(int(x), int(y), color, Port(port), reason, to_color))
    return tuple(sorted(found, key=lambda one: (one.color, one.y, one.x, one.port)))


def find_drivers(program: Program) -> tuple[Drivers, ...]:
    """All routers that, at the initial positions, get one colour from several sides."""
    receives = _port_grid(program, 0, every_position=False)
    driven = _driven(program) & receives
    found = []
    count = sum((driven >> port) & 1 for port in range(6))
    for y, x, color in np.argwhere(count > 1):
        ports = ports_of(int(driven[y, x, color]))
        found.append(Drivers(int(x), int(y), int(color), ports))
    return tuple(sorted(found, key=lambda one: (one.color, one.y, one.x)))


def find_loops(program: Program) -> tuple[tuple[Hop, ...], ...]:
    """The hops of every loop that words would run around for ever, at the initial positions."""
    loops: list[tuple[Hop, ...]] = []
    finished: set[Entry] = set()
    for y, x, color in np.argwhere(program.route_of >= 0):
        route = program.routes[program.route_of[y, x, color]]
        for port in ports_of(masks(route, route.position)[0]):
            loops += _search_loops(program, (int(x), int(y), int(color), port), finished)
    return tuple(loops)


def _search_loops(
    program: Program, start: Entry, finished: set[Entry]
) -> Iterator[tuple[Hop, ...]]:
    """Depth first from an entry; a way that leads back to itself is a loop."""
    way: dict[Entry, Hop] = {}
    left: list[list[Entry]] = [[start]]
    while left:
        if not left[-1]:
            left.pop()
            if way:
                finished.add(way.popitem()[0])
            continue
        entry = left[-1].pop()
        if entry in way:
            yield tuple(way.values())[list(way).index(entry) :]
        elif entry not in finished:
            way[entry], onward, _ = _onward(program, entry, every_position=False)
            left.append(onward)


def _port_grid(program: Program, which: int, *, every_position: bool) -> Grid:
    """Per (y, x, colour) the mask of ports received from (0) or sent to (1)."""
    table = [
        reach(route)[which] if every_position else masks(route, route.position)[which]
        for route in program.routes
    ]
    return np.array([*table, 0], dtype=np.int64)[program.route_of]


def _colors_after(program: Program, color: int, port: Port) -> Grid:
    table = [color_after(route, port, color) for route in program.routes]
    return np.array([*table, color], dtype=np.int64)[program.route_of[:, :, color]]


def _driven(program: Program) -> Grid:
    """Per (y, x, colour) the mask of ports by which some neighbour sends; RAMP and HOST count."""
    sends = _port_grid(program, 1, every_position=False)
    driven = np.full(sends.shape, 1 << Port.RAMP | 1 << Port.HOST, dtype=np.int64)
    for color, port in np.ndindex(COLORS, 4):
        after = _colors_after(program, color, Port(port))
        dx, dy = STEPS[Port(port)]
        ys, xs = np.nonzero(sends[:, :, color] >> port & 1)
        inside = (xs + dx >= 0) & (xs + dx < program.width)
        inside &= (ys + dy >= 0) & (ys + dy < program.height)
        ys, xs = ys[inside], xs[inside]
        driven[ys + dy, xs + dx, after[ys, xs]] |= 1 << (port ^ 1)
    return driven
