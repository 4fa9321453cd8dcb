"""Operands that are data structures, and the fields of configurations that may be live."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Evaluator, Item, Live, Site
from toolchains.csl.foreign import suggestion
from toolchains.csl.source import CslError, Note, Span, error
from toolchains.csl.types import DSD_TYPES, DSR_TYPES, FIFO, Float, Int, Type
from toolchains.csl.values import Dsd, FifoValue, Known

MEMORY_DSDS = ("mem1d_dsd", "mem4d_dsd", "circbuf_dsd")
FABRIC_DSDS = ("fabin_dsd", "fabout_dsd")
_HALF = frozenset({"f16", "bf16", "cb16"})


@dataclass(frozen=True, eq=False)
class Part:
    """A field of a configuration, known or not."""

    item: Item
    span: Span


def is_configuration(kind: Type) -> bool:
    """Whether values of a type are structs, so that one is a configuration."""
    return isinstance(kind, types.Anonymous | types.Struct) or kind == types.Tuple(())


def parts_of(ev: Evaluator, node: nodes.Expr, at: Site, what: str) -> dict[str, Part]:
    """The fields of a configuration, a literal or any struct value."""
    if isinstance(node, nodes.StructLiteral) and node.type is None:
        found: dict[str, Part] = {}
        for one in node.fields:
            if one.name in found:
                raise twice(one.name, one.span, found[one.name].span)
            found[one.name] = Part(ev.item(one.value, at), one.value.span)
        return found
    return split(ev.item(node, at), node.span, what)


def twice(name: str, span: Span, first: Span) -> CslError:
    """An error for a property that is given more than once."""
    return error(
        span, "duplicate-property", f".{name} is given twice", "", (Note("first here", first),)
    )


def split(item: Item, span: Span, what: str) -> dict[str, Part]:
    """The fields of a struct value."""
    kind = item.type
    if kind in (types.Tuple(()), types.VOID):
        return {}
    if not isinstance(kind, types.Anonymous | types.Struct):
        message = f"{what} is a struct, such as .{{ .name = value }}, not a `{kind}`"
        raise error(span, "type-mismatch", message)
    found: dict[str, Part] = {}
    for position, (name, part) in enumerate(kind.fields):
        found[name] = Part(_field(item, position, part), span)
    return found


def items_of(part: Part) -> list[Item] | None:
    """The items of a tuple or array; None if it is something else."""
    kind, item = part.item.type, part.item
    if isinstance(kind, types.Tuple):
        return [_field(item, position, one) for position, one in enumerate(kind.items)]
    if isinstance(kind, types.Array) and isinstance(item, Known):
        data: Any = item.data
        return [Known(kind.element, one.item() if hasattr(one, "item") else one) for one in data]
    return None


def _field(item: Item, position: int, kind: Type) -> Item:
    if isinstance(item, Known):
        data: Any = item.data
        return Known(kind, data[position])
    if isinstance(item.tree, tree.Aggregate):
        part = item.tree.parts[position]
        return part.value if isinstance(part, tree.Constant) else Live(kind, part)
    return Live(kind, tree.FieldOf(kind, item.tree.span, item.tree, position))


def allow(found: dict[str, Part], allowed: Iterable[str], what: str) -> None:
    """Error unless every field is one of those allowed."""
    names = list(allowed)
    for name, part in found.items():
        if name not in names:
            hint = suggestion(name, names) or f"its fields: {', '.join(names)}"
            raise error(part.span, "unknown-field", f"{what} has no field `{name}`", hint)


def known_part(part: Part, what: str) -> Known:
    """A field that has to be known while compiling."""
    if isinstance(part.item, Live):
        message = f"{what} has to be known while compiling"
        hint = "a literal with known values in the call, or a const of known values only"
        raise error(part.span, "not-comptime", message, hint)
    return part.item


def known_flag(found: dict[str, Part], name: str) -> bool:
    """A bool that is known; false if it isn't there."""
    if name not in found:
        return False
    value = known_part(found[name], f".{name}")
    if value.type != types.BOOL:
        message = f".{name} is a bool, not a `{value.type}`"
        raise error(found[name].span, "type-mismatch", message)
    return bool(value.data)


def bits_of_element(kind: Type) -> int:
    """16 or 32 for a type that DSDs and FIFOs can have as elements; else 0."""
    if isinstance(kind, Int) and kind.bits in (16, 32):
        return kind.bits
    if isinstance(kind, Float):
        return 16 if kind.name in _HALF else 32
    return 0


def check_element(kind: Type, span: Span, what: str) -> int:
    """The width of an element; error if it is none that data structures can have."""
    bits = bits_of_element(kind)
    if bits:
        return bits
    message = f"{what} has elements of 16 or 32 bits, not of type `{kind}`"
    raise error(span, "element-type", message, "i16, u16, i32, u32, f32 or the 16-bit float")


def element_of(item: Item) -> Type | None:
    """Of what a DSD or FIFO was made for; None if that isn't known."""
    data = item.data if isinstance(item, Known) else None
    return data.element if isinstance(data, Dsd | FifoValue) else None


def is_dsd(kind: Type) -> bool:
    """Any of the DSD types."""
    return isinstance(kind, types.Simple) and kind.name in DSD_TYPES


def is_dsr(kind: Type) -> bool:
    """Any of the DSR types."""
    return isinstance(kind, types.Simple) and kind.name in DSR_TYPES


def is_structure(kind: Type) -> bool:
    """A DSD, DSR or FIFO."""
    return is_dsd(kind) or is_dsr(kind) or kind == FIFO


def pointer_to(ev: Evaluator, node: nodes.Expr, at: Site, what: str) -> tuple[Item, Type]:
    """A pointer to elements in memory, and their type; an array gives its own."""
    item = ev.item(node, at)
    if isinstance(item.type, types.Array):
        item = ev.item(nodes.AddressOf(node.span, node), at)
    return item, pointed(item, node.span, what)


def pointed(item: Item, span: Span, what: str) -> Type:
    """The type of the elements that a pointer points to."""
    kind = item.type
    if not isinstance(kind, types.Pointer) or isinstance(kind.target, types.Function):
        hint = "&a" if isinstance(kind, types.Array) or bits_of_element(kind) else ""
        raise error(span, "type-mismatch", f"{what} is a pointer, not a `{kind}`", hint)
    target = kind.target
    return target.element if isinstance(target, types.Array) else target
