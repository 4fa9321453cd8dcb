"""@get_dsd: descriptors of memory, of what arrives from the fabric and of what leaves by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simulators.wafer.dsd import DsdField, DsdKind
from toolchains.csl import nodes, tree, types
from toolchains.csl.evaluation import Builtin, Evaluator, Item, Live, Site
from toolchains.csl.source import Span, error
from toolchains.csl.types import COMPTIME_INT, DSD_TYPES, I8, I16, U16, Type
from toolchains.csl.values import Absolute, Address, Dsd, Known

from .arguments import ANYWHERE, is_integer
from .dsds_changes import CHANGES
from .dsds_fabric import get_fabric_dsd
from .operands import (
    Part,
    allow,
    check_element,
    items_of,
    known_flag,
    pointed,
    split,
    twice,
)
from .tensor_access import MOST_VARIABLES, Access, take_apart

_ONE = Known(COMPTIME_INT, 1)
_NONE = Known(COMPTIME_INT, 0)
_OF_ACCESS = ("base_address", "offset", "stride", "extent")
_MEMORY_FIELDS = (*_OF_ACCESS, "tensor_access", "wavelet_index_offset")


@dataclass(frozen=True, eq=False)
class _Call:
    """A call of @get_dsd."""

    ev: Evaluator
    node: nodes.BuiltinCall
    kind: Type
    found: dict[str, Part]
    access: Access | None


def _get_dsd(ev: Evaluator, node: nodes.BuiltinCall, at: Site, _: Type | None) -> Item:
    """@get_dsd(T, .{ … })."""
    kind = ev.type(node.arguments[0], at)
    name = str(kind)
    if kind != DSD_TYPES.get(name):
        message = f"@get_dsd makes one of {', '.join(DSD_TYPES)}, not a `{kind}`"
        raise error(node.arguments[0].span, "type-mismatch", message)
    found, access = _properties(ev, node.arguments[1], at)
    call = _Call(ev, node, kind, found, access)
    if name in _MAKERS:
        return _MAKERS[name](call)
    if access is not None:
        message = f"a `{kind}` has no .tensor_access: it is not in memory"
        raise error(access.span, "unknown-field", message, ".extent = n")
    return get_fabric_dsd(ev, kind, found, node.span)


def _properties(ev: Evaluator, node: nodes.Expr, at: Site) -> tuple[dict[str, Part], Access | None]:
    """The fields, and the tensor access if one is written there."""
    if isinstance(node, nodes.IfExpr) and node.otherwise is not None:
        condition = ev.item(node.condition, at)
        if isinstance(condition, Known) and condition.type == types.BOOL:
            return _properties(ev, node.then if condition.data else node.otherwise, at)
    if not isinstance(node, nodes.StructLiteral) or node.type is not None:
        return split(ev.item(node, at), node.span, "the second argument of @get_dsd"), None
    found: dict[str, Part] = {}
    spans: dict[str, Span] = {}
    access = None
    for one in node.fields:
        if one.name in spans:
            raise twice(one.name, one.span, spans[one.name])
        spans[one.name] = one.span
        if isinstance(one.value, nodes.TensorAccess) and one.name == "tensor_access":
            access = take_apart(ev, one.value, at)
        else:
            found[one.name] = Part(ev.item(one.value, at), one.value.span)
    return found, access


# --- memory --------------------------------------------------------------------------------------


def _memory(call: _Call) -> Item:
    """A mem1d_dsd or mem4d_dsd."""
    what = f"a `{call.kind}`"
    allow(call.found, _MEMORY_FIELDS, what)
    access = _access(call)
    bits = check_element(access.element, access.span, what)
    one_dimension = call.kind == DSD_TYPES["mem1d_dsd"]
    if one_dimension and len(access.extents) != 1:
        message = f"a `mem1d_dsd` has one dimension, not {len(access.extents)}"
        raise error(access.span, "dsd-rank", message, "@get_dsd(mem4d_dsd, …) has up to four")
    extents = [_short(call.ev, one, U16, access.span, "an extent") for one in access.extents]
    limit = I8 if one_dimension else I16
    strides = [_stride(call.ev, one, limit, access.span) for one in access.strides]
    offset = _short(call.ev, access.offset, I16, access.span, "the offset")
    index = int(known_flag(call.found, "wavelet_index_offset"))
    if not one_dimension and not _all_known(*extents, *strides):
        message = "the extents and strides of a `mem4d_dsd` are known while compiling"
        raise error(access.span, "not-comptime", message)
    base, fields = based(call.ev, access.base, offset, bits, access.span)
    if one_dimension:
        fields += _live_fields(call.ev, extents[0], strides[0], access.span)
    dsd = Dsd(
        DsdKind.MEMORY if one_dimension else DsdKind.MEMORY_4D,
        base,
        tuple(_number(one, 0) for one in extents),
        tuple(_number(one, 1) for one in strides),
        wide=bits == 32,
        index=index,
        element=access.element,
    )
    return made(call.ev, call.kind, dsd, fields, call.node.span)


def _live_fields(
    ev: Evaluator, extent: Item, stride: Item, span: Span
) -> list[tuple[DsdField, tree.Expr]]:
    pairs = ((DsdField.EXTENT, extent), (DsdField.STRIDE, stride))
    return [(field, ev.live(item, span)) for field, item in pairs if isinstance(item, Live)]


def _access(call: _Call) -> Access:
    """What the fields say of memory, or the tensor access."""
    found = dict(call.found)
    written = found.pop("tensor_access", None)
    if written is not None:
        inside = split(written.item, written.span, ".tensor_access")
        allow(inside, _OF_ACCESS, ".tensor_access")
        for name, part in inside.items():
            if name in found:
                raise twice(name, found[name].span, part.span)
            found[name] = part
    if call.access is not None:
        for name in _OF_ACCESS:
            if name in found:
                message = f".{name} is given twice: the tensor access has it"
                raise error(found[name].span, "duplicate-property", message)
        return call.access
    return _explicit(call, found)


def _explicit(call: _Call, found: Mapping[str, Part]) -> Access:
    for name in ("base_address", "extent"):
        if name not in found:
            message = f"a `{call.kind}` needs .base_address and .extent, or a .tensor_access"
            hint = f".{name} = …, or .tensor_access = |i|{{n}} -> a[i]"
            raise error(call.node.span, "missing-field", message, hint)
    base = found["base_address"]
    element = pointed(base.item, base.span, ".base_address")
    extents = _several(call, found["extent"], ".extent")
    strides: list[Item] = [_ONE] * len(extents)
    if "stride" in found:
        # The strides stand innermost first, the extents outermost first (SDK documentation, DSDs).
        strides = _several(call, found["stride"], ".stride")[::-1]
    elif len(extents) > 1:
        raise error(call.node.span, "missing-field", "a `mem4d_dsd` of this rank needs a .stride")
    if len(strides) != len(extents):
        message = f"{len(extents)} extents have {len(extents)} strides, not {len(strides)}"
        raise error(found["stride"].span, "dsd-rank", message)
    offset = found["offset"].item if "offset" in found else _NONE
    return Access(base.item, element, tuple(extents), tuple(strides), offset, base.span)


def _several(call: _Call, part: Part, what: str) -> list[Item]:
    """The items of a tuple, or one value that is none."""
    items = items_of(part)
    if items is None:
        return [part.item]
    if not 1 <= len(items) <= MOST_VARIABLES:
        message = f"{what} of a `{call.kind}` has 1 to {MOST_VARIABLES} items, not {len(items)}"
        raise error(part.span, "dsd-rank", message)
    return items


def _circular(call: _Call) -> Item:
    """A circbuf_dsd."""
    what = "a `circbuf_dsd`"
    allow(call.found, ("base_address", "extent", "wraparound"), what)
    for name in ("base_address", "extent", "wraparound"):
        if name not in call.found:
            message = f"{what} needs .base_address, .extent and .wraparound"
            raise error(call.node.span, "missing-field", message, f".{name} = …")
    base, extent, wrap = (call.found[n] for n in ("base_address", "extent", "wraparound"))
    element = pointed(base.item, base.span, ".base_address")
    bits = check_element(element, base.span, what)
    length = _short(call.ev, extent.item, U16, extent.span, "the extent")
    around = _short(call.ev, wrap.item, U16, wrap.span, ".wraparound")
    address, fields = based(call.ev, base.item, _NONE, bits, base.span)
    pairs = ((DsdField.EXTENT, length), (DsdField.INDEX, around))
    fields += [(f, call.ev.live(one, base.span)) for f, one in pairs if isinstance(one, Live)]
    dsd = Dsd(
        DsdKind.CIRCULAR,
        address,
        (_number(length, 0),),
        wide=bits == 32,
        index=_number(around, 0),
        element=element,
    )
    return made(call.ev, call.kind, dsd, fields, call.node.span)


_MAKERS: Mapping[str, Callable[[_Call], Item]] = {
    "mem1d_dsd": _memory,
    "mem4d_dsd": _memory,
    "circbuf_dsd": _circular,
}


# --- parts that all have -------------------------------------------------------------------------


def based(
    ev: Evaluator, pointer: Item, offset: Item, bits: int, span: Span
) -> tuple[Address | Absolute | None, list[tuple[DsdField, tree.Expr]]]:
    """The address of the first element as far as it is known, and what code adds."""
    fields: list[tuple[DsdField, tree.Expr]] = []
    step = bits // 8
    base: Address | Absolute | None = None
    if isinstance(pointer, Live):
        fields.append((DsdField.BASE, pointer.tree))
    elif isinstance(pointer.data, Address | Absolute):
        base = pointer.data
    advance = DsdField.ADVANCE_4 if bits == 32 else DsdField.ADVANCE_2
    if isinstance(offset, Live):
        fields.append((advance, offset.tree))
    elif _number(offset, 0):
        if base is None:
            number = ev.coerce(offset, I16, span)
            fields.append((advance, ev.live(number, span)))
        else:
            base = moved(base, _number(offset, 0) * step)
    return base, fields


def moved(base: Address | Absolute, count: int) -> Address | Absolute:
    """An address, some bytes further."""
    if isinstance(base, Absolute):
        return Absolute(base.address + count)
    return Address(base.variable, base.offset + count)


def made(
    ev: Evaluator, kind: Type, dsd: Dsd, fields: list[tuple[DsdField, tree.Expr]], span: Span
) -> Item:
    """A DSD, known if no field is left for code."""
    start = Known(kind, dsd)
    if not fields:
        return start
    ev.live(start, span)
    return Live(kind, tree.DsdMake(kind, span, dsd.kind, start, tuple(fields)))


def _short(ev: Evaluator, item: Item, kind: types.Int, span: Span, what: str) -> Item:
    """A number of a type; known ones within its range."""
    if not is_integer(item.type):
        raise error(span, "type-mismatch", f"{what} is a `{kind}`, not a `{item.type}`")
    if isinstance(item, Live):
        return ev.coerce(item, kind, span)
    data: Any = item.data
    if not kind.low <= data <= kind.high:
        message = f"{what} is from {kind.low} to {kind.high}, not {data}"
        raise error(span, "out-of-range", message)
    return item


def _stride(ev: Evaluator, item: Item, kind: types.Int, span: Span) -> Item:
    """Code of a tensor access computes strides as i16, of which the low bits count."""
    if isinstance(item, Live) and item.type == I16:
        return item
    if isinstance(item, Known) and kind == I8 and is_integer(item.type):
        data: Any = item.data
        if I16.low <= data <= I16.high and not I8.low <= data <= I8.high:
            message = f"the stride of a `mem1d_dsd` is from -128 to 127, not {data}"
            raise error(span, "out-of-range", message, "@get_dsd(mem4d_dsd, …) has i16 strides")
    return _short(ev, item, kind, span, "a stride")


def _number(item: Item, otherwise: int) -> int:
    data = item.data if isinstance(item, Known) else None
    return data if isinstance(data, int) else otherwise


def _all_known(*items: Item) -> bool:
    return all(isinstance(item, Known) for item in items)


DSDS: dict[str, Builtin] = {"@get_dsd": Builtin(_get_dsd, ANYWHERE, (2, 2)), **CHANGES}
