"""HIP → AMDGPU assembly, code object and what they take, for any number of architectures.

A source flows in; the compiler runs as tools of the runner's; a `HipBuild` flows out. What a
submission did wrong, a compiler that dies of it included, is a diagnostic. A CUDA source is
translated first.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kernels.records import Diagnostic
from simulators.simt.records import Source
from simulators.simt.tool import RunTool, Tool, ToolRun

from .elf_notes import KernelResources, NoteError, read_kernels
from .hip_assembly import NAMED, instruction_mix, named_symbols, without_debug
from .hip_build import HipBuild, HipKernel, HipModule
from .hip_compilers import (
    ARCHS,
    INCLUDE,
    HipCompiler,
    find_compiler,
    front_command,
    missing,
    object_command,
)
from .hip_findings import findings, lost_diagnostics
from .hip_messages import MAIN, NAMES, Own, Told, told
from .hip_occupancy import LIMITS, usual_occupancy
from .hip_options import CONTRACTS_OFF, options_for
from .hipify import Translation, hipify, is_cuda
from .mangled import readable

TIMEOUT_S = 30.0
_MEMORY = 4 << 30
_ASSEMBLY = "out.s"
_OBJECT = "out.o"
_CODE = "out.co"
_MOST_ASSEMBLY = 48 << 20
"""Bytes of assembly that are handed on."""
_HEADER_NAME = re.compile(r"(?!\.)[\w.+-]+(?:/(?!\.)[\w.+-]+)*")


@dataclass(frozen=True)
class _Job:
    """One source, ready for the compiler."""

    compiler: HipCompiler
    own: Own
    files: Mapping[str, bytes]
    options: tuple[str, ...]
    names: tuple[str, ...]
    run: RunTool


@dataclass(frozen=True)
class _Outcome:
    """Of one architecture."""

    module: HipModule | None
    said: Told


def compile_hip(source: Source, archs: Sequence[str], run: RunTool) -> HipBuild:
    """Compile for each of `archs` (gfx90a, gfx942, …); after an error in the source no others.

    Raises:
        RuntimeError: no compiler for AMDGPU is here.
        OSError: it can't be started.
    """
    start = time.perf_counter()
    compiler = find_compiler()
    if compiler is None:
        raise RuntimeError(missing())
    translations = _translations(source, archs)
    options = options_for(source.options)
    early = [*options.diagnostics, *_unknown_archs(archs, compiler)]
    main = translations.get(MAIN)
    early += lost_diagnostics(main, source) if main else []
    job = _job(source, translations, compiler, options.passed, run)
    outcomes: list[_Outcome] = []
    if not any(d.severity == "error" for d in early):
        for arch in archs:
            outcomes.append(_compiled(job, arch))
            if _of_the_source(outcomes[-1].said):
                break
    modules = tuple(one.module for one in outcomes if one.module is not None)
    said = [d for one in outcomes for d in one.said.diagnostics]
    contracted = not any(CONTRACTS_OFF.match(option) for option in options.passed)
    said += [d for m in modules for d in findings(m, source, contracted=contracted)]
    return HipBuild(
        modules=modules,
        diagnostics=tuple(dict.fromkeys((*early, *said))),
        seconds=time.perf_counter() - start,
        compiler=compiler.label,
        missing=tuple(dict.fromkeys(name for one in outcomes for name in one.said.missing)),
        translation=main,
    )


def _translations(source: Source, archs: Sequence[str]) -> Mapping[str, Translation]:
    """Name → translation of a CUDA source's files."""
    if source.dialect != "cuda" and not is_cuda(source.code, source.file):
        return {}
    # What is right for 64 lanes is right for 32 too, if longer.
    wavefront = max((LIMITS[arch].wavefront for arch in archs if arch in LIMITS), default=64)
    texts = {MAIN: source.code, **source.headers}
    known = frozenset(re.findall(r"\b\w{3,}\b", "\n".join(source.headers.values())))
    return {name: hipify(text, wavefront, known) for name, text in texts.items()}


def _unknown_archs(archs: Sequence[str], compiler: HipCompiler) -> list[Diagnostic]:
    known = f"it knows {', '.join(compiler.archs)}"
    return [
        Diagnostic("error", f"{compiler.label} does not compile for {arch}; {known}")
        for arch in archs
        if arch not in compiler.archs
    ]


def _job(
    source: Source,
    translations: Mapping[str, Translation],
    compiler: HipCompiler,
    options: tuple[str, ...],
    run: RunTool,
) -> _Job:
    texts = {name: t for name, t in source.headers.items() if _HEADER_NAME.fullmatch(name)}
    texts[MAIN] = source.code
    sent = {n: translations[n].text if n in translations else text for n, text in texts.items()}
    asked = (
        f'extern "C" __device__ __attribute__((used)) void* {NAMED}{n} = (void*)({_flat(name)});'
        for n, name in enumerate(source.names)
    )
    if source.names:
        sent[MAIN] += "\n".join(("", f'#line 1 "{NAMES}"', *asked, ""))
    own = Own(texts, source.file, source.names, translations, (INCLUDE, *compiler.shown))
    files = {name: text.encode("utf-8", "replace") for name, text in sent.items()}
    return _Job(compiler, own, files, options, source.names, run)


def _flat(name: str) -> str:
    return " ".join(name.split())


def _compiled(job: _Job, arch: str) -> _Outcome:
    """Source → assembly → object → code object; the first step that fails is the last."""
    start = time.perf_counter()
    front = _run(job, front_command(job.compiler, arch, MAIN, job.options, _ASSEMBLY), job.files)
    said = told(front, job.own)
    assembly = front.files.get(_ASSEMBLY, b"")
    if front.code or front.timed_out or said.failed or said.missing:
        return _Outcome(None, said)
    if len(assembly) > _MOST_ASSEMBLY:
        text = f"{len(assembly) >> 20} MiB of assembly: far too much unrolled code"
        return _Outcome(None, replace(said, diagnostics=(Diagnostic("error", text),)))
    code, failed = _assembled(job, arch, assembly)
    if failed is not None:
        return _Outcome(None, replace(said, diagnostics=(*said.diagnostics, *failed)))
    text = assembly.decode("utf-8", "replace")
    symbols = named_symbols(text)
    names = {name: symbols[n] for n, name in enumerate(job.names) if n in symbols}
    module = HipModule(
        arch=arch,
        code=code,
        assembly=without_debug(text),
        kernels=_kernels(arch, code, text, names, said),
        seconds=time.perf_counter() - start,
        names=names,
    )
    return _Outcome(module, said)


def _assembled(
    job: _Job, arch: str, assembly: bytes
) -> tuple[bytes, tuple[Diagnostic, ...] | None]:
    """The code object, or why there is none."""
    compiler = job.compiler
    linked = bool(compiler.linker)
    result = _OBJECT if linked else _CODE
    done = _run(
        job, object_command(compiler, arch, _ASSEMBLY, result), {_ASSEMBLY: assembly}, result
    )
    if done.code == 0 and linked and _OBJECT in done.files:
        command = (*compiler.linker, "-shared", _OBJECT, "-o", _CODE)
        done = _run(job, command, {_OBJECT: done.files[_OBJECT]}, _CODE)
    if done.code == 0 and _CODE in done.files:
        return done.files[_CODE], None
    # Inline assembly is only read here, with no line of the source: the compiler has it.
    command = front_command(compiler, arch, MAIN, job.options, _OBJECT)
    placed = told(_run(job, command, job.files, _OBJECT), job.own)
    if placed.failed:
        return b"", placed.diagnostics
    said = " ".join(done.err.split())[:300]
    return b"", (Diagnostic("error", f"the assembly can't be made a code object: {said}"),)


def _run(
    job: _Job, argv: tuple[str, ...], files: Mapping[str, bytes], result: str = _ASSEMBLY
) -> ToolRun:
    tool = Tool(
        argv=argv,
        files=files,
        results=(result,),
        shown=(INCLUDE, *job.compiler.shown),
        environment={"HIP_PLATFORM": "amd"} if job.compiler.kind == "hipcc" else {},
        timeout_s=TIMEOUT_S,
        memory_bytes=_MEMORY,
    )
    return job.run(tool)


def _kernels(
    arch: str, code: bytes, assembly: str, names: Mapping[str, str], said: Told
) -> tuple[HipKernel, ...]:
    try:
        found = read_kernels(code)
    except NoteError:
        # Device functions alone make no note.
        return ()
    mixes = instruction_mix(assembly)
    asked = {symbol: name for name, symbol in names.items()}
    return tuple(
        HipKernel(
            name=asked.get(one.symbol) or readable(one.symbol),
            resources=_in_mode(arch, one),
            occupancy=usual_occupancy(arch, _in_mode(arch, one)),
            instructions=mixes.get(one.symbol, {}),
            line=said.kernels.get(one.symbol, 0),
        )
        for one in found
    )


def _in_mode(arch: str, kernel: KernelResources) -> KernelResources:
    """A note that does not tell RDNA's mode means work group processors, the compiler's default."""
    limits = LIMITS.get(arch)
    return replace(kernel, wgp_mode=True) if limits is not None and limits.wgp else kernel


def _of_the_source(said: Told) -> bool:
    """Whether another architecture would meet the same: an error with a place, or a dead end."""
    errors = [d for d in said.diagnostics if d.severity == "error"]
    return any("exceeds limit" not in d.message for d in errors) or bool(said.missing)


__all__ = ["ARCHS", "TIMEOUT_S", "compile_hip"]
