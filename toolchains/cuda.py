"""CUDA targets: NVRTC for errors and resources, the emulator for execution."""

from __future__ import annotations

from simulators.simt.records import Source
from simulators.simt.tool import RunTool
from toolchains.backends import Parts
from toolchains.feedback.cuda_rules import guidance_about
from toolchains.gpu import Family, GpuTarget, GpuToolchain, Native
from toolchains.gpu_compile.cuda_build import CudaModule, module_metrics
from toolchains.gpu_compile.cuda_wheels import INSTALL, find_nvrtc
from toolchains.gpu_compile.nvrtc import compile_cuda
from toolchains.gpu_compile.sass import disassemble
from toolchains.gpu_compile.targets import TARGETS, hardware

_CONTRACT = " ".join(
    (
        "kernel.py is imported in a fresh child with cupy, numpy, the standard library and",
        "`szstream` (stream headers, on NumPy arrays); device code in its strings or in files",
        "beside it; no network, no other files. Codecs define compress(data, abs_bound) -> 1-D",
        "uint8 array and decompress(stream, shape, dtype) -> array, which run in two processes",
        "that share only the stream; stages define run(*inputs). Arrays are cupy's both ways.",
        "abs_bound >= 0, and 0 asks for lossless. Refuse what you do not support with",
        "NotImplementedError. Every element is checked exactly; NaN and Inf must come back.",
        "Emulated: warps of 32; every call in ascending and in descending order of threads, which",
        'must agree; no speed. What the emulated cupy does not have fails with "not emulated:',
        'NAME".',
    )
)
_ADVICE = (
    "Quantise first and predict on the integers: predicting from originals adds up errors.",
    "-fmad=false, or __fmul_rn and __fsub_rn in the bound check: contracted it lets violations "
    "through.",
    'extern "C" on kernels that RawModule.get_function names; templates by name_expressions.',
    "Pass scalars as numpy.int32(n), numpy.float32(x): a Python int is 8 bytes, a float a double.",
    "Neighbouring threads on neighbouring words; 128-bit loads (int4, float4) help.",
)


_LISTED = ("sm_80", "sm_90", "sm_100", "sm_120")


def backend(parts: Parts) -> GpuToolchain:
    """The CUDA targets of a server."""
    return GpuToolchain(
        FAMILY,
        parts.pool,
        cache=parts.cache,
        tripwires=parts.tripwires,
    )


def _compile(source: Source, arch: str, run: RunTool) -> Native:
    build = compile_cuda(source, (arch,), run)
    module = next(iter(build.modules), None)
    return Native(
        diagnostics=build.diagnostics,
        metrics=module_metrics(module) if module else (),
        failed=not build.compiled,
        artifacts=_artifacts(module, run) if module else {},
    )


def _artifacts(module: CudaModule, run: RunTool) -> dict[str, bytes]:
    found = {"ptx": module.ptx.encode()}
    sass = disassemble(module, run)
    return found | ({"sass": sass.text.encode()} if sass.text else {})


def _missing() -> str:
    if find_nvrtc() is None:
        return f"no registers, PTX or SASS: NVRTC is not installed: {INSTALL}"
    return ""


FAMILY = Family(
    name="cuda",
    dialect="cuda",
    targets={
        name: GpuTarget(
            target.arch,
            32,
            hardware(target),
            listed=target.arch in _LISTED,
            notes=(f"{target.generation}; figures of {target.gpu.name} ({target.gpu.source})",),
        )
        for name, target in TARGETS.items()
    },
    compile=_compile,
    missing=_missing,
    contract=_CONTRACT,
    advice=_ADVICE,
    advise=guidance_about,
)
