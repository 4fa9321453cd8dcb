"""ROCm targets: clang for errors and resources, the emulator for execution."""

from __future__ import annotations

from simulators.simt.records import Source
from simulators.simt.tool import RunTool
from toolchains.backends import Parts
from toolchains.feedback.hip_rules import guidance_about
from toolchains.gpu import Family, GpuTarget, GpuToolchain, Native
from toolchains.gpu_compile.hip import compile_hip
from toolchains.gpu_compile.hip_build import HipBuild, HipModule, module_metrics
from toolchains.gpu_compile.hip_compilers import missing
from toolchains.gpu_compile.hip_targets import TARGETS, hardware
from toolchains.gpu_compile.hipify import hipify, is_cuda

_CONTRACT = " ".join(
    (
        "kernel.py is imported in a fresh child with cupy, numpy, the standard library and",
        "`szstream` (stream headers, on NumPy arrays); device code in its strings or in files",
        "beside it; no network, no other files. CUDA C++ is translated to HIP. Codecs define",
        "compress(data, abs_bound) -> 1-D uint8 array and decompress(stream, shape, dtype) ->",
        "array, which run in two processes that share only the stream; stages define",
        "run(*inputs). Arrays are cupy's both ways. abs_bound >= 0, and 0 asks for lossless.",
        "Refuse what you do not support with NotImplementedError. Every element is checked",
        "exactly; NaN and Inf must come back. Emulated: every call in ascending and in descending",
        "order of threads, which must agree; no speed. What the emulated cupy does not have fails",
        'with "not emulated: NAME".',
    )
)
_ADVICE = (
    "Quantise first and predict on the integers: predicting from originals adds up errors.",
    "-ffp-contract=off, or __fmul_rn and __fsub_rn in the bound check: contracted it lets "
    "violations through.",
    "Wavefronts have 64 lanes on gfx9: masks and __ballot are 64 bits; use warpSize, not 32.",
    "Pass scalars as numpy.int32(n), numpy.float32(x): a Python int is 8 bytes, a float a double.",
    "Neighbouring threads on neighbouring words; 128-bit loads help.",
    "__launch_bounds__(256) tells the compiler the block you use, else it assumes 1024.",
)


_LISTED = ("gfx90a", "gfx942", "gfx1100")


def backend(parts: Parts) -> GpuToolchain:
    """The ROCm targets of a server."""
    return GpuToolchain(FAMILY, parts.pool, cache=parts.cache, tripwires=parts.tripwires)


def _translated(source: Source) -> str:
    return (
        hipify(source.code, source.warp).text if is_cuda(source.code, source.file) else source.code
    )


def _compile(source: Source, arch: str, run: RunTool) -> Native:
    build = compile_hip(source, (arch,), run)
    module = next(iter(build.modules), None)
    absent = ", ".join(build.missing)
    return Native(
        diagnostics=build.diagnostics,
        metrics=module_metrics(module) if module else (),
        failed=not build.compiled,
        artifacts=_artifacts(source, build, module),
        note=f"no code object: this compiler lacks {absent}" if absent else "",
    )


def _artifacts(source: Source, build: HipBuild, module: HipModule | None) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    if module is not None and module.assembly:
        found["s"] = module.assembly.encode()
    translation = build.translation
    if translation is not None and translation.text != source.code:
        found["hip"] = translation.text.encode()
        lines = [
            f"{c.line}:{c.column}: {c.before} -> {c.after} ({c.why})" for c in translation.changes
        ]
        found["changes.txt"] = "\n".join(lines).encode()
    return found


FAMILY = Family(
    name="rocm",
    dialect="hip",
    targets={
        name: GpuTarget(
            target.arch,
            target.limits.wavefront,
            hardware(target),
            listed=target.arch in _LISTED,
            notes=(f"{target.generation}; figures of {target.gpu.name} ({target.gpu.source})",),
        )
        for name, target in TARGETS.items()
    },
    compile=_compile,
    missing=missing,
    contract=_CONTRACT,
    advice=_ADVICE,
    advise=guidance_about,
    translate=_translated,
)
