"""What stands in AMDGPU assembly: the kinds of instructions of each kernel, and its symbols."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

_LABEL = re.compile(r"^([A-Za-z_][\w$.]*):")
_END = re.compile(r"^\.Lfunc_end\d+:")
_INSTRUCTION = re.compile(r"^\t([a-z]\w*)")
_LOC = re.compile(r"^\t\.loc\t(\d+) (\d+)")
_FILE = re.compile(r'^\t\.file\t(\d+) (?:"[^"]*" )?"([^"]*)"')
_FUSED = re.compile(r"^\tv_(pk_)?(fma|fmac|fmaak|fmamk|fmaakc|mad)_f(32|64|16)")
_QUAD = re.compile(r"^\t\.quad\t([\w$.]+)")
NAMED = "sz_mcp_name_"
"""How variables begin that hold the addresses of what name expressions ask for."""
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("matrix", re.compile(r"v_(s?mfma|s?wmma|swmmac|dot)")),
    ("barriers", re.compile(r"s_barrier")),
    ("branches", re.compile(r"s_(cbranch|branch|setpc|swappc)")),
    ("waits", re.compile(r"s_(waitcnt|wait_|nop|delay)")),
    ("scalar memory", re.compile(r"s_(buffer_)?load|s_(d|g)cache")),
    ("scalar", re.compile(r"s_")),
    ("atomics", re.compile(r"(global|flat|buffer|ds)_(atomic|add|cmpst|min|max|or|and|xor|inc)")),
    ("scratch", re.compile(r"scratch_")),
    ("memory", re.compile(r"(global|flat|buffer|image)_")),
    ("permutations", re.compile(r"ds_(b?permute|swizzle)|v_(permlane|readlane|readfirst|writel)")),
    ("LDS", re.compile(r"ds_")),
    ("double", re.compile(r"v_\w+_f64")),
    ("vector", re.compile(r"v_")),
)
"""The first that an instruction begins with. Double precision counts as vector too."""


def instruction_mix(assembly: str) -> Mapping[str, Mapping[str, int]]:
    """Symbol of a function → kind → instructions."""
    mixes: dict[str, Counter[str]] = {}
    current: Counter[str] | None = None
    for line in assembly.split("\n"):
        label = _LABEL.match(line)
        if label:
            current = mixes.setdefault(label[1], Counter())
        elif _END.match(line):
            current = None
        elif current is not None:
            instruction = _INSTRUCTION.match(line)
            if instruction:
                current.update(_kinds(instruction[1]))
    return {symbol: dict(mix) for symbol, mix in mixes.items() if mix}


def fused_lines(assembly: str, file: str) -> Counter[int]:
    """Line of `file` → fused multiply-adds that its code became, divisions' own among them."""
    found: Counter[int] = Counter()
    numbers: set[str] = set()
    line = 0
    for text in assembly.split("\n"):
        loc = _LOC.match(text)
        if loc:
            line = int(loc[2]) if loc[1] in numbers else 0
            continue
        named = _FILE.match(text)
        if named and named[2].rpartition("/")[2] == file:
            numbers.add(named[1])
        elif line and _FUSED.match(text):
            found[line] += 1
    return found


def without_debug(assembly: str) -> str:
    """Without the tables for debuggers; the lines of the source (`.loc`) stay."""
    kept, skipping = [], False
    for line in assembly.split("\n"):
        if line.startswith(("\t.section", "\t.text", "\t.data", "\t.amdgpu_metadata")):
            skipping = line.startswith("\t.section\t.debug_")
        if not skipping and not line.startswith((".Ltmp", ".Lfunc_begin")):
            kept.append(line)
    return "\n".join(kept)


def named_symbols(assembly: str) -> Mapping[int, str]:
    """Number of a name expression → the symbol whose address its variable holds."""
    found: dict[int, str] = {}
    current: int | None = None
    for line in assembly.split("\n"):
        if line.startswith(NAMED):
            number = line.removeprefix(NAMED).partition(":")[0]
            current = int(number) if number.isdigit() else None
        elif current is not None:
            quad = _QUAD.match(line)
            if quad:
                found[current] = quad[1]
            current = None
    return found


def _kinds(instruction: str) -> tuple[str, ...]:
    kind = next((name for name, pattern in _KINDS if pattern.match(instruction)), "other")
    return (kind, "vector") if kind == "double" else (kind,)
