"""CUDA targets: an architecture each, with GPUs that have it and their documented peaks.

Peaks are the boost-clock figures of NVIDIA's data sheets and architecture white papers, named with
each; they bound a roofline, and no measurement stands behind them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernels.records import Metric

from .occupancy import LIMITS, SmLimits


@dataclass(frozen=True)
class Gpu:
    """A board, by its data sheet."""

    name: str
    arch: str
    bandwidth: float
    """GB/s (1e9 bytes) of device memory, peak."""
    fp32: float
    """TFLOP/s, peak, not on tensor cores."""
    multiprocessors: int
    l2: float
    """MB."""
    memory: float
    """GB."""
    source: str
    """Document that the figures are from."""


@dataclass(frozen=True)
class CudaTarget:
    """`cuda:sm_XX`."""

    arch: str
    generation: str
    fp64_rate: int
    """Double-precision results per clock and multiprocessor; single precision has 64 or 128.
    CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions"."""
    fp32_rate: int
    gpus: tuple[Gpu, ...]
    """The first is the one that is meant where none is named."""

    @property
    def name(self) -> str:
        """As a submission names it."""
        return f"cuda:{self.arch}"

    @property
    def gpu(self) -> Gpu:
        """The example."""
        return self.gpus[0]

    @property
    def limits(self) -> SmLimits:
        """Of a multiprocessor."""
        return LIMITS[self.arch]


_GPUS = (
    Gpu("Tesla T4", "sm_75", 320, 8.1, 40, 4, 16, "T4 data sheet; Turing white paper"),
    Gpu("A100 SXM 80 GB", "sm_80", 2039, 19.5, 108, 40, 80, "A100 data sheet"),
    Gpu("A100 PCIe 40 GB", "sm_80", 1555, 19.5, 108, 40, 40, "A100 data sheet"),
    Gpu("A40", "sm_86", 696, 37.4, 84, 6, 48, "A40 data sheet; GA102 white paper"),
    Gpu("GeForce RTX 3090", "sm_86", 936, 35.6, 82, 6, 24, "GA102 white paper"),
    Gpu("Jetson AGX Orin 64 GB", "sm_87", 204.8, 5.3, 16, 4, 64, "Jetson Orin technical brief"),
    Gpu("L40S", "sm_89", 864, 91.6, 142, 96, 48, "L40S data sheet; Ada white paper"),
    Gpu("GeForce RTX 4090", "sm_89", 1008, 82.6, 128, 72, 24, "Ada white paper"),
    Gpu("H100 SXM 80 GB", "sm_90", 3352, 66.9, 132, 50, 80, "H100 data sheet; Hopper white paper"),
    Gpu("H200 SXM 141 GB", "sm_90", 4800, 66.9, 132, 50, 141, "H200 data sheet"),
    Gpu("B200 SXM 180 GB", "sm_100", 8000, 75, 148, 126, 180, "HGX B200 data sheet, per GPU"),
    Gpu("GeForce RTX 5090", "sm_120", 1792, 104.8, 170, 96, 32, "RTX Blackwell white paper"),
)

_GENERATIONS: tuple[tuple[str, str, int, int], ...] = (
    ("sm_75", "Turing", 2, 64),
    ("sm_80", "Ampere", 32, 64),
    ("sm_86", "Ampere", 2, 128),
    ("sm_87", "Ampere", 2, 128),
    ("sm_89", "Ada Lovelace", 2, 128),
    ("sm_90", "Hopper", 64, 128),
    ("sm_100", "Blackwell", 64, 128),
    ("sm_120", "Blackwell", 2, 128),
)


def _targets() -> Mapping[str, CudaTarget]:
    every = (
        CudaTarget(arch, generation, fp64, fp32, tuple(g for g in _GPUS if g.arch == arch))
        for arch, generation, fp64, fp32 in _GENERATIONS
    )
    return {target.name: target for target in every}


TARGETS: Mapping[str, CudaTarget] = _targets()


def hardware(target: CudaTarget, gpu: Gpu | None = None) -> tuple[Metric, ...]:
    """What describe_arch tells: of the GPU, else of the target's example."""
    gpu, limits = gpu or target.gpu, target.limits
    figures = (
        ("memory_bandwidth", gpu.bandwidth, "GB/s"),
        ("fp32", gpu.fp32, "TFLOP/s"),
        ("fp64", gpu.fp32 * target.fp64_rate / target.fp32_rate, "TFLOP/s"),
        ("memory", gpu.memory, "GB"),
        ("l2_cache", gpu.l2, "MB"),
        ("multiprocessors", float(gpu.multiprocessors), ""),
        ("warps_per_multiprocessor", float(limits.warps), ""),
        ("blocks_per_multiprocessor", float(limits.blocks), ""),
        ("registers_per_multiprocessor", float(limits.registers), "of 32 bits"),
        ("shared_memory_per_multiprocessor", limits.shared / 1024, "KiB"),
        ("shared_memory_per_block", limits.block_shared / 1024, "KiB"),
        ("threads_per_block", float(limits.block_threads), ""),
        ("warp", 32.0, "threads"),
    )
    return tuple(Metric(name, value, unit, "documented") for name, value, unit in figures)
