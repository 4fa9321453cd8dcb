"""What tests of builtins and layouts share: tile programs, layouts and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulators.wafer.program import Export
from tests.toolchains.csl.parsing import brief
from toolchains.csl import library
from toolchains.csl.analysis.analysis import Analysis
from toolchains.csl.evaluation import Options
from toolchains.csl.layout import Layout, compile_tiles, export_table, run_layout
from toolchains.csl.source import Reports
from toolchains.csl.tile import Tile

WSE2 = Options("wse2", memcpy=False)
WSE3 = Options("wse3", memcpy=False)


@dataclass(frozen=True)
class Compiled:
    """What became of a program with a layout."""

    layout: Layout | None
    tiles: tuple[Tile, ...]
    exports: tuple[Export, ...]
    said: tuple[str, ...]


def _analysis(files: Mapping[str, str], options: Options) -> Analysis:
    def read(path: str) -> str:
        if path not in files:
            raise FileNotFoundError(path)
        return files[path]

    return Analysis(options, read, Reports(), library.text)


def compiled(files: str | Mapping[str, str], options: Options = WSE2) -> Compiled:
    """The program whose layout is `layout.csl`, or a text alone."""
    texts = {"layout.csl": files} if isinstance(files, str) else files
    analysis = _analysis(texts, options)
    layout = run_layout(analysis, "layout.csl")
    tiles: list[Tile] = []
    exports: tuple[Export, ...] = ()
    if layout is not None:
        tiles = compile_tiles(analysis, layout)
        exports = export_table(analysis.reports, layout, tiles)
    found = tuple(brief(one) for one in analysis.reports.found)
    return Compiled(layout, tuple(tiles), exports, found)


def tile_of(text: str, options: Options = WSE2) -> tuple[Tile, list[str]]:
    """The tile program of a text, and what is said of it."""
    analysis = _analysis({"pe.csl": text}, options)
    analysis.placement.rectangle = (4, 3)
    tile, _ = analysis.compile_tile("pe.csl")
    return tile, [brief(one) for one in analysis.reports.found]


def clean(text: str, options: Options = WSE2) -> Tile:
    """The tile program of a text without mistakes."""
    tile, found = tile_of(text, options)
    assert not found, "\n".join(found)
    return tile


def mistake(text: str, options: Options = WSE2) -> str:
    """The only diagnostic of a text."""
    (found,) = tile_of(text, options)[1]
    return found


def printed(expressions: str, options: Options = WSE2, before: str = "") -> str:
    """What @comptime_print says of expressions."""
    text = f"{before}\ncomptime {{ @comptime_print({expressions}); }}"
    (found,) = tile_of(text, options)[1]
    return found.split("comptime-print: ", 1)[1]


def block_mistake(statements: str, options: Options = WSE2, before: str = "") -> str:
    """The only diagnostic of a comptime block, by its column in the statements."""
    found = mistake(f"{before}\ncomptime {{\n{statements}\n}}", options)
    place, rest = found.split(" ", 1)
    line, column = place.split(":")
    return f"{int(line) - 2}:{column} {rest}"
