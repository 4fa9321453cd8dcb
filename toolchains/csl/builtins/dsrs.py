"""Data structure registers: naming, loading and changing them."""

from __future__ import annotations

from collections.abc import Mapping

from simulators.wafer.opcodes import SystemCall
from toolchains.csl import nodes, tree
from toolchains.csl.evaluation import Builtin, Context, Evaluator, Item, Live, Site
from toolchains.csl.source import Span, error
from toolchains.csl.tile import QueueInit
from toolchains.csl.types import DSR_TYPES, INPUT_QUEUE, U16, VOID, Simple, Type
from toolchains.csl.values import Dsd, Dsr, Known

from .arguments import RUNTIME, known_int
from .behaviours import of_load
from .operands import Part, is_dsd, is_dsr, items_of, parts_of, pointer_to

_NOT_LAYOUT = frozenset(Context) - {Context.LAYOUT}
_COUNTS: Mapping[str, int] = {"dsr_dest": 16, "dsr_src0": 16, "dsr_src1": 16, "xdsr": 8, "sr": 16}
"""Of DSRs 16 of each kind (SDK documentation, DSRs)."""
_FIFO_KINDS: Mapping[str, str] = {"dsr_fifo_dest": "dsr_dest", "dsr_fifo_src1": "dsr_src1"}
_CLASS: Mapping[str, int] = {"dsr_dest": 0, "dsr_src0": 1, "dsr_src1": 2}
_MOST_SR = 3


def _get_dsr(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@get_dsr(dsr_dest, number), @get_dsr(dsr_fifo_dest, dsr)."""
    kind = ev.type(node.arguments[0], at)
    name = str(kind)
    if name in _FIFO_KINDS and is_dsr(kind):
        inner = ev.known(node.arguments[1], at)
        wanted = _FIFO_KINDS[name]
        if not isinstance(inner.data, Dsr) or inner.data.kind != wanted:
            message = f"a `{name}` is made of a `{wanted}`, not of a `{inner.type}`"
            raise error(node.arguments[1].span, "type-mismatch", message)
        return Known(kind, Dsr(name, inner.data.number))
    if name not in _CLASS or kind != DSR_TYPES.get(name):
        message = f"@get_dsr makes one of {', '.join((*_CLASS, *_FIFO_KINDS))}, not a `{kind}`"
        raise error(node.arguments[0].span, "type-mismatch", message)
    return _register(ev, node, at, name, 1)


def _get_xdsr(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@get_xdsr(number)."""
    return _register(ev, node, at, "xdsr", 0)


def _get_sr(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@get_sr(number)."""
    return _register(ev, node, at, "sr", 0)


def _register(ev: Evaluator, node: nodes.BuiltinCall, at: Site, kind: str, position: int) -> Known:
    argument = node.arguments[position]
    number = known_int(ev, argument, at, f"the number of a {kind}", _COUNTS[kind] - 1)
    # Two constants may share a register (spmv-hypersparse of SDK 1.4 has such pairs), though the
    # documentation of 1.4 forbids it.
    ev.tile.dsrs.setdefault((kind, number), node.span)
    return Known(DSR_TYPES[kind], Dsr(kind, number))


# --- loading -------------------------------------------------------------------------------------


def _load_to_dsr(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@load_to_dsr(dsr, dsd, .{ … })."""
    dsr = _dsr(ev, node, at, tuple(_CLASS))
    argument = node.arguments[1]
    dsd = ev.item(argument, at)
    _check_direction(ev, dsr, dsd.type, argument.span)
    return _load(ev, node, at, dsr, dsd, 2)


def _check_direction(ev: Evaluator, dsr: Dsr, kind: Type, span: Span) -> None:
    name = str(kind)
    if not is_dsd(kind):
        message = f"a DSR is loaded with a DSD, not with a `{kind}`"
        raise error(span, "type-mismatch", message)
    if name == "fabin_dsd" and dsr.kind == "dsr_dest":
        message = "a `fabin_dsd` is a source, and a `dsr_dest` a destination"
        raise error(span, "dsr-direction", message, "@get_dsr(dsr_src1, n)")
    if name == "fabout_dsd" and dsr.kind != "dsr_dest":
        message = f"a `fabout_dsd` is a destination, and a `{dsr.kind}` a source"
        raise error(span, "dsr-direction", message, "@get_dsr(dsr_dest, n)")
    if name == "circbuf_dsd":
        message = "a `circbuf_dsd` takes an extended DSR too"
        raise error(span, "dsr-extended", message, "@load_to_dsr_xdsr(dsr, xdsr, dsd)")
    if name == "mem4d_dsd" and ev.options.dialect != "1.4":
        message = f"a `mem4d_dsd` takes an extended DSR too in SDK {ev.options.dialect}"
        raise error(span, "dsr-extended", message, "@load_to_dsr_xdsr_sr(dsr, xdsr, .{}, dsd)")


def _load(
    ev: Evaluator, node: nodes.BuiltinCall, at: Site, dsr: Dsr, dsd: Item, count: int
) -> Item:
    parts: dict[str, Part] = {}
    if len(node.arguments) > count:
        parts = parts_of(ev, node.arguments[count], at, f"the configuration of {node.name}")
    behaviour = of_load(ev, parts, node.name)
    if behaviour.asynchronous and str(dsd.type) not in ("fabin_dsd", "fabout_dsd"):
        message = f"only DSDs of the fabric are asynchronous, not a `{dsd.type}`"
        raise error(parts["async"].span, "async-operands", message, "leave .async out")
    _check_queue(ev, dsd, node.span)
    code = ev.live(dsd, node.arguments[count - 1].span)
    made = tree.LoadDsr(VOID, node.span, dsr, code, behaviour)
    return Live(VOID, made)


def _check_queue(ev: Evaluator, dsd: Item, span: Span) -> None:
    """Noted for what looks at queues at the end: operands in DSRs need their queue initialised."""
    data = dsd.data if isinstance(dsd, Known) else None
    if isinstance(data, Dsd) and str(dsd.type) == "fabin_dsd":
        ev.tile.queue_loads.append(QueueInit(False, data.queue, data.color, 0, -1, span))


def settle_loads(ev: Evaluator) -> None:
    """Queues of DSDs in DSRs are initialised by the program itself, in both dialects."""
    for load in ev.tile.queue_loads:
        known = [one for one in ev.tile.queues if not one.output and one.id == load.id]
        if any(one.explicit for one in known):
            continue
        message = f"{INPUT_QUEUE} {load.id} is not initialised, as a DSD in a DSR needs it"
        hint = f"@initialize_queue(@get_input_queue({load.id}), .{{ .color = … }})"
        ev.reports.warn(load.span, "queue-not-initialised", message, hint)


def _load_to_dsr_xdsr(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@load_to_dsr_xdsr(dsr, xdsr, circbuf_dsd, .{ … })."""
    dsr = _dsr(ev, node, at, tuple(_CLASS))
    _extended(ev, node, at)
    dsd = ev.item(node.arguments[2], at)
    if str(dsd.type) != "circbuf_dsd":
        message = f"@load_to_dsr_xdsr takes a `circbuf_dsd`, not a `{dsd.type}`"
        raise error(node.arguments[2].span, "type-mismatch", message)
    return _load(ev, node, at, dsr, dsd, 3)


def _load_to_dsr_xdsr_sr(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@load_to_dsr_xdsr_sr(dsr, xdsr, .{ sr, … }, mem4d_dsd, .{ … })."""
    dsr = _dsr(ev, node, at, tuple(_CLASS))
    _extended(ev, node, at)
    listed = Part(ev.item(node.arguments[2], at), node.arguments[2].span)
    registers = items_of(listed)
    if registers is None or any(one.type != DSR_TYPES["sr"] for one in registers):
        message = f"a tuple of `sr` has to stand here, not a `{listed.item.type}`"
        raise error(listed.span, "type-mismatch", message, ".{ @get_sr(0), @get_sr(1) }")
    dsd = ev.item(node.arguments[3], at)
    if str(dsd.type) != "mem4d_dsd":
        message = f"@load_to_dsr_xdsr_sr takes a `mem4d_dsd`, not a `{dsd.type}`"
        raise error(node.arguments[3].span, "type-mismatch", message)
    needed = _MOST_SR
    if isinstance(dsd, Known) and isinstance(dsd.data, Dsd):
        needed = max(0, len(dsd.data.extents) - 1)
    if len(registers) != needed:
        message = f"this DSD takes {needed} status registers, not {len(registers)}"
        raise error(listed.span, "sr-count", message)
    return _load(ev, node, at, dsr, dsd, 4)


def _dsr(ev: Evaluator, node: nodes.BuiltinCall, at: Site, kinds: tuple[str, ...]) -> Dsr:
    argument = node.arguments[0]
    item = ev.item(argument, at)
    if not isinstance(item.type, Simple) or item.type.name not in kinds:
        names = ", ".join(f"`{kind}`" for kind in kinds)
        message = f"{node.name} takes one of {names}, not a `{item.type}`"
        raise error(argument.span, "type-mismatch", message, "@get_dsr(dsr_dest, n)")
    if not isinstance(item, Known) or not isinstance(item.data, Dsr):
        message = "which DSR this is has to be known while compiling"
        raise error(argument.span, "not-comptime", message)
    return item.data


def _extended(ev: Evaluator, node: nodes.BuiltinCall, at: Site) -> None:
    value = ev.known(node.arguments[1], at)
    if value.type != DSR_TYPES["xdsr"]:
        message = f"an `xdsr` has to stand here, not a `{value.type}`"
        raise error(node.arguments[1].span, "type-mismatch", message, "@get_xdsr(n)")


def _set_dsr_base_addr(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@set_dsr_base_addr(dsr, pointer)."""
    dsr = _dsr(ev, node, at, tuple(_CLASS))
    pointer, _element = pointer_to(ev, node.arguments[1], at, "the new base")
    number = ev.live(Known(U16, _CLASS[dsr.kind] * 16 + dsr.number), node.arguments[0].span)
    code = ev.live(pointer, node.arguments[1].span)
    return Live(VOID, tree.System(VOID, node.span, SystemCall.SET_DSR_BASE, (number, code)))


DSRS: dict[str, Builtin] = {
    "@get_dsr": Builtin(_get_dsr, _NOT_LAYOUT, (2, 2)),
    "@get_xdsr": Builtin(_get_xdsr, _NOT_LAYOUT, (1, 1)),
    "@get_sr": Builtin(_get_sr, _NOT_LAYOUT, (1, 1), ("2.10",)),
    "@load_to_dsr": Builtin(_load_to_dsr, RUNTIME, (2, 3)),
    "@load_to_dsr_xdsr": Builtin(_load_to_dsr_xdsr, RUNTIME, (3, 4), ("2.10",)),
    "@load_to_dsr_xdsr_sr": Builtin(_load_to_dsr_xdsr_sr, RUNTIME, (4, 5), ("2.10",)),
    "@set_dsr_base_addr": Builtin(_set_dsr_base_addr, RUNTIME, (2, 2)),
}
