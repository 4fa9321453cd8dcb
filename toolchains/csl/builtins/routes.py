"""Configurations of colours: routes, switches, filters, teardown.

In 2.10 routes and switch positions may also be 16-bit vectors made with the constants of
<directions>: bits 0-4 are the ports that are received from, bits 5-9 those that are sent to, both
in the order of `Port`; 0 is an invalid position. The vendor's encoding isn't public; this one is
that of our library.
"""

from __future__ import annotations

from collections.abc import Mapping

from simulators.wafer.program import Filter, FilterKind, PopMode, Route, Switch
from toolchains.csl import nodes, types
from toolchains.csl.evaluation import Evaluator, Site
from toolchains.csl.placement import KnownRoute
from toolchains.csl.source import error
from toolchains.csl.types import COLOR
from toolchains.csl.values import DIRECTIONS, Known

from .arguments import (
    Field,
    choice,
    directions,
    fields_of,
    flag,
    is_integer,
    number,
    only,
    parts,
    within,
)

SEND_SHIFT = 5
PORT_BITS = 31
SWITCH_COLORS_WSE3 = frozenset({*range(10), 12, 13, 16, 17, 20, 21})
"""Colours whose switches exist on WSE-3 (SDK documentation, switches)."""

_FIELDS = ("routes", "switches", "filter", "teardown")
_ROUTES = ("rx", "tx", "color_swap_x", "color_swap_y", "pop_mode")
_SWITCHES = ("pos1", "pos2", "pos3", "current_switch_pos", "ring_mode", "pop_mode")
_POP_MODES: Mapping[str, PopMode] = {mode.name.lower(): mode for mode in PopMode}
_FILTER_KINDS: Mapping[str, FilterKind] = {
    kind.name.lower(): kind for kind in FilterKind if kind is not FilterKind.NONE
}
_FILTER_FLAGS = ("count_data", "count_control", "filter_control", "fast_mode")
_FILTER_NUMBERS = {
    "init_counter": "init_counter",
    "limit1": "limit1",
    "limit2": "limit2",
    "max_counter": "max_counter",
    "min_idx": "min_index",
    "max_idx": "max_index",
}


def color_argument(ev: Evaluator, node: nodes.Expr, at: Site) -> int:
    """A known colour."""
    value = ev.known(node, at)
    if value.type != COLOR:
        message = f"a color has to stand here, not a `{value.type}`"
        raise error(node.span, "type-mismatch", message, "@get_color(n)")
    assert isinstance(value.data, int)
    return value.data


def route_argument(ev: Evaluator, node: nodes.Expr, at: Site, color: int) -> Route:
    """A configuration of a colour."""
    value = ev.known(node, at)
    # Layouts write the same literal for each PE, and that is one value then.
    last = ev.placement.routes.get((id(node), color))
    if last is not None and last.value is value:
        return last.route
    route = _route(ev, value, node, color)
    ev.placement.routes[id(node), color] = KnownRoute(node, value, route)
    return route


def _route(ev: Evaluator, value: Known, node: nodes.Expr, color: int) -> Route:
    config = fields_of(value, node, "the configuration")
    only(config, _FIELDS, "the configuration", config)
    if "routes" not in config:
        message = "the configuration of a colour has routes"
        hint = ".{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } }"
        raise error(node.span, "missing-field", message, hint)
    route = _Routes(config["routes"], config.get("switches"), ev.options.arch)
    route.check(color)
    if "filter" in config:
        route.values["filter"] = _filter(config["filter"])
    if "teardown" in config:
        route.values["teardown"] = flag(config["teardown"], ".teardown")
    return Route(**route.values)  # type: ignore[arg-type]


class _Routes:
    """The fields of a `Route` in the making."""

    def __init__(self, routes: Field, switches: Field | None, arch: str) -> None:
        self.span = routes.span
        self.arch = arch
        self.both = arch == "wse3" or routes.span.source.library
        self.values: dict[str, object] = {}
        if is_integer(routes.value.type):
            bits = _vector(routes, ".routes")
            receive, send = bits & PORT_BITS, bits >> SEND_SHIFT & PORT_BITS
        else:
            receive, send = self._routes(routes)
        self.values |= {"receive": receive, "send": send}
        self.positions: tuple[Switch, ...] = ()
        self.switch_span = routes.span
        if switches is not None:
            self.switch_span = switches.span
            self._switches(switches)

    def _routes(self, routes: Field) -> tuple[int, int]:
        found = parts(routes, ".routes", None)
        only(found, _ROUTES, ".routes", found)
        for name in ("color_swap_x", "color_swap_y"):
            if name in found:
                self._swap(name, found[name])
        if "pop_mode" in found:
            self.values["pop"] = _POP_MODES[choice(found["pop_mode"], _POP_MODES, ".pop_mode")]
        if "rx" not in found and "tx" not in found:
            message = "the routes have neither .rx nor .tx"
            raise error(routes.span, "missing-field", message, ".rx = .{ WEST }, .tx = .{ RAMP }")
        return _mask(found.get("rx"), ".rx"), _mask(found.get("tx"), ".tx")

    def _swap(self, name: str, one: Field) -> None:
        """A colour with which the colour's wavelets change places, or whether they do."""
        if one.value.type == types.BOOL:
            self.values["swap_x" if name.endswith("x") else "swap_y"] = -2 if one.value.data else -1
            return
        if one.value.type != COLOR:
            message = f".{name} is a color or a bool, not a `{one.value.type}`"
            raise error(one.span, "type-mismatch", message)
        self.values["swap_x" if name.endswith("x") else "swap_y"] = one.value.data

    def _switches(self, switches: Field) -> None:
        found = parts(switches, ".switches")
        only(found, _SWITCHES, ".switches", found)
        listed = [name for name in ("pos1", "pos2", "pos3") if name in found]
        if listed != ["pos1", "pos2", "pos3"][: len(listed)]:
            message = f".{listed[-1]} is given without the positions before it"
            raise error(found[listed[-1]].span, "switch-gap", message)
        self.positions = tuple(_position(found[name], f".{name}", self.both) for name in listed)
        self.values["positions"] = self.positions
        if "current_switch_pos" in found:
            one = found["current_switch_pos"]
            value = number(one.value, one.span, ".current_switch_pos")
            self.values["position"] = within(value, 3, one.span, ".current_switch_pos")
        if "ring_mode" in found:
            self.values["ring"] = flag(found["ring_mode"], ".ring_mode")
        if "pop_mode" in found:
            self.values["pop"] = _POP_MODES[choice(found["pop_mode"], _POP_MODES, ".pop_mode")]

    def check(self, color: int) -> None:
        """What a router can't do."""
        receive = self.values["receive"]
        assert isinstance(receive, int)
        if self.values.get("swap_x") == -2:
            self.values["swap_x"] = color ^ 1
        if self.values.get("swap_y") == -2:
            self.values["swap_y"] = color ^ 1
        if self.arch != "wse3":
            return
        if receive.bit_count() > 1:
            named = ", ".join(DIRECTIONS[port] for port in range(5) if receive >> port & 1)
            message = f"on wse3 a colour receives from one direction at a time, not from {named}"
            hint = "use one colour for each, or a switch that changes .rx"
            raise error(self.span, "several-rx", message, hint)
        if self.positions and color not in SWITCH_COLORS_WSE3:
            able = ", ".join(map(str, sorted(SWITCH_COLORS_WSE3)))
            message = f"colour {color} has no switch on wse3"
            raise error(self.switch_span, "no-switch", message, f"colours with one: {able}")


def _mask(one: Field | None, what: str) -> int:
    return sum(1 << port for port in directions(one, what)) if one else 0


def _vector(one: Field, what: str) -> int:
    value = number(one.value, one.span, what)
    if value >> 2 * SEND_SHIFT:
        message = f"{what} is no vector of directions: {value:#x}"
        raise error(one.span, "out-of-range", message, "made of the constants of <directions>")
    return value


def _position(one: Field, what: str, both: bool) -> Switch:
    """pos1 to pos3: .rx, .tx, .invalid, or a vector. Hardware that can change both is WSE-3."""
    if is_integer(one.value.type):
        bits = _vector(one, what)
        return Switch(bits & PORT_BITS or None, bits >> SEND_SHIFT or None, invalid=not bits)
    found = parts(one, what)
    only(found, ("rx", "tx", "invalid"), what, found)
    if "invalid" in found:
        return Switch(invalid=flag(found["invalid"], ".invalid"))
    if not found or (len(found) > 1 and not both):
        message = f"{what} changes either .rx or .tx"
        raise error(one.span, "bad-switch", message, f"{what} = .{{ .rx = RAMP }}")
    receive = _mask(found["rx"], ".rx") if "rx" in found else None
    if receive is not None and receive.bit_count() != 1:
        message = "a switch position receives from one direction"
        raise error(found["rx"].span, "several-rx", message)
    return Switch(receive, _mask(found["tx"], ".tx") if "tx" in found else None)


def _filter(one: Field) -> Filter:
    found = parts(one, ".filter")
    only(found, ("kind", *_FILTER_FLAGS, *_FILTER_NUMBERS), ".filter", found)
    if "kind" not in found:
        message = "a filter has a kind"
        raise error(one.span, "missing-field", message, ".kind = .{ .counter = true }")
    kind = _FILTER_KINDS[choice(found["kind"], _FILTER_KINDS, ".kind")]
    values: dict[str, object] = {}
    for name in _FILTER_FLAGS:
        # .fast_mode only makes hardware answer sooner.
        if name in found and name != "fast_mode":
            values[name] = flag(found[name], f".{name}")
    for name, target in _FILTER_NUMBERS.items():
        if name in found:
            part = found[name]
            values[target] = within(
                number(part.value, part.span, f".{name}"), 0xFFFF, part.span, f".{name}"
            )
    return Filter(kind, **values)  # type: ignore[arg-type]
