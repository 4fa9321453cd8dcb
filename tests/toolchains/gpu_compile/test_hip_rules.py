"""Every rule about HIP has a source whose real message it answers."""

from __future__ import annotations

from collections import Counter

import pytest

from kernels.records import Failure
from simulators.simt.records import Source
from simulators.simt.tool import ToolRun
from tests.toolchains.gpu_compile.hip_sources import LORENZO, SPILLS, build, needs_compiler
from toolchains.feedback.hip_rules import RULES, guidance_about
from toolchains.feedback.rules import first_guidance
from toolchains.gpu_compile.hip import compile_hip
from toolchains.gpu_compile.hip_build import HipBuild

pytestmark = needs_compiler

KERNEL = 'extern "C" __global__ void k(float* p, int* q, int n) {{ {} }}\n'
REGISTERS = (
    'extern "C" __global__ void __launch_bounds__(256) k(const float* x, float* y) {\n'
    "  float v[300];\n  #pragma unroll\n"
    "  for (int i = 0; i < 300; ++i) v[i] = x[i + threadIdx.x];\n"
    "  __syncthreads();\n  #pragma unroll\n"
    "  for (int i = 0; i < 300; ++i) y[i + threadIdx.x] *= v[i];\n}\n"
)

BROKEN: dict[str, str] = {
    "hip-header": KERNEL.format("p[0] = __half2float(half(1)) + (float)cg::this_grid().size();"),
    "cuda-name": KERNEL.format("__nv_bfloat16 b;"),
    "cuda-only": KERNEL.format("q[0] = __dp4a(q[1], q[2], q[3]);"),
    "hip-misspelt": KERNEL.format("q[0] = __shfl_upp_sync(~0ull, q[1], 1);"),
    "hip-include": "#include <cuda_runtime.h>\n",
    "hip-file": '#include "common/definitions.h"\n',
    "mask-32-bits": KERNEL.format("q[0] = __ballot_sync(0xffffffff, n > 0);"),
    "mask-missing": KERNEL.format("q[0] = __shfl_sync(n);"),
    "warp-size-constant": KERNEL.format("__shared__ float s[64 / warpSize]; p[0] = s[n];"),
    "lds-too-large": KERNEL.format(
        "__shared__ float s[40000]; s[n] = p[0]; __syncthreads(); p[1] = s[1];"
    ),
    "no-dynamic-parallelism": "__global__ void child() {}\n" + KERNEL.format("child<<<1, 2>>>();"),
    "host-function": "int host(int);\n" + KERNEL.format("q[0] = host(n);"),
    "wrong-architecture": KERNEL.format("p[0] = __builtin_amdgcn_permlane16(n, n, n, n, 0, 0);"),
    "inline-assembly": KERNEL.format('asm volatile("clz.b32 %0, %1;" :: "v"(n), "v"(n));'),
    "compile-endless": "template <int n> struct F { static const int v = F<n + 1>::v; };\n"
    "__device__ int x = F<0>::v;\n",
}  # fmt: skip
WORKING: dict[str, str] = {
    "vgpr-spills": SPILLS,
    "scratch-arrays": KERNEL.format(
        "int v[64]; for (int i = 0; i < 64; ++i) v[i] = q[i]; q[0] = v[n] + v[q[1] & 63];"
        " v[q[2] & 63] = n; q[1] = v[q[3] & 63];"
    ),
    "unknown-stack": "__device__ __attribute__((noinline)) int f(int n, int* q) {\n"
    "  if (n < 2) return q[n]; return f(n - 1, q) + f(n - 2, q) * q[n]; }\n"
    + KERNEL.format("q[0] = f(n, q);"),
    "low-occupancy-vgprs": REGISTERS,
    "low-occupancy-lds": KERNEL.format(
        "__shared__ float s[15000]; s[n] = p[0]; __syncthreads(); p[1] = s[n ^ 1];"
    ),
    "no-ocml": "__device__ double g;\n" + KERNEL.format("g = exp(g);"),
    "no-rocm-library": "#include <hipcub/hipcub.hpp>\n" + KERNEL.format("q[0] = 1;"),
    "template-unnamed": "template <typename T> __global__ void k(T* p) { p[0] = 1; }\n",
    "hip-extern-c": "__global__ void k(float* p) { p[0] = 1; }\n",
    "hip-contraction": KERNEL.format("p[0] = p[1] * p[2] + p[3];"),
}
CUDA: dict[str, str] = {
    "half-wavefronts": KERNEL.format("q[threadIdx.x >> 5] = n;"),
    "warp-size-mixed": KERNEL.format("q[0] = warpSize;"),
    "cuda-lost": KERNEL.format("__stcs(q, n);"),
    "ptx": KERNEL.format('asm volatile("vabsdiff4.u32.u32.u32.add %0, %0, %0, %0;" : "+r"(n));'),
}


def of_source(name: str) -> HipBuild:
    """The build that a rule is to speak of."""
    if name in CUDA:
        return build(CUDA[name], dialect="cuda", file="k.cu")
    return build({**BROKEN, **WORKING}[name])


def named(name: str, built: HipBuild) -> set[str]:
    """Rules that speak of a build that works."""
    return {said.rule for said in guidance_about(built.diagnostics)}


@pytest.mark.parametrize("name", BROKEN)
def test_a_build_that_fails_is_explained_by_its_rule(name: str) -> None:
    failure = of_source(name).failure

    assert failure is not None
    said = first_guidance(RULES, failure)
    assert said is not None
    assert said.rule == name
    assert "{" not in said.explanation + said.suggestion


@pytest.mark.parametrize("name", [*WORKING, *CUDA])
def test_a_build_that_works_is_explained_by_its_rule(name: str) -> None:
    assert name in named(name, of_source(name))


def test_missing_qualifiers_are_explained_as_hipcc_tells_them() -> None:
    # What a clang without the prelude says; here the prelude is always included.
    err = "sz_source.hip:1:12: error: unknown type name '__global__'\n"

    built = compile_hip(
        Source(LORENZO, "k.hip", "hip"), ("gfx942",), lambda _: ToolRun(1, "", err, {}, 0.1)
    )

    assert _rule(built.failure) == "hip-qualifiers"


@pytest.mark.parametrize(
    ("name", "options", "run"),
    [
        ("hip-option", ("-fplugin=x.so",), None),
        ("compiler-crash", (), ToolRun(-11, "", "", {}, 0.1)),
    ],
)
def test_the_compiler_and_its_options_are_explained(
    name: str, options: tuple[str, ...], run: ToolRun | None
) -> None:
    source = Source(LORENZO, "k.hip", "hip", options=options)

    built = compile_hip(source, ("gfx942",), lambda _: run or ToolRun(0, "", "", {}, 0.1))

    assert _rule(built.failure) == name


def test_a_file_of_the_machine_is_explained(tmp_path: object) -> None:
    (tmp_path / "x.h").write_text("a word\n")  # type: ignore[operator]

    assert _rule(build(f'#include "{tmp_path}/x.h"\n').failure) == "foreign-file"


def test_a_right_kernel_is_not_advised() -> None:
    assert guidance_about(build(LORENZO).diagnostics) == ()


def test_every_rule_is_tried_and_named_once() -> None:
    tried = {*BROKEN, *WORKING, *CUDA, "hip-qualifiers", "hip-option", "compiler-crash"}

    names = Counter(rule.name for rule in RULES)

    assert set(names) == tried | {"foreign-file"}
    assert max(names.values()) == 1


def _rule(failure: Failure | None) -> str:
    assert failure is not None
    said = first_guidance(RULES, failure)
    return said.rule if said else ""
