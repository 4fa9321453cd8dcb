"""Builtins of configuration words, which the machine keeps by their word address."""

from __future__ import annotations

from typing import Any

from simulators.wafer.opcodes import SystemCall
from toolchains.csl import nodes, tree
from toolchains.csl.evaluation import Builtin, Context, Evaluator, Item, Live, Site
from toolchains.csl.source import error
from toolchains.csl.types import U16, VOID, Type
from toolchains.csl.values import Known

from .arguments import BLOCK_OR_RUNTIME, NOTHING, known_int


def _get_config(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@get_config(word address)."""
    address = ev.value(node.arguments[0], at, U16)
    if at.context is Context.COMPTIME_BLOCK:
        return Known(U16, _stored(ev, address))
    arguments = (ev.live(address, node.arguments[0].span),)
    return Live(U16, tree.System(U16, node.span, SystemCall.GET_CONFIG, arguments))


def _stored(ev: Evaluator, address: Item) -> int:
    """What this program's blocks set; 0 otherwise."""
    wanted = address.data if isinstance(address, Known) else None
    values = [value for place, value, _ in ev.tile.config_words if place == wanted]
    return values[-1] if values else 0


def _set_config(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@set_config(word address, value)."""
    if at.context is Context.COMPTIME_BLOCK:
        address, value = (
            known_int(ev, one, at, what, 0xFFFF)
            for one, what in zip(node.arguments[:2], ("an address", "a word"), strict=True)
        )
        ev.tile.config_words.append((address, value, node.span))
        return NOTHING
    arguments = tuple(ev.live(ev.value(one, at, U16), one.span) for one in node.arguments[:2])
    return Live(VOID, tree.System(VOID, node.span, SystemCall.SET_CONFIG, arguments))


def _with_ranges(handler: Any, count: int) -> Any:
    """Check the range or ranges of addresses that may follow."""

    def checked(ev: Evaluator, node: nodes.BuiltinCall, at: Site, expected: Type | None) -> Item:
        if len(node.arguments) > count:
            _check_ranges(ev, node, at, count)
        result: Item = handler(ev, node, at, expected)
        return result

    return checked


def _check_ranges(ev: Evaluator, node: nodes.BuiltinCall, at: Site, count: int) -> None:
    address = ev.item(node.arguments[0], at)
    ranges = ev.known(node.arguments[count], at)
    data: Any = ranges.data
    listed = [data] if data and isinstance(data[0], int) else list(data)
    if not isinstance(address, Known):
        return
    if not any(address.data in range(*one) for one in listed):
        message = f"the address {address.data:#x} is outside of the ranges given"
        raise error(node.arguments[0].span, "out-of-range", message)


_GET = _with_ranges(_get_config, 1)
_SET = _with_ranges(_set_config, 2)
CONFIG: dict[str, Builtin] = {
    "@get_config": Builtin(_GET, BLOCK_OR_RUNTIME, (1, 2)),
    "@get_config_unchecked": Builtin(_GET, BLOCK_OR_RUNTIME, (1, 2)),
    "@set_config": Builtin(_SET, BLOCK_OR_RUNTIME, (2, 3)),
    "@set_config_unchecked": Builtin(_SET, BLOCK_OR_RUNTIME, (2, 3)),
}
