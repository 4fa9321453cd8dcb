"""What the compiler made of a submission, told on stderr for the server to read afterwards.

LLVM's own remarks on loops, and lines of ours: per compiled function a summary of its machine code
and which address is of which line of the source; calls and reference counts left in loops. A child
that explains is used for nothing else. All of it is only information: the submission runs in the
same process and can print such lines too.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import llvmlite.binding as llvm
from numba.core import codegen, cpu, debuginfo, types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaDebugInfoWarning

from .lines import code_of, spans
from .remains import REFERENCES, remains
from .wire import CODE_LINE, COUNTED_LINE, KEPT_LINE, MAP_LINE, VECTOR_LINE

_REMARKS = ("pass-remarks", "pass-remarks-missed", "pass-remarks-analysis")
_X86_REGISTER = re.compile(r"%([xyz])mm\d")
_ARM_REGISTER = re.compile(r"\bv\d+\.(?:16b|8h|4s|2d)")
_X86_BITS = {"x": 128, "y": 256, "z": 512}
_ARM_BITS = 128
_INSTRUCTION = re.compile(r"^\t([a-z][\w.]*)(?:\s|$)", re.MULTILINE)
_PACKED = re.compile(r"v?(p(?!refetch|ush|op)\w+|\w+p[sd])(\.\w+)?$")
"""Arithmetic on whole registers: vpaddd, vmulps; not vaddss, and not the moves below."""
_MOVES = re.compile(r"v?mov|v?p?(un)?pck|vp?broadcast|vzero")
_ZEROED = re.compile(r"xor.*(%\w+), \1\b")
"""x ^ x: how a register is cleared, also for one number."""


_MOST_ROWS = 20_000
"""Of the map of all code: what a child may print is limited."""


class LinesOnly(debuginfo.DIBuilder):
    """Debug locations, of which only the table of lines is made."""

    def initialize(self) -> None:
        """As clang -gline-tables-only does; the code stays the same."""
        self.emission_kind = "LineTablesOnly"
        super().initialize()  # type: ignore[no-untyped-call]

    def mark_variable(self, *_args: Any, **_named: Any) -> None:
        """Nothing: LLVM ends the process if it finds variables beside tables of lines alone."""


@dataclass(frozen=True)
class _Own:
    """A compiled function of the submission, for one signature."""

    name: str
    file: str
    line: int
    arguments: int
    arrays: int
    library: Any


def begin() -> None:
    """From now on every compilation tells of its loops. The code stays the same."""
    for name in _REMARKS:
        llvm.set_option("", f"-{name}=loop-vectorize")
    finalize = cpu.CPUTargetOptions.finalize

    def with_lines(self: Any, flags: Any, options: Any) -> None:
        finalize(self, flags, options)  # type: ignore[no-untyped-call]
        # Set afterwards, for numba checks bounds and extends lifetimes where it debugs in full.
        flags.debuginfo = flags.dbg_directives_only = True

    warnings.simplefilter("ignore", NumbaDebugInfoWarning)
    cpu.CPUTargetOptions.finalize = with_lines  # type: ignore[method-assign]
    cpu.CPUContext.DIBuilder = LinesOnly
    # numba then keeps the objects that LLVM made, as for its own cache on disk.
    codegen.CodeLibrary._object_caching_enabled = True
    codegen.CodeLibrary._compiled_object = None


def trim() -> None:
    """Give memory that is not in use back, so that what the next call takes can be seen."""
    trim_ = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim_ is not None:
        trim_(0)


def tell_code(modules: list[ModuleType]) -> None:
    """What there is to tell of all functions compiled so far."""
    # A call must not fail for what can't be told.
    with contextlib.suppress(Exception):
        own = _own(modules)
        _tell_map(own)
        _tell_remains(own)
    seen: set[int] = set()
    for module in modules:
        for value in list(vars(module).values()):
            if isinstance(value, Dispatcher) and id(value) not in seen:
                seen.add(id(value))
                with contextlib.suppress(Exception):
                    _tell(value)


def _tell(function: Dispatcher) -> None:
    code = function.py_func.__code__
    name, file = function.py_func.__name__, Path(code.co_filename).name
    for text in function.inspect_asm().values():
        bits, vector, total = summary(text)
        _say(CODE_LINE, name, file, code.co_firstlineno, bits, vector, total)


def _say(*fields: object) -> None:
    os.write(2, ("\t".join(map(str, fields)) + "\n").encode("utf-8", "replace"))


def _own(modules: Sequence[ModuleType]) -> Mapping[str, _Own]:
    """Symbol → function."""
    own: dict[str, _Own] = {}
    values = [value for module in modules for value in vars(module).values()]
    for function in values:
        if isinstance(function, Dispatcher):
            code = function.py_func.__code__
            name, file = function.py_func.__name__, Path(code.co_filename).name
            overloads: dict[Any, Any] = function.overloads
            for made in overloads.values():
                given = made.signature.args
                arrays = sum(isinstance(kind, types.Array) for kind in given)
                one = _Own(name, file, code.co_firstlineno, len(given), arrays, made.library)
                own[made.fndesc.llvm_func_name] = one
    return own


def _tell_remains(own: Mapping[str, _Own]) -> None:
    """A function's module has copies of those that it calls: the same is told once."""
    left = {place for one in own.values() for place in remains(one.library.get_llvm_str(), own)}
    for place in sorted(left, key=lambda p: (p.file, p.line, p.what)):
        if place.what in own:
            to = own[place.what]
            of = (to.name, to.file, to.line, to.arguments, to.arrays)
            _say(KEPT_LINE, place.file, place.line, *of)
        else:
            kind = COUNTED_LINE if place.what == REFERENCES else VECTOR_LINE
            _say(kind, place.file, place.line)


def _tell_map(own: Mapping[str, _Own]) -> None:
    """Of the code of all functions, which line each piece is of."""
    files = {one.file for one in own.values()}
    room = _MOST_ROWS
    for library in {id(one.library): one.library for one in own.values()}.values():
        code = code_of(library._get_compiled_object())
        homes = {
            f.section: library.get_pointer_to_function(f.name) - f.start
            for f in code.functions
            if f.exported and f.name in own
        }
        for function in code.functions:
            rows = list(spans(code, function))
            room -= len(rows)
            if room < 0 or function.section not in homes or not {r.file for r in rows} & files:
                continue
            name = own[function.name].name if function.name in own else ""
            numbers = {file: i for i, file in enumerate(dict.fromkeys(r.file for r in rows))}
            starts = [function.start, *(row.start for row in rows)]
            told = ";".join(
                f"{row.start - before},{numbers[row.file]},{row.line}"
                for before, row in zip(starts, rows, strict=False)
            )
            address = f"{homes[function.section] + function.start:x}"
            _say(MAP_LINE, name, address, function.size, ",".join(numbers), told)


def summary(assembly: str) -> tuple[int, int, int]:
    """Widest register of arithmetic on whole registers in bits, such instructions, all of them."""
    widest = vector = total = 0
    for line in assembly.splitlines():
        found = _INSTRUCTION.match(line)
        if found is None:
            continue
        total += 1
        bits = _bits(found.group(1), line)
        vector += bits > 0
        widest = max(widest, bits)
    return widest, vector, total


def _bits(mnemonic: str, line: str) -> int:
    if _ARM_REGISTER.search(line):
        return _ARM_BITS
    if _MOVES.match(mnemonic) or not _PACKED.match(mnemonic) or _ZEROED.search(line):
        return 0
    return max((_X86_BITS[kind] for kind in _X86_REGISTER.findall(line)), default=0)
