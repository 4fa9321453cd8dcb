"""A program's layout: which tile program each PE runs, how its colours are routed, what it exports.

The layout block is run once; PEs whose code has the same file and equal parameters are one class,
and one tile program is made per class.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulators.wafer.opcodes import Scalar
from simulators.wafer.program import Export, ExportKind

from . import nodes, types
from .analysis.analysis import Analysis
from .analysis.keys import key_of
from .foreign import suggestion
from .placement import ExportName, Placement
from .source import CslError, Note, Reports, Span, error
from .tile import ColorConfig, SymbolExport, Tile
from .types import BOOL, COMPTIME_FLOAT, COMPTIME_INT, COMPTIME_STRING, Pointer, Type, size_of
from .values import Known

_SCALARS: dict[Type, Scalar] = {
    BOOL: Scalar.BOOL,
    types.COLOR: Scalar.U16,
    types.F16: Scalar.F16,
    types.BF16: Scalar.BF16,
    types.CB16: Scalar.CB16,
    types.F32: Scalar.F32,
    types.I8: Scalar.I8,
    types.U8: Scalar.U8,
    types.I16: Scalar.I16,
    types.U16: Scalar.U16,
    types.I32: Scalar.I32,
    types.U32: Scalar.U32,
    types.I64: Scalar.I64,
    types.U64: Scalar.U64,
}


@dataclass(frozen=True, eq=False)
class TileClass:
    """PEs with the same code and parameters."""

    file: str
    params: Known | None
    span: Span
    """Of the first @set_tile_code."""
    first: tuple[int, int]
    """Where the first such PE is."""


@dataclass(frozen=True, eq=False)
class Layout:
    """What a layout block says, complete and checked."""

    file: str
    width: int
    height: int
    class_of: npt.NDArray[np.int32]
    """Shape (height, width): index into `classes`."""
    classes: tuple[TileClass, ...]
    colors: Mapping[tuple[int, int, int], ColorConfig]
    """By (x, y, colour)."""
    names: Mapping[str, ExportName]
    params: Mapping[str, str]
    """Of the command line."""


def run_layout(analysis: Analysis, file: str) -> Layout | None:
    """Run a file's layout block; None if errors, which are in the reports, left none."""
    reports = analysis.reports
    before = len(reports.errors)
    analysis.placement = Placement()
    analysis.files.root = posixpath.dirname(file)
    try:
        params = _bind(analysis, file)
    except CslError as problem:
        reports.add(problem.diagnostic)
        return None
    instance = None if params is None else analysis.layout_instance(file, params)
    if instance is None:
        return None
    if not analysis.run_layout(instance):
        message = f"`{instance.file}` has no layout block"
        hint = "name the file with `layout { … }`; a program for PEs is named by @set_tile_code"
        reports.add(error(instance.module.span, "no-layout", message, hint).diagnostic)
    if len(reports.errors) > before:
        return None
    placement = analysis.placement
    missing = _incomplete(placement, instance.module.span)
    if missing is not None:
        reports.add(missing.diagnostic)
        return None
    class_of, classes = _classes(placement)
    return Layout(
        file,
        *placement.rectangle,
        class_of,
        classes,
        placement.colors,
        placement.names,
        dict(analysis.options.params),
    )


def compile_tiles(analysis: Analysis, layout: Layout) -> list[Tile]:
    """The tile program of every class. Errors are in the reports."""
    tiles = []
    for number, one in enumerate(layout.classes):
        rows, columns = np.nonzero(layout.class_of == number)
        analysis.placement.sharing = tuple(zip(columns.tolist(), rows.tolist(), strict=True))
        tile, _ = analysis.compile_tile(one.file, one.params, one.span)
        analysis.check_unreached()
        tiles.append(tile)
    analysis.report_unreached()
    _check_colors(analysis.reports, layout, tiles)
    return tiles


# --- the command line's parameters ---------------------------------------------------------------


def _bind(analysis: Analysis, file: str) -> Known | None:
    """--params and --colors as a struct; None if there are errors."""
    options = analysis.options
    module = analysis.files.module(file, None, analysis.reports)
    declared = {one.name: one for one in module.items if isinstance(one, nodes.Param)}
    given: dict[str, Known] = {}
    for name, value in (
        *((name, _parsed(text)) for name, text in options.params),
        *((name, Known(types.COLOR, number)) for name, number in options.colors),
    ):
        if name not in declared:
            message = f"`{file}` has no param `{name}`, which the command line gives"
            hint = suggestion(name, declared) or f"its params: {', '.join(declared) or 'none'}"
            analysis.reports.add(error(module.span, "unknown-param", message, hint).diagnostic)
            return None
        given[name] = value
    return None if _missing(analysis, declared, given) else _struct(given)


def _missing(
    analysis: Analysis, declared: Mapping[str, nodes.Param], given: Mapping[str, Known]
) -> bool:
    """Parameters without a value that are used: the vendor's compiler lets the others pass."""
    lacking = [
        one
        for name, one in declared.items()
        if not one.default and name not in given and _mentions(one, name) > 1
    ]
    listed = ",".join(f"{one.name}:…" for one in lacking)
    for one in lacking:
        kind = "--colors" if _is_color(one) else "--params"
        message = f"param `{one.name}` has neither a value nor a default"
        hint = f"give it on the command line: {kind}={listed}"
        analysis.reports.add(error(one.name_span, "missing-param", message, hint).diagnostic)
    return bool(lacking)


def _mentions(one: nodes.Param, name: str) -> int:
    return len(re.findall(rf"\b{name}\b", one.span.source.text))


def _is_color(one: nodes.Param) -> bool:
    return isinstance(one.type, nodes.Name) and one.type.name == "color"


def _struct(given: Mapping[str, Known]) -> Known:
    kind = types.Anonymous(tuple((name, value.type) for name, value in given.items()))
    return Known(kind, tuple(value.data for value in given.values()))


def _parsed(text: str) -> Known:
    """A value on the command line: a bool, an integer, a float, else a string."""
    if text in ("true", "false"):
        return Known(BOOL, text == "true")
    for kind, read in ((COMPTIME_INT, _int), (COMPTIME_FLOAT, float)):
        try:
            return Known(kind, read(text))
        except ValueError:
            continue
    return Known(COMPTIME_STRING, text.strip('"').encode())


def _int(text: str) -> int:
    return int(text, 0)


# --- classes -------------------------------------------------------------------------------------


def _incomplete(placement: Placement, start: Span) -> CslError | None:
    """What a layout has to have and this one lacks."""
    width, height = placement.rectangle
    if not width:
        message = "the layout sets no rectangle"
        return error(start, "no-rectangle", message, "@set_rectangle(width, height);")
    bare = [(x, y) for y in range(height) for x in range(width) if (x, y) not in placement.tiles]
    if not bare:
        return None
    shown = ", ".join(map(str, bare[:4])) + (", …" if len(bare) > 4 else "")
    message = f"{len(bare)} of {width * height} PEs have no code: {shown}"
    hint = '@set_tile_code(x, y, "file.csl", .{}) for each'
    return error(placement.rectangle_span, "no-code", message, hint)


def _classes(placement: Placement) -> tuple[npt.NDArray[np.int32], tuple[TileClass, ...]]:
    width, height = placement.rectangle
    class_of = np.zeros((height, width), dtype=np.int32)
    numbers: dict[object, int] = {}
    classes: list[TileClass] = []
    for (x, y), code in placement.tiles.items():
        key = (code.file, None if code.params is None else key_of(code.params))
        if key not in numbers:
            numbers[key] = len(classes)
            classes.append(TileClass(code.file, code.params, code.span, (x, y)))
        class_of[y, x] = numbers[key]
    return class_of, tuple(classes)


def _check_colors(reports: Reports, layout: Layout, tiles: Sequence[Tile]) -> None:
    """Each colour is configured once at a PE, by the layout or by the PE's own code."""
    own = {
        (number, config.color): config
        for number, tile in enumerate(tiles)
        for config in tile.color_configs
    }
    for (x, y, color), config in layout.colors.items():
        other = own.get((int(layout.class_of[y, x]), color))
        if other is not None:
            message = f"colour {color} is configured twice at PE ({x}, {y})"
            notes = (Note("by the layout here", config.span),)
            reports.add(error(other.span, "duplicate-color", message, "", notes).diagnostic)


# --- exports -------------------------------------------------------------------------------------


def export_table(reports: Reports, layout: Layout, tiles: Sequence[Tile]) -> tuple[Export, ...]:
    """What the host knows by name: every @export_name with the @export_symbol of some PE."""
    found: dict[str, SymbolExport] = {}
    for tile in tiles:
        for export in tile.exports:
            name = layout.names.get(export.name)
            if name is None:
                reports.add(_unnamed(layout, export).diagnostic)
                continue
            problem = _differs(name, export)
            if problem is not None:
                reports.add(problem.diagnostic)
            found.setdefault(export.name, export)
    for name in layout.names.values():
        if name.name not in found:
            message = f'no PE exports "{name.name}"'
            hint = f'comptime {{ @export_symbol(…, "{name.name}"); }} in a program for PEs'
            reports.add(error(name.span, "not-exported", message, hint).diagnostic)
    return tuple(_export(number, name) for number, name in enumerate(layout.names.values()))


def _unnamed(layout: Layout, export: SymbolExport) -> CslError:
    message = f'the layout has no @export_name for "{export.name}"'
    near = suggestion(export.name, layout.names)
    mutable = ", true" if export.variable is not None else ""
    hint = near or f'@export_name("{export.name}", {export.type}{mutable}); in the layout block'
    return error(export.span, "not-named", message, hint)


def _differs(name: ExportName, export: SymbolExport) -> CslError | None:
    """A symbol that isn't what its name says."""
    notes = (Note("named here", name.span),)
    if name.type != export.type:
        message = f'"{name.name}" is a `{export.type}` here, but its name says `{name.type}`'
        hint = f'@export_name("{name.name}", {export.type}, …)'
        return error(export.span, "type-mismatch", message, hint, notes)
    variable = export.variable
    if variable is None or not name.mutable:
        return None
    if isinstance(variable.type, Pointer):
        constant = variable.type.constant
    else:
        constant = not variable.mutable
    if constant:
        message = f'"{name.name}" is constant, but its name says that the host may write it'
        hint = "@export_name(…, …, false), or a `var` that isn't const"
        return error(export.span, "mutability", message, hint, notes)
    return None


def _export(number: int, name: ExportName) -> Export:
    kind = name.type
    if isinstance(kind, types.Function):
        scalars = tuple(int(_SCALARS.get(one, Scalar.U16)) for one in kind.parameters)
        return Export(number, name.name, ExportKind.FUNCTION, str(kind), 0, scalars, False)
    if isinstance(kind, Pointer):
        target = kind.target.element if isinstance(kind.target, types.Array) else kind.target
        return Export(
            number, name.name, ExportKind.POINTER, str(kind), size_of(target), (), name.mutable
        )
    return Export(number, name.name, ExportKind.SCALAR, str(kind), size_of(kind), (), name.mutable)
