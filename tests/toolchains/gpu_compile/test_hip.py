"""HIP → code objects: resources, messages with the submission's places, options, names."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from kernels.records import Metric
from simulators.simt.records import Source
from simulators.simt.tool import Tool, ToolRun, plain_run
from tests.toolchains.gpu_compile.hip_sources import LORENZO, SPILLS, build, errors, needs_compiler
from toolchains.gpu_compile.hip import compile_hip
from toolchains.gpu_compile.hip_build import module_metrics
from toolchains.gpu_compile.hip_compilers import ARCHS, find_compiler
from toolchains.gpu_compile.hip_occupancy import LIMITS, occupancy

pytestmark = needs_compiler

FEATURES = """
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
#include <hip/hip_cooperative_groups.h>
#include <cstdint>
#include <limits>
#include <new>
#include <type_traits>
namespace cg = cooperative_groups;
__constant__ float table[16];
__device__ int counter;
template <typename T> __device__ T total(T v) {
  for (int d = warpSize / 2; d; d /= 2) v += __shfl_xor(v, d);
  return v;
}
template <typename T, int n> __global__ void __launch_bounds__(256, 2) all(T* p, uint32_t* q) {
  __shared__ T tile[n];
  extern __shared__ char dynamic[];
  static_assert(std::is_arithmetic<T>::value && std::numeric_limits<T>::is_specialized, "");
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  dim3 where = threadIdx;
  tile[threadIdx.x % n] = p[i] + table[i & 15] + where.x + gridDim.y;
  __syncthreads();
  p[i] = total(tile[(i + 1) % n]) + (T)dynamic[0] + (T)sqrtf((float)n) + (T)__expf(2.0f);
  if (__syncthreads_count(p[i] > 0) > 3) atomicAdd(&counter, 1);
  atomicAdd((float*)p, 1.0f); atomicMax(q, 3u); atomicCAS(q, 1u, 2u); atomicInc(q, 7u);
  q[i] = __popcll(__ballot_sync(0xffffffffffffffffULL, i & 1)) + __clz(i) + __brev(i) + __ffs(i)
       + __any(i) + __all(i) + min(i, 3) + __float_as_uint(1.0f) + __float2int_rn(2.5f)
       + (uint32_t)__shfl_up_sync(__activemask(), (double)i, 1) + (uint32_t)__match_any(i);
  float4 v = make_float4(1, 2, 3, 4); v += make_float4(1, 1, 1, 1);
  __half h = __float2half(v.x) * __half(2.0f); __hip_bfloat16 b = __float2bfloat16(v.y);
  auto tile32 = cg::tiled_partition<32>(cg::this_thread_block());
  p[i] += (T)(__half2float(__shfl_down(h, 1)) + __bfloat162float(b) + tile32.shfl_down(v.z, 1));
  new (p) T(1);
  half2 pair = half2(h, h) + __half2{h, h};
  p[i] += (T)__low2float(pair) + (T)(clock() > 0);
  __threadfence(); __syncwarp();
}
"""


@pytest.mark.parametrize("arch", ARCHS)
def test_what_kernels_use_compiles_for_every_architecture(arch: str) -> None:
    built = build(FEATURES, arch, names=("all<float, 64>", "&counter"))

    assert [d for d in built.diagnostics if d.severity == "error"] == []
    (module,) = built.modules
    assert module.code.startswith(b"\x7fELF")
    assert module.names == {"all<float, 64>": "_Z3allIfLi64EEvPT_Pj", "&counter": "counter"}
    (kernel,) = module.kernels
    assert kernel.name == "all<float, 64>"
    assert kernel.resources.max_threads == 256
    assert kernel.resources.wavefront == LIMITS[arch].wavefront
    assert kernel.instructions["memory"] > 0


def test_a_kernel_has_resources_assembly_and_metrics() -> None:
    (module,) = build(LORENZO).modules
    (kernel,) = module.kernels

    assert kernel.resources.lds_bytes == 257 * 4
    assert kernel.line == 2
    assert "global_load" in module.assembly
    assert ".loc" in module.assembly
    assert "debug_info" not in module.assembly
    metrics = {m.name: m for m in module_metrics(module)}
    assert metrics["lds[lorenzo]"] == Metric(
        "lds[lorenzo]", 1028.0, "B per block, static", "reported"
    )
    assert metrics["vgpr_spills[lorenzo]"].value == 0.0
    assert metrics["occupancy[lorenzo]"].value == 100.0
    assert metrics["occupancy[lorenzo]"].unit == "% at 256 threads, limited by waves"


@pytest.mark.parametrize("arch", ARCHS)
def test_occupancy_is_what_llvm_says(arch: str) -> None:
    wave = LIMITS[arch].wavefront
    code = "".join(
        f'extern "C" __global__ void __launch_bounds__({wave}) k{n}(float* p) {{ float v[{n}];'
        f" for (int i = 0; i < {n}; ++i) v[i] = p[i + threadIdx.x]; __syncthreads();"
        f" for (int i = 0; i < {n}; ++i) p[i + threadIdx.x] = v[{n - 1} - i] * v[i]; }}\n"
        for n in (8, 30, 60, 90, 120)
    )
    code += "".join(
        f'extern "C" __global__ void __launch_bounds__(256) lds{n}(float* p) {{ __shared__ float'
        f" s[{n} * 256]; s[threadIdx.x] = p[0]; __syncthreads(); p[1] = s[threadIdx.x ^ 1]; }}\n"
        for n in (16, 24, 60)
    )
    said: list[str] = []

    def run(tool: Tool) -> ToolRun:
        done = plain_run(tool)
        said.append(done.err)
        return done

    (module,) = compile_hip(Source(code, "k.hip", "hip"), (arch,), run).modules

    told = re.findall(
        r"Function Name: (\S+).*?Occupancy \[waves/SIMD\]: (\d+)", "".join(said), re.S
    )
    assert len(told) == len(module.kernels) == 8
    assert len({waves for _, waves in told}) >= 4
    for symbol, waves in told:
        kernel = next(k.resources for k in module.kernels if k.resources.symbol == symbol)
        ours = occupancy(LIMITS[arch], kernel, kernel.max_threads)
        assert (symbol, ours.waves_per_simd) == (symbol, float(waves))


def test_spills_are_counted_and_explained() -> None:
    built = build(SPILLS)

    (kernel,) = built.modules[0].kernels
    assert kernel.resources.vgpr_spills > 0
    assert kernel.resources.scratch_bytes > 0
    (told,) = [d for d in built.diagnostics if "spills" in d.message]
    assert (told.severity, told.file, told.line) == ("warning", "kernel.hip", 2)
    assert build(SPILLS.replace("1024", "256")).modules[0].kernels[0].resources.vgpr_spills == 0


def test_an_error_has_the_place_in_the_file_that_was_sent() -> None:
    code = 'extern "C" __global__ void k(float* p) {\n  p[0] = q + 1;\n}\n'

    (error,) = errors(code, file="scan.hip")

    assert error.message == "use of undeclared identifier 'q'"
    assert (error.file, error.line, error.column) == ("scan.hip", 2, 10)
    assert error.source == "  p[0] = q + 1;"


def test_an_error_in_a_header_of_the_submission_has_its_place() -> None:
    header = "#pragma once\n__device__ int f() { return nothing; }\n"

    found = errors('#include "part.h"\n', headers={"part.h": header})

    assert [(d.file, d.line, d.column) for d in found] == [("part.h", 2, 29)]
    assert found[0].source == "__device__ int f() { return nothing; }"


def test_an_error_in_a_header_of_ours_moves_to_the_line_that_led_there() -> None:
    code = "__global__ void k(float* p) {\n  p[0] = __shfl_up_sync(0xffffffff, p[1], 1);\n}\n"

    built = build(code)

    error = next(d for d in built.diagnostics if d.severity == "error")
    assert "mask must be a 64-bit integer" in error.message
    assert (error.file, error.line, error.column) == ("kernel.hip", 2, 10)
    assert not any(
        "hip_include" in d.message or "amdgpu" in (d.file or "") for d in built.diagnostics
    )


def test_notes_say_why_no_function_fits() -> None:
    code = "__device__ void f(int*, float);\n__global__ void k(float* p) { f(p, 1.0f); }\n"

    built = build(code)

    severities = [d.severity for d in built.diagnostics]
    assert severities[:2] == ["error", "note"]
    assert "no known conversion from 'float *' to 'int *'" in built.diagnostics[1].message
    assert built.diagnostics[1].line == 1


def test_inline_assembly_has_the_place_of_its_statement() -> None:
    code = '__global__ void k(int* p) {\n  asm volatile("v_nonsense %0" :: "v"(p[0]));\n}\n'

    (error,) = errors(code)

    assert (error.message, error.line) == ("invalid instruction", 2)


def test_too_much_shared_memory_is_an_error_where_there_is_less() -> None:
    code = (
        '__device__ float g;\nextern "C" __global__ void k(int i) {\n'
        "  __shared__ float s[24576];\n  s[threadIdx.x] = g;\n  __syncthreads();\n  g = s[i];\n}\n"
    )

    built = build(code, "gfx942", "gfx950")

    assert [m.arch for m in built.modules] == ["gfx950"]
    (error,) = [d for d in built.diagnostics if d.severity == "error"]
    assert error.message.startswith("local memory (98304) exceeds limit (65536) in 'k")
    assert error.line in (2, 3)


def test_what_amds_library_would_supply_is_named_and_no_fault_of_the_source() -> None:
    code = "__global__ void k(double* p) {\n  p[0] = exp(p[1]) + pow(p[2], p[3]);\n}\n"

    built = build(code, "gfx942", "gfx1100")

    assert set(built.missing) == {"exp(double)", "pow(double, double)"}
    assert built.compiled
    assert built.failure is None
    assert built.modules == ()
    told = [d for d in built.diagnostics if "ocml" in d.message]
    assert {(d.severity, d.line) for d in told} == {("warning", 2)}


def test_a_library_of_rocm_is_no_fault_of_the_source_either() -> None:
    built = build("#include <hipcub/hipcub.hpp>\n")

    assert (built.compiled, built.missing) == (True, ("hipcub/hipcub.hpp",))
    assert [(d.severity, d.line) for d in built.diagnostics] == [("warning", 1)]


def test_fused_multiply_adds_are_told_of_unless_they_are_asked_for() -> None:
    code = 'extern "C" __global__ void k(float* p) {\n  p[0] = p[1] * p[2] + p[3];\n}\n'
    asked = code.replace("p[1] * p[2] + p[3]", "fmaf(p[1], p[2], p[3])")

    told = [d for d in build(code).diagnostics if "FMA contraction" in d.message]

    assert [(d.severity, d.line) for d in told] == [("note", 2)]
    assert not any("FMA" in d.message for d in build(asked).diagnostics)
    off = build(code, options=("-ffp-contract=off",))
    assert not any("FMA" in d.message for d in off.diagnostics)
    assert "v_fma" not in off.modules[0].assembly


def test_a_cuda_file_is_translated_and_keeps_its_places() -> None:
    code = (
        '#include <cuda_runtime.h>\nextern "C" __global__ void k(int* p) {\n'
        "  int v = __shfl_up_sync(0xffffffff, p[threadIdx.x], 1); p[0] = wrong;\n"
        "  p[threadIdx.x] = v;\n}\n"
    )

    (error,) = errors(code, dialect="cuda", file="k.cu")

    assert (error.file, error.line, error.column) == ("k.cu", 3, 65)
    assert error.source == code.split("\n")[2]
    built = build(code.replace("wrong", "v"), dialect="cuda", file="k.cu")
    assert built.compiled
    assert built.translation is not None
    assert "hip/hip_runtime.h" in built.translation.text


def test_cuda_in_a_string_of_a_rocm_submission_is_seen() -> None:
    code = 'extern "C" __global__ void k(int* p) { p[0] = __any_sync(0xffffffff, p[1]); }\n'

    built = build(code, file="kernel.py")

    assert built.compiled
    assert built.translation is not None
    assert build(LORENZO, file="kernel.py").translation is None


def test_what_a_translation_loses_is_told_with_its_place() -> None:
    code = (
        "__global__ void child() {}\n"
        'extern "C" __global__ void k(int* p) { int w = threadIdx.x >> 5; p[w] = __dp4a(w, w, w); }'
    )

    built = build(code, dialect="cuda", file="k.cu")

    told = {d.message.split(":")[0]: (d.severity, d.file, d.line) for d in built.diagnostics}
    assert told["HIP has no __dp4a"] == ("warning", "k.cu", 2)
    assert any(d.severity == "note" and "`>> 5`" in d.message for d in built.diagnostics)


def test_options_of_the_submission_are_chosen_from() -> None:
    code = 'extern "C" __global__ void k(int* p) { p[0] = N; }\n'

    assert build(code, options=("-D", "N=3", "--std=c++17", "-I/usr/include")).compiled
    for option in ("-load", "-include", "-fplugin=x.so", "@file", "-Xclang", "-o"):
        (error,) = [
            d for d in build(code, options=("-DN=3", option)).diagnostics if d.severity == "error"
        ]
        assert option in error.message


def test_a_template_without_a_name_is_not_compiled_and_told_of() -> None:
    code = "template <typename T> __global__ void k(T* p) { p[0] = 1; }\n"

    built = build(code)

    assert built.compiled
    assert [d.message for d in built.diagnostics] == [
        "no kernel was compiled: a template's only for the name expressions that ask for them"
    ]


def test_a_wrong_name_expression_is_told_of() -> None:
    code = "template <typename T> __global__ void k(T* p) { p[0] = 1; }\n"

    found = errors(code, names=("k<float>", "nothing<int>"))

    assert found
    assert found[0].message.startswith("name expression 'nothing<int>': ")
    assert found[0].file is None


def test_an_error_of_the_source_stops_before_the_next_architecture() -> None:
    runs: list[Tool] = []

    def run(tool: Tool) -> ToolRun:
        runs.append(tool)
        return plain_run(tool)

    compile_hip(Source("int x = ;", "k.hip", "hip"), ("gfx942", "gfx90a"), run)

    assert len(runs) == 1


def test_an_unknown_architecture_is_told_of() -> None:
    (error,) = errors(LORENZO, "gfx900")

    assert "does not compile for gfx900; it knows gfx90a, gfx942" in error.message


def test_both_compilations_of_one_source_are_equal() -> None:
    first, second = build(LORENZO, "gfx90a"), build(LORENZO, "gfx90a")

    assert replace(first.modules[0], seconds=0.0) == replace(second.modules[0], seconds=0.0)
    assert first.compiler == second.compiler == find_compiler().label  # type: ignore[union-attr]
