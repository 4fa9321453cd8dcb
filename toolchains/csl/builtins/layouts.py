"""Builtins of a layout block, and the colour configurations of tile programs."""

from __future__ import annotations

from simulators.wafer.program import COLORS
from toolchains.csl import nodes, types
from toolchains.csl.evaluation import Builtin, Context, Evaluator, Item, Site
from toolchains.csl.placement import TileCode
from toolchains.csl.source import Span, error
from toolchains.csl.tile import ColorConfig
from toolchains.csl.types import U16, VOID, Type
from toolchains.csl.values import Known

from .arguments import ANYWHERE, BLOCK, LAYOUT, NOTHING, first, known_int, text, within
from .routes import color_argument, route_argument

MEMCPY_COLORS = (21, 22, 23)
"""Of the host (SDK documentation, task ids)."""


def _set_rectangle(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@set_rectangle(width, height), once."""
    placement = ev.placement
    width, height = (known_int(ev, one, at, "a size") for one in node.arguments)
    if placement.rectangle_span is not None:
        message = "the rectangle is set already"
        raise error(node.span, "duplicate-rectangle", message, "", first(placement.rectangle_span))
    if not width or not height:
        raise error(node.span, "out-of-range", "a rectangle has at least one PE")
    _check_fabric(ev, width, height, node.span)
    placement.rectangle = (width, height)
    placement.rectangle_span = node.span
    return NOTHING


def _check_fabric(ev: Evaluator, width: int, height: int, span: Span) -> None:
    """Beside the program are its offset, and with memcpy 3 columns to the east, 1 row south."""
    fabric, offset = ev.options.fabric, ev.options.offset
    if fabric == (0, 0):
        return
    east, south = (3, 1) if ev.options.memcpy else (0, 0)
    needed = (offset[0] + width + east, offset[1] + height + south)
    if needed[0] > fabric[0] or needed[1] > fabric[1]:
        message = f"{width} by {height} PEs don't fit on a fabric of {fabric[0]} by {fabric[1]}"
        hint = f"--fabric-dims={needed[0]},{needed[1]} or larger"
        raise error(span, "fabric-too-small", message, hint)


def _position(ev: Evaluator, node: nodes.BuiltinCall, at: Site) -> tuple[int, int]:
    """The first two arguments: x and y."""
    width, height = ev.placement.rectangle
    if not width:
        message = "the rectangle isn't set yet"
        raise error(
            node.span, "no-rectangle", message, "@set_rectangle(width, height); before this"
        )
    found = []
    for name, size, argument in (
        ("x", width, node.arguments[0]),
        ("y", height, node.arguments[1]),
    ):
        value = ev.known(argument, at)
        if not isinstance(value.data, int) or isinstance(value.data, bool):
            message = f"{name} is an integer, not a `{value.type}`"
            raise error(argument.span, "type-mismatch", message)
        what = f"{name} within the rectangle of {width} by {height} PEs"
        found.append(within(value.data, size - 1, argument.span, what))
    return found[0], found[1]


def _set_tile_code(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@set_tile_code(x, y, "file.csl", .{ .param = value })."""
    place = _position(ev, node, at)
    other = ev.placement.tiles.get(place)
    if other is not None:
        message = f"PE ({place[0]}, {place[1]}) has code already"
        raise error(node.span, "duplicate-code", message, "", first(other.span))
    file = node.span.source.path or node.span.source.name
    if len(node.arguments) > 2:
        path = text(ev, node.arguments[2], at, "a file").decode("utf-8", "replace")
        file = ev.resolve(path, node.arguments[2].span)
    params = ev.known(node.arguments[3], at) if len(node.arguments) > 3 else None
    if params is not None and not isinstance(params.type, types.Anonymous | types.Struct):
        if params.type not in (types.Tuple(()), VOID):
            message = f"parameters are a struct with their names, not a `{params.type}`"
            raise error(node.arguments[3].span, "type-mismatch", message, ".{ .name = value }")
        params = None
    ev.placement.tiles[place] = TileCode(file, params, node.span)
    return NOTHING


def _set_color_config(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@set_color_config(x, y, color, config)."""
    x, y = _position(ev, node, at)
    color = color_argument(ev, node.arguments[2], at)
    check_reserved(ev, color, node.arguments[2].span)
    route = route_argument(ev, node.arguments[3], at, color)
    other = ev.placement.colors.get((x, y, color))
    if other is not None:
        message = f"colour {color} is configured twice at PE ({x}, {y})"
        raise error(node.span, "duplicate-color", message, "", first(other.span))
    ev.placement.colors[(x, y, color)] = ColorConfig(color, route, node.span)
    return NOTHING


def _set_local_color_config(
    ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None
) -> Item:
    """@set_local_color_config(color, config)."""
    color = color_argument(ev, node.arguments[0], at)
    check_reserved(ev, color, node.arguments[0].span)
    route = route_argument(ev, node.arguments[1], at, color)
    for other in ev.tile.color_configs:
        if other.color == color:
            message = f"colour {color} is configured twice at this PE"
            raise error(node.span, "duplicate-color", message, "", first(other.span))
    ev.tile.color_configs.append(ColorConfig(color, route, node.span))
    return NOTHING


def check_reserved(ev: Evaluator, color: int, span: Span) -> None:
    """Error for a colour of the host's."""
    if ev.options.memcpy and color in MEMCPY_COLORS and not span.source.library:
        message = f"colour {color} is memcpy's"
        raise error(span, "reserved-color", message, "free with memcpy: 0 to 20")


def _get_rectangle(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@get_rectangle(): .width, .height, .fabric and .offsets with the same two each."""
    width, height = ev.placement.rectangle
    if not width and at.context is Context.LAYOUT:
        message = "the rectangle isn't set yet"
        raise error(
            node.span, "no-rectangle", message, "@set_rectangle(width, height); before this"
        )
    offset = ev.options.offset
    fabric = ev.options.fabric
    if fabric == (0, 0):
        fabric = (offset[0] + width + 3, offset[1] + height + 1)
    pair = types.Anonymous((("width", U16), ("height", U16)))
    kind = types.Anonymous((("width", U16), ("height", U16), ("fabric", pair), ("offsets", pair)))
    return Known(kind, (width, height, fabric, offset))


def _get_filter_id(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@get_filter_id(color): filters of a PE are numbered in the order of their colours."""
    color = color_argument(ev, node.arguments[0], at)
    own = {one.color for one in ev.tile.color_configs if one.route.filter is not None}
    found = {_filter_number(ev, place, color, own) for place in ev.placement.sharing or ((0, 0),)}
    if None in found:
        message = f"colour {color} has no filter at a PE with this code"
        raise error(node.span, "no-filter", message, "give it one with @set_color_config")
    if len(found) > 1:
        message = f"PEs with this code have different filters for colour {color}"
        raise error(node.span, "no-filter", message, "give them a parameter that differs")
    return Known(U16, found.pop())


def _filter_number(ev: Evaluator, place: tuple[int, int], color: int, own: set[int]) -> int | None:
    configs = ev.placement.colors
    filtered = own | {
        one
        for one in range(COLORS)
        if (config := configs.get((*place, one))) and config.route.filter is not None
    }
    return sum(one < color for one in filtered) if color in filtered else None


LAYOUTS: dict[str, Builtin] = {
    "@set_rectangle": Builtin(_set_rectangle, LAYOUT, (2, 2)),
    "@set_tile_code": Builtin(_set_tile_code, LAYOUT, (2, 4)),
    "@set_color_config": Builtin(_set_color_config, LAYOUT, (4, 4)),
    "@set_local_color_config": Builtin(_set_local_color_config, BLOCK, (2, 2)),
    "@get_filter_id": Builtin(_get_filter_id, ANYWHERE - LAYOUT, (1, 1)),
    "@get_rectangle": Builtin(_get_rectangle, ANYWHERE, (0, 0)),
}
