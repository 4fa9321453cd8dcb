"""What ptxas says of each kernel: registers, spills, stack, shared and constant memory, barriers.

Read from the log of `--ptxas-options=-v` (CUDA Compiler Driver manual, "Printing Code Generation
Statistics"); launch bounds from the PTX.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from .mangled import readable

_ENTRY = re.compile(r"^ptxas info\s*: Compiling entry function '([^']+)' for '(\w+)'")
_FUNCTION = re.compile(r"^ptxas info\s*: Function properties for '?([\w$.]+)'?")
_STACK = re.compile(
    r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
)  # fmt: skip
_USED = re.compile(r"^ptxas info\s*: Used (\d+) registers(.*)$")
_MODULE = re.compile(r"^ptxas info\s*: \d+ bytes gmem, .*?(\d+) bytes cmem\[3\]", re.MULTILINE)
_PART = re.compile(r"(\d+) bytes (smem|cumulative stack size|cmem\[\d+\])|used (\d+) barriers")
_BOUNDS = re.compile(r"\.entry\s+([\w$]+)\s*\([^)]*\)((?:\s*\.\w+ [\d, ]+)*)\s*\{")
_DIRECTIVE = re.compile(r"\.(maxntid|reqntid|minnctapersm) ([\d, ]+)")


@dataclass(frozen=True)
class Resources:
    """What one kernel, or a function that it calls, takes."""

    name: str
    """As the source spells it, or the name expression that asked for it."""
    symbol: str
    registers: int = 0
    """Per thread."""
    spill_stores: int = 0
    """Bytes per thread, that were moved to local memory for want of registers; also loads."""
    spill_loads: int = 0
    stack: int = 0
    """Bytes per thread of local memory: arrays indexed by variables, calls, spills."""
    shared: int = 0
    """Bytes per block, static."""
    constant: int = 0
    """Bytes of constant banks, parameters among them."""
    barriers: int = 0
    max_threads: int | None = None
    """Of a block, by its launch bounds."""
    min_blocks: int | None = None
    """Per multiprocessor, by its launch bounds."""


@dataclass(frozen=True)
class Usage:
    """Of one architecture."""

    kernels: tuple[Resources, ...] = ()
    functions: tuple[Resources, ...] = ()
    """Device functions that were not inlined."""
    constants: int = 0
    """Bytes of the module's `__constant__` variables."""


def usage(log: str, ptx: str, lowered: Mapping[str, str]) -> Usage:
    """Of what a log tells. lowered: name expression → symbol."""
    names = {symbol: name for name, symbol in lowered.items()}
    bounds = {m[1]: _bounds(m[2]) for m in _BOUNDS.finditer(ptx)}
    found: dict[str, Resources] = {}
    entries: set[str] = set()
    current = entry = ""
    for line in log.splitlines():
        if match := _ENTRY.match(line):
            current = entry = match[1]
            entries.add(entry)
        elif match := _FUNCTION.match(line):
            current = match[1]
        if current:
            known = found.get(current)
            if known is None:
                known = Resources(names.get(current, readable(current)), current)
            # What is used is told of the entry, after the functions that it calls.
            found[current] = _with_stack(known, line)
        if entry and (match := _USED.match(line)):
            found[entry] = _with_used(found[entry], int(match[1]), match[2])
    return Usage(
        tuple(_bounded(found[e], bounds.get(e, {})) for e in found if e in entries),
        tuple(one for name, one in found.items() if name not in entries),
        sum(int(size) for size in _MODULE.findall(log)),
    )


def _with_stack(known: Resources, line: str) -> Resources:
    match = _STACK.search(line)
    if match is None:
        return known
    stack, stores, loads = map(int, match.groups())
    return replace(known, stack=max(stack, known.stack), spill_stores=stores, spill_loads=loads)


def _with_used(known: Resources, registers: int, rest: str) -> Resources:
    amounts = {"smem": 0, "cumulative stack size": known.stack, "barriers": 0, "constant": 0}
    for size, what, barriers in _PART.findall(rest):
        if barriers:
            amounts["barriers"] = int(barriers)
        elif what.startswith("cmem"):
            amounts["constant"] += int(size)
        else:
            amounts[what] = int(size)
    return replace(
        known,
        registers=registers,
        shared=amounts["smem"],
        stack=amounts["cumulative stack size"],
        constant=amounts["constant"],
        barriers=amounts["barriers"],
    )


def _bounds(directives: str) -> dict[str, int]:
    bounds = {}
    for name, values in _DIRECTIVE.findall(directives):
        product = 1
        for value in values.split(","):
            product *= int(value)
        bounds[name] = product
    return bounds


def _bounded(known: Resources, bounds: Mapping[str, int]) -> Resources:
    threads = bounds.get("reqntid", bounds.get("maxntid"))
    return replace(known, max_threads=threads, min_blocks=bounds.get("minnctapersm"))
