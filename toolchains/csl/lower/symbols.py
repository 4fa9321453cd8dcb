"""What gets an address: variables, addressed locals, temporaries, buffers, and their contents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import numpy.typing as npt

from simulators.wafer.dsd import DsdField, DsdKind, pack_dsd
from simulators.wafer.program import Pattern
from toolchains.csl import types, values
from toolchains.csl.floats import bits_of
from toolchains.csl.source import Span
from toolchains.csl.types import Type, bit_width, field_offset, size_of

from .scalars import in_memory, is_packed


@dataclass(eq=False)
class Symbol:
    """A range of memory. `address` is set when everything is placed."""

    name: str
    type: Type
    size: int
    alignment: int
    span: Span | None
    content: bytes = b""
    """Shorter than it is: zeros follow."""
    patches: list[tuple[int, Symbol]] = field(default_factory=list)
    """Offsets of 16-bit words to which a symbol's address is added."""
    phase: int = 0
    """1: as a second operand of vector operations it should start half a row of banks later."""
    address: int = -1


@dataclass(frozen=True)
class Word:
    """A value of a register: its bits, plus a symbol's address at bit `shift` if there is one."""

    bits: int
    symbol: Symbol | None = None
    shift: int = 0


@dataclass
class Naming:
    """What values refer to: symbols of variables, numbers of functions and of patterns."""

    symbol: Callable[[values.Variable], Symbol]
    function: Callable[[values.FunctionValue], int]
    patterns: dict[Pattern, int] = field(default_factory=dict)

    def word(self, kind: Type, data: object) -> Word:
        """A value that fits a register, in the canonical form of its type."""
        match data:
            case None:
                return Word(0)
            case values.Address():
                return Word(data.offset, self.symbol(data.variable))
            case values.Absolute():
                return Word(data.address)
            case values.FunctionValue():
                return Word(self.function(data))
            case values.Dsd():
                return self.dsd(data)
            case values.Dsr() | values.FifoValue():
                return Word(data.number)
            case _:
                return Word(self._number(kind, data))

    def _number(self, kind: Type, data: object) -> int:
        if isinstance(kind, types.Float):
            return bits_of(float(cast(float, data)), kind)
        if is_packed(kind):
            return self._packed(cast(types.Struct, kind), data)
        return int(cast(int, data))

    def _packed(self, kind: types.Struct, data: object) -> int:
        if isinstance(data, values.Active):
            return _cut(self._number(kind.fields[data.field][1], data.data), kind)
        total, first = 0, 0
        for (_, part), item in zip(kind.fields, cast(tuple[object, ...], data), strict=True):
            total |= _cut(self.word(part, item).bits, part) << first
            first += bit_width(part)
        return total

    def dsd(self, dsd: values.Dsd) -> Word:
        """A packed DSD; the address of what it describes is at bit 16."""
        symbol, base = None, 0
        if isinstance(dsd.base, values.Address):
            symbol, base = self.symbol(dsd.base.variable), dsd.base.offset
        elif isinstance(dsd.base, values.Absolute):
            base = dsd.base.address
        extent, stride = dsd.extents[0], dsd.strides[0] if dsd.strides else 1
        if dsd.kind is DsdKind.MEMORY_4D:
            pattern = Pattern(dsd.extents, dsd.strides)
            extent, stride = self.patterns.setdefault(pattern, len(self.patterns)), 0
        elif dsd.kind in (DsdKind.FABRIC_IN, DsdKind.FABRIC_OUT):
            base, stride = dsd.queue & 255 | (dsd.color & 255) << 8, dsd.options
        fields = {
            DsdField.BASE: base,
            DsdField.EXTENT: extent,
            DsdField.STRIDE: stride,
            DsdField.WIDE: int(dsd.wide),
            DsdField.INDEX: dsd.index,
        }
        return Word(pack_dsd(dsd.kind, fields), symbol, 16)

    def fill(self, symbol: Symbol, data: object) -> None:
        """Set a symbol's content."""
        if data is None:
            return
        content = bytearray(symbol.size)
        self._put(symbol, content, symbol.type, data, 0)
        symbol.content = bytes(content)

    def _put(self, symbol: Symbol, content: bytearray, kind: Type, data: object, at: int) -> None:
        if data is None:
            return
        if isinstance(data, np.ndarray):
            raw = numbers(cast(types.Array, kind), data)
            content[at : at + len(raw)] = raw
            return
        if not in_memory(kind):
            self._put_word(symbol, content, kind, data, at)
            return
        if isinstance(data, values.Active):
            part = cast(types.Struct, kind).fields[data.field][1]
            self._put(symbol, content, part, data.data, at)
            return
        items = cast(tuple[object, ...], data)
        for (offset, part), item in zip(parts(kind), items, strict=True):
            self._put(symbol, content, part, item, at + offset)

    def _put_word(
        self, symbol: Symbol, content: bytearray, kind: Type, data: object, at: int
    ) -> None:
        size = size_of(kind)
        if not size:
            return
        word = self.word(kind, data)
        content[at : at + size] = (word.bits & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        if word.symbol is not None:
            symbol.patches.append((at + word.shift // 8, word.symbol))


def parts(kind: Type) -> list[tuple[int, Type]]:
    """Offsets and types of the elements or fields of a type in memory."""
    match kind:
        case types.Array():
            step = size_of(kind.element)
            return [(step * n, kind.element) for n in range(kind.count)]
        case types.Tuple():
            return [(field_offset(kind, n), part) for n, part in enumerate(kind.items)]
        case types.Range():
            step = size_of(kind.element)
            return [(step * n, kind.element) for n in range(3)]
        case types.Struct() | types.Anonymous():
            return [(field_offset(kind, n), part) for n, (_, part) in enumerate(kind.fields)]
        case _:
            raise ValueError(f"{kind} has no parts in memory")


def numbers(kind: types.Array, data: npt.NDArray[np.generic]) -> bytes:
    """The bytes of an array of numbers."""
    element = kind.element
    if isinstance(element, types.Float):
        if element.name in ("f16", "f32"):
            with np.errstate(over="ignore"):
                return data.astype("<f2" if element.name == "f16" else "<f4").tobytes()
        rounded = [bits_of(float(x), element) for x in data.reshape(-1).tolist()]
        return np.array(rounded, "<u2").tobytes()
    width = size_of(element)
    if width not in (1, 2, 4, 8):
        raise ValueError(f"elements of {width} bytes")
    return (
        data.astype(np.int64 if data.dtype.kind == "b" else data.dtype)
        .astype(f"<{'u' if data.dtype.kind == 'u' else 'i'}{width}")
        .tobytes()
    )


def is_zero(data: object) -> bool:
    """Whether it is an array or value of zeros only."""
    if data is None:
        return True
    if isinstance(data, np.ndarray):
        return not data.any() and not (data.dtype.kind == "f" and np.signbit(data).any())
    return False


def alignment_of(kind: Type, asked: int = 0) -> int:
    """Bytes: as asked for, and at least as the type needs."""
    return max(asked, types.align_of(kind), 1)


def _cut(value: int, kind: Type) -> int:
    return value & ((1 << bit_width(kind)) - 1)
