"""FIFOs: rings in memory that operations write to and read from."""

from __future__ import annotations

from collections.abc import Mapping

from simulators.wafer.opcodes import SystemCall
from simulators.wafer.program import FifoAction
from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Builtin, Context, Evaluator, Handler, Item, Live, Site
from toolchains.csl.source import error
from toolchains.csl.tile import FifoInit
from toolchains.csl.types import FIFO, U16, VOID, Type
from toolchains.csl.values import Address, FifoValue, Known

from .arguments import RUNTIME, Field, choice
from .behaviours import NO_TARGET, PRIORITIES, Target, target_of
from .operands import Part, allow, check_element, known_part, parts_of, pointer_to

_REGISTERS: Mapping[str, str] = {"dest": "dsr_fifo_dest", "src": "dsr_fifo_src1", "xdsr": "xdsr"}
_SIMD = ("simd_32", "simd_64", "simd_32_or_64")
_ACTIONS: Mapping[str, tuple[str, ...]] = {
    "wse2": ("test_or_suspend", "terminate", "suspend"),
    "wse3": ("test_or_suspend", "terminate", "suspend", "fault"),
}


def _allocate_fifo(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@allocate_fifo(buffer, .{ … })."""
    argument = node.arguments[0]
    pointer, element = pointer_to(ev, argument, at, "the buffer of a FIFO")
    check_element(element, argument.span, "a FIFO")
    kind = pointer.type
    array = kind.target if isinstance(kind, types.Pointer) else kind
    if not isinstance(array, types.Array):
        message = f"the buffer of a FIFO is an array, not a `{array}`"
        raise error(argument.span, "type-mismatch", message, "var buffer = @zeros([n]f32);")
    address = pointer.data if isinstance(pointer, Known) else None
    if not isinstance(address, Address) or not address.variable.mutable:
        message = "the buffer of a FIFO is a variable of the module"
        raise error(argument.span, "fifo-buffer", message, "var buffer = @zeros([n]f32);")
    found = (
        parts_of(ev, node.arguments[1], at, "the configuration") if len(node.arguments) > 1 else {}
    )
    _check(ev, found)
    push, pop = (_activated(ev, found, name) for name in ("activate_push", "activate_pop"))
    value = FifoValue(len(ev.tile.fifos), element)
    ev.tile.fifos.append(
        FifoInit(
            value,
            address.variable.name,
            address,
            array.count,
            push.id,
            pop.id,
            _action(ev, found, "empty_action"),
            _action(ev, found, "full_action"),
            node.span,
            push.task,
            pop.task,
        )
    )
    return Known(FIFO, value)


def _check(ev: Evaluator, found: dict[str, Part]) -> None:
    allowed = ["activate_pop", "activate_push", *_REGISTERS]
    allowed.append("priority" if ev.options.arch == "wse3" else "simd_mode")
    if ev.options.dialect != "1.4":
        allowed += ["empty_action", "full_action"]
    allow(found, allowed, f"a FIFO of SDK {ev.options.dialect} on {ev.options.arch}")
    for name, table in (("priority", tuple(PRIORITIES)), ("simd_mode", _SIMD)):
        if name in found:
            _choice(found[name], table, name)
    given = [name for name in _REGISTERS if name in found]
    for name in given:
        value = known_part(found[name], f".{name}")
        if str(value.type) != _REGISTERS[name]:
            message = f".{name} is a `{_REGISTERS[name]}`, not a `{value.type}`"
            raise error(found[name].span, "type-mismatch", message)
    if given and len(given) < len(_REGISTERS):
        message = ".dest, .src and .xdsr of a FIFO are given together or not at all"
        raise error(found[given[0]].span, "missing-field", message)


def _activated(ev: Evaluator, found: dict[str, Part], name: str) -> Target:
    return target_of(ev, found[name], "activate") if name in found else NO_TARGET


def _action(ev: Evaluator, found: dict[str, Part], name: str) -> FifoAction:
    if name not in found:
        return FifoAction.TEST_OR_SUSPEND
    return FifoAction(_choice(found[name], _ACTIONS[ev.options.arch], name))


def _choice(part: Part, names: tuple[str, ...], what: str) -> str:
    return choice(Field(known_part(part, f".{what}"), part.span), names, f".{what}")


def _length(call: SystemCall) -> Handler:
    def handler(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
        """@set_fifo_read_length(fifo, length), @set_fifo_write_length(fifo, length)."""
        fifo = ev.item(node.arguments[0], at)
        span = node.arguments[0].span
        if fifo.type != FIFO:
            raise error(span, "type-mismatch", f"a FIFO has to stand here, not a `{fifo.type}`")
        length = ev.value(node.arguments[1], at, U16)
        arguments = (ev.live(fifo, span), ev.live(length, node.arguments[1].span))
        return Live(VOID, tree.System(VOID, node.span, call, arguments))

    return handler


FIFOS: dict[str, Builtin] = {
    "@allocate_fifo": Builtin(_allocate_fifo, frozenset({Context.COMPTIME}), (1, 2)),
    "@set_fifo_read_length": Builtin(_length(SystemCall.FIFO_READ_LENGTH), RUNTIME, (2, 2)),
    "@set_fifo_write_length": Builtin(_length(SystemCall.FIFO_WRITE_LENGTH), RUNTIME, (2, 2)),
}
