"""Parts of known values, and where they are in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from toolchains.csl import tree, types
from toolchains.csl.types import Array, Float, Int, Struct, Type, field_offset, size_of
from toolchains.csl.values import Active, Address, Known, Variable


def array_data(element: Type, items: Sequence[object]) -> object:
    """The data of an array, from those of its elements in order."""
    kind = _storage(element)
    if kind is None:
        return tuple(items)
    data = np.array(items, dtype=kind)
    data.flags.writeable = False
    return data


def _storage(element: Type) -> type[np.generic] | None:
    if isinstance(element, Float):
        return np.float64
    if element == types.BOOL:
        return np.bool_
    if isinstance(element, Int) and element.bits <= 64:
        return np.int64 if element.signed or element.bits < 64 else np.uint64
    return None


def element_data(data: Any, position: int) -> object:
    """One element's, by its position."""
    found = data[position]
    return found.item() if isinstance(found, np.generic) else found


def elements(data: Any) -> list[object]:
    """All of them."""
    return data.tolist() if isinstance(data, np.ndarray) else list(data)


def flat(shape: tuple[int, ...], indices: Sequence[int]) -> int:
    """Position of an element."""
    position = 0
    for extent, index in zip(shape, indices, strict=True):
        position = position * extent + index
    return position


def zero(kind: Type) -> object:
    """The data of a variable without an initial value."""
    match kind:
        case Array():
            return array_data(kind.element, [zero(kind.element)] * kind.count)
        case Struct() if kind.union:
            return Active(0, zero(kind.fields[0][1]))
        case Struct() | types.Anonymous():
            return tuple(zero(part) for _, part in kind.fields)
        case types.Tuple():
            return tuple(zero(part) for part in kind.items)
        case Float():
            return 0.0
        case _:
            return _ZEROS.get(kind, 0)


_ZEROS: dict[Type, object] = {
    types.BOOL: False,
    types.VOID: None,
    types.COMPTIME_FLOAT: 0.0,
    types.COMPTIME_STRING: b"",
}


def has_zero(kind: Type) -> bool:
    """Whether a variable of the compilation may do without an initial value."""
    match kind:
        case Array():
            return has_zero(kind.element)
        case Struct() | types.Anonymous():
            return bool(kind.fields) and all(has_zero(part) for _, part in kind.fields)
        case types.Simple():
            return kind in _ZEROS or kind in _NUMBERED
        case _:
            return isinstance(kind, Int | Float | types.Enum)


_NUMBERED = frozenset({types.COMPTIME_INT, types.COLOR, types.DIRECTION})


def replaced(kind: Type, data: Any, steps: Sequence[int], value: object) -> object:
    """The data with one part replaced, the way to which is given by positions."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(kind, Array):
        items = elements(data)
        items[step] = replaced(kind.element, items[step], rest, value)
        return array_data(kind.element, items)
    if isinstance(data, Active):
        part = data.data if data.field == step else None
        return Active(step, replaced(part_type(kind, step), part, rest, value))
    return tuple(
        replaced(part_type(kind, step), part, rest, value) if position == step else part
        for position, part in enumerate(data)
    )


def part_type(kind: Type, position: int) -> Type:
    """The type of a field by position."""
    match kind:
        case Array():
            return kind.element
        case Struct() | types.Anonymous():
            return kind.fields[position][1]
        case types.Tuple():
            return kind.items[position]
    raise ValueError(f"{kind} has no parts")


def field_names(kind: Type) -> tuple[str, ...]:
    """Of a struct, in order; none for other types."""
    return tuple(name for name, _ in kind.fields) if isinstance(kind, NAMED) else ()


NAMED = (Struct, types.Anonymous)


def address_of(place: tree.Expr) -> Address | None:
    """The address of a place, if it is known."""
    match place:
        case tree.GlobalRef():
            return Address(place.variable)
        case tree.Deref(pointer=tree.Constant(value=Known(data=Address() as address))):
            return address
        case tree.Element():
            return _element_address(place)
        case tree.FieldOf():
            base, kind = address_of(place.base), place.base.type
            if base is None or not isinstance(kind, Struct | types.Anonymous | types.Tuple):
                return None
            if isinstance(kind, Struct) and kind.layout == "packed":
                return None
            return _further(base, field_offset(kind, place.index))
    return None


def _element_address(place: tree.Element) -> Address | None:
    numbers = []
    for index in place.indices:
        if not isinstance(index, tree.Constant) or not isinstance(index.value.data, int):
            return None
        numbers.append(index.value.data)
    base, kind = place.base, place.base.type
    if isinstance(base, tree.Constant) and isinstance(base.value.data, Address):
        return _further(base.value.data, numbers[0] * size_of(place.type))
    start = address_of(base)
    if start is None or not isinstance(kind, Array):
        return None
    return _further(start, flat(kind.shape, numbers) * size_of(place.type))


def _further(address: Address, offset: int) -> Address:
    return Address(address.variable, address.offset + offset)


def stored(variable: Variable, offset: int, wanted: Type) -> Known | None:
    """What a constant in memory has at an offset, if a part of this type begins there."""
    if variable.mutable:
        return None
    kind: Type = variable.type
    data: Any = zero(kind) if variable.initial is None else variable.initial
    while kind != wanted or offset:
        if isinstance(kind, Array):
            position, offset = divmod(offset, size_of(kind.element))
            if position >= kind.count:
                return None
            kind, data = kind.element, element_data(data, position)
        elif isinstance(kind, NAMED) and not (isinstance(kind, Struct) and kind.layout):
            position = _field_at(kind, offset)
            offset -= field_offset(kind, position)
            kind, data = kind.fields[position][1], data[position]
        else:
            return None
    return Known(wanted, data)


def _field_at(kind: Struct | types.Anonymous, offset: int) -> int:
    starts = [field_offset(kind, n) for n in range(len(kind.fields))]
    return max((n for n, start in enumerate(starts) if start <= offset), default=0)
