"""Each rule about CUDA, set off by what the real NVRTC says of a source."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from kernels.records import Failure
from simulators.simt.tool import Tool, ToolRun, plain_run
from tests.toolchains.gpu_compile.cuda_sources import (
    KERNEL,
    STARVED,
    compiled,
    needs_nvrtc,
)
from toolchains.feedback.cuda_rules import RULES, guidance_about
from toolchains.feedback.rules import first_guidance
from toolchains.gpu_compile.cuda_build import CudaBuild

pytestmark = needs_nvrtc

LONGEST = 420
"""Characters of an explanation and a suggestion together."""


@dataclass(frozen=True)
class Wrong:
    code: str
    arch: str = "sm_80"
    options: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    said: str = ""
    """That the guidance must say."""


def body(text: str, before: str = "", *, arch: str = "sm_80", said: str = "") -> Wrong:
    return Wrong(f"{before}\n{KERNEL}{text}\n}}\n", arch, said=said)


REFUSED: dict[str, Wrong] = {
    "host-api": body("float *p; cudaMalloc(&p, 4);", said="cupy"),
    "warp-mask": body("a[0] = __shfl_down(a[0], 1);", said="__shfl_down_sync(0xffffffffu"),
    "missing-include": body("__half h = __float2half(a[0]);", said="#include <cuda_fp16.h>"),
    "later-architecture": body("a[0] = __reduce_add_sync(~0u, n);", arch="sm_75", said="sm_80"),
    "misspelt": body("a[0] = n; __syncthread();", said="__syncthreads"),
    "undefined": body("a[0] = quantised_value;", said="quantised_value"),
    "cooperative-groups": body("", "namespace cg = cooperative_groups;"),
    "std-container": body("std::vector<float> v;", said="std::vector"),
    "std-member": body("a[0] = std::max(a[1], a[2]);", said="<algorithm>"),
    "member": body("a[0] = threadIdx.w;", said="uint3"),
    "whole-cub": body("", "#include <cub/cub.cuh>", said="<cub/block/block_scan.cuh>"),
    "host-library": body("", "#include <thrust/scan.h>", said="thrust/scan.h"),
    "host-header": body("", "#include <iostream>", said="<iostream>"),
    "missing-header": body("", '#include "mine.cuh"', said="mine.cuh"),
    "launch-in-source": body("c<<<1, 1>>>(a);", "__global__ void c(float *a) { a[0] = 1; }"),
    "host-function": body("a[0] = twice(n);", "int twice(int x) { return 2 * x; }"),
    "host-variable": body("a[0] = table[n];", "float table[2] = {1, 2};", said="__constant__"),
    "exceptions": body("if (n) throw 1;"),
    "too-much-shared": body("__shared__ float s[20000]; s[n] = 1; a[0] = s[n + 1];", said="49152"),
    "too-much-constant": body("a[0] = t[n];", "__constant__ float t[20000];"),
    "shared-initialiser": body("__shared__ float s[2] = {1, 2}; a[0] = s[n];"),
    "dynamic-shared-types": Wrong(
        f"{KERNEL}extern __shared__ float s[]; a[0] = s[n];\n}}\n"
        'extern "C" __global__ void other(int *a) {\nextern __shared__ int s[]; a[0] = s[1];\n}\n'
    ),
    "warp-size-constant": body("float s[warpSize]; s[n] = 1; a[0] = s[n];", said="constexpr"),
    "array-size": body("float s[n]; s[n] = 1; a[0] = s[n];", said="template parameter"),
    "read-only": Wrong('extern "C" __global__ void k(const float *a, int n) { a[n] = 1; }'),
    "shuffle-arguments": body("a[0] = __shfl_down_sync(a[0], 1);", said="__shfl_down_sync(0xff"),
    "atomic-64": body("__shared__ long long q; atomicAdd(&q, 1LL); a[0] = q;"),
    "atomic-float": body("atomicMax(a, 1.0f);", said="__float_as_int"),
    "atomic-type": body("__shared__ unsigned char q; atomicAdd(&q, 1); a[0] = q;"),
    "ambiguous": body("a[0] = min(n, 3L);", said="min((int)a"),
    "vector-operator": body("float4 x, y; x = x + y; a[0] = x.x;", said="make_float4"),
    "arguments": body("f(a);", "__device__ void f(int x, int y) {}"),
    "kernel-type": Wrong('extern "C" __global__ int k(float *a) { return 1; }'),
    "template-recursion": body(
        "a[0] = F<5000>::v;",
        "template <int N> struct F { enum { v = F<N - 1>::v + 1 }; };\n"
        "template <> struct F<0> { enum { v = 0 }; };",
    ),
    "asm-mask": body('int p; asm("{ .reg .pred q; setp.ne.s32 q, %1, 0; '
                     'vote.ballot.b32 %0, q; }" : "=r"(p) : "r"(n)); a[0] = p;'),
    "asm-architecture": body('int x; asm("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(x) : '
                             '"r"(n)); a[0] = x;', arch="sm_75", said="sm_80"),
    "asm-instruction": body('int x; asm("lopp3.b32 %0, %1, 1;" : "=r"(x) : "r"(n)); a[0] = x;'),
    "asm-operands": body('int x; asm("add.s32 %0, %1, 1;" : "=r"(x) : "f"(a[1])); a[0] = x;'),
    "asm-constraint": body('long long x; asm("mov.s64 %0, 1;" : "=r"(x)); a[0] = x;'),
    "asm": body('int x; asm("add.s32 %0, %1, ;" : "=r"(x) : "r"(n)); a[0] = x;'),
    "name-expression": Wrong(f"{KERNEL}}}", names=("scan<int>",), said="scan<int>"),
    "option": Wrong(f"{KERNEL}}}", options=("--time=out.csv",), said="--time=out.csv"),
    "unknown-architecture": Wrong(f"{KERNEL}}}", arch="sm_35", said="sm_80"),
    "error-directive": body("", "#error no atomics", said="no atomics"),
    "syntax": body("int x = 3\n a[0] = x;"),
}  # fmt: skip

WARNED: dict[str, Wrong] = {
    "no-kernel": Wrong("template <typename T> __global__ void k(T *a) { a[0] = 1; }"),
    "launch-bounds": Wrong(STARVED, arch="sm_75", said="1536 on sm_86"),
    "spills": Wrong(STARVED),
    "local-arrays": body(
        "float t[64];\nfor (int j = 0; j < 64; j++) t[(j * n) & 63] = a[j];\na[n] = t[n & 63];"
    ),
    "cannot-launch": body(
        "float r[96];\n#pragma unroll\nfor (int j = 0; j < 96; j++) r[j] = a[j * 32];\n"
        "__syncthreads();\n#pragma unroll\n"
        "for (int j = 0; j < 96; j++) a[j * 32] = r[j] * r[(7 * j + 5) % 96];",
        said="__launch_bounds__",
    ),
    "low-occupancy": body(
        "__shared__ float s[12000]; s[n] = 1; __syncthreads(); a[0] = s[n + 1];",
        arch="sm_86",
        said="shared",
    ),
    "extern-c": Wrong("__global__ void k(float *a) { a[0] = 1; }"),
    "doubles": body("a[n] *= 0.3;", arch="sm_86", said="64 times"),
    "fma-contraction": body("a[0] = a[1] * a[2] + a[3];", said="-fmad=false"),
    "uninitialised": body("int q; a[0] = q;"),
}

DYING: dict[str, ToolRun] = {
    "compiler-time": ToolRun(-9, "", "", {}, 30.0, timed_out=True),
    "compiler-died": ToolRun(-11, "", "", {}, 0.1),
}


def build(wrong: Wrong) -> CudaBuild:
    return compiled(wrong.code, wrong.arch, options=wrong.options, names=wrong.names)


def failure(built: CudaBuild) -> Failure:
    assert built.failure is not None
    return built.failure


def test_every_rule_has_a_source_that_sets_it_off() -> None:
    assert {r.name for r in RULES} == {*REFUSED, *WARNED, *DYING}
    assert len(RULES) == len({r.name for r in RULES})


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_source_is_explained_by_its_rule(name: str) -> None:
    failed = failure(build(REFUSED[name]))

    said = first_guidance(RULES, failed)

    assert said is not None, failed.message
    assert said.rule == name, failed.message
    assert REFUSED[name].said in said.explanation + said.suggestion
    assert len(said.explanation + said.suggestion) <= LONGEST


@pytest.mark.parametrize("name", WARNED)
def test_what_is_found_in_compiled_code_is_explained_by_its_rule(name: str) -> None:
    built = build(WARNED[name])

    said = {one.rule: one for one in guidance_about(built.diagnostics)}

    assert built.compiled
    assert name in said, built.diagnostics
    assert WARNED[name].said in said[name].explanation + said[name].suggestion


@pytest.mark.parametrize("name", DYING)
def test_a_compiler_that_ends_is_explained(name: str) -> None:
    failed = failure(compiled(f"{KERNEL}}}", run=lambda _tool: DYING[name]))

    said = first_guidance(RULES, failed)

    assert said is not None
    assert said.rule == name


def test_code_without_fault_gets_no_guidance() -> None:
    built = build(replace(WARNED["fma-contraction"], options=("-fmad=false",)))

    assert built.compiled
    assert guidance_about(built.diagnostics) == ()


def test_a_runner_is_asked_once_for_each_pair_of_architectures() -> None:
    asked: list[Tool] = []

    def run(tool: Tool) -> ToolRun:
        asked.append(tool)
        return plain_run(tool)

    compiled(f"{KERNEL}}}", run=run)

    assert len(asked) == 1
