"""CUDA C++ → PTX, cubin and what they take, for any number of architectures, without a GPU.

A source flows in; NVRTC runs in processes of the runner's, at most `LANES` at a time; a `CudaBuild`
flows out. What a submission did wrong, a compiler that dies of it included, is a diagnostic.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from kernels.records import Diagnostic
from simulators.simt.records import Source
from simulators.simt.tool import RunTool, Tool, ToolRun, plain_run

from .cuda_build import CudaBuild, CudaKernel, CudaModule
from .cuda_places import FOLDER, Files, told_at
from .cuda_wheels import INSTALL, Nvrtc, find_nvrtc
from .findings import findings, too_much
from .nvrtc_log import diagnostics, shortened
from .nvrtc_options import contracts, options_for
from .nvrtc_program import Job, Result, Run
from .occupancy import occupancies
from .ptxas import Usage, usage

LANES = 2
"""Processes that compile at the same time, for different architectures."""
TIMEOUT_S = 30.0
_MEMORY = 4 << 30
_MOST_CODE = 20_000
"""Characters of a log that are handed on."""
_HERE = Path(__file__).resolve().parent
OWN_HEADERS = _HERE / "nvrtc_include"
_PROGRAM = "nvrtc_program.py"
_HEADER_NAME = re.compile(r"(?!\.)[\w.+-]+(?:/(?!\.)[\w.+-]+)*")
_PTX_FILE = re.compile(r'(\.file\s+\d+ )"([^"\n]*)"')


@dataclass(frozen=True)
class _Compiled:
    """What one process left."""

    done: ToolRun
    result: Result | None
    archs: tuple[str, ...]


def compile_cuda(source: Source, archs: Sequence[str], run: RunTool) -> CudaBuild:
    """Compile for each of `archs` (sm_80, sm_90a, …).

    Raises:
        RuntimeError: NVRTC is not installed, or does not start.
        OSError: a process can't be started.
    """
    start = time.perf_counter()
    nvrtc = find_nvrtc()
    if nvrtc is None:
        raise RuntimeError(f"NVRTC is not installed: {INSTALL}")
    files = Files(source, (OWN_HEADERS, *nvrtc.includes))
    options = options_for(source, nvrtc, OWN_HEADERS)
    early = (*options.diagnostics, *_unreadable(source, files), *_unknown_archs(archs, nvrtc))
    if any(one.severity == "error" for one in early):
        return CudaBuild((), shortened(early), time.perf_counter() - start, nvrtc.version)
    lanes = [tuple(archs[i::LANES]) for i in range(min(LANES, len(archs)))]
    tools = [_tool(nvrtc, source, options.passed, lane) for lane in lanes]
    with ThreadPoolExecutor(len(tools) or 1) as pool:
        done = list(pool.map(run, tools))
    compiled = [_read(one, lane) for one, lane in zip(done, lanes, strict=True)]
    modules, told, log = _gathered(compiled, files, archs)
    return CudaBuild(
        modules=modules,
        diagnostics=shortened((*early, *told)),
        seconds=time.perf_counter() - start,
        nvrtc=_version(compiled) or nvrtc.version,
        log=log,
    )


@cache
def installed_archs(nvrtc: Nvrtc) -> tuple[str, ...]:
    """Architectures that an NVRTC compiles for, asked of it once; trusted, so not confined.

    Raises:
        RuntimeError: it does not start.
    """
    done = plain_run(_tool(nvrtc, Source("", "kernel.cu"), (), ()))
    result = _read(done, ()).result
    if result is None:
        raise RuntimeError(f"NVRTC {nvrtc.version} does not start: {done.err.strip()[-500:]}")
    return tuple(f"sm_{arch}" for arch in result["archs"])


def _tool(nvrtc: Nvrtc, source: Source, options: tuple[str, ...], archs: tuple[str, ...]) -> Tool:
    main = Files(source).main
    job: Job = {
        "library": str(nvrtc.library),
        "archs": list(archs),
        "code": source.code,
        "name": f"{FOLDER}/{main}",
        "names": list(source.names),
        "options": list(options),
    }
    headers = {
        f"{FOLDER}/{name}": text.encode("utf-8", "replace")
        for name, text in source.headers.items()
        if name != main and _HEADER_NAME.fullmatch(name)
    }
    results = tuple(f"{arch}.{kind}" for arch in archs for kind in ("ptx", "cubin"))
    return Tool(
        argv=(str(Path(sys.executable).resolve()), "-I", "-S", "-B", _PROGRAM),
        files={
            **headers,
            _PROGRAM: (_HERE / _PROGRAM).read_bytes(),
            "job.json": json.dumps(job).encode(),
        },
        results=("result.json", *results),
        shown=(nvrtc.library.parent, OWN_HEADERS, *_outermost(nvrtc.includes)),
        timeout_s=TIMEOUT_S,
        memory_bytes=_MEMORY,
    )


def _outermost(folders: Sequence[Path]) -> list[Path]:
    """Without those that lie in others."""
    return [f for f in folders if not any(other in f.parents for other in folders)]


def _read(done: ToolRun, archs: tuple[str, ...]) -> _Compiled:
    text = done.files.get("result.json")
    result = cast(Result, json.loads(text)) if text is not None and done.code == 0 else None
    return _Compiled(done, result, archs)


def _version(compiled: Sequence[_Compiled]) -> str:
    found = (one.result["version"] for one in compiled if one.result is not None)
    return next((f"{major}.{minor}" for major, minor in found), "")


def _unreadable(source: Source, files: Files) -> list[Diagnostic]:
    """A source is a C string to NVRTC: it would end at the first NUL."""
    at = source.code.find("\0")
    if at < 0:
        return []
    place = files.at(files.main, source.code.count("\n", 0, at) + 1)
    return [told_at(place, "error", "the source has a NUL character")]


def _unknown_archs(archs: Sequence[str], nvrtc: Nvrtc) -> list[Diagnostic]:
    known = installed_archs(nvrtc)
    unknown = [a for a in archs if a.rstrip("af") not in known]
    return [
        Diagnostic(
            "error",
            f"NVRTC {nvrtc.version} does not compile for {arch}; it does for {', '.join(known)}",
        )
        for arch in unknown
    ]


def _gathered(
    compiled: Sequence[_Compiled], files: Files, archs: Sequence[str]
) -> tuple[tuple[CudaModule, ...], list[Diagnostic], str]:
    """Modules in the order asked for, messages, and the first log."""
    modules: dict[str, CudaModule] = {}
    told: dict[str, list[Diagnostic]] = {}
    logs: dict[str, str] = {}
    contracted = contracts(files.source.options)
    for lane in compiled:
        if lane.result is None:
            told.setdefault(lane.archs[0], []).append(_died(lane.done))
            continue
        for one in lane.result["runs"]:
            arch = one["arch"]
            module, said = _module(one, lane.done, files)
            logs[arch], told[arch] = one["log"], [*said]
            if module is not None:
                modules[arch] = module
                told[arch] += findings(module, files, contracted=contracted)
    said_in_order = [d for arch in archs for d in told.get(arch, ())]
    log = next((logs[arch] for arch in archs if arch in logs), "")
    ordered = tuple(modules[arch] for arch in archs if arch in modules)
    return ordered, said_in_order, files.plain(log[:_MOST_CODE])


def _module(
    one: Run, done: ToolRun, files: Files
) -> tuple[CudaModule | None, Sequence[Diagnostic]]:
    """What one architecture left, and what the compiler said."""
    arch = one["arch"]
    ptx = done.files.get(f"{arch}.ptx", b"").decode("utf-8", "replace")
    cubin = done.files.get(f"{arch}.cubin", b"")
    ptx = _PTX_FILE.sub(lambda found: f'{found[1]}"{files.name(found[2])}"', ptx)
    used = usage(one["log"], ptx, one["lowered"])
    said = diagnostics(one["log"], ptx, files)
    if one["code"] != 0:
        return None, _with_error(said, one, used, files)
    if len(cubin) != one["cubin"] or not ptx:
        size = max(one["ptx"], one["cubin"])
        message = f"the code for {arch} is too large: {size} bytes"
        return None, (*said, Diagnostic("error", message))
    kernels = tuple(CudaKernel(k, occupancies(arch, k)) for k in used.kernels)
    module = CudaModule(arch, ptx, cubin, kernels, used.functions, one["seconds"])
    return module, said


def _with_error(
    said: Sequence[Diagnostic], one: Run, used: Usage, files: Files
) -> Sequence[Diagnostic]:
    """With a reason, also where NVRTC gives none."""
    if any(d.severity == "error" for d in said):
        return said
    found = too_much(used, one["arch"], files)
    if not found:
        message = f"NVRTC refuses it for {one['arch']} with code {one['code']}, without a message"
        found = [Diagnostic("error", message)]
    return (*said, *found)


def _died(done: ToolRun) -> Diagnostic:
    if done.timed_out:
        return Diagnostic("error", f"the compiler did not finish within {TIMEOUT_S:.0f} s")
    if done.code < 0:
        return Diagnostic("error", f"the compiler was ended by signal {-done.code}")
    last = done.err.strip().splitlines()[-1:]
    memory = "MemoryError" in done.err or "Cannot allocate" in done.err
    why = "it ran out of memory" if memory else (last[0][:300] if last else "no message")
    return Diagnostic("error", f"the compiler failed with exit code {done.code}: {why}")
