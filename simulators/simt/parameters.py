"""Parameters of kernels in IR: what they are in C++, and each as one argument.

clang passes a struct as the System V ABI says: up to 16 bytes as one or two pieces `NAME.coerce0`,
`NAME.coerce1` of eight bytes (`NAME.coerce` where it is one), larger ones as a copy of the caller's
(`byval`). Names of values are kept by zig's clang.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .constants import Reader

_PIECE = re.compile(r"%(.*)\.coerce([01]?)$")
_BYVAL = re.compile(r"byval\(([^()]*)\) align (\d+)")


@dataclass(frozen=True)
class Argument:
    """One parameter."""

    name: str
    size: int
    align: int
    pointer: bool
    pieces: tuple[str, ...]
    """Its arguments in IR: `type attributes %name`."""
    struct: bool = False

    @property
    def kind(self) -> str:
        """Int | float; empty for pointers and structs."""
        if self.struct or self.pointer:
            return ""
        return "float" if self.pieces[0].startswith(("half", "float", "double")) else "int"


@dataclass
class _Pieces:
    """Arguments of IR that are one parameter so far."""

    name: str
    texts: list[str] = field(default_factory=list)


def arguments_of(line: str, types: Mapping[str, str]) -> tuple[Argument, ...]:
    """Parameters of the function that a `define` line opens."""
    grouped: list[_Pieces] = []
    for text in argument_texts(line):
        value = text.rsplit(" ", 1)[-1]
        unnamed = f"arg{len(grouped)}"
        piece = _PIECE.match(value)
        if piece and piece[2] == "1" and grouped:
            grouped[-1].texts.append(text)
        elif piece:
            grouped.append(_Pieces(piece[1] or unnamed, [text]))
        else:
            name = value.lstrip("%")
            grouped.append(_Pieces(unnamed if name.isdigit() else name, [text]))
    return tuple(_argument(one, types) for one in grouped)


def _argument(one: _Pieces, types: Mapping[str, str]) -> Argument:
    text = one.texts[0]
    if by_value := _BYVAL.search(text):
        made = Reader(by_value[1], types).type()
        align = int(by_value[2])
        return Argument(one.name, made.size, align, False, tuple(one.texts), struct=True)
    made = Reader(text, types).type()
    if _PIECE.match(text.rsplit(" ", 1)[-1]):
        size = made.size if len(one.texts) == 1 else 8 + Reader(one.texts[1], types).type().size
        return Argument(one.name, size, made.align, False, tuple(one.texts), struct=True)
    pointer = text.startswith("ptr")
    return Argument(one.name, made.size, made.align, pointer, tuple(one.texts))


def plain_kernel(line: str, arguments: tuple[Argument, ...]) -> list[str]:
    """The lines that open the function, with one argument per parameter."""
    if not any(one.struct for one in arguments):
        return [line]
    head, tail = line[: line.index("(") + 1], line[line.index("(") + 1 + len(_between(line)) :]
    heads: list[str] = []
    loads: list[str] = []
    for number, one in enumerate(arguments):
        if not one.struct:
            heads += one.pieces
        elif "byval(" in one.pieces[0]:
            heads.append(_BYVAL.sub("", one.pieces[0]).replace("  ", " "))
            loads += _copied(one, number) if "readonly" not in one.pieces[0] else []
            if "readonly" not in one.pieces[0]:
                heads[-1] = f"ptr noundef readonly %simt.from{number}"
        else:
            heads.append(f"ptr noundef readonly %simt.from{number}")
            loads += _loaded(one, number)
    return [f"{head}{', '.join(heads)}{tail}", "simt.params:", *loads, "  br label %entry", ""]


def _loaded(one: Argument, number: int) -> Iterator[str]:
    """Pieces of a struct, each from its eight bytes."""
    source = f"%simt.from{number}"
    for index, text in enumerate(one.pieces):
        kind = text.rsplit(" ", 1)[0].replace(" noundef", "")
        kind = re.sub(r" (zeroext|signext|inreg|nonnull|noalias)\b.*", "", kind)
        place = source
        if index:
            place = f"%simt.at{number}"
            yield f"  {place} = getelementptr inbounds i8, ptr {source}, i64 8"
        yield f"  {text.rsplit(' ', 1)[-1]} = load {kind}, ptr {place}, align 1"


def _copied(one: Argument, number: int) -> Iterator[str]:
    """A copy that the thread may change."""
    name = one.pieces[0].rsplit(" ", 1)[-1]
    yield f"  {name} = alloca [{one.size} x i8], align {one.align}"
    for at in range(0, one.size, 8):
        kind = {8: "i64", 4: "i32", 2: "i16"}.get(min(8, one.size - at), "i8")
        yield from _moved(name, number, at, kind)


def _moved(name: str, number: int, at: int, kind: str) -> Iterator[str]:
    tag = f"%simt.{number}.{at}"
    yield f"  {tag}.from = getelementptr inbounds i8, ptr %simt.from{number}, i64 {at}"
    yield f"  {tag}.to = getelementptr inbounds i8, ptr {name}, i64 {at}"
    yield f"  {tag} = load {kind}, ptr {tag}.from, align 1"
    yield f"  store {kind} {tag}, ptr {tag}.to, align 1"


def argument_texts(line: str) -> list[str]:
    """Arguments of a function of IR, each `type attributes %name`."""
    return _split(_between(line))


def _between(line: str) -> str:
    """The text inside the parentheses after the function's name."""
    start = line.index("(", line.index("@")) + 1
    depth, at = 1, start
    while depth:
        depth += {"(": 1, ")": -1}.get(line[at], 0)
        at += 1
    return line[start : at - 1]


def _split(text: str) -> list[str]:
    """At the commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def parameter_sizes(debug: str) -> dict[str, tuple[int, ...]]:
    """Symbol → bytes of each parameter, by a module's debug information."""
    entries = dict(re.findall(r"^(!\d+) = (?:distinct )?(.*)$", debug, re.MULTILINE))
    found: dict[str, tuple[int, ...]] = {}
    for entry in entries.values():
        if not entry.startswith("!DISubprogram("):
            continue
        name = re.search(r'linkageName: "([^"]*)"', entry) or re.search(r'name: "([^"]*)"', entry)
        kind = re.search(r"\btype: (!\d+)", entry)
        if name and kind:
            types = re.search(r"types: (!\d+)", entries.get(kind[1], ""))
            listed = re.findall(r"!\d+|null", entries.get(types[1], "")) if types else []
            found[name[1]] = tuple(_bytes_of(one, entries) for one in listed[1:])
    return found


def _bytes_of(entry: str, entries: Mapping[str, str]) -> int:
    """Size of a type; names and qualifiers have that of what they stand for."""
    text = entries.get(entry, "")
    if size := re.search(r"\bsize: (\d+)", text):
        return int(size[1]) // 8
    base = re.search(r"\bbaseType: (!\d+)", text)
    return _bytes_of(base[1], entries) if base else 0
