"""Machine code and what it is made of; names and resources as the tools print them."""

from __future__ import annotations

import pytest

from simulators.simt.tool import plain_run
from tests.toolchains.gpu_compile.cuda_sources import KERNEL, compiled, needs_nvrtc
from toolchains.gpu_compile.cuda_wheels import find_nvdisasm
from toolchains.gpu_compile.mangled import readable
from toolchains.gpu_compile.ptx import Spot, arithmetic
from toolchains.gpu_compile.ptxas import usage
from toolchains.gpu_compile.sass import Sass, disassemble, instruction_mixes

needs_nvdisasm = pytest.mark.skipif(
    find_nvdisasm() is None, reason="nvidia-cuda-nvdisasm is not installed"
)

PRINTED = """
\t.section\t.text.k,"ax",@progbits
k:
.text.k:
\t//## File "kernel.cu", line 1
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E.128.CONSTANT R4, [R2.64] ;
        /*0020*/              @P1  STG.E.U8 [R2.64], R8 ;
        /*0030*/                   LDS R2, [R2.X4] ;
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0050*/                   SHFL.DOWN PT, R3, R2, 0x1, 0x1f ;
        /*0060*/                   FFMA R0, R5, -R0, 1 ;
        /*0070*/                   DMUL R2, R2, R4 ;
        /*0080*/                   HFMA2.MMA R5, -RZ, RZ, 1.5, -0.05 ;
        /*0090*/                   IMAD.MOV.U32 R0, RZ, RZ, 0x40400000 ;
        /*00a0*/                   IMAD R16, R16, c[0x0][0x0], R5 ;
        /*00b0*/                   STL.64 [R1], R2 ;
        /*00c0*/                   NOP ;
        /*00d0*/                   EXIT ;
.L_x_1:
        /*00e0*/                   BRA `(.L_x_1) ;
"""

VERSION_12 = """
ptxas info    : 0 bytes gmem, 256 bytes cmem[3]
ptxas info    : Compiling entry function '_Z4scanIfLi4EEvPT_' for 'sm_80'
ptxas info    : Function properties for _Z4scanIfLi4EEvPT_
    552 bytes stack frame, 1360 bytes spill stores, 1368 bytes spill loads
ptxas info    : Used 32 registers, used 2 barriers, 552 bytes cumulative stack size, \
1184 bytes smem, 364 bytes cmem[0], 16 bytes cmem[2]
ptxas info    : Function properties for _Z6helperPf
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
"""


def test_instructions_are_counted_by_kind_and_width() -> None:
    (mix,) = instruction_mixes(PRINTED)

    assert mix.symbol == "k"
    assert mix.counts == {
        "move": 3,
        "global load 16 B": 1,
        "global store 1 B": 1,
        "shared load 4 B": 1,
        "barrier": 1,
        "shuffle": 1,
        "fp32": 1,
        "fp64": 1,
        "integer": 1,
        "local store 8 B": 1,
        "control": 2,
    }
    assert mix.total == 14
    assert mix.metrics("k")[0].name == "sass.move[k]"


@needs_nvrtc
@needs_nvdisasm
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_real_code_has_the_instructions_that_its_source_asks_for(arch: str) -> None:
    code = (
        f"{KERNEL}__shared__ float s[256];\nint i = threadIdx.x;\n"
        "s[i] = a[i]; __syncthreads();\nfloat v = __shfl_down_sync(~0u, s[255 - i], 1);\n"
        "((float4 *)a)[i + n] = make_float4(v, v * 2, v + 1, 0);\n"
        "atomicAdd(a, v); }"
    )
    sass = disassemble(compiled(code, arch).modules[0], plain_run)

    (mix,) = sass.mixes
    assert mix.counts["global store 16 B"] == 1
    assert mix.counts["global load 4 B"] == 1
    assert mix.counts["barrier"] == 1
    assert mix.counts["shuffle"] == 1
    assert mix.counts["atomic"] >= 1
    assert mix.counts["fp32"] >= 2
    assert "other" not in mix.counts
    assert '//## File "kernel.cu", line 4' in sass.text


@needs_nvrtc
@needs_nvdisasm
def test_files_are_named_without_folders() -> None:
    code = f'#include <cuda_fp16.h>\n{KERNEL}a[0] = 1;\n#line 9 "kernel.py"\na[1] = n * n; }}'
    text = disassemble(compiled(code).modules[0], plain_run).text
    named = {line.split('"')[1] for line in text.split("\n") if "//## File" in line}
    assert named == {"kernel.cu", "kernel.py"}


@needs_nvrtc
def test_without_the_disassembler_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    module = compiled(f"{KERNEL}a[0] = 1; }}").modules[0]
    monkeypatch.setattr("toolchains.gpu_compile.sass.find_nvdisasm", lambda: None)

    sass = disassemble(module, plain_run)

    assert sass == Sass(reason=sass.reason)
    assert "pip install" in sass.reason


def test_resources_are_read_from_the_log_of_version_12_too() -> None:
    ptx = ".visible .entry _Z4scanIfLi4EEvPT_(\n)\n.maxntid 16, 8, 2\n.minnctapersm 3\n{"

    used = usage(VERSION_12, ptx, {"scan<float, 4>": "_Z4scanIfLi4EEvPT_"})

    (kernel,) = used.kernels
    assert (kernel.name, kernel.registers, kernel.barriers) == ("scan<float, 4>", 32, 2)
    assert (kernel.spill_stores, kernel.spill_loads, kernel.stack) == (1360, 1368, 552)
    assert (kernel.shared, kernel.constant) == (1184, 380)
    assert (kernel.max_threads, kernel.min_blocks) == (256, 3)
    (function,) = used.functions
    assert (function.name, function.stack, function.spill_loads) == ("helper", 8, 4)
    assert used.constants == 256


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("plain", "plain"),
        ("_Z2kkPf", "kk"),
        ("_Z4scanIfLi4EEvPT_", "scan<float, 4>"),
        ("_ZN5outer5innerI6__halfLb1EEEvPT_i", "outer::inner<__half, true>"),
        ("_ZN12_GLOBAL__N_14kernEPf", "kern"),
        ("_Z1kIPKfLin5EEvv", "k<const float*, -5>"),
        ("_Z1kIJfEEv", "_Z1kIJfEEv"),
        ("_Z", "_Z"),
        ("_Z9999x", "_Z9999x"),
        ("_Z1k" + "I" + "P" * 10_000, "_Z1k" + "I" + "P" * 10_000),
        ("_Z1kI" + "P" * 400, "_Z1kI" + "P" * 400),
    ],
)
def test_symbols_are_read_as_the_source_spells_them(symbol: str, name: str) -> None:
    assert readable(symbol) == name


def test_arithmetic_of_the_ptx_has_its_lines() -> None:
    ptx = """
.visible .entry k(
)
{
	.loc	1 3 2
	fma.rn.f32 	%f1, %f2, %f3, %f4;
	@%p1 cvt.f64.f32 	%fd1, %f2;
	.loc	2 7 2
	cvt.f64.f32 	%fd1, %f1;
	cvt.rn.f64.s32 	%fd1, %r1;
	fma.rn.ftz.f32 	%f1, %f2, %f3, %f4;
	mov.f64 	%fd5, %fd1;
	ret;
}
	.file	1 "/box/s/kernel.cu"
	.file	2 "/box/s/a.h"
"""
    (found,) = arithmetic(ptx, lambda name: name.rpartition("/")[2])

    assert found.symbol == "k"
    assert found.widened == (Spot("kernel.cu", 3), Spot("a.h", 7))
    assert found.fused == (Spot("kernel.cu", 3), Spot("a.h", 7))
