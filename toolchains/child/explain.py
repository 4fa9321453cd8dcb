"""What the compiler made of a submission, told on stderr for the server to read afterwards.

Two kinds of lines: LLVM's own remarks on loops, and one line per compiled function that sums up its
machine code. A child that explains is used for nothing else. All of it is only information: the
submission runs in the same process and can print such lines too.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import llvmlite.binding as llvm
from numba.core import cpu, debuginfo
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaDebugInfoWarning

from .wire import CODE_LINE

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


class LinesOnly(debuginfo.DIBuilder):
    """Debug locations that remarks can name, of which no debug information is made."""

    def initialize(self) -> None:
        """As clang does for -Rpass without -g; the kinds numba knows change or break the code."""
        self.emission_kind = "NoDebug"
        super().initialize()  # type: ignore[no-untyped-call]


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


def trim() -> None:
    """Give memory that is not in use back, so that what the next call takes can be seen."""
    trim_ = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim_ is not None:
        trim_(0)


def tell_code(modules: list[ModuleType]) -> None:
    """One line per compiled function and signature."""
    seen: set[int] = set()
    for module in modules:
        for value in list(vars(module).values()):
            if isinstance(value, Dispatcher) and id(value) not in seen:
                seen.add(id(value))
                # A call must not fail for a summary that can't be made.
                with contextlib.suppress(Exception):
                    _tell(value)


def _tell(function: Dispatcher) -> None:
    code = function.py_func.__code__
    name, file = function.py_func.__name__, Path(code.co_filename).name
    for text in function.inspect_asm().values():
        bits, vector, total = summary(text)
        fields = (CODE_LINE, name, file, code.co_firstlineno, bits, vector, total)
        os.write(2, ("\t".join(map(str, fields)) + "\n").encode("utf-8", "replace"))


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
