"""Builtins that give a DSD with one property changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from simulators.wafer.dsd import DsdField
from toolchains.csl import nodes, tree
from toolchains.csl.evaluation import Builtin, Context, Evaluator, Item, Live, Site
from toolchains.csl.source import error
from toolchains.csl.types import DSD_TYPES, I8, I16, U16, Simple, Type
from toolchains.csl.values import Absolute, Address, Dsd, Known

from .operands import MEMORY_DSDS, check_element, pointer_to

_NOT_LAYOUT = frozenset(Context) - {Context.LAYOUT}
_EXCEPT_4D = tuple(name for name in DSD_TYPES if name != "mem4d_dsd")
_PLACED = ("mem1d_dsd", "mem4d_dsd")


def _set_dsd_base_addr(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@set_dsd_base_addr(dsd, array or pointer): the offset is gone too."""
    dsd = _dsd(ev, node, at, MEMORY_DSDS)
    argument = node.arguments[1]
    pointer, element = pointer_to(ev, argument, at, "the new base")
    bits = check_element(element, argument.span, "a DSD")
    base = pointer.data if isinstance(pointer, Known) else None
    if isinstance(dsd, Known) and isinstance(base, Address | Absolute):
        old = _known(dsd)
        return Known(dsd.type, replace(old, base=base, wide=bits == 32, element=element))
    value = ev.live(pointer, argument.span)
    return _updated(ev, node, dsd, DsdField.BASE, value)


def _increment_dsd_offset(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@increment_dsd_offset(dsd, elements, T)."""
    dsd = _dsd(ev, node, at, _PLACED)
    count = ev.value(node.arguments[1], at, I16)
    element = ev.type(node.arguments[2], at)
    bits = check_element(element, node.arguments[2].span, "a DSD")
    data: Any = count.data if isinstance(count, Known) else None
    if data is not None and isinstance(dsd, Known):
        old = _known(dsd)
        if isinstance(old.base, Address):
            base: Address | Absolute = Address(
                old.base.variable, old.base.offset + data * bits // 8
            )
            return Known(dsd.type, replace(old, base=base))
        if isinstance(old.base, Absolute):
            base = Absolute(old.base.address + data * bits // 8)
            return Known(dsd.type, replace(old, base=base))
    field = DsdField.ADVANCE_4 if bits == 32 else DsdField.ADVANCE_2
    return _updated(ev, node, dsd, field, ev.live(count, node.arguments[1].span))


def _set_dsd_length(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@set_dsd_length(dsd, length)."""
    dsd = _dsd(ev, node, at, _EXCEPT_4D)
    length = ev.value(node.arguments[1], at, U16)
    if isinstance(dsd, Known) and isinstance(length, Known):
        data: Any = length.data
        return Known(dsd.type, replace(_known(dsd), extents=(data,)))
    value = ev.live(length, node.arguments[1].span)
    return _updated(ev, node, dsd, DsdField.EXTENT, value)


def _set_dsd_stride(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@set_dsd_stride(mem1d_dsd, stride)."""
    dsd = _dsd(ev, node, at, ("mem1d_dsd",))
    stride = ev.value(node.arguments[1], at, I8)
    if isinstance(dsd, Known) and isinstance(stride, Known):
        data: Any = stride.data
        return Known(dsd.type, replace(_known(dsd), strides=(data,)))
    value = ev.live(stride, node.arguments[1].span)
    return _updated(ev, node, dsd, DsdField.STRIDE, value)


def _dsd(ev: Evaluator, node: nodes.BuiltinCall, at: Site, allowed: tuple[str, ...]) -> Item:
    argument = node.arguments[0]
    item = ev.item(argument, at)
    if isinstance(item.type, Simple) and item.type.name in allowed:
        return item
    names = " or ".join(f"`{name}`" for name in allowed if name != "circbuf_dsd")
    message = f"{node.name} takes a {names}, not a `{item.type}`"
    raise error(argument.span, "type-mismatch", message, _HINTS.get(str(item.type), ""))


_HINTS = {
    "mem4d_dsd": "its extents and strides are fixed: make another with @get_dsd",
    "fabin_dsd": "a DSD of the fabric has no place in memory",
    "fabout_dsd": "a DSD of the fabric has no place in memory",
}


def _known(item: Known) -> Dsd:
    data = item.data
    assert isinstance(data, Dsd)
    return data


def _updated(
    ev: Evaluator, node: nodes.BuiltinCall, dsd: Item, field: DsdField, value: tree.Expr
) -> Live:
    old = ev.live(dsd, node.arguments[0].span)
    return Live(dsd.type, tree.DsdUpdate(dsd.type, node.span, old, field, value))


CHANGES: dict[str, Builtin] = {
    "@set_dsd_base_addr": Builtin(_set_dsd_base_addr, _NOT_LAYOUT, (2, 2)),
    "@increment_dsd_offset": Builtin(_increment_dsd_offset, _NOT_LAYOUT, (3, 3)),
    "@set_dsd_length": Builtin(_set_dsd_length, _NOT_LAYOUT, (2, 2)),
    "@set_dsd_stride": Builtin(_set_dsd_stride, _NOT_LAYOUT, (2, 2)),
}
