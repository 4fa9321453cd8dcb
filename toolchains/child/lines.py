"""Which addresses of compiled code come from which line: an object file flows in, rows flow out.

LLVM leaves a DWARF line program in the object it makes. Only what such an object has is read:
ELF64, little-endian, versions 2 to 4 of the line program (DWARF 4, section 6.2).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

_HEADER = struct.Struct("<HHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_SYMTAB, _RELA = 2, 4
_FUNCTION, _GLOBAL = 2, 1
_LINE_PROGRAM = ".debug_line"


@dataclass(frozen=True)
class Function:
    """A function of the object."""

    name: str
    section: int
    start: int
    """Offset in its section."""
    size: int
    exported: bool
    """The object's own, not a copy of another's."""


@dataclass(frozen=True)
class Row:
    """From `start` in its section on, until the next row, code is of `line`; 0: of none known."""

    section: int
    start: int
    file: str
    line: int


@dataclass(frozen=True)
class Code:
    """What an object says of its code."""

    functions: tuple[Function, ...]
    rows: tuple[Row, ...]
    """In the order of the addresses."""


@dataclass(frozen=True)
class _Section:
    name: str
    kind: int
    data: bytes
    link: int
    of: int


def code_of(elf: bytes) -> Code:
    """Functions and rows of an object; raises ValueError or struct.error if it can't be read."""
    if elf[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a little-endian ELF64 object")
    sections = _sections(elf)
    table = next(s for s in sections if s.kind == _SYMTAB)
    symbols = list(_SYMBOL.iter_unpack(table.data))
    names = sections[table.link].data
    functions = [
        Function(_text(names, name), section, value, size, exported=kind >> 4 == _GLOBAL)
        for name, kind, _, section, value, size in symbols
        if kind & 15 == _FUNCTION and size
    ]
    index = next((i for i, s in enumerate(sections) if s.name == _LINE_PROGRAM), 0)
    homes = {
        offset: (symbols[info >> 32][3], symbols[info >> 32][4] + addend)
        for s in sections
        if s.kind == _RELA and s.of == index
        for offset, info, addend in _RELOCATION.iter_unpack(s.data)
    }
    rows = _Program(sections[index].data, homes).rows() if index else []
    return Code(tuple(functions), tuple(sorted(rows, key=lambda r: (r.section, r.start))))


def _sections(elf: bytes) -> list[_Section]:
    fields = _HEADER.unpack_from(elf, 16)
    at, count, name_index = fields[5], fields[11], fields[12]
    heads = [_SECTION.unpack_from(elf, at + i * _SECTION.size) for i in range(count)]
    names = elf[heads[name_index][4] :]
    return [_Section(_text(names, h[0]), h[1], elf[h[4] : h[4] + h[5]], h[6], h[7]) for h in heads]


def _text(strings: bytes, at: int) -> str:
    return strings[at : strings.index(b"\0", at)].decode("utf-8", "replace")


class _Program:
    """Runs line programs, which are bytecode of a machine with the registers below."""

    def __init__(self, data: bytes, homes: dict[int, tuple[int, int]]) -> None:
        """homes: offset of an address in the program → its section, and offset in that."""
        self._data, self._homes = data, homes
        self._at = 0
        self._files: list[str] = []
        self._rows: list[Row] = []

    def rows(self) -> list[Row]:
        """Of all programs in the section."""
        while self._at + 4 <= len(self._data):
            end = self._at + 4 + self._number(4)
            version = self._number(2)
            if not 2 <= version <= 4:
                raise ValueError(f"line programs of version {version} are not known")
            self._program(self._at + 4 + self._number(4), end, version)
            self._at = end
        return self._rows

    def _program(self, begin: int, end: int, version: int) -> None:
        self._step = self._number(1)
        if version >= 4:
            self._number(1)
        self._number(1)
        self._base = self._number(1, signed=True)
        self._range, self._first_special = self._number(1), self._number(1)
        self._operands = [self._number(1) for _ in range(self._first_special - 1)]
        while self._string():
            pass
        self._files = [""]
        while name := self._string():
            self._files.append(PurePath(name).name)
            for _ in range(3):
                self._leb()
        self._at = begin
        self._reset()
        while self._at < end:
            self._instruction(self._number(1))

    def _reset(self) -> None:
        self._section = self._address = 0
        self._file = self._line = 1

    def _instruction(self, code: int) -> None:
        if code >= self._first_special:
            advance, line = divmod(code - self._first_special, self._range)
            self._address += advance * self._step
            self._line += self._base + line
            self._emit()
        elif code == 0:
            self._extended()
        elif code in _STANDARD:
            _STANDARD[code](self)
        else:
            for _ in range(self._operands[code - 1]):
                self._leb()

    def _extended(self) -> None:
        size = self._leb()
        after = self._at + size
        match self._number(1):
            case 1:
                self._line = 0
                self._emit()
                self._reset()
            case 2:
                self._section, self._address = self._homes[self._at]
        self._at = after

    def _emit(self) -> None:
        file = self._files[self._file] if self._file < len(self._files) else ""
        self._rows.append(Row(self._section, self._address, file, self._line))

    def _advance_address(self) -> None:
        self._address += self._leb() * self._step

    def _advance_line(self) -> None:
        self._line += self._signed_leb()

    def _set_file(self) -> None:
        self._file = self._leb()

    def _advance_constant(self) -> None:
        self._address += (255 - self._first_special) // self._range * self._step

    def _advance_fixed(self) -> None:
        self._address += self._number(2)

    def _number(self, size: int, *, signed: bool = False) -> int:
        raw = self._data[self._at : self._at + size]
        self._at += size
        return int.from_bytes(raw, "little", signed=signed)

    def _string(self) -> str:
        text = _text(self._data, self._at)
        self._at = self._data.index(b"\0", self._at) + 1
        return text

    def _leb(self) -> int:
        value = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                self._bits = shift
                return value

    def _signed_leb(self) -> int:
        value = self._leb()
        return value - (1 << self._bits) if value >> (self._bits - 1) & 1 else value


_STANDARD: dict[int, Callable[[_Program], object]] = {
    1: _Program._emit,
    2: _Program._advance_address,
    3: _Program._advance_line,
    4: _Program._set_file,
    8: _Program._advance_constant,
    9: _Program._advance_fixed,
}
"""Opcode → what it does; the others change nothing that is read here."""


def spans(code: Code, function: Function) -> Iterator[Row]:
    """The rows of one function, one per change of the line."""
    last: tuple[str, int] | None = None
    for row in code.rows:
        inside = function.start <= row.start < function.start + function.size
        if row.section != function.section or not inside:
            continue
        # Line 0 is code that belongs to no line by itself, as what several have in common.
        if row.line and (row.file, row.line) != last:
            last = (row.file, row.line)
            yield row
