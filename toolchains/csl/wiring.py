"""From what a host program said to SdkLayout to the text of a layout in CSL.

Colours that a connection joins are one; each connection gets the shortest free way between its
ports; colours that share no PE may share a number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict

from simulators.wafer.program import COLORS

from . import nodes
from .builtins.routes import SWITCH_COLORS_WSE3
from .parser import parse
from .source import Reader, Source

Spot = tuple[int, int]
Direction = Literal["RAMP", "NORTH", "SOUTH", "EAST", "WEST"]

_STEPS: Mapping[Direction, Spot] = {
    "NORTH": (0, -1),
    "SOUTH": (0, 1),
    "EAST": (1, 0),
    "WEST": (-1, 0),
}
_MARGIN = 1
"""Columns and rows east and south of all regions that ways may use."""
_MOST_POSITIONS = 4
"""Of a router's switch."""


class WiringError(Exception):
    """What was said to SdkLayout can't be a layout; the message says why."""


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Position(_Said):
    """One position of a router's switch."""

    input: tuple[Direction, ...] = ()
    output: tuple[Direction, ...] = ()


class Paint(_Said):
    """Routes of a colour in part of a region: (left, top, right, bottom), ends excluded."""

    color: str
    where: tuple[int, int, int, int]
    positions: tuple[Position, ...]


class Param(_Said):
    """A value, or a colour, of a parameter in part of a region."""

    name: str
    where: tuple[int, int, int, int]
    value: bool | int | float | None = None
    color: str | None = None


class Port(_Said):
    """Where a colour enters or leaves a region: all PEs along an edge."""

    id: int
    color: str
    edge: Direction
    input: bool
    positions: tuple[Position, ...]
    size: int


class Region(_Said):
    """PEs with the code of one file."""

    name: str
    file: str
    width: int
    height: int
    x: int
    y: int
    params: tuple[Param, ...] = ()
    paints: tuple[Paint, ...] = ()
    ports: tuple[Port, ...] = ()
    color_params: frozenset[str] = frozenset()
    """Parameters that the file declares as `color`: others get a colour's number."""

    def spots(self) -> Iterator[Spot]:
        """Its PEs in the layout."""
        for y in range(self.y, self.y + self.height):
            for x in range(self.x, self.x + self.width):
                yield x, y

    def edge(self, edge: Direction) -> list[Spot]:
        """Its PEs along an edge, west to east or north to south."""
        dx, dy = _STEPS[edge]
        column = self.x + (self.width - 1 if dx > 0 else 0)
        row = self.y + (self.height - 1 if dy > 0 else 0)
        if dx:
            return [(column, self.y + n) for n in range(self.height)]
        return [(self.x + n, row) for n in range(self.width)]


class Wish(_Said):
    """All that was said to an SdkLayout."""

    arch: Literal["wse2", "wse3"]
    regions: tuple[Region, ...]
    connections: tuple[tuple[int, int], ...] = ()
    """Of an output port and an input port, by their ids."""
    streams: tuple[int, ...] = ()
    """Ports that the host is connected to."""


@dataclass(frozen=True)
class HostStream:
    """Where the host reaches a port: SdkRuntime.send and receive need it."""

    port: int
    color: int
    x: int
    y: int


@dataclass(frozen=True)
class Wired:
    """A layout's text, and what a host program needs to know of it."""

    text: str
    streams: tuple[HostStream, ...]


def wire(wish: Wish, read: Reader) -> Wired:
    """read: text of a region's file by its path. Raises WiringError."""
    regions = tuple(
        one.model_copy(update={"color_params": _color_params(one.file, read)})
        for one in wish.regions
    )
    return _Wiring(wish.model_copy(update={"regions": regions})).wired()


def _color_params(file: str, read: Reader) -> frozenset[str]:
    """Parameters of type `color`. Raises WiringError."""
    try:
        text = read(file)
    except (OSError, UnicodeDecodeError) as problem:
        raise WiringError(f"create_code_region: {file} can't be read: {problem}") from None
    module, _ = parse(Source(file, "", text))
    items = () if module is None else module.items
    return frozenset(
        one.name
        for one in items
        if isinstance(one, nodes.Param)
        and isinstance(one.type, nodes.Name)
        and one.type.name == "color"
    )


@dataclass
class _Wiring:
    wish: Wish
    owner: dict[Spot, Region] = field(default_factory=dict)
    joined: dict[str, str] = field(default_factory=dict)
    """Of a colour, another that is the same (itself: none)."""
    cells: dict[str, dict[Spot, tuple[Position, ...]]] = field(default_factory=dict)
    """Of each colour, the PEs with a route of it."""

    def wired(self) -> Wired:
        if not self.wish.regions:
            raise WiringError("the layout has no code region: create_code_region")
        self._place()
        ports = {one.id: (region, one) for region in self.wish.regions for one in region.ports}
        for source, target in self.wish.connections:
            _compatible(ports[source], ports[target])
            self.joined[self._color(ports[source][1].color)] = self._color(ports[target][1].color)
        for region in self.wish.regions:
            self._paint(region)
        for source, target in self.wish.connections:
            self._connect(ports[source], ports[target])
        numbers = self._numbers()
        streams = []
        for port in self.wish.streams:
            region, one = ports[port]
            spots = region.edge(one.edge)
            if len(spots) != 1:
                raise WiringError(
                    f'a stream of the host needs a port of one PE: "{one.color}" of'
                    f' "{region.name}" has {len(spots)}'
                )
            streams.append(HostStream(port, numbers[self._color(one.color)], *spots[0]))
        return Wired(self._text(numbers, streams, ports), tuple(streams))

    def _place(self) -> None:
        for region in self.wish.regions:
            if min(region.width, region.height) < 1 or min(region.x, region.y) < 0:
                raise WiringError(
                    f'region "{region.name}" has {region.width} x {region.height} PEs at'
                    f" ({region.x}, {region.y}): it needs at least one, from (0, 0) on"
                )
            for spot in region.spots():
                other = self.owner.setdefault(spot, region)
                if other is not region:
                    raise WiringError(
                        f'regions "{other.name}" and "{region.name}" both have PE {spot}: place()'
                        " moves one"
                    )

    def _color(self, name: str) -> str:
        """The name of all that is joined to a colour."""
        while self.joined.setdefault(name, name) != name:
            name = self.joined[name]
        return name

    def _paint(self, region: Region) -> None:
        for one in region.paints:
            left, top, right, bottom = one.where
            for y in range(top, bottom):
                for x in range(left, right):
                    self._set(one.color, (region.x + x, region.y + y), one.positions)
        for port in region.ports:
            for spot in region.edge(port.edge):
                self._set(port.color, spot, tuple(_outward(port, one) for one in port.positions))

    def _set(self, color: str, spot: Spot, positions: tuple[Position, ...]) -> None:
        if not 1 <= len(positions) <= _MOST_POSITIONS:
            raise WiringError(
                f'colour "{color}" at PE {spot} has {len(positions)} routing positions: a router'
                f" has 1 to {_MOST_POSITIONS}"
            )
        if any(not one.input or not one.output for one in positions):
            raise WiringError(
                f'colour "{color}" at PE {spot} has a position without input or output'
            )
        self.cells.setdefault(self._color(color), {})[spot] = positions

    # --- ways between ports ----------------------------------------------------------------------

    def _connect(self, source: tuple[Region, Port], target: tuple[Region, Port]) -> None:
        color = self._color(source[1].color)
        starts = source[0].edge(source[1].edge)
        ends = target[0].edge(target[1].edge)
        for start, end in zip(starts, ends, strict=True):
            way = self._way(color, (start, source[1].edge), (end, target[1].edge))
            if way is None:
                raise WiringError(
                    f'no free way for colour "{color}" from PE {start} ({source[0].name}) to PE'
                    f" {end} ({target[0].name}): leave PEs without code between them"
                )
            for before, spot, after in zip(way, way[1:], way[2:], strict=False):
                position = Position(
                    input=(_towards(spot, before),), output=(_towards(spot, after),)
                )
                self._set(color, spot, (position,))

    def _way(
        self, color: str, start: tuple[Spot, Direction], end: tuple[Spot, Direction]
    ) -> list[Spot] | None:
        """The shortest that leaves and enters by those edges, through PEs without the colour.

        PEs of regions are passed only if there is no other way.
        """
        (source, out), (target, into) = start, end
        first, last = _next(source, out), _next(target, into)
        if first == target and last == source:
            return [source, target]
        for through in (False, True):
            found = self._search(color, first, last, through=through)
            if found is not None:
                return [source, *found, target]
        return None

    def _search(self, color: str, first: Spot, last: Spot, *, through: bool) -> list[Spot] | None:
        taken = self.cells.get(color, {})
        width = max(x for x, _ in self.owner) + 1 + _MARGIN
        height = max(y for _, y in self.owner) + 1 + _MARGIN

        def free(spot: Spot) -> bool:
            x, y = spot
            inside = 0 <= x < width and 0 <= y < height
            return inside and spot not in taken and (through or spot not in self.owner)

        if not free(first):
            return None
        came: dict[Spot, Spot] = {first: first}
        todo = deque([first])
        while todo:
            spot = todo.popleft()
            if spot == last:
                return _back(came, last)
            for step in _STEPS:
                new = _next(spot, step)
                if new not in came and free(new):
                    came[new] = spot
                    todo.append(new)
        return None

    # --- numbers and text ------------------------------------------------------------------------

    def _numbers(self) -> dict[str, int]:
        """Colours that meet at a PE get different numbers; the smallest that will do."""
        where: dict[str, set[Spot]] = {}
        for color, cells in self.cells.items():
            where.setdefault(color, set()).update(cells)
        for region in self.wish.regions:
            for one in region.params:
                if one.color is not None:
                    where.setdefault(self._color(one.color), set()).update(
                        _within(region, one.where)
                    )
        numbers: dict[str, int] = {}
        switched = {c for c, cells in self.cells.items() if any(len(p) > 1 for p in cells.values())}
        # On wse3 few colours have a switch: they choose first.
        for color in sorted(where, key=lambda one: one not in switched):
            used = {numbers[other] for other in numbers if where[other] & where[color]}
            able: Sequence[int] = range(COLORS)
            if color in switched and self.wish.arch == "wse3":
                able = sorted(SWITCH_COLORS_WSE3)
            free = next((one for one in able if one not in used), None)
            if free is None:
                raise WiringError(f'no number is left for colour "{color}": too many meet at a PE')
            numbers[color] = free
        return numbers

    def _text(
        self,
        numbers: Mapping[str, int],
        streams: list[HostStream],
        ports: Mapping[int, tuple[Region, Port]],
    ) -> str:
        spots = {*self.owner, *(spot for cells in self.cells.values() for spot in cells)}
        width, height = max(x for x, _ in spots) + 1, max(y for _, y in spots) + 1
        lines = [f"@set_rectangle({width}, {height});"]
        for y in range(height):
            for x in range(width):
                region = self.owner.get((x, y))
                code = '"<empty>"' if region is None else self._code(region, (x, y), numbers)
                lines.append(f"@set_tile_code({x}, {y}, {code});")
        for color, cells in self.cells.items():
            for (x, y), positions in cells.items():
                config = _config(positions)
                lines.append(
                    f"@set_color_config({x}, {y}, @get_color({numbers[color]}), {config});"
                )
        for one in streams:
            to_host = str(not ports[one.port][1].input).lower()
            lines.append(f"sdklayout.stream(@get_color({one.color}), {to_host}, {one.x}, {one.y});")
        body = "\n".join(f"  {line}" for line in lines)
        return f'const sdklayout = @import_module("<sdklayout>");\nlayout {{\n{body}\n}}\n'

    def _code(self, region: Region, spot: Spot, numbers: Mapping[str, int]) -> str:
        values: dict[str, str] = {}
        for one in region.params:
            if spot in _within(region, one.where):
                values[one.name] = self._value(region, one, numbers)
        fields = ", ".join(f".{name} = {value}" for name, value in values.items())
        return f'"{region.file}", .{{ {fields} }}' if fields else f'"{region.file}"'

    def _value(self, region: Region, one: Param, numbers: Mapping[str, int]) -> str:
        if one.color is None:
            return str(one.value).lower() if isinstance(one.value, bool) else repr(one.value)
        number = numbers[self._color(one.color)]
        return f"@get_color({number})" if one.name in region.color_params else str(number)


def _compatible(source: tuple[Region, Port], target: tuple[Region, Port]) -> None:
    """A connection leads from an output to an input of the same size and number of PEs."""
    (one, out), (other, into) = source, target
    if out.input or not into.input:
        raise WiringError(f'connect("{one.name}", "{other.name}"): an output port, then an input')
    counts = len(one.edge(out.edge)), len(other.edge(into.edge))
    if counts[0] != counts[1] or out.size != into.size:
        raise WiringError(
            f'the ports of "{one.name}" ({counts[0]} PEs, size {out.size}) and "{other.name}"'
            f" ({counts[1]} PEs, size {into.size}) don't fit"
        )


def _outward(port: Port, position: Position) -> Position:
    """A port's position with the side that its edge leads to."""
    given = position.input if port.input else position.output
    if given:
        side = "input" if port.input else "output"
        raise WiringError(
            f'a position of the {side} port of colour "{port.color}" sets its {side}: the edge does'
        )
    if port.input:
        return Position(input=(port.edge,), output=position.output)
    return Position(input=position.input, output=(port.edge,))


def _within(region: Region, where: tuple[int, int, int, int]) -> set[Spot]:
    left, top, right, bottom = where
    return {(region.x + x, region.y + y) for y in range(top, bottom) for x in range(left, right)}


def _next(spot: Spot, step: Direction) -> Spot:
    dx, dy = _STEPS[step]
    return spot[0] + dx, spot[1] + dy


def _towards(spot: Spot, other: Spot) -> Direction:
    return next(step for step in _STEPS if _next(spot, step) == other)


def _back(came: Mapping[Spot, Spot], last: Spot) -> list[Spot]:
    way = [last]
    while came[way[-1]] != way[-1]:
        way.append(came[way[-1]])
    return way[::-1]


def _config(positions: tuple[Position, ...]) -> str:
    """A colour's configuration: later positions say what they change."""
    first = positions[0]
    routes = f".routes = .{{ .rx = {_set_of(first.input)}, .tx = {_set_of(first.output)} }}"
    if len(positions) == 1:
        return f".{{ {routes} }}"
    switches = []
    for number, one in enumerate(positions[1:], 1):
        changes = []
        if set(one.input) != set(first.input):
            changes.append(f".rx = {_set_of(one.input)}")
        if set(one.output) != set(first.output) or not changes:
            changes.append(f".tx = {_set_of(one.output)}")
        switches.append(f".pos{number} = .{{ {', '.join(changes)} }}")
    return f".{{ {routes}, .switches = .{{ {', '.join(switches)} }} }}"


def _set_of(directions: tuple[Direction, ...]) -> str:
    return f".{{ {', '.join(directions)} }}" if len(directions) != 1 else directions[0]
