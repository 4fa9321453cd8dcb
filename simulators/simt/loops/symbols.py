"""Variables that have no fixed address: shared memory and those of the module.

Their names in instructions, and constant expressions with them, become values that a region
computes once, from the worker's memory or the launch's table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from simulators.simt.constants import Reader

from .frame import CONTEXT
from .reading import Refused

_SHARED = 'section "simt_shared"'
_VALUE = re.compile(r"(?:.*? )??(?:global|constant) (.*)$")
_ALIGN = re.compile(r", align (\d+)")
_SYMBOL = re.compile(r'@("[^"]*"|[-\w.$]+)')
_EXPRESSION = re.compile(
    r"(getelementptr|ptrtoint|ptrtoaddr|inttoptr|add|sub|xor|trunc|bitcast)((?: [a-z]+)*)"
    r" \(([^()]*)\)"
)
_OURS = re.compile(r"%simt\.\.(?:dynamic|[cv]\d+)\b")
_DYNAMIC_ALIGN = 16


@dataclass
class Symbols:
    """What the names of variables became."""

    shared_bytes: int = 0
    """Static shared memory."""
    lines: list[str] = field(default_factory=list)
    """Instructions that compute the values, for the head of every region."""
    types: dict[str, str] = field(default_factory=lambda: {"simt..dynamic": "ptr"})
    """The values' types."""
    _places: dict[str, str] = field(default_factory=dict)
    _expressions: dict[str, str] = field(default_factory=dict)


def placed(
    text: str, variables: Mapping[str, str], table: Sequence[str], types: Mapping[str, str]
) -> tuple[str, Symbols]:
    """A function's text without their names.

    table: symbols of the launch's table of globals; types: named types.
    """
    symbols = Symbols()
    used = [name for name in dict.fromkeys(_SYMBOL.findall(text)) if name in variables]
    _shared(symbols, [name for name in used if _SHARED in variables[name]], variables, types)
    for name in used:
        if name in table:
            _global(symbols, name, table.index(name))
        elif _SHARED not in variables[name]:
            _kept(name, variables[name], table)
    if symbols._places:
        text = "\n".join(_line(line, symbols) for line in text.split("\n"))
    return text, symbols


def _kept(name: str, rest: str, table: Sequence[str]) -> None:
    """A table of the compiler's stays what it is."""
    if " constant " not in f" {rest}":
        raise Refused(f"the variable {name}, which is none of the module's")
    if any(other in table for other in _SYMBOL.findall(rest)):
        raise Refused(f"{name}, which has addresses of the module's variables in it")


def _shared(
    symbols: Symbols, names: list[str], variables: Mapping[str, str], types: Mapping[str, str]
) -> None:
    static = [n for n in names if not re.search(r"\bexternal\b", variables[n])]
    for name in static:
        found = _VALUE.match(variables[name])
        if found is None:
            raise Refused(f"the shared variable {name}")
        made = Reader(found[1], types).type()
        given = _ALIGN.search(variables[name])
        align = int(given[1]) if given else made.align
        start = -(-symbols.shared_bytes // align) * align
        symbols.shared_bytes = start + made.size
        line = f"getelementptr inbounds i8, ptr %simt..shared, i64 {start}"
        symbols._places[name] = _value(symbols, "v", line, "ptr")
    for name in names:
        if name not in static:
            symbols._places[name] = "%simt..dynamic"


def dynamic_offset(shared_bytes: int) -> int:
    """Where dynamic shared memory starts."""
    return -(-shared_bytes // _DYNAMIC_ALIGN) * _DYNAMIC_ALIGN


def _global(symbols: Symbols, name: str, index: int) -> None:
    at = _value(symbols, "v", f"getelementptr i8, ptr %simt..globals, i64 {8 * index}", "ptr")
    line = f"load ptr, ptr {at}, align 8, !invariant.load !0"
    symbols._places[name] = _value(symbols, "v", line, "ptr")


def _value(symbols: Symbols, letter: str, line: str, kind: str) -> str:
    name = f"%simt..{letter}{len(symbols.lines)}"
    symbols.lines.append(f"  {name} = {line}")
    symbols.types[name[1:]] = kind
    return name


def _line(line: str, symbols: Symbols) -> str:
    """One instruction; constant expressions from the inside out."""
    if "@" not in line:
        return line
    line = _SYMBOL.sub(lambda found: symbols._places.get(found[1], found[0]), line)
    changed = True
    while changed:
        changed = False
        for found in _EXPRESSION.finditer(line):
            if _OURS.search(found[3]):
                value = _expression(found, symbols)
                line = line[: found.start()] + value + line[found.end() :]
                changed = True
                break
    return line


def _expression(found: re.Match[str], symbols: Symbols) -> str:
    code, flags, inner = found[1], found[2], found[3]
    if found[0] not in symbols._expressions:
        kind = "ptr"
        if code in ("add", "sub", "xor"):
            kind = inner.split(" ", 1)[0]
            inner = re.sub(rf", {kind} ", ", ", inner)
        elif code != "getelementptr":
            kind = inner.rsplit(" to ", 1)[1]
        line = f"{code}{flags} {inner}"
        symbols._expressions[found[0]] = _value(symbols, "c", line, kind)
    return symbols._expressions[found[0]]


def context_lines(dynamic: int) -> list[str]:
    """Instructions that read the context, for the head of every region.

    dynamic: where dynamic shared memory starts.
    """
    lines = []
    for name in ("shared", "spill", "params", "globals", "state"):
        lines += _read("ptr", name, CONTEXT[name])
    for axis in range(3):
        lines += _read("i32", f"ctaid{axis}", CONTEXT["ctaid"] + 4 * axis)
        lines += _read("i32", f"nctaid{axis}", CONTEXT["nctaid"] + 4 * axis)
    line = f"getelementptr inbounds i8, ptr %simt..shared, i64 {dynamic}"
    return [*lines, f"  %simt..dynamic = {line}"]


def _read(kind: str, name: str, offset: int) -> list[str]:
    at = f"%simt..at.{name}"
    return [
        f"  {at} = getelementptr inbounds i8, ptr %simt..context, i64 {offset}",
        f"  %simt..{name} = load {kind}, ptr {at}, align 4, !invariant.load !0",
    ]
