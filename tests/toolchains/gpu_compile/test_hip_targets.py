"""Which targets there are, what is told of them, and which compiler is found where."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolchains.gpu_compile.elf_notes import KernelResources
from toolchains.gpu_compile.hip_compilers import (
    ARCHS,
    clang_compiler,
    find_compiler,
    front_command,
    missing,
    object_command,
    rocm_compiler,
)
from toolchains.gpu_compile.hip_occupancy import LIMITS, occupancy, usual_block
from toolchains.gpu_compile.hip_targets import TARGETS, hardware

PLAIN = KernelResources("k", 32, 0, 16, 0, 0, 0, 0, 64, 1024, 24, wgp_mode=True)


def test_every_architecture_is_a_target_with_limits() -> None:
    assert [target.arch for target in TARGETS.values()] == list(ARCHS) == list(LIMITS)
    for name, target in TARGETS.items():
        assert name == f"rocm:{target.arch}"
        told = {m.name: m.value for m in hardware(target)}
        assert told["wavefront"] == (64.0 if "CDNA" in target.generation else 32.0)
        assert 500 < told["memory_bandwidth"] <= 8000
        assert target.gpu.source


@pytest.mark.parametrize(
    ("arch", "vgprs", "threads", "lds", "blocks", "limit"),
    [
        ("gfx942", 32, 256, 0, 8, "waves"),
        ("gfx942", 129, 256, 0, 3, "VGPRs"),
        ("gfx942", 512, 256, 0, 1, "VGPRs"),
        ("gfx942", 32, 256, 20 << 10, 3, "LDS"),
        ("gfx942", 32, 256, 65 << 10, 0, "LDS"),
        ("gfx950", 32, 256, 65 << 10, 2, "LDS"),
        ("gfx942", 32, 128, 0, 16, "waves"),
        ("gfx942", 32, 65, 0, 16, "waves"),
        ("gfx90a", 32, 64, 0, 32, "waves"),
        ("gfx1100", 32, 256, 0, 8, "waves"),
        ("gfx1100", 97, 256, 0, 6, "VGPRs"),
        ("gfx1100", 32, 256, 64 << 10, 2, "LDS"),
        ("gfx1201", 32, 1024, 0, 2, "waves"),
    ],
)
def test_blocks_fit_as_registers_and_lds_allow(
    arch: str, vgprs: int, threads: int, lds: int, blocks: int, limit: str
) -> None:
    kernel = KernelResources(
        "k", vgprs, 0, 16, 1024 if lds else 0, 0, 0, 0, 64, 1024, 24, False, True
    )

    found = occupancy(LIMITS[arch], kernel, threads, max(lds - 1024, 0))

    assert (found.blocks, found.limit) == (blocks, limit)


def test_small_blocks_are_kept_apart_by_barriers() -> None:
    found = occupancy(LIMITS["gfx1100"], PLAIN, 33)

    assert (found.blocks, found.limit, found.fraction) == (32, "waves", 1.0)


def test_cu_mode_has_half_of_a_work_group_processor() -> None:
    cu = KernelResources("k", 32, 0, 16, 0, 0, 0, 0, 32, 1024, 24, wgp_mode=False)

    assert occupancy(LIMITS["gfx1100"], cu, 256).blocks == 4
    assert occupancy(LIMITS["gfx1100"], PLAIN, 256).blocks == 8


def test_more_scalar_registers_than_there_are_cost_a_wave() -> None:
    many = KernelResources("k", 32, 0, 102, 0, 0, 0, 0, 64, 1024, 24)

    assert occupancy(LIMITS["gfx942"], many, 64).waves_per_simd == 7.0


def test_the_usual_block_is_that_of_the_launch_bounds() -> None:
    bound = KernelResources("k", 32, 0, 16, 0, 0, 0, 0, 64, 512, 24)

    assert (usual_block(PLAIN), usual_block(bound)) == (256, 512)
    assert occupancy(LIMITS["gfx942"], bound, 1024).blocks == 0


def test_the_newest_clang_of_the_system_is_taken(tmp_path: Path) -> None:
    for version, parts in (("18", "clang ld.lld"), ("19", "clang ld.lld"), ("21", "clang")):
        folder = tmp_path / f"llvm-{version}" / "bin"
        folder.mkdir(parents=True)
        for part in parts.split():
            (folder / part).touch()

    found = clang_compiler(tmp_path)

    assert found is not None
    assert (found.kind, found.version) == ("clang", "19")
    assert "gfx950" not in found.archs
    assert clang_compiler(tmp_path / "nothing") is None


@pytest.mark.parametrize(("version", "taken"), [("6.4.1-43", True), ("5.7.0", False), ("?", False)])
def test_hipcc_is_taken_from_rocm_6_on(tmp_path: Path, version: str, taken: bool) -> None:
    for name in ("bin/hipcc", "lib/llvm/bin/clang", ".info/version"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(version)

    found = rocm_compiler(tmp_path)

    assert (found is not None) is taken
    if found is not None:
        command = front_command(found, "gfx942", "k.hip", ("-DN=3",), "out.s")
        assert command[0] == str(tmp_path / "bin" / "hipcc")
        assert {"--offload-arch=gfx942", "-DN=3", "-S", "--cuda-device-only"} <= set(command)
        assert object_command(found, "gfx942", "out.s", "out.co")[-3:] == ("out.s", "-o", "out.co")


def test_a_remedy_is_named_where_there_is_no_compiler() -> None:
    if find_compiler() is None:
        assert "pip install" in missing()
    else:
        assert missing() == ""
