"""Types and constants of LLVM IR text: their sizes, and the bytes of an initial value.

Grammar: LLVM's language reference, "Type System" and "Constants". What isn't data of known bytes,
such as the address of something, raises NotData.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass

_SCALARS = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "ptr": 8}
_TOKEN = re.compile(
    r"""\s*( c"[^"]*" | %"[^"]*" | %[\w.$-]+ | @"[^"]*" | @[\w.$-]+ | \.\.\.
    | 0x[A-Z]?[0-9A-Fa-f]+ | -?\d+(?:\.\d+)?(?:e[+-]?\d+)? | [A-Za-z_]\w* | [<>{}\[\](),=] )""",
    re.VERBOSE,
)


class NotData(Exception):
    """A type or constant whose bytes can't be told."""


@dataclass(frozen=True)
class Type:
    """Size and alignment in bytes, and what it is made of."""

    size: int
    align: int
    kind: str
    """int | float | half | double | ptr | array | struct"""
    elements: tuple[Type, ...] = ()
    count: int = 0
    """Of an array or vector."""
    bits: int = 0
    packed: bool = False


class Reader:
    """Reads types and constants from one line of IR."""

    def __init__(self, text: str, named: Mapping[str, str]) -> None:
        """named: bodies of the module's named types."""
        self._tokens = _TOKEN.findall(text)
        self._at = 0
        self._named = named

    @property
    def next(self) -> str:
        """The token ahead; empty at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def take(self, wanted: str = "") -> str:
        """The token ahead, which must be `wanted` if that is given."""
        token = self.next
        if not token or (wanted and token != wanted):
            raise NotData(f"{token!r} where {wanted or 'more'} was expected")
        self._at += 1
        return token

    def type(self) -> Type:
        """Read one of: iN, half, float, double, ptr, [N x type], <N x type>, { type, … }, %name."""
        token = self.take()
        if token == "[":
            return self._sequence("]", vector=False)
        if token == "{":
            return self._struct(packed=False)
        if token == "<":
            if self.next == "{":
                self.take()
                made = self._struct(packed=True)
                self.take(">")
                return made
            return self._sequence(">", vector=True)
        if token.startswith("%") and token in self._named:
            return Reader(self._named[token], self._named).type()
        if token in _SCALARS:
            size = _SCALARS[token]
            return Type(size, size, "half" if token == "bfloat" else token)
        if found := re.fullmatch(r"i(\d+)", token):
            return _integer(int(found[1]))
        raise NotData(f"type {token!r}")

    def _sequence(self, end: str, *, vector: bool) -> Type:
        count = int(self.take())
        self.take("x")
        element = self.type()
        self.take(end)
        size = element.size * count
        align = min(size & -size, 64) if vector and size else element.align
        return Type(size, align, "array", (element,), count)

    def _struct(self, *, packed: bool) -> Type:
        elements: list[Type] = []
        while self.next != "}":
            elements.append(self.type())
            if self.next == ",":
                self.take()
        self.take("}")
        align = 1 if packed else max((one.align for one in elements), default=1)
        offsets, size = _offsets(elements, packed)
        del offsets
        return Type(-(-size // align) * align, align, "struct", tuple(elements), packed=packed)

    def constant(self, kind: Type) -> bytes:
        """The bytes of a value of that type."""
        token = self.take()
        if token in ("zeroinitializer", "null", "undef", "poison"):
            return bytes(kind.size)
        if token.startswith('c"'):
            return _string(token[2:-1])
        if token == "[":
            return self._elements("]", kind)
        if token == "{":
            return self._elements("}", kind)
        if token == "<":
            if self.next == "{":
                self.take()
                content = self._elements("}", kind)
                self.take(">")
                return content
            return self._elements(">", kind)
        return _scalar(token, kind)

    def _elements(self, end: str, kind: Type) -> bytes:
        content, types = bytearray(), list[Type]()
        while self.next != end:
            own = self.type()
            value = self.constant(own)
            types.append(own)
            if kind.kind == "struct" and not kind.packed:
                content += bytes(-len(content) % own.align)
            content += value
            if self.next == ",":
                self.take()
        self.take(end)
        return bytes(content.ljust(kind.size, b"\0"))


def _integer(bits: int) -> Type:
    size = -(-bits // 8)
    align = 1
    while align < min(size, 16):
        align *= 2
    return Type(-(-size // align) * align, align, "int", bits=bits)


def _offsets(elements: list[Type], packed: bool) -> tuple[list[int], int]:
    offsets, size = [], 0
    for one in elements:
        size = size if packed else -(-size // one.align) * one.align
        offsets.append(size)
        size += one.size
    return offsets, size


def _string(text: str) -> bytes:
    return re.sub(
        rb"\\([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode("latin-1")
    )


def _scalar(token: str, kind: Type) -> bytes:
    if kind.kind == "int":
        value = {"true": 1, "false": 0}.get(token)
        try:
            number = int(token) if value is None else value
        except ValueError:
            raise NotData(f"constant {token!r}") from None
        return (number & ((1 << kind.size * 8) - 1)).to_bytes(kind.size, "little")
    if kind.kind in ("float", "double", "half"):
        return _floating(token, kind)
    raise NotData(f"constant {token!r}")


def _floating(token: str, kind: Type) -> bytes:
    """A decimal, or the bits: 0xH and 0xR of 16, 0x of a double even where the type is float."""
    if found := re.fullmatch(r"0x[HR]([0-9A-Fa-f]{4})", token):
        return int(found[1], 16).to_bytes(2, "little")
    if token.startswith("0x"):
        value = struct.unpack("<d", int(token, 16).to_bytes(8, "little"))[0]
    else:
        value = float(token)
    return struct.pack({"float": "<f", "double": "<d", "half": "<e"}[kind.kind], value)
