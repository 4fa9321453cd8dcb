"""SdkLayout: a program put together from code regions, compiled to the simulated wafer.

Here it is only taken down what a host program says; ways, colours' numbers and code are made where
it is compiled (toolchains/csl/wiring.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import SdkRuntimeError
from ._link import CONNECTION
from ._platform import SdkExecutionPlatform
from .geometry.geometry import IntRectangle, IntVector


class Route(Enum):
    """Where a router's wavelets come from or go."""

    RAMP = "RAMP"
    NORTH = "NORTH"
    SOUTH = "SOUTH"
    EAST = "EAST"
    WEST = "WEST"


class Edge(Enum):
    """A side of a code region; the value is the direction that it faces."""

    TOP = "NORTH"
    BOTTOM = "SOUTH"
    LEFT = "WEST"
    RIGHT = "EAST"


class Color:
    """A colour by name: equal names are one colour."""

    def __init__(self, name: str, scope: str = "") -> None:
        self.name = name
        self.key = f"{scope}/{name}" if scope else name


class RoutingPosition:
    """One position of a router's switch; its setters give it back."""

    def __init__(self) -> None:
        self.input: tuple[Route, ...] = ()
        self.output: tuple[Route, ...] = ()

    def set_input(self, routes: Sequence[Route]) -> RoutingPosition:
        """Where wavelets come from."""
        self.input = tuple(routes)
        return self

    def set_output(self, routes: Sequence[Route]) -> RoutingPosition:
        """Where they go."""
        self.output = tuple(routes)
        return self


@dataclass(frozen=True)
class EdgeRouting:
    """Positions for the PEs along an edge."""

    edge: Edge
    positions: Sequence[RoutingPosition]


def get_edge_routing(edge: Edge, positions: Sequence[RoutingPosition]) -> EdgeRouting:
    """For paint_all: what the PEs along an edge have instead."""
    return EdgeRouting(edge, positions)


@dataclass(frozen=True)
class Port:
    """Where a colour enters or leaves a code region."""

    id: int
    input: bool
    size: int


@dataclass(frozen=True)
class Stream:
    """A port that the host is connected to."""

    port: Port


@dataclass(frozen=True)
class Artifacts:
    """What compiling gave: SdkRuntime takes it."""

    folder: str
    streams: dict[int, tuple[int, int, int]]
    """By the port's id: colour, x, y."""
    values: tuple[tuple[int, int, str, bytes], ...]
    """x, y, variable and what is in it from the start."""

    def __str__(self) -> str:
        return self.folder


class CodeRegion:
    """A rectangle of PEs with the code of one file."""

    def __init__(self, layout: SdkLayout, file: str, name: str, width: int, height: int) -> None:
        self._layout = layout
        self.name, self.width, self.height = name, int(width), int(height)
        self._file = file
        self._x = self._y = 0
        self._params: list[dict[str, Any]] = []
        self._paints: list[dict[str, Any]] = []
        self._ports: list[dict[str, Any]] = []
        self._values: list[tuple[int, int, str, bytes]] = []

    def place(self, x: int, y: int) -> None:
        """Where its upper left PE is in the layout; (0, 0) unless said."""
        self._x, self._y = int(x), int(y)

    def color(self, name: str) -> Color:
        """A colour of this region alone, whatever others are called."""
        return Color(name, self.name)

    # --- parameters and variables ----------------------------------------------------------------

    def set_param_all(self, name: str | Color, value: Any = None) -> None:
        """A parameter of every PE: a value, or a colour (alone: by its own name)."""
        self._param(self._all(), name, value)

    def set_param_range(self, where: IntRectangle, name: str | Color, value: Any = None) -> None:
        """A parameter of the PEs of a rectangle."""
        self._param(self._rectangle(where), name, value)

    def set_param(self, where: IntVector, name: str | Color, value: Any = None) -> None:
        """A parameter of one PE."""
        self._param(self._one(where), name, value)

    def set_symbol_all(self, name: str, data: npt.NDArray[Any], width: int, height: int) -> None:
        """A variable of every PE, from the start: blocks of a (height, width) matrix."""
        if width % self.width or height % self.height:
            raise SdkRuntimeError(
                f"set_symbol_all({name!r}): {height} x {width} values can't be shared out evenly to"
                f" {self.height} x {self.width} PEs"
            )
        matrix = np.asarray(data).reshape(height, width)
        rows, columns = height // self.height, width // self.width
        for y in range(self.height):
            for x in range(self.width):
                block = matrix[y * rows : (y + 1) * rows, x * columns : (x + 1) * columns]
                self._values.append((x, y, name, block.tobytes()))

    def _param(self, where: list[int], name: str | Color, value: Any) -> None:
        if isinstance(name, Color):
            name, value = name.name, name
        said: dict[str, Any] = {"name": name, "where": where}
        if isinstance(value, Color):
            said["color"] = value.key
        else:
            said["value"] = value.item() if isinstance(value, np.generic) else value
        self._params.append(said)

    # --- routes and ports ------------------------------------------------------------------------

    def paint_all(
        self,
        color: Color,
        positions: Sequence[RoutingPosition],
        edges: Sequence[EdgeRouting] = (),
    ) -> None:
        """A colour's routes at every PE; at edges, others."""
        self._paint(self._all(), color, positions)
        for one in edges:
            self._paint(self._edge(one.edge), color, one.positions)

    def paint_range(
        self, where: IntRectangle, color: Color, positions: Sequence[RoutingPosition]
    ) -> None:
        """A colour's routes at the PEs of a rectangle."""
        self._paint(self._rectangle(where), color, positions)

    def paint(self, where: IntVector, color: Color, positions: Sequence[RoutingPosition]) -> None:
        """A colour's routes at one PE."""
        self._paint(self._one(where), color, positions)

    def create_input_port(
        self,
        color: Color,
        edge: Edge,
        positions: Sequence[RoutingPosition],
        size: int,
        name: str = "",
    ) -> Port:
        """Where a colour comes in: the positions say only where it goes."""
        del name
        return self._port(color, edge, positions, size, is_input=True)

    def create_output_port(
        self,
        color: Color,
        edge: Edge,
        positions: Sequence[RoutingPosition],
        size: int,
        name: str = "",
    ) -> Port:
        """Where a colour goes out: the positions say only where it comes from."""
        del name
        return self._port(color, edge, positions, size, is_input=False)

    def _port(
        self,
        color: Color,
        edge: Edge,
        positions: Sequence[RoutingPosition],
        size: int,
        *,
        is_input: bool,
    ) -> Port:
        port = self._layout.next_port(is_input, int(size))
        said = {"id": port.id, "color": color.key, "edge": edge.value, "input": is_input}
        self._ports.append({**said, "positions": _positions(positions), "size": port.size})
        return port

    def _paint(self, where: list[int], color: Color, positions: Sequence[RoutingPosition]) -> None:
        said = {"color": color.key, "where": where, "positions": _positions(positions)}
        self._paints.append(said)

    # --- parts -----------------------------------------------------------------------------------

    def _all(self) -> list[int]:
        return [0, 0, self.width, self.height]

    def _one(self, where: IntVector) -> list[int]:
        return self._inside([where.x, where.y, where.x + 1, where.y + 1])

    def _rectangle(self, where: IntRectangle) -> list[int]:
        first, last = where.upper_left, where.lower_right
        return self._inside([first.x, first.y, last.x, last.y])

    def _edge(self, edge: Edge) -> list[int]:
        right, bottom = self.width, self.height
        return {
            Edge.TOP: [0, 0, right, 1],
            Edge.BOTTOM: [0, bottom - 1, right, bottom],
            Edge.LEFT: [0, 0, 1, bottom],
            Edge.RIGHT: [right - 1, 0, right, bottom],
        }[edge]

    def _inside(self, where: list[int]) -> list[int]:
        left, top, right, bottom = (int(one) for one in where)
        if not (0 <= left <= right <= self.width and 0 <= top <= bottom <= self.height):
            raise SdkRuntimeError(
                f'({left}, {top}) to ({right}, {bottom}) is not inside region "{self.name}" of'
                f" {self.width} x {self.height} PEs: coordinates count from its own corner"
            )
        return [left, top, right, bottom]

    def said(self) -> dict[str, Any]:
        """For the compiler."""
        size = {"width": self.width, "height": self.height, "x": self._x, "y": self._y}
        lists = {"params": self._params, "paints": self._paints, "ports": self._ports}
        return {"name": self.name, "file": self._file, **size, **lists}

    def values(self) -> list[tuple[int, int, str, bytes]]:
        """What variables hold from the start, by PEs of the layout."""
        return [(self._x + x, self._y + y, name, data) for x, y, name, data in self._values]


@dataclass(eq=False)
class SdkLayout:
    """Code regions, how they are connected, and the host's streams."""

    platform: SdkExecutionPlatform
    _regions: list[CodeRegion] = field(default_factory=list)
    _connections: list[tuple[int, int]] = field(default_factory=list)
    _streams: list[int] = field(default_factory=list)
    _ports: int = 0

    def create_code_region(self, file: str, name: str, width: int, height: int) -> CodeRegion:
        """PEs that run the code of a file."""
        if any(one.name == name for one in self._regions):
            raise SdkRuntimeError(f'there is a code region "{name}" already: each has its own name')
        region = CodeRegion(self, str(file), name, width, height)
        self._regions.append(region)
        return region

    def connect(self, source: Port, target: Port) -> None:
        """Lead what leaves by an output port to an input port, by some way."""
        if source.input or not target.input:
            raise SdkRuntimeError("connect: an output port first, then an input port")
        self._connections.append((source.id, target.id))

    def create_input_stream(self, port: Port, *args: Any, **kwargs: Any) -> Stream:
        """The host sends to a port. Where the host's connection is changes nothing here."""
        return self._stream(port, is_input=True)

    def create_output_stream(self, port: Port, *args: Any, **kwargs: Any) -> Stream:
        """The host receives from a port."""
        return self._stream(port, is_input=False)

    def _stream(self, port: Port, *, is_input: bool) -> Stream:
        if port.input is not is_input:
            kind = ("an input", "an output") if is_input else ("an output", "an input")
            raise SdkRuntimeError(f"{kind[0]} stream needs {kind[0]} port, not {kind[1]} port")
        self._streams.append(port.id)
        return Stream(port)

    def compile(self, out_prefix: str = "out", **kwargs: Any) -> Artifacts:
        """Compile for SdkRuntime; the other keywords of the SDK change nothing here.

        Raises SdkRuntimeError, with the compiler's messages for mistakes of the regions' code.
        """
        del kwargs
        arch = self.platform.target.value
        layout = {
            "arch": arch,
            "regions": [one.said() for one in self._regions],
            "connections": self._connections,
            "streams": self._streams,
        }
        request = {"do": "layout", "wish": layout, "to": str(out_prefix)}
        answer, _ = CONNECTION.ask(request)
        streams = {port: (color, x, y) for port, color, x, y in answer["streams"]}
        values = tuple(value for one in self._regions for value in one.values())
        return Artifacts(str(answer["name"]), streams, values)

    def next_port(self, is_input: bool, size: int) -> Port:
        """A port with a number of its own."""
        self._ports += 1
        return Port(self._ports, is_input, size)


def _positions(positions: Sequence[RoutingPosition]) -> list[dict[str, list[str]]]:
    return [
        {
            "input": [route.value for route in one.input],
            "output": [route.value for route in one.output],
        }
        for one in positions
    ]
