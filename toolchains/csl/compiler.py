"""The whole compilation: a layout file and options in, a program or diagnostics out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from simulators.wafer.program import COLORS, Port, Program, Route, Stream

from .analysis.analysis import Analysis
from .checks import check_program
from .evaluation import Options
from .layout import Layout, compile_tiles, export_table, run_layout
from .library import text as library_text
from .lower import PlaceTable, lower_tile
from .source import Diagnostic, Reader, Reports, Severity
from .tile import ColorConfig, Tile

_PLACING = frozenset({"out-of-memory", "fabric-dims"})
"""Codes of what is wrong with a program's place on the machine alone."""
_MARGIN_COLUMNS, _MARGIN_ROWS = 7, 2
"""PEs around the program that memcpy and the halo take (csl-examples' READMEs)."""


Stopped = Literal["", "parse", "compile", "place"]
"""Where a compilation ended: at syntax; at types, code and layout; at memory and the fabric."""


@dataclass(frozen=True)
class Compiled:
    """What came of a compilation."""

    program: Program | None
    """None where there are errors."""
    diagnostics: tuple[Diagnostic, ...]
    stopped: Stopped = ""
    """Empty if there is a program."""


def read_file(path: str) -> str:
    """Text of a file. Raises OSError and UnicodeDecodeError."""
    return Path(path).read_text(encoding="utf-8")


def compile_program(main: Path | str, options: Options, read: Reader = read_file) -> Compiled:
    """Compile the layout file `main`; read: text of a file by its path. Mistakes are data."""
    reports = Reports()
    analysis = Analysis(options, read, reports, library_text)
    layout = run_layout(analysis, str(main))
    if layout is None:
        return _stopped(analysis, reports)
    streams = _streams(analysis)
    tiles = compile_tiles(analysis, layout)
    if reports.errors:
        return _stopped(analysis, reports)
    places = PlaceTable()
    classes = tuple(
        lower_tile(tile, options, one.file, places, reports)
        for tile, one in zip(tiles, layout.classes, strict=True)
    )
    exports = export_table(reports, layout, tiles)
    _check_fabric(layout, options, reports)
    if reports.errors:
        return _stopped(analysis, reports)
    routes, route_of = _routes(layout, tiles, places)
    program = Program(
        arch=options.arch,
        width=layout.width,
        height=layout.height,
        fabric=_fabric(layout, options),
        offset=options.offset,
        classes=classes,
        class_of=layout.class_of,
        routes=routes,
        route_of=route_of,
        exports=exports,
        streams=streams,
        places=tuple(places.places),
        params=layout.params,
        dialect=options.dialect,
        channels=options.channels,
        memcpy=options.memcpy,
    )
    program = _host_ports(program)
    check_program(program, tiles, layout, options, reports)
    return Compiled(program, tuple(reports.found))


def _stopped(analysis: Analysis, reports: Reports) -> Compiled:
    stopped: Stopped = "parse" if analysis.files.broken else "compile"
    if all(one.code in _PLACING for one in reports.errors):
        stopped = "place"
    return Compiled(None, tuple(reports.found), stopped)


def _streams(analysis: Analysis) -> tuple[Stream, ...]:
    found = analysis.placement.streams
    return tuple(Stream(color, way, x, y) for (color, x, y), way in sorted(found.items()))


def _fabric(layout: Layout, options: Options) -> tuple[int, int]:
    if options.fabric != (0, 0):
        return options.fabric
    return layout.width + _MARGIN_COLUMNS, layout.height + _MARGIN_ROWS


def _check_fabric(layout: Layout, options: Options, reports: Reports) -> None:
    """The program and what memcpy needs around it must be on the fabric."""
    width, height = options.fabric
    if (width, height) == (0, 0):
        return
    x, y = options.offset
    margin = (_MARGIN_COLUMNS - 4, 1) if options.memcpy else (0, 0)
    least = (x + layout.width + margin[0], y + layout.height + margin[1])
    if width < least[0] or height < least[1]:
        reports.add(_small_fabric(layout, options, least))


def _small_fabric(layout: Layout, options: Options, least: tuple[int, int]) -> Diagnostic:
    width, height = options.fabric
    message = (
        f"a program of {layout.width} x {layout.height} PEs at offset {options.offset[0]},"
        f"{options.offset[1]} does not fit a fabric of {width} x {height}"
    )
    hint = f"--fabric-dims={least[0]},{least[1]} or more"
    return Diagnostic(Severity.ERROR, "fabric-dims", message, None, hint)


def _routes(
    layout: Layout, tiles: Sequence[Tile], places: PlaceTable
) -> tuple[tuple[Route, ...], npt.NDArray[np.int32]]:
    """Distinct routes, and which of them each PE has for each colour."""
    table: dict[object, int] = {}
    routes: list[Route] = []
    route_of = np.full((layout.height, layout.width, COLORS), -1, np.int32)

    def number(config: ColorConfig) -> int:
        key = (config.route, config.span.source.name, config.span.start)
        if key not in table:
            table[key] = len(routes)
            routes.append(_placed(config.route, places.number(config.span)))
        return table[key]

    for (x, y, color), config in layout.colors.items():
        route_of[y, x, color] = number(config)
    for index, tile in enumerate(tiles):
        mine = layout.class_of == index
        for config in tile.color_configs:
            route_of[mine, config.color] = number(config)
    return tuple(routes), route_of


def _host_ports(program: Program) -> Program:
    """The program whose streams of one PE have the host where their route has a neighbour."""
    routes = list(program.routes)
    route_of = program.route_of.copy()
    for one in program.streams:
        if one.x >= 0:
            route = program.routes[int(program.route_of[one.y, one.x, one.color])]
            receive, send = route.receive, 1 << Port.HOST
            if not one.to_host:
                receive, send = 1 << Port.HOST, route.send
            route_of[one.y, one.x, one.color] = len(routes)
            routes.append(replace(route, receive=receive, send=send))
    return replace(program, routes=tuple(routes), route_of=route_of)


def _placed(route: Route, place: int) -> Route:
    return replace(route, place=place)
