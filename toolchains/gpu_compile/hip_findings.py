"""What is worth a word about HIP that compiled, and what a translation left behind.

Each is a message at a place in the source; `toolchains/feedback/hip_rules.py` says what it means.
"""

from __future__ import annotations

import re
from dataclasses import replace

from kernels.records import Diagnostic
from simulators.simt.records import Source

from .hip_assembly import fused_lines
from .hip_build import HipKernel, HipModule
from .hip_messages import MAIN
from .hip_occupancy import LIMITS, MOST_THREADS
from .hipify import Translation

_LOCAL_ARRAYS = 64
"""Bytes of scratch per thread from which on, without spills, it is worth a word."""
_LONGEST_HEAD = 40
"""Lines that a kernel's parameters may take."""
_ASKED = re.compile(r"/(?![/*])|%|fma|mad|sqrt|rcp|div|exp|log|sin|cos|tan|pow|f?mod|hypot")
"""Source whose code has fused instructions without contraction."""
_LOW = 0.34
"""Occupancy from which on nothing is said."""


def findings(module: HipModule, source: Source, *, contracted: bool) -> list[Diagnostic]:
    """About one architecture's code. contracted: whether the options let the compiler fuse."""
    found = [d for kernel in module.kernels for d in _of_kernel(kernel, module.arch, source)]
    if not module.kernels:
        found.append(_no_kernel(source))
    found += _mangled(module, source)
    return found + (_fused(module, source) if contracted else [])


def lost_diagnostics(translation: Translation, source: Source) -> list[Diagnostic]:
    """What a translation warns of."""
    lines = source.code.split("\n")
    return [
        Diagnostic(
            "note" if lost.kind == "warp size" else "warning",
            lost.message,
            source.file,
            lost.line,
            lost.column,
            lines[lost.line - 1].rstrip("\r"),
        )
        for lost in translation.warnings
    ]


def _of_kernel(kernel: HipKernel, arch: str, source: Source) -> list[Diagnostic]:
    used, usual, name = kernel.resources, kernel.occupancy, kernel.name
    texts = []
    if used.vgpr_spills:
        unbound = used.max_threads == MOST_THREADS
        why = f"; it is compiled for blocks of {MOST_THREADS}, as without launch bounds"
        texts.append(
            f"{name} spills {used.vgpr_spills} VGPRs to scratch memory on {arch}: "
            f"{used.scratch_bytes} bytes per thread, with {used.vgprs} VGPRs{why * unbound}"
        )
    elif used.dynamic_stack:
        texts.append(
            f"{name} has a stack of unknown size on {arch}: it recurses, or calls pointers"
        )
    elif used.scratch_bytes >= _LOCAL_ARRAYS:
        texts.append(f"{name} keeps {used.scratch_bytes} bytes per thread in scratch on {arch}")
    limits = LIMITS.get(arch)
    if limits is not None and used.lds_bytes > limits.block_lds:
        texts.append(f"{name} has {used.lds_bytes} bytes of LDS; a block on {arch} may have less")
    elif usual is not None and usual.fraction < _LOW and usual.limit in ("VGPRs", "LDS"):
        texts.append(
            f"{name} fills {usual.fraction:.0%} of the wavefronts of {arch} with blocks of "
            f"{usual.threads}: {usual.limit}"
        )
    place = _definition(source, kernel)
    return [replace(place, severity="warning", message=text) for text in texts]


def _mangled(module: HipModule, source: Source) -> list[Diagnostic]:
    """Kernels that neither extern "C" nor a name expression gives a name to ask for."""
    asked = set(module.names.values())
    mangled = [
        k
        for k in module.kernels
        if k.resources.symbol.startswith("_Z") and k.resources.symbol not in asked
    ]
    if not mangled:
        return []
    names = ", ".join(k.name for k in mangled[:4]) + (", …" if len(mangled) > 4 else "")
    verb = "is" if len(mangled) == 1 else "are"
    message = f'{names} {verb} not extern "C", and found only as {mangled[0].resources.symbol}'
    return [replace(_definition(source, mangled[0]), severity="warning", message=message)]


def _fused(module: HipModule, source: Source) -> list[Diagnostic]:
    """Products and sums that became one instruction unasked."""
    lines = source.code.split("\n")
    fused = {
        line: count
        for line, count in fused_lines(module.assembly, MAIN).items()
        if line <= len(lines) and not _ASKED.search(lines[line - 1])
    }
    if not fused:
        return []
    most = max(fused, key=lambda line: fused[line])
    message = f"{sum(fused.values())} multiplications are fused with additions (FMA contraction)"
    return [replace(_at(source, most), severity="note", message=message)]


def _no_kernel(source: Source) -> Diagnostic:
    lines = source.code.split("\n")
    line = next((n for n, text in enumerate(lines, 1) if "__global__" in text), 0)
    message = (
        "no kernel was compiled: a template's only for the name expressions that ask for them"
        if line
        else "no kernel was compiled: the source has no __global__ function"
    )
    return replace(_at(source, line), severity="warning", message=message)


def _definition(source: Source, kernel: HipKernel) -> Diagnostic:
    """The line with the kernel's name: the compiler tells that of its opening brace."""
    lines = source.code.split("\n")
    name = re.compile(rf"\b{re.escape(re.split('[<:]', kernel.name)[0])}\b")
    above = range(kernel.line, max(kernel.line - _LONGEST_HEAD, 0), -1)
    line = next((n for n in above if n <= len(lines) and name.search(lines[n - 1])), kernel.line)
    return _at(source, line)


def _at(source: Source, line: int) -> Diagnostic:
    lines = source.code.split("\n")
    if not 0 < line <= len(lines):
        return Diagnostic("", "")
    return Diagnostic("", "", source.file, line, None, lines[line - 1].rstrip("\r"))
