"""What is worth a word about code that compiled: spills, shared memory, names, doubles, fusing.

Each is a message at a place in the source; `toolchains/feedback/cuda_rules.py` says what it means.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from kernels.records import Diagnostic

from .cuda_build import CudaKernel, CudaModule
from .cuda_places import Files, told_at
from .occupancy import CONSTANTS, LIMITS, STATIC_SHARED
from .ptx import Spot, arithmetic
from .ptxas import Resources, Usage
from .targets import TARGETS

_SLOW_DOUBLES = 2
"""Results per clock and multiprocessor up to which double precision is slow."""
_LOCAL_ARRAYS = 64
"""Bytes of stack per thread from which on, without spills, it is worth a word."""
_LOW = 0.34
"""Occupancy from which on nothing is said."""
_SCARCE = ("registers", "shared memory")
"""What a kernel can use less of."""
_FUSED = re.compile(r"fma|mad|__f\w+_r[nzud]", re.IGNORECASE)
_DOUBLE = re.compile(r"double|__d\w+_r[nzud]")
"""Words of a line that asks for it."""


def findings(module: CudaModule, files: Files, *, contracted: bool) -> tuple[Diagnostic, ...]:
    """About one architecture's code. contracted: whether the options let the compiler fuse."""
    found: list[Diagnostic] = []
    for kernel in module.kernels:
        found += _of_kernel(kernel, module.arch, files)
    if not module.kernels:
        found.append(_no_kernel(files))
    found += _mangled(module, files)
    found += _arithmetic(module, files, contracted=contracted)
    return tuple(found)


def too_much(used: Usage, arch: str, files: Files) -> list[Diagnostic]:
    """Why ptxas refuses code without a message: memory that is more than there is."""
    limits = LIMITS.get(arch.rstrip("af"))
    dynamic = f"; dynamic, a block on {arch} may have {limits.block_shared}" if limits else ""
    found = [
        _at(
            k, files, "error",
            f"{k.name} has {k.shared} bytes of static shared memory, and at most {STATIC_SHARED} "
            f"are allowed{dynamic}",
        )
        for k in used.kernels
        if k.shared > STATIC_SHARED
    ]  # fmt: skip
    if used.constants > CONSTANTS:
        message = f"{used.constants} bytes of __constant__ variables; a module has {CONSTANTS}"
        found.append(Diagnostic("error", message))
    return found


def _of_kernel(kernel: CudaKernel, arch: str, files: Files) -> list[Diagnostic]:
    used, usual = kernel.resources, kernel.usual
    found = []
    if used.spill_stores or used.spill_loads:
        found.append(
            f"{used.name} spills registers to local memory on {arch}: {used.spill_stores} bytes "
            f"of stores, {used.spill_loads} of loads per thread, with {used.registers} registers"
        )
    elif used.stack >= _LOCAL_ARRAYS:
        found.append(f"{used.name} keeps {used.stack} bytes per thread in local memory on {arch}")
    if usual is not None and usual.fraction < _LOW and usual.limit in _SCARCE:
        found.append(
            f"{used.name} fills {usual.fraction:.0%} of the warps of {arch} with blocks of "
            f"{usual.threads}: {usual.limit}"
        )
    told = [_at(used, files, "warning", text) for text in found]
    largest = kernel.occupancy[-1] if kernel.occupancy else None
    if largest is not None and not largest.blocks:
        message = f"{used.name} can't be launched with {largest.threads} threads on {arch}"
        told.append(_at(used, files, "note", f"{message}: {largest.limit}"))
    return told


def _mangled(module: CudaModule, files: Files) -> list[Diagnostic]:
    """Kernels that neither extern "C" nor a name expression gives a name to ask for."""
    mangled = [
        k.resources
        for k in module.kernels
        if k.resources.symbol.startswith("_Z") and k.resources.name not in files.source.names
    ]
    if not mangled:
        return []
    names = ", ".join(k.name for k in mangled[:4]) + (", …" if len(mangled) > 4 else "")
    verb = "is" if len(mangled) == 1 else "are"
    message = f'{names} {verb} not extern "C", and found only as {mangled[0].symbol}'
    return [_at(mangled[0], files, "warning", message)]


def _no_kernel(files: Files) -> Diagnostic:
    line = next(
        (n for n, text in enumerate(files.source.code.split("\n"), 1) if "__global__" in text), 0
    )
    message = (
        "no kernel was compiled: a template's only for the name expressions that ask for them"
        if line
        else "no kernel was compiled: the source has no __global__ function"
    )
    return told_at(files.at(files.main, line), "warning", message)


def _arithmetic(module: CudaModule, files: Files, *, contracted: bool) -> list[Diagnostic]:
    shown = arithmetic(module.ptx, files.name)
    found = []
    target = TARGETS.get(f"cuda:{module.arch.rstrip('af')}")
    widened = _unasked((spot for one in shown for spot in one.widened), _DOUBLE, files)
    if widened and target is not None and target.fp64_rate <= _SLOW_DOUBLES:
        rate = target.fp32_rate // target.fp64_rate
        found.append(
            _most(
                widened, files, "warning",
                f"{len(widened)} floats are converted to double, of which {module.arch} computes "
                f"1 for {rate} in single precision",
            )
        )  # fmt: skip
    fused = _unasked((spot for one in shown for spot in one.fused), _FUSED, files)
    if contracted and fused:
        found.append(
            _most(
                fused, files, "note",
                f"{len(fused)} multiplications are fused with additions (FMA contraction)",
            )
        )  # fmt: skip
    return found


def _most(spots: Sequence[Spot], files: Files, severity: str, message: str) -> Diagnostic:
    """At the line of the submission's that has most of them."""
    for spot, _ in Counter(spots).most_common():
        place = files.place(spot.file, spot.line)
        if place is not None:
            return told_at(place, severity, message)
    return Diagnostic(severity, message)


def _unasked(spots: Iterable[Spot], words: re.Pattern[str], files: Files) -> list[Spot]:
    """Those in lines of the submission that do not ask for it in words."""
    every = list(spots)
    places = {spot: files.place(spot.file, spot.line) for spot in set(every)}
    kept = {s for s, place in places.items() if place and not words.search(place.source or "")}
    return [spot for spot in every if spot in kept]


def _at(kernel: Resources, files: Files, severity: str, message: str) -> Diagnostic:
    """At the kernel's definition."""
    return told_at(files.kernel(kernel.name), severity, message)
