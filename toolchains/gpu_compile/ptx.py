"""What the PTX shows of a kernel: floats made doubles, multiplications fused with additions.

PTX ISA, "Floating-Point Instructions" and "Directives: .loc".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_ENTRY = re.compile(r"^\s*(?:\.visible |\.weak )?\.(?:entry|func)\b.*?([\w$]+)\s*\(")
_LOC = re.compile(r"^\s*\.loc\s+(\d+) (\d+) \d+(?:,.*inlined_at (\d+) (\d+))?")
_FILE = re.compile(r'^\s*\.file\s+(\d+) "([^"]*)"', re.MULTILINE)
_WIDENED = re.compile(r"^\s*(?:@!?%p\d+ )?cvt\.f64\.f32\b")
_FUSED = re.compile(r"^\s*(?:@!?%p\d+ )?fma\.rn(?:\.ftz)?(?:\.sat)?\.f(?:32|64)\b")


@dataclass(frozen=True)
class Spot:
    """Where in the source something stands: a file as the compiler names it, and a line."""

    file: str
    line: int


@dataclass(frozen=True)
class Arithmetic:
    """Of one function of a module."""

    symbol: str
    widened: tuple[Spot, ...] = ()
    """Of each conversion from float to double."""
    fused: tuple[Spot, ...] = ()
    """Of each fused multiply-add."""


def arithmetic(ptx: str, plain: Callable[[str], str] = str) -> tuple[Arithmetic, ...]:
    """Of every function of a module. plain: makes a file's name what the source calls it."""
    names = {n: plain(name) for n, name in _FILE.findall(ptx)}
    found: dict[str, tuple[list[Spot], list[Spot]]] = {}
    function, spot = "", Spot("", 0)
    for line in ptx.split("\n"):
        if "(" in line and (match := _ENTRY.match(line)):
            function, spot = match[1], Spot("", 0)
        elif ".loc" in line and (match := _LOC.match(line)):
            spot = Spot(names.get(match[1], ""), int(match[2]))
        elif function:
            widened, fused = found.setdefault(function, ([], []))
            if "f64" in line and _WIDENED.match(line):
                widened.append(spot)
            if "fma" in line and _FUSED.match(line):
                fused.append(spot)
    return tuple(Arithmetic(f, tuple(w), tuple(m)) for f, (w, m) in found.items())
