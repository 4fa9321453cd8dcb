"""CUDA → HIP: what is translated, what is left alone, what is called out."""

from __future__ import annotations

import pytest

from toolchains.gpu_compile.hipify import Translation, hipify, is_cuda

HALF = "(__lane_id() & 32)"
WIDE = f"0xffffffffULL << {HALF}"


def kinds(translation: Translation) -> set[str]:
    """Of what was called out."""
    return {lost.kind for lost in translation.warnings}


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("#include <cuda_runtime.h>", "#include <hip/hip_runtime.h>"),
        ('#  include "cuda_fp16.h"', "#  include <hip/hip_fp16.h>"),
        ("#include <cooperative_groups.h>", "#include <hip/hip_cooperative_groups.h>"),
        ("#include <cub/block/block_scan.cuh>", "#include <hipcub/hipcub.hpp>"),
        ("cudaMalloc(&p, n); cudaStream_t s;", "hipMalloc(&p, n); hipStream_t s;"),
        ("cudaMallocHost(&p, n);", "hipHostMalloc(&p, n);"),
        ("cudaDeviceProp prop;", "hipDeviceProp_t prop;"),
        ("__nv_bfloat16 v;", "__hip_bfloat16 v;"),
        ("cub::BlockScan<int, 256> scan;", "hipcub::BlockScan<int, 256> scan;"),
        ("#if defined(__CUDACC__)", "#if defined(__HIPCC__)"),
        ("v = __ldcs(p);", "v = __builtin_nontemporal_load(p);"),
        ("v = __shfl_sync(0xffffffff, v, 3);", f"v = __shfl_sync({WIDE}, v, 3, 32);"),
        (
            "v = __shfl_xor_sync(0xFFFFFFFFu, v, 3, 16);",
            f"v = __shfl_xor_sync({WIDE}, v, 3, 16);",
        ),
        (
            "v = __shfl_sync(m, v, 3);",
            f"v = __shfl_sync((unsigned long long)(unsigned)(m) << {HALF}, v, 3, 32);",
        ),
        ("b = __ballot_sync(-1, p);", f"b = (unsigned)(__ballot_sync({WIDE}, p) >> {HALF});"),
        ("m = __activemask();", f"m = (unsigned)(__activemask() >> {HALF});"),
        ("if (__any_sync(~0u, p)) {}", f"if (__any_sync({WIDE}, p)) {{}}"),
        ("__syncwarp();", "__syncwarp();"),
        ("v = __shfl_down(v, 1);", "v = __shfl_down(v, 1, 32);"),
    ],
)
def test_names_and_warps_are_translated(cuda: str, hip: str) -> None:
    assert hipify(cuda).text == hip


def test_nested_calls_are_each_translated() -> None:
    cuda = "b = __ballot_sync(0xffffffff, __shfl_sync(0xffffffff, v, __popc(__ballot(q))) > 0);"

    hip = hipify(cuda).text

    assert hip == (
        f"b = (unsigned)(__ballot_sync({WIDE}, __shfl_sync({WIDE}, v, "
        f"__popc((unsigned)(__ballot(q) >> {HALF})), 32) > 0) >> {HALF});"
    )


def test_a_wavefront_of_32_needs_wider_masks_only() -> None:
    cuda = "v = __shfl_sync(0xffffffff, v, 3); b = __ballot_sync(m, p); a = __activemask();"

    hip = hipify(cuda, 32)

    assert hip.text == (
        "v = __shfl_sync(0xffffffffULL, v, 3); "
        "b = __ballot_sync((unsigned long long)(unsigned)(m), p); a = __activemask();"
    )
    assert "warp size" not in kinds(hip)


def test_comments_strings_and_members_are_left_alone() -> None:
    code = (
        "// cudaMalloc(0xffffffff)\n/* __shfl_sync(0xffffffff, v, 1)\n cudaFree */\n"
        'const char* s = "cudaMalloc \\" cudaFree";\n'
        'auto r = R"x(cudaMalloc " )y" )x"; char c = \'"\';\n'
        "a.cudaMalloc(1); b->cudaFree(2); int cub = 1'000;\n"
    )

    assert hipify(code).text == code


def test_macros_are_translated_where_they_are_defined() -> None:
    code = "#define MINE(v) \\\n  __shfl_sync(0xffffffff, (v), 0)\n#define STREAM cudaStream_t\n"

    hip = hipify(code).text

    assert f"__shfl_sync({WIDE}, (v), 0, 32)" in hip
    assert "#define STREAM hipStream_t" in hip


def test_lines_stay_where_they_are() -> None:
    code = (
        '#include <cuda_runtime.h>\nasm("clz.b32 %0,"\n    "%1;"\n    : "=r"(y)\n    : "r"(x));\n'
        "cudaFree(p);\nend\n"
    )

    hip = hipify(code).text.split("\n")

    assert len(hip) == len(code.split("\n"))
    assert hip[5] == "hipFree(p);"


def test_what_changed_is_listed_with_its_place_and_reason() -> None:
    translation = hipify("\n  cudaFree(p);\n  v = __shfl_sync(m, v, 1);\n")

    free, mask, width = translation.changes
    assert (free.line, free.column, free.before, free.after) == (2, 3, "cudaFree", "hipFree")
    assert (mask.line, mask.before) == (3, "m")
    assert "64 bits" in mask.why
    assert (width.after, "whole wavefront" in width.why) == (", 32", True)


def test_columns_lead_back_to_the_cuda_text() -> None:
    cuda = "x = cudaMallocHost(a) + cudaFree(b) + wrong;"
    translation = hipify(cuda)

    for name, column in (("hipHostMalloc", 5), ("hipFree", 25), ("wrong", 39), ("x", 1)):
        assert translation.column(1, translation.text.index(name) + 1) == column
    assert translation.column(2, 7) == 7


@pytest.mark.parametrize(
    "cuda",
    [
        "#include <cuda_runtime.h>\n__global__ void k() { v = __shfl_sync(m, v, 1); }",
        "v = __shfl_sync(m, __ballot_sync(0xffffffff, p), 1); a = __activemask(); __ballot(1);",
        "__global__ void __launch_bounds__(256, 2) k();",
        'asm("clz.b32 %0, %1;" : "=r"(y) : "r"(x));',
        "v = __shfl(v, 1); cub::BlockScan<int, 32> s; __reduce_add_sync(0xffffffff, v);",
    ],
)
@pytest.mark.parametrize("wavefront", [32, 64])
def test_translating_twice_changes_nothing_more(cuda: str, wavefront: int) -> None:
    once = hipify(cuda, wavefront).text

    again = hipify(once, wavefront)

    assert again.text == once
    assert again.changes == ()


def test_hip_is_left_as_it_is() -> None:
    hip = (
        "#include <hip/hip_runtime.h>\n__global__ void __launch_bounds__(256, 4) k(float* p) {\n"
        "  unsigned long long m = __ballot(p[0] > 0);\n"
        "  p[0] = __shfl_up_sync(m, p[1], 1) + __shfl(p[2], threadIdx.x & 31);\n}\n"
    )

    translation = hipify(hip)

    assert translation.text == hip
    assert (translation.changes, translation.warnings) == ((), ())


@pytest.mark.parametrize(
    ("code", "file", "cuda"),
    [
        ("__global__ void k() { __ballot(1); }", "kernel.py", False),
        ("__global__ void k() { __ballot(1); }", "k.cu", True),
        ("__global__ void k() { __ballot(1); }", "k.hip", False),
        ("#include <cuda_fp16.h>", "k.hip", False),
        ("#include <hip/hip_fp16.h>\ncudaMalloc(&p, 1);", "k.cu", False),
        ("b = __ballot_sync(0xffffffff, p);", "kernel.py", True),
        ("b = __ballot_sync(0xffffffffULL, p);", "kernel.py", False),
        ("__nv_bfloat16 v;", "kernel.py", True),
        ("// cudaMalloc\nx.cub = 1;", "kernel.py", False),
        ("cub::BlockScan<int, 32> s;", "kernel.py", True),
    ],
)
def test_a_text_is_cuda_by_its_file_or_by_what_only_cuda_has(
    code: str, file: str, cuda: bool
) -> None:
    assert is_cuda(code, file) is cuda


def test_launch_bounds_count_something_else() -> None:
    translation = hipify("__global__ void __launch_bounds__(256, 2) k();")

    assert "__launch_bounds__(256, ((256) * (2) + 255) / 256)" in translation.text
    assert "wavefronts per SIMD" in translation.changes[0].why
    assert hipify("__launch_bounds__(256) k();").changes == ()


@pytest.mark.parametrize(
    ("code", "kind", "says"),
    [
        ("__global__ void k() { child<<<1, 2>>>(); }", "dynamic parallelism", "launches a kernel"),
        ("__global__ void k() { int w = threadIdx.x >> 5; }", "warp size", "`>> 5`"),
        ("__global__ void k() { int l = threadIdx.x & 0x1f; }", "warp size", "`& 31`"),
        ("__device__ int f(int n) { return n / 32; }", "warp size", "`/ 32`"),
        ("__device__ int f() { return warpSize; }", "warp size", "warpSize is 64"),
        ("__device__ void f() { m = 0xffffffff; }", "warp size", "32 lanes"),
        ('asm volatile("vabsdiff4.u32 %0, %1;" : "=r"(x) : "r"(y));', "PTX", "vabsdiff4.u32"),
        ("texture<float, 1> t;", "textures", "CDNA has no textures"),
        ("v = tex2D<float>(t, x, y);", "textures", "CDNA has no textures"),
        ("__device__ cuda::barrier<cuda::thread_scope_block> b;", "no counterpart", "libcu++"),
        ("#include <cuda/pipeline>", "no counterpart", "asynchronous"),
        ("x = cg::reduce(tile, x, op);", "no counterpart", "shfl of the tile"),
        ("#if __CUDA_ARCH__ >= 700", "no counterpart", "no such number"),
        ("d = __dp4a(a, b, c);", "no counterpart", "sdot4"),
        ("nvcuda::wmma::fragment<a> f;", "no counterpart", "rocWMMA"),
        ("v = __shfl_upp_sync(m, v, 1);", "unknown", "__shfl_up_sync"),
        ("cudaMaloc(&p, n);", "unknown", "hipMalloc"),
    ],
)
def test_what_has_no_counterpart_is_called_out(code: str, kind: str, says: str) -> None:
    found = [lost for lost in hipify(code).warnings if lost.kind == kind]

    assert found
    assert says in found[0].message
    assert found[0].line == 1


def test_host_code_launches_and_the_own_names_are_not_called_out() -> None:
    code = (
        "__device__ int __mine(int x) { return x; }\n#define cudaCheck(x) (x)\n"
        "__global__ void k(int* p) { p[0] = __mine(1) + __popc(p[1]) + __float2int_rn(2.f); }\n"
        "int main() { k<<<1, 32>>>(p); cudaCheck(cudaGetLastError()); int w = n / 32; }\n"
        "void f() { __theirs(3); }\n"
    )

    translation = hipify(code, 64, {"__theirs"})

    assert translation.warnings == ()


@pytest.mark.parametrize(
    ("ptx", "cpp"),
    [
        ('asm("mov.u32 %0, %%laneid;" : "=r"(l));', "(l) = (unsigned)(__lane_id() & 31);"),
        ('asm volatile("bfind.u32 %0, %1;" : "=r"(r) : "r"(w));', "(r) = 31 - __clz((int)(w));"),
        ('asm("membar.gl;" ::: "memory");', "__threadfence();"),
        (
            'asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");',
            "(v) = __hip_atomic_load((unsigned*)(p), __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);",
        ),
        (
            'asm("{ .reg .pred p; setp.ge.f32 p, %1, 0f3F000000; selp.s32 %0, 0, 1, p; }"'
            ' : "=r"(r) : "f"(g(x, 1)));',
            "{ bool ptx_p; ptx_p = (float)(g(x, 1)) >= (float)__uint_as_float(0x3F000000); "
            "(r) = ptx_p ? (int)0 : (int)1; };",
        ),
        (
            'asm("cvt.rni.s32.f32 %0, %1;" : "=r"(r) : "f"(x));',
            "(r) = (int)rintf((float)(x));",
        ),
    ],
)
def test_plain_ptx_becomes_cpp(ptx: str, cpp: str) -> None:
    assert hipify(ptx).text == cpp


@pytest.mark.parametrize(
    "ptx",
    [
        'asm("mul.hi.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));',
        'asm("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a) : "l"(p));',
        'asm("add.u32 %0, %1, %9;" : "=r"(a) : "r"(b));',
        'asm("wgmma.fence.sync.aligned;");',
        'asm("{ .reg .u32 x");',
    ],
)
def test_other_ptx_is_left_and_called_out(ptx: str) -> None:
    translation = hipify(ptx)

    assert translation.text == ptx
    assert kinds(translation) == {"PTX"}


@pytest.mark.parametrize(
    "code",
    ["", "/* open", '"open', "__shfl_sync(0xffffffff, v", "asm(", "#include <", 'R"x(', "<<<"],
)
def test_unfinished_text_is_no_error(code: str) -> None:
    assert hipify(code).text == code
