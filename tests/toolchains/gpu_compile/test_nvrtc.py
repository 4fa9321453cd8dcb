"""Compiling CUDA C++: code, resources, places of messages, headers, options."""

from __future__ import annotations

import json

import pytest

from simulators.simt.records import Source
from simulators.simt.tool import Tool, ToolRun, plain_run
from tests.toolchains.gpu_compile.cuda_sources import (
    KERNEL,
    MANY,
    STARVED,
    compiled,
    first,
    kernel,
    needs_nvrtc,
)
from toolchains.gpu_compile.cuda_build import module_metrics
from toolchains.gpu_compile.cuda_names import cuda_names, nearest_cuda_name
from toolchains.gpu_compile.cuda_wheels import find_nvrtc
from toolchains.gpu_compile.nvrtc import compile_cuda, installed_archs
from toolchains.gpu_compile.nvrtc_log import MOST_SAID
from toolchains.gpu_compile.nvrtc_options import contracts
from toolchains.gpu_compile.targets import TARGETS

pytestmark = needs_nvrtc

STANDARD = """
#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
enum Level : unsigned { low };
static_assert(sizeof(size_t) == 8 && sizeof(uint64_t) == 8 && sizeof(std::int16_t) == 2);
static_assert(std::is_same_v<std::make_unsigned_t<int>, unsigned>);
static_assert(std::is_floating_point<const float>::value && !std::is_signed_v<Level>);
static_assert(std::is_same_v<std::underlying_type_t<Level>, unsigned>);
static_assert(std::numeric_limits<uint8_t>::max() == 255 && INT_MAX == 0x7fffffff);
static_assert(std::numeric_limits<float>::digits == 24 && FLT_MAX > 1e38f);
template <class T> __global__ void k(T *a, std::uint32_t n, uint m) {
    assert(n > 0);
    a[0] = std::max(a[1], a[2]) + std::sqrt(a[3]) + std::numeric_limits<float>::infinity();
    std::swap(a[0], a[1]);
    if (std::isnan(a[4])) printf("%u\\n", n + m);
    memcpy(a + 8, a + 4, 16);
    a[6] = __half2float(__float2half(INFINITY)) + __bfloat162float(__float2bfloat16(a[7]));
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    a[7] = cg::reduce(tile, a[5], cg::plus<float>());
    std::make_index_sequence<4> four;
    a[8] = four.size() + std::make_pair(1, 2.0f).second;
}
"""


def test_a_build_has_code_resources_and_occupancy_of_each_kernel() -> None:
    build = compiled(MANY, "sm_80", names=("scaled<float, 3>",))

    (module,) = build.modules
    assert build.compiled
    assert module.cubin.startswith(b"\x7fELF")
    assert ".target sm_80" in module.ptx
    assert {k.resources.name for k in module.kernels} == {"shared", "scaled<float, 3>", "local"}
    shared = kernel(build, "shared").resources
    assert (shared.shared, shared.barriers, shared.spill_loads) == (1024, 1, 0)
    assert 0 < shared.registers < 32
    assert kernel(build, "scaled<float, 3>").resources.symbol == "_Z6scaledIfLi3EEvPT_"
    assert kernel(build, "local").resources.stack == 256
    usual = kernel(build, "shared").usual
    assert usual is not None
    assert (usual.threads, usual.fraction) == (256, 1.0)


def test_launch_bounds_and_spills_are_told() -> None:
    build = compiled(STARVED, "sm_80")

    used = kernel(build, "starved").resources
    assert (used.max_threads, used.min_blocks, used.registers) == (1024, 2, 32)
    assert used.spill_stores > 0
    assert used.spill_loads > 0
    (told,) = [d for d in build.diagnostics if "spills" in d.message]
    assert (told.severity, told.line) == ("warning", 2)


def test_metrics_name_the_kernel_in_brackets() -> None:
    build = compiled(MANY, "sm_80")

    told = {m.name: (m.value, m.unit) for m in module_metrics(build.modules[0])}

    assert told["shared[shared]"] == (1024.0, "B per block")
    assert told["spills[shared]"] == (0.0, "B per thread")
    assert told["occupancy[shared]"] == (100.0, "% at 256 threads, limited by warps")
    assert "shared[local]" not in told


def test_all_targets_compile_and_come_in_the_order_asked_for() -> None:
    archs = [target.arch for target in TARGETS.values()]

    build = compile_cuda(Source(MANY, "kernel.cu"), archs, plain_run)

    assert [module.arch for module in build.modules] == archs
    assert build.nvrtc.split(".")[0] in ("12", "13")


def test_what_an_nvrtc_compiles_for_is_asked_of_it() -> None:
    nvrtc = find_nvrtc()
    assert nvrtc is not None
    assert {"sm_75", "sm_80", "sm_90", "sm_120"} <= set(installed_archs(nvrtc))


def test_an_error_has_line_column_and_source() -> None:
    build = compiled(f"{KERNEL}\tint i = threadIdx.x;\n\t    a[i] = foo(i);\n}}\n")

    told = first(build)
    assert (told.severity, told.file, told.line, told.column) == ("error", "kernel.cu", 3, 13)
    assert told.source == "\t    a[i] = foo(i);"
    assert told.message == 'identifier "foo" is undefined'
    assert not build.compiled
    assert not build.modules
    assert build.failure is not None
    assert build.failure.message == told.message


def test_lines_have_the_places_that_line_directives_say() -> None:
    code = (
        f'#line 30 "kernel.py"\n{KERNEL}    a[0] = foo;\n#line 7 "parts/b.cuh"\n    a[1] = bar;\n'
        '#line 40 "kernel.py"\nint x; asm volatile("lopp3.b32 %0;" : "=r"(x)); }'
    )
    source = Source(code, "kernel.py")

    foo, bar = compile_cuda(source, ["sm_80"], plain_run).diagnostics[:2]
    assert (foo.file, foo.line, foo.column, foo.source) == ("kernel.py", 31, 12, "    a[0] = foo;")
    assert (bar.file, bar.line, bar.source) == ("parts/b.cuh", 7, "    a[1] = bar;")

    right = Source(code.replace("foo", "1").replace("bar", "2"), "kernel.py")
    failed = compile_cuda(right, ["sm_80"], plain_run).failure
    assert failed is not None
    assert failed.message.startswith("ptxas: ")
    assert (failed.diagnostics[0].file, failed.diagnostics[0].line) == ("kernel.py", 40)


def test_what_is_found_in_compiled_code_has_the_places_of_line_directives() -> None:
    code = f'\n\n#line 21 "kernel.py"\n{KERNEL}float x = a[1];\na[0] = x * 0.3; }}'
    build = compile_cuda(Source(code, "kernel.py"), ["sm_86"], plain_run)
    (told,) = build.diagnostics
    assert (told.file, told.line, told.source) == ("kernel.py", 23, "a[0] = x * 0.3; }")
    assert '.file\t1 "kernel.py"' in build.modules[0].ptx


def test_code_that_was_put_together_is_told_where_it_was_used() -> None:
    source = Source(f"\n{KERNEL}    a[0] = foo;\n}}", "kernel.py:12")

    told = first(compile_cuda(source, ["sm_80"], plain_run))

    assert (told.file, told.line, told.source) == ("kernel.py", 12, "    a[0] = foo;")
    assert told.message == 'identifier "foo" is undefined (line 3 of its code)'


def test_headers_of_the_submission_are_found_and_named() -> None:
    headers = {
        "parts/scan.cuh": '#include "step.cuh"\n__device__ int scan(int x) { return step(x) + y; }',
        "parts/step.cuh": "__device__ int step(int x) { return x; }",
    }
    build = compiled(f'#include "parts/scan.cuh"\n{KERNEL}a[0] = scan(n); }}', headers=headers)

    (told,) = build.diagnostics
    assert (told.file, told.line) == ("parts/scan.cuh", 2)
    assert told.message == 'identifier "y" is undefined'


def test_an_error_within_a_header_of_cudas_is_told_at_the_line_that_led_there() -> None:
    code = (
        "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
        "namespace cg = cooperative_groups;\nstruct Odd { int x; };\n"
        f"{KERNEL}auto t = cg::tiled_partition<32>(cg::this_thread_block());\n"
        "Odd o{n};\na[0] = cg::reduce(t, o, cg::plus<Odd>()).x;\n}"
    )

    told = first(compiled(code))

    assert (told.file, told.line) == ("kernel.cu", 8)
    assert "(in cooperative_groups/" in told.message


def test_an_error_in_assembly_is_told_at_its_statement() -> None:
    code = f'{KERNEL}int x;\n\nasm("add.s32 %0, %1, 1;\\n"\n "lopp3.b32 %0, %0;"'

    told = first(compiled(f'{code} : "=r"(x) : "r"(n));\na[0] = x;\n}}'))

    assert (told.line, told.message) == (4, "ptxas: Not a name of any known instruction: 'lopp3'")


def test_a_missing_bracket_is_told_at_the_end() -> None:
    told = first(compiled(f"{KERNEL}if (n) {{\na[0] = 1;\n}}\n\n"))
    assert (told.line, told.message) == (4, 'expected a "}"')


def test_a_warning_does_not_stop_a_build() -> None:
    build = compiled(f"{KERNEL}int unused;\na[0] = 1; }}")

    told = first(build)
    assert (told.severity, told.line) == ("warning", 2)
    assert build.compiled


def test_one_message_is_told_once_for_several_architectures() -> None:
    source = Source(f"{KERNEL}a[0] = foo; }}", "kernel.cu")
    build = compile_cuda(source, ["sm_75", "sm_80", "sm_90"], plain_run)
    assert len(build.diagnostics) == 1


def test_of_very_many_messages_the_errors_are_told() -> None:
    unused = "\n".join(f"__device__ void f{i}() {{ int q; }}" for i in range(100))

    told = compiled(f"{unused}\n{KERNEL}a[0] = foo; }}").diagnostics

    assert len(told) == MOST_SAID + 1
    assert "error" in {d.severity for d in told}
    assert told[-1].message == "and 61 more messages, which are not shown"


def test_usual_includes_work_and_cost_little() -> None:
    build = compiled(STANDARD, "sm_75", names=("k<float>",))
    assert build.compiled, build.diagnostics


def test_cub_within_a_block_compiles() -> None:
    code = (
        f"#include <cub/block/block_scan.cuh>\n#include <cuda/atomic>\n#include <cstdint>\n{KERNEL}"
        "using Scan = cub::BlockScan<int, 256>;\n__shared__ Scan::TempStorage t;\n"
        "Scan(t).ExclusiveSum(n, n);\na[threadIdx.x] = n;\n"
        "cuda::atomic_ref<float, cuda::thread_scope_device>(a[0]).store(1.0f); }"
    )
    build = compiled(code)
    assert build.compiled, build.diagnostics


def test_options_of_a_submission_are_passed_on() -> None:
    code = f"{KERNEL}a[0] = a[1] * a[2] + SHIFT; }}"

    build = compiled(code, options=("-D", "SHIFT=2.0f", "--fmad=false"))

    assert build.compiled
    assert "fma.rn" not in build.modules[0].ptx


def test_the_server_decides_of_folders_files_and_architectures() -> None:
    options = ("-I/usr/include", "--gpu-architecture", "sm_75", "-O3")
    build = compiled(f"{KERNEL}a[0] = 1; }}", options=options)
    assert [d.severity for d in build.diagnostics] == ["note"] * 3
    assert build.modules[0].arch == "sm_80"
    for refused in ("--time=out", "--pre-include=/etc/passwd", "-pch-dir=out", "--dlink-time-opt"):
        assert not compiled(f"{KERNEL}}}", options=(refused,)).compiled


@pytest.mark.parametrize(
    ("options", "fused"),
    [
        ((), True),
        (("-fmad=false",), False),
        (("--fmad=false", "--use_fast_math"), True),
        (("--use_fast_math", "--fmad=false"), False),
    ],
)
def test_the_last_option_decides_about_contraction(options: tuple[str, ...], fused: bool) -> None:
    assert contracts(options) is fused


def test_what_the_source_asks_for_is_not_told() -> None:
    code = f"{KERNEL}double x = a[4];\na[0] = fmaf(a[1], a[2], __dmul_rn(x, a[3])); }}"
    build = compiled(code, "sm_86")
    assert build.compiled
    assert build.diagnostics == ()


def test_a_literal_that_makes_a_float_a_double_is_told_at_its_line() -> None:
    (told,) = compiled(f"{KERNEL}float x = a[1];\na[0] = x * 0.3; }}", "sm_86").diagnostics
    assert (told.severity, told.line) == ("warning", 3)
    assert "64 in single precision" in told.message
    assert compiled(f"{KERNEL}float x = a[1];\na[0] = x * 0.3; }}", "sm_80").diagnostics == ()


def test_ptx_and_messages_do_not_name_folders() -> None:
    build = compiled(f"#include <cuda_fp16.h>\n{KERNEL}a[0] = __half2float(__float2half(a[1])); }}")
    files = [line for line in build.modules[0].ptx.split("\n") if ".file" in line]
    assert '\t.file\t1 "kernel.cu"' in files
    assert "sz-mcp-tool" not in build.modules[0].ptx + build.log


def test_the_job_is_files_and_options_alone() -> None:
    jobs: list[Tool] = []

    def run(tool: Tool) -> ToolRun:
        jobs.append(tool)
        return plain_run(tool)

    compiled(f"{KERNEL}}}", headers={"a.h": "", "../b.h": "", "/c.h": "", "kernel.cu": ""}, run=run)

    (tool,) = jobs
    assert set(tool.files) == {"s/a.h", "nvrtc_program.py", "job.json"}
    assert json.loads(tool.files["job.json"])["archs"] == ["sm_80"]


def test_names_are_those_of_the_installed_headers() -> None:
    assert cuda_names()["__reduce_add_sync"].arch == 80
    assert cuda_names()["__float2half"].header == "cuda_fp16.h"
    assert "__shfl_down" not in cuda_names()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("__syncthread", "__syncthreads"),
        ("threadidx", "threadIdx"),
        ("atomicad", "atomicAdd"),
        ("__popcount", "__popc"),
        ("shfl_down_sync", "__shfl_down_sync"),
        ("__float_to_int", "__float_as_int"),
    ],
)
def test_a_misspelt_name_has_a_nearest(wrong: str, right: str) -> None:
    found = nearest_cuda_name(wrong)
    assert found is not None
    assert found.name == right


def test_a_name_like_none_has_no_nearest() -> None:
    assert nearest_cuda_name("quantised_block") is None
