"""Theoretical occupancy: NVIDIA's own calculator, limits in its headers, figures worked by hand."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from toolchains.gpu_compile.cuda_wheels import find_nvrtc
from toolchains.gpu_compile.occupancy import (
    LIMITS,
    Occupancy,
    SmLimits,
    occupancies,
    occupancy,
    usual_block,
)
from toolchains.gpu_compile.ptxas import Resources
from toolchains.gpu_compile.targets import TARGETS, hardware

REGISTERS = (0, 1, 16, 24, 31, 32, 33, 40, 48, 56, 63, 64, 65, 72, 80, 96, 127, 128, 129, 168, 255)
SHARED = (0, 1, 1024, 4097, 16384, 24576, 32767, 49152)
THREADS = (1, 31, 32, 33, 96, 128, 192, 255, 256, 384, 512, 640, 768, 1000, 1024)

CALCULATOR = r"""
#include <stdio.h>
#include <cuda_occupancy.h>
int main() {
    int major, minor, registers, shared, threads, warps, blocks, memory, reserved;
    while (scanf("%d %d %d %d %d %d %d %d %d", &major, &minor, &registers, &shared, &threads,
                 &warps, &blocks, &memory, &reserved) == 9) {
        cudaOccDeviceProp p;
        p.computeMajor = major, p.computeMinor = minor;
        p.maxThreadsPerBlock = 1024, p.maxThreadsPerMultiprocessor = 32 * warps;
        p.regsPerBlock = 65536, p.regsPerMultiprocessor = 65536, p.warpSize = 32;
        p.sharedMemPerBlock = 49152, p.sharedMemPerMultiprocessor = memory, p.numSms = 1;
        p.sharedMemPerBlockOptin = memory - reserved, p.reservedSharedMemPerBlock = reserved;
        cudaOccFuncAttributes a;
        a.maxThreadsPerBlock = 1024, a.numRegs = registers, a.sharedSizeBytes = shared;
        a.partitionedGCConfig = PARTITIONED_GC_OFF;
        a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN, a.maxDynamicSharedSizeBytes = 0;
        cudaOccDeviceState s;
        cudaOccResult r;
        int failed = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &a, &s, threads, 0);
        printf("%d\n", failed ? -failed : r.activeBlocksPerMultiprocessor);
    }
}
"""


def of(arch: str, registers: int, shared: int, threads: int, dynamic: int = 0) -> Occupancy:
    kernel = Resources("k", "k", registers=registers, shared=shared)
    return occupancy(LIMITS[arch], kernel, threads, dynamic)


def _includes() -> tuple[Path, ...]:
    nvrtc = find_nvrtc()
    if nvrtc is None or nvrtc.missing:
        pytest.skip("CUDA's headers are not installed")
    return nvrtc.includes


def test_nvidias_calculator_says_the_same(tmp_path: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("g++ is not installed")
    source, program = tmp_path / "calculator.cpp", tmp_path / "calculator"
    source.write_text(CALCULATOR)
    folders = [f"-I{folder}" for folder in _includes()]
    subprocess.run([compiler, "-w", *folders, "-o", program, source], check=True)
    archs = [arch for arch in LIMITS if arch != "sm_88"]
    cases = list(itertools.product(archs, REGISTERS, SHARED, THREADS))

    asked = "\n".join(_line(LIMITS[arch], *case) for arch, *case in cases)
    done = subprocess.run([program], input=asked, capture_output=True, text=True, check=True)

    theirs = [int(line) for line in done.stdout.split()]
    ours = [of(*case).blocks for case in cases]
    assert len(theirs) == len(cases)
    wrong = [c for c, a, b in zip(cases, theirs, ours, strict=True) if a != b]
    assert wrong == []


def _line(limits: SmLimits, registers: int, shared: int, threads: int) -> str:
    number = limits.arch.removeprefix("sm_")
    return (
        f"{number[:-1]} {number[-1]} {registers} {shared} {threads} {limits.warps} {limits.blocks} "
        f"{limits.shared} {limits.reserved}"
    )


def test_limits_are_those_of_libcudacxx() -> None:
    folders = _includes()
    name = "cuda/__device/arch_traits.h"
    path = next((f / name for f in folders if (f / name).is_file()), None)
    if path is None:
        pytest.skip("this libcu++ has no table of architectures")
    text = path.read_text(encoding="utf-8")
    for arch in ("sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_120"):
        limits, said = LIMITS[arch], text.split(f"arch_traits<arch_id::{arch}>() noexcept")[1]
        said = said.split("return __traits")[0]
        assert int(_number(said, "max_blocks_per_multiprocessor")) == limits.blocks
        assert int(_number(said, "max_threads_per_multiprocessor")) == 32 * limits.warps
        assert 1024 * int(_number(said, "max_shared_memory_per_multiprocessor")) == limits.shared


def _number(text: str, name: str) -> str:
    found = re.search(rf"__traits\.{name}\s*= (\d+)", text)
    assert found is not None
    return found[1]


def test_occupancy_worked_by_hand() -> None:
    # 56 registers: 1792 a warp; 16384 // 1792 = 9 warps in each of 4 parts; 36 // 8 = 4 blocks.
    assert of("sm_80", 56, 0, 256) == Occupancy(256, 4, 32, 0.5, "registers")
    # 16 KiB and 1 KiB that the system takes: 164 // 17 = 9 blocks of 4 warps.
    assert of("sm_80", 16, 16384, 128) == Occupancy(128, 9, 36, 36 / 64, "shared memory")
    assert of("sm_80", 16, 0, 32) == Occupancy(32, 32, 32, 0.5, "blocks")
    assert of("sm_86", 16, 0, 1024) == Occupancy(1024, 1, 32, 32 / 48, "warps")
    assert of("sm_75", 16, 0, 1024) == Occupancy(1024, 1, 32, 1.0, "warps")


def test_what_does_not_fit_is_not_launched() -> None:
    assert of("sm_80", 65, 0, 1024).blocks == 0
    assert of("sm_80", 64, 0, 1024).blocks == 1
    assert of("sm_90", 32, 0, 256, dynamic=227 * 1024).blocks == 1
    assert of("sm_90", 32, 0, 256, dynamic=227 * 1024 + 1).blocks == 0


def test_launch_bounds_limit_the_sizes_of_blocks() -> None:
    kernel = Resources("k", "k", registers=200, max_threads=96)
    assert [one.threads for one in occupancies("sm_90a", kernel)] == [64, 96]
    assert usual_block(kernel) == 96
    assert occupancy(LIMITS["sm_90"], kernel, 128).blocks == 0


def test_an_architecture_without_limits_has_no_occupancy() -> None:
    assert occupancies("sm_70", Resources("k", "k")) == ()


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_has_documented_figures(name: str) -> None:
    target = TARGETS[name]
    told = {m.name: m for m in hardware(target)}
    assert target.name == name
    assert all(gpu.arch == target.arch and gpu.source for gpu in target.gpus)
    assert all(m.value > 0 for m in told.values())
    assert {m.provenance for m in told.values()} == {"documented"}
    # A peak is of two operations a lane and clock: boost clocks are between 1 and 3 GHz.
    for gpu in target.gpus:
        ghz = gpu.fp32 * 1e3 / (2 * target.fp32_rate * gpu.multiprocessors)
        assert 1.0 < ghz < 3.0, gpu.name
