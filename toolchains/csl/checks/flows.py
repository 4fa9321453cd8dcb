"""Where the wavelets of a whole program may go: all colours at once, over all switch positions.

A search from every sender, breadth first, whose frontiers are arrays: its cost is one visit of each
(router, colour, port) that is reached, and one step of arrays per hop of the longest path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulators.wafer.program import COLORS, Port, Program, Route
from simulators.wafer.routing import STEPS, color_after, masks, reachable

Grid = npt.NDArray[np.bool_]
_PORTS = len(Port)


@dataclass(frozen=True, eq=False)
class Flow:
    """What is reached, by [colour, y, x]."""

    entered: npt.NDArray[np.bool_]
    """By [port, colour, y, x]: wavelets may come into the router there."""
    sinks: Grid
    """Wavelets may go up the ramp, or to the host."""


class Tables:
    """A program's routes as arrays: by port of entry, where a route sends, and as which colour."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.routes = np.moveaxis(program.route_of, 2, 0)
        none = len(program.routes)
        self.sends = np.zeros((none + 1, _PORTS), np.int64)
        self.swaps = np.full((none + 1, _PORTS), -1, np.int64)
        for number, route in enumerate(program.routes):
            self.sends[number] = _sends(route)
            self.swaps[number] = [_swap(route, port) for port in Port]

    def routes_at(
        self, color: npt.NDArray[np.int64], y: npt.NDArray[np.int64], x: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Numbers of routes; the last row of the tables stands for none."""
        found = self.routes[color, y, x].astype(np.int64)
        found[found < 0] = len(self.program.routes)
        return found


def _sends(route: Route) -> list[int]:
    """Per port of entry, the ports that some position sends to."""
    sent = [0] * _PORTS
    for position in reachable(route):
        receive, send = masks(route, position)
        for port in Port:
            if receive >> port & 1 or port is Port.HOST:
                sent[port] |= send
    return sent


def _swap(route: Route, port: Port) -> int:
    after = color_after(route, port, -1)
    return after if port in STEPS else -1


def flow(tables: Tables, senders: Grid, host: Grid) -> Flow:
    """From the PEs that may send a colour, and those where the host may (both [colour, y, x])."""
    height, width = tables.program.height, tables.program.width
    entered = np.zeros((_PORTS, COLORS, height, width), np.bool_)
    sinks = np.zeros((COLORS, height, width), np.bool_)
    entered[Port.RAMP] = senders
    entered[Port.HOST] = host
    port, color, y, x = np.nonzero(entered)
    while port.size:
        route = tables.routes_at(color, y, x)
        sent = tables.sends[route, port]
        up = (sent >> Port.RAMP | sent >> Port.HOST) & 1 == 1
        sinks[color[up], y[up], x[up]] = True
        found = []
        for link, (dx, dy) in STEPS.items():
            goes = sent >> link & 1 == 1
            to_x, to_y = x[goes] + dx, y[goes] + dy
            swap = tables.swaps[route[goes], link]
            to_color = np.where(swap >= 0, swap, color[goes])
            inside = (to_x >= 0) & (to_x < width) & (to_y >= 0) & (to_y < height)
            to_x, to_y, to_color = to_x[inside], to_y[inside], to_color[inside]
            fresh = ~entered[link ^ 1, to_color, to_y, to_x]
            to_x, to_y, to_color = to_x[fresh], to_y[fresh], to_color[fresh]
            entered[link ^ 1, to_color, to_y, to_x] = True
            found.append((np.full(to_x.size, link ^ 1), to_color, to_y, to_x))
        port, color, y, x = (np.concatenate(parts) for parts in zip(*found, strict=True))
        port, color, y, x = _distinct(port, color, y, x, (COLORS, height, width))
    return Flow(entered, sinks)


def _distinct(
    port: npt.NDArray[np.int64],
    color: npt.NDArray[np.int64],
    y: npt.NDArray[np.int64],
    x: npt.NDArray[np.int64],
    shape: tuple[int, int, int],
) -> tuple[npt.NDArray[np.int64], ...]:
    """Each entry once: two routers may reach the same one by swapped colours."""
    keys = np.unique(np.ravel_multi_index((port, color, y, x), (_PORTS, *shape)))
    return tuple(np.unravel_index(keys, (_PORTS, *shape)))
