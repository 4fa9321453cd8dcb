"""Descriptors of wavelets: fabin_dsd and fabout_dsd, and the queues that they imply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulators.wafer.dsd import DsdField, DsdKind, FabricOption
from toolchains.csl import tree
from toolchains.csl.evaluation import Evaluator, Item, Live
from toolchains.csl.source import Note, Span, error
from toolchains.csl.tile import QueueInit
from toolchains.csl.types import COLOR, INPUT_QUEUE, OUTPUT_QUEUE, U16, VOID, Type
from toolchains.csl.values import Dsd, Known

from .arguments import Field, choice, is_integer
from .operands import Part, allow, known_flag, known_part

_PRIORITIES = {
    "low": FabricOption.PRIORITY_LOW,
    "medium": 0,
    "high": FabricOption.PRIORITY_HIGH,
}
_ZEROS = {"first_source": FabricOption.ZERO_FIRST, "second_source": FabricOption.ZERO_SECOND}
_FLAGS = {
    "control": FabricOption.CONTROL,
    "advance_switch": FabricOption.ADVANCE_SWITCH,
    "control_transform": FabricOption.CONTROL_TRANSFORM,
}
_SIMD: Mapping[tuple[str, str], dict[str, int]] = {
    ("1.4", "wse2"): {"simd_32": 32, "simd_64": 64, "simd_32_or_64": -1},
    ("1.4", "wse3"): {"simd_32": 32, "simd_64": 64, "simd_32_or_64": -1},
    ("2.10", "wse2"): {"simd_32": 32, "simd_64": 64, "simd_32_or_64": -1},
    ("2.10", "wse3"): {"simd_off": 0, "simd_max": -1},
}


def get_fabric_dsd(ev: Evaluator, kind: Type, found: dict[str, Part], span: Span) -> Item:
    """@get_dsd(fabin_dsd or fabout_dsd, .{ … })."""
    output = str(kind) == "fabout_dsd"
    allow(found, _allowed(ev, output), f"a `{kind}` on {ev.options.arch}")
    extent = _extent(ev, kind, found, span)
    queue = _queue(kind, output, found, span)
    color = _color(found)
    if output and "fabric_color" not in found and ev.options.arch == "wse2":
        message = "a `fabout_dsd` of wse2 needs the colour that its wavelets get"
        raise error(span, "missing-field", message, ".fabric_color = @get_color(n)")
    _imply_queue(ev, output, queue, color, span)
    dsd = Dsd(
        DsdKind.FABRIC_OUT if output else DsdKind.FABRIC_IN,
        None,
        (extent.data if isinstance(extent.data, int) else 0,)
        if isinstance(extent, Known)
        else (0,),
        index=int(known_flag(found, "wavelet_index_offset")),
        queue=queue,
        color=color,
        options=_options(found),
        simd=_simd(ev, found),
    )
    start = Known(kind, dsd)
    if isinstance(extent, Known):
        return start
    fields = ((DsdField.EXTENT, extent.tree),)
    return Live(kind, tree.DsdMake(kind, span, dsd.kind, start, fields))


def _allowed(ev: Evaluator, output: bool) -> list[str]:
    names = ["extent", "output_queue" if output else "input_queue", "fabric_color"]
    names += ["control_transform", "simd_mode"]
    if output:
        names += ["control", "wavelet_index_offset", "advance_switch", "zero"]
    if ev.options.arch == "wse3":
        names.append("priority")
    return names


def _extent(ev: Evaluator, kind: Type, found: dict[str, Part], span: Span) -> Item:
    part = found.get("extent")
    if part is None:
        message = f"a `{kind}` needs an .extent: the number of its wavelets"
        raise error(span, "missing-field", message, ".extent = n")
    if not is_integer(part.item.type):
        message = f".extent is a `u16`, not a `{part.item.type}`"
        raise error(part.span, "type-mismatch", message)
    if isinstance(part.item, Live):
        return ev.coerce(part.item, U16, part.span)
    data: Any = part.item.data
    if not 0 <= data <= U16.high:
        raise error(part.span, "out-of-range", f".extent is from 0 to 65535, not {data}")
    return part.item


def _queue(kind: Type, output: bool, found: dict[str, Part], span: Span) -> int:
    name = "output_queue" if output else "input_queue"
    wanted = OUTPUT_QUEUE if output else INPUT_QUEUE
    part = found.get(name)
    if part is None:
        message = f"a `{kind}` needs an .{name}"
        raise error(span, "missing-field", message, f".{name} = @get_{name}(n)")
    value = known_part(part, f".{name}")
    if value.type != wanted:
        message = f".{name} is an `{wanted}`, not a `{value.type}`"
        raise error(part.span, "type-mismatch", message, f"@get_{name}(n)")
    data: Any = value.data
    return int(data)


def _color(found: dict[str, Part]) -> int:
    part = found.get("fabric_color")
    if part is None:
        return -1
    value = known_part(part, ".fabric_color")
    if value.type == VOID:
        # A port that isn't there, such as those at the edges: no operation may use the DSD.
        return -1
    if value.type != COLOR:
        message = f".fabric_color is a color, not a `{value.type}`"
        raise error(part.span, "type-mismatch", message, "@get_color(n)")
    data: Any = value.data
    return int(data)


def _options(found: dict[str, Part]) -> int:
    bits = 0
    for name, bit in _FLAGS.items():
        bits |= int(bit) if known_flag(found, name) else 0
    for name, table in (("priority", _PRIORITIES), ("zero", _ZEROS)):
        if name in found:
            bits |= int(table[_choice(found[name], table, name)])
    return bits


def _simd(ev: Evaluator, found: dict[str, Part]) -> int:
    if "simd_mode" not in found:
        return -1
    modes = _SIMD[ev.options.dialect, ev.options.arch]
    return modes[_choice(found["simd_mode"], modes, "simd_mode")]


def _choice(part: Part, table: Mapping[str, int], name: str) -> str:
    return choice(Field(known_part(part, f".{name}"), part.span), table, f".{name}")


# --- queues --------------------------------------------------------------------------------------


def _imply_queue(ev: Evaluator, output: bool, queue: int, color: int, span: Span) -> None:
    """Note what a DSD says of its queue. Output queues of wse2 have no colour of their own."""
    if output and ev.options.arch == "wse2":
        color = -1
    elif color < 0:
        return
    ev.tile.queue_uses.append(QueueInit(output, queue, color, 0, -1, span, explicit=False))


def settle_queues(ev: Evaluator) -> None:
    """Initialise the queues that 1.4 initialises by their DSDs; report colours that clash."""
    tile = ev.tile
    for use in tile.queue_uses:
        known = [one for one in tile.queues if (one.output, one.id) == (use.output, use.id)]
        if not known:
            if ev.options.dialect == "1.4" or use.color < 0:
                tile.queues.append(use)
            continue
        if use.color >= 0 and known[0].color not in (use.color, -1):
            _report_clash(ev, known[0], use)


def _report_clash(ev: Evaluator, first: QueueInit, use: QueueInit) -> None:
    kind = OUTPUT_QUEUE if use.output else INPUT_QUEUE
    message = f"{kind} {use.id} is for colour {first.color}, not for colour {use.color}"
    same = [one.id for one in ev.tile.queues if one.output == use.output]
    free = [number for number in range(8) if number not in same]
    hint = f"another queue; free here: {', '.join(map(str, free)) or 'none'}"
    note = Note("its colour is given here", first.span)
    ev.reports.add(error(use.span, "queue-clash", message, hint, (note,)).diagnostic)
