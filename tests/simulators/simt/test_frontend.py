from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from kernels.diagnostics import Diagnostic
from simulators.simt.frontend import front
from simulators.simt.records import Front, KernelInfo, Rejected, Source
from simulators.simt.tool import plain_run
from tests.simulators.simt.launching import needs_clang

pytestmark = needs_clang


def compiled(code: str, **more: object) -> Front:
    made = front(Source(code, "kernel.cu", **more), plain_run)  # type: ignore[arg-type]
    assert isinstance(made, Front), made
    llvm.parse_assembly(made.ir).verify()
    return made


def refused(code: str, **more: object) -> tuple[Diagnostic, ...]:
    made = front(Source(code, "kernel.cu", **more), plain_run)  # type: ignore[arg-type]
    assert isinstance(made, Rejected)
    return made.diagnostics


def kernel(code: str, **more: object) -> KernelInfo:
    (only,) = compiled(code, **more).info.kernels
    return only


def test_kernels_are_described_with_their_parameters_shared_memory_and_bounds() -> None:
    found = kernel("""
    struct Pair { float a; double b; };
    template <int N> struct Array { int v[N]; };
    extern "C" __global__ void __launch_bounds__(64 * 2, 3)
    k(const float *p, Pair s, Array<9> a, bool f, short h, float x, Array<3>) {
        __shared__ double d[5]; __shared__ char c[3]; extern __shared__ int more[];
        d[0] = c[1] = more[2] = 0;
    }""")
    assert [(p.name, p.size, p.pointer, p.kind) for p in found.params] == [
        ("p", 8, True, ""), ("s", 16, False, ""), ("a", 36, False, ""), ("f", 1, False, "int"),
        ("h", 2, False, "int"), ("x", 4, False, "float"), ("arg6", 12, False, ""),
    ]  # fmt: skip
    assert (found.name, found.symbol, found.max_threads) == ("k", "k", 128)
    assert found.shared_bytes == 43


def test_every_parameter_is_one_argument_of_the_ir() -> None:
    made = compiled("""
    struct Three { float x, y, z; }; struct Big { double d[9]; };
    extern "C" __global__ void k(Three a, float *p, Big b) { b.d[1] += 1; p[0] = a.z + b.d[1]; }""")
    function = llvm.parse_assembly(made.ir).get_function("k")
    assert [str(one.type) for one in function.arguments] == ["ptr"] * 3


def test_template_instances_are_found_by_the_expressions_that_ask_for_them() -> None:
    code = """
    namespace a { template <class T, int N> __global__ void scan(T *p) { p[0] = N; }
                  __device__ int counter = 7; }"""
    made = compiled(code, names=("a::scan<float, 4>", "a::scan<double,2>", "&a::counter"))
    assert {k.name: k.symbol for k in made.info.kernels} == {
        "a::scan<float, 4>": "_ZN1a4scanIfLi4EEEvPT_",
        "a::scan<double,2>": "_ZN1a4scanIdLi2EEEvPT_",
    }
    assert [(g.name, g.symbol, g.init) for g in made.info.globals] == [
        ("a::counter", "_ZN1a7counterE", b"\x07\0\0\0")
    ]


def test_an_expression_that_names_nothing_is_an_error_that_quotes_it() -> None:
    (error, *_) = refused("__global__ void scan(int *p) { *p = 1; }", names=("scann",))
    assert (error.severity, error.file, error.line) == ("error", "name expression", 1)
    assert error.source == "scann"
    assert "scan" in error.message


def test_variables_have_their_first_content() -> None:
    made = compiled("""
    struct S { char c; float f; short h[2]; };
    __constant__ S table[2] = {{1, 2.5f, {3, 4}}, {-1, -0.0f, {5, 6}}};
    __device__ double zeros[100]; __constant__ char text[4] = "a\\"b";
    __device__ unsigned long long big = ~0ull; __device__ float third = 0.1f;
    __global__ void k(float *p) { p[0] = table[1].f + zeros[2] + text[1] + big + third; }""")
    found = {g.name: g for g in made.info.globals}
    assert found["table"].init == bytes.fromhex("010000000000204003000400ff0000000000008005000600")
    assert (found["zeros"].size, found["zeros"].init) == (800, b"")
    assert found["text"].init == b'a"b\0'
    assert found["big"].init == b"\xff" * 8
    assert found["third"].init == bytes.fromhex("cdcccc3d")
    assert {g.name for g in made.info.globals if g.constant} == {"table", "text"}


@pytest.mark.parametrize(
    ("code", "line", "column", "message"),
    [
        ("\n__global__ void k(int *p) {\n  p[0] = undeclared;\n}", 3, 10, "undeclared"),
        ("__global__ void k(int *p) { p[0] = 1 }", 1, 37, "';'"),
        ("__global__ void k(float *p) {\n  *p = __shf_sync(~0u, *p, 1); }", 2, 8, "__shfl_sync"),
        ("__global__ void k(int *p) {\n  p[0] = __popcount_ll(p[1]); }", 2, 10, "__popcll"),
        ("void h();\n__global__ void k() {\n  h(); }", 3, 3, "host"),
        ("__global__ void k(int *p) {\n\n  atomicAdd(p, p); }", 3, 3, "atomicAdd"),
        ('#include "missing.h"\n__global__ void k() {}', 1, 10, "file not found"),
    ],
)  # fmt: skip
def test_errors_stand_at_the_submissions_lines(
    code: str, line: int, column: int, message: str
) -> None:
    first = refused(code)[0]
    assert (first.severity, first.file, first.line, first.column) == (
        "error", "kernel.cu", line, column,
    )  # fmt: skip
    assert message in first.message
    assert first.source == code.split("\n")[line - 1]


def test_an_error_inside_our_headers_stands_where_the_source_led_there() -> None:
    code = """#include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    __global__ void k(int *p) {
        auto tile = cg::tiled_partition<48>(cg::this_thread_block());
        p[0] = tile.size();
    }"""
    found = refused(code)
    assert (found[0].file, found[0].line) == ("kernel.cu", 4)
    assert "power of two" in found[0].message
    assert all(one.file == "kernel.cu" for one in found)


def test_nothing_of_ours_is_in_a_message() -> None:
    found = refused("__global__ void k(float *p) { __shfl_sync(p); min(p, 1); p = __half(p); }")
    text = " ".join(f"{one.file} {one.message} {one.source}" for one in found)
    assert "include/" not in text
    assert "simt_" not in text


def test_lines_of_headers_that_came_along_are_theirs() -> None:
    headers = {"lib/a.h": "#pragma once\n__device__ int twice(int x) { return 2 * y; }\n"}
    code = '#include "a.h"\n__global__ void k(int *p) { *p = twice(*p); }'
    (error, *_) = refused(code, headers=headers, options=("-I", "lib"))
    assert (error.file, error.line) == ("lib/a.h", 2)
    assert error.source == "__device__ int twice(int x) { return 2 * y; }"


def test_options_define_include_and_choose_a_standard() -> None:
    headers = {"include/a.h": "#define ONE 1"}
    options = ("-DTWO=2", "-D", "FOUR=4", "--define-macro=EIGHT=8", "-Iinclude", "--std=c++20",
               "--gpu-architecture=sm_90", "-lineinfo", "--restrict")  # fmt: skip
    code = """#include <a.h>
    static_assert(ONE + TWO + FOUR + EIGHT == 15);
    __global__ void k(int *p) { auto f = []<class T>(T x) { return x; }; *p = f(3); }"""
    assert compiled(code, headers=headers, options=options).info.kernels


def test_an_unknown_option_is_refused_by_name() -> None:
    (error,) = refused("__global__ void k() {}", options=("--frobnicate",))
    assert "'--frobnicate'" in error.message


def test_fast_mathematics_is_ignored_with_a_warning() -> None:
    made = compiled("__global__ void k() {}", options=("--use_fast_math",))
    assert [one.severity for one in made.diagnostics] == ["warning"]


def test_functions_may_be_of_the_device_by_default() -> None:
    code = "int twice(int x) { return 2 * x; } __global__ void k(int *p) { *p = twice(*p); }"
    assert "host" in refused(code)[0].message
    assert compiled(code, options=("--device-as-default-execution-space",)).info.kernels


HOST = """
#include <stdio.h>
#include <stdlib.h>
__global__ void k(float *p, int n) { p[threadIdx.x] += n; }
int main(int argc, char **argv) {
    float *p;
    cudaMalloc(&p, 400);
    dim3 blockDim(100), gridDim = 1;
    k<<<gridDim, blockDim, 0, 0>>>(p, 3);
    cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) { printf("%s\\n", cudaGetErrorString(e)); exit(1); }
    return 0;
}
"""


def test_host_code_is_read_and_not_emitted() -> None:
    made = compiled(HOST)
    assert [k.name for k in made.info.kernels] == ["k"]
    assert "main" not in made.ir
    assert made.diagnostics == ()


def test_host_code_that_cannot_be_read_is_left_out_with_a_warning() -> None:
    code = HOST.replace("#include <stdio.h>", "#include <thrust/device_vector.h>").replace(
        "float *p;\n", "thrust::device_vector<float> v(3);\n float *p;\n"
    )
    made = compiled(code)
    assert [k.name for k in made.info.kernels] == ["k"]
    assert [(d.severity, d.line) for d in made.diagnostics] == [("warning", 2), ("warning", 5)]


@pytest.mark.slow
def test_files_with_headers_of_the_standard_library_compile() -> None:
    made = compiled("""
    #include <algorithm>
    #include <cmath>
    #include <iostream>
    #include <vector>
    template <class T> __global__ void k(T *p) {
        p[0] = std::max(p[1], p[2]) + std::sqrt(p[3]) + fabs(p[4]) + sqrtf(p[5]) + pow(p[6], 2);
        if (isnan(p[7])) p[0] = std::numeric_limits<T>::max();
    }
    int main() { std::vector<float> v(9); std::cout << v.size(); k<<<1, 1>>>(v.data()); }""")
    assert [k.name for k in made.info.kernels] == ["k<float>"]


def test_inline_ptx_becomes_what_it_means() -> None:
    code = r"""
    __device__ int quantized(float x, float r) {
        int q;
        asm("{\n\t" ".reg .f32 a, b;\n\t" ".reg .s32 s;\n\t" ".reg .pred p;\n\t"
            "mul.f32 a, %1, %2;\n\t" "setp.ge.f32 p, a, -0.5;\n\t" "selp.s32 s, 0, 1, p;\n\t"
            "add.f32 b, a, 0.5;\n\t" "cvt.rzi.s32.f32 %0, b;\n\t" "sub.s32 %0, %0, s;\n\t"
            "}" : "=r"(q) : "f"(x), "f"(r));
        return q;
    }
    __global__ void k(float *p, int *q) {
        unsigned lane, v;
        asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
        asm volatile("ld.volatile.global.u32 %0, [%1+4];" : "=r"(v) : "l"(q) : "memory");
        asm volatile("membar.gl;" ::: "memory");
        asm("bfe.u32 %0, %1, 4, 8;" : "=r"(v) : "r"(v));
        q[lane] = quantized(p[0], p[1]) + v;
    }"""
    made = compiled(code)
    assert "load volatile i32" in made.ir
    assert "asm" not in made.ir


def test_unknown_ptx_is_refused_by_name_and_line() -> None:
    code = '__global__ void k(int *p) {\n  asm("cp.async.ca.shared.global [%0], 4;" :: "l"(p)); }'
    (error,) = refused(code)
    assert (error.file, error.line) == ("kernel.cu", 2)
    assert "cp.async.ca.shared.global" in error.message


def test_a_barrier_of_the_grid_is_refused_by_name() -> None:
    code = """#include <cooperative_groups.h>
    __global__ void k() {
        cooperative_groups::this_grid().sync();
    }"""
    (error, *_) = refused(code)
    assert error.line == 3
    assert "barrier of the grid" in error.message


@pytest.mark.parametrize("warp", [32, 64])
def test_hip_has_its_own_names_and_the_size_of_its_wavefronts(warp: int) -> None:
    code = f"""#include <hip/hip_runtime.h>
    static_assert(warpSize == {warp});
    __global__ void k(int *p) {{
        HIP_DYNAMIC_SHARED(int, s)
        unsigned long long mask = __ballot(p[0]);
        s[0] = __popcll(mask) + __shfl_xor(p[1], warpSize / 2) + __lane_id();
        p[0] = s[0];
    }}
    int main() {{
        hipLaunchKernelGGL(k, dim3(1), dim3(64), 0, 0, nullptr);
        hipDeviceSynchronize();
    }}"""
    assert compiled(code, dialect="hip", warp=warp).info.kernels


def test_groups_blocks_and_atomics_of_the_libraries_compile() -> None:
    made = compiled("""
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    #include <cub/block/block_scan.cuh>
    #include <cuda/atomic>
    namespace cg = cooperative_groups;
    __global__ void k(int *p) {
        auto block = cg::this_thread_block();
        auto tile = cg::tiled_partition<16>(block);
        int sum = cg::reduce(tile, p[block.thread_rank()], cg::plus<int>());
        typedef cub::BlockScan<int, 128> Scan;
        __shared__ typename Scan::TempStorage space;
        int before, all;
        Scan(space).ExclusiveSum(sum, before, all);
        block.sync();
        cuda::atomic_ref<int, cuda::thread_scope_device> place(p[3]);
        place.fetch_add(before + all, cuda::memory_order_relaxed);
        auto there = cg::coalesced_threads();
        p[1] = there.shfl(there.size(), 0);
    }""")
    assert made.info.kernels
