"""Worked submissions for CUDA and ROCm as real compilers see them: nothing spills, anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernels import baselines
from simulators.simt.records import Source
from simulators.simt.tool import plain_run
from toolchains.gpu_compile.cuda_wheels import find_nvrtc
from toolchains.gpu_compile.hip import compile_hip
from toolchains.gpu_compile.hip_compilers import missing
from toolchains.gpu_compile.nvrtc import compile_cuda

FOLDER = Path(baselines.__file__).parent
CUDA_ARCHS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
HIP_ARCHS = ("gfx90a", "gfx942", "gfx950", "gfx1100")
OPTIONS = {"cuda": ("-std=c++17", "-fmad=false"), "rocm": ("-std=c++17", "-ffp-contract=off")}
QUICK = ("lorenzo-1d/naive", "bitpack/tuned")
NVRTC = pytest.mark.skipif(find_nvrtc() is None, reason="no NVRTC here")
AMDGPU = pytest.mark.skipif(bool(missing()), reason=missing())


def sources(family: str) -> list[tuple[str, str]]:
    """Files below the family's folder, and what their options add: the data type."""
    paths = sorted(path for path in (FOLDER / family).rglob("*") if path.suffix in (".cu", ".hip"))
    return [
        (str(path.relative_to(FOLDER / family)), added)
        for path in paths
        for added in (("", "-DDOUBLE") if "ifdef DOUBLE" in path.read_text() else ("",))
    ]


def source_of(family: str, name: str, added: str) -> Source:
    options = (*OPTIONS[family], *([added] if added else []))
    dialect = "cuda" if family == "cuda" else "hip"
    return Source((FOLDER / family / name).read_text(), Path(name).name, dialect, 32, options)


def assert_cuda_is_clean(name: str, added: str, archs: tuple[str, ...]) -> None:
    build = compile_cuda(source_of("cuda", name, added), archs, plain_run)

    assert build.compiled, build.diagnostics
    assert [module.arch for module in build.modules] == list(archs)
    for module in build.modules:
        assert module.kernels
        for kernel in module.kernels:
            used = kernel.resources
            assert used.stack == used.spill_stores == used.spill_loads == 0, (module.arch, used)


def assert_hip_is_clean(name: str, added: str, archs: tuple[str, ...]) -> None:
    build = compile_hip(source_of("rocm", name, added), archs, plain_run)

    assert build.compiled, build.diagnostics
    assert build.missing == ()
    assert [module.arch for module in build.modules] == list(archs)
    for module in build.modules:
        assert module.kernels
        for kernel in module.kernels:
            used = kernel.resources
            assert used.scratch_bytes == used.vgpr_spills == used.sgpr_spills == 0, module.arch
            assert not used.dynamic_stack, (module.arch, kernel.name)


@NVRTC
@pytest.mark.parametrize(
    ("name", "added"), [one for one in sources("cuda") if one[0].startswith(QUICK)]
)
def test_a_cuda_reference_does_not_spill_on_an_old_and_a_new_gpu(name: str, added: str) -> None:
    assert_cuda_is_clean(name, added, ("sm_75", "sm_90"))


@AMDGPU
@pytest.mark.parametrize(
    ("name", "added"), [one for one in sources("rocm") if one[0].startswith(QUICK)]
)
def test_a_hip_reference_does_not_spill_on_either_wavefront(name: str, added: str) -> None:
    assert_hip_is_clean(name, added, ("gfx90a", "gfx1100"))


@pytest.mark.slow
@NVRTC
@pytest.mark.parametrize(("name", "added"), sources("cuda"))
def test_no_cuda_reference_spills(name: str, added: str) -> None:
    assert_cuda_is_clean(name, added, CUDA_ARCHS)


@pytest.mark.slow
@AMDGPU
@pytest.mark.parametrize(("name", "added"), sources("rocm"))
def test_no_hip_reference_spills(name: str, added: str) -> None:
    assert_hip_is_clean(name, added, HIP_ARCHS)
