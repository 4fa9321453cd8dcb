"""ROCm targets: an architecture each, with a GPU that has it and its documented peaks.

Peaks are the boost-clock figures of AMD's product pages and data sheets; compute units, LDS and
caches are those of the table "AMD GPU specifications" of the ROCm documentation. They bound a
roofline, and no measurement stands behind them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernels.records import Metric

from .hip_occupancy import LIMITS, Limits


@dataclass(frozen=True)
class AmdGpu:
    """A board, by its data sheet."""

    name: str
    bandwidth: float
    """GB/s (1e9 bytes) of device memory, peak."""
    fp32: float
    """TFLOP/s, peak, of the vector units."""
    fp64: float
    """Likewise."""
    units: int
    """Compute units."""
    l2: float
    """MB; where there are several dies, of all."""
    infinity_cache: float
    """MB; 0: it has none."""
    memory: float
    """GB."""
    source: str
    """Document that the peaks are from."""


@dataclass(frozen=True)
class HipTarget:
    """`rocm:gfxXXX`."""

    arch: str
    generation: str
    gpu: AmdGpu

    @property
    def name(self) -> str:
        """As agents write it."""
        return f"rocm:{self.arch}"

    @property
    def limits(self) -> Limits:
        """Of its compute units."""
        return LIMITS[self.arch]


_TARGETS = (
    HipTarget(
        "gfx90a", "CDNA2",
        AmdGpu("Instinct MI210", 1638, 22.6, 22.6, 104, 8, 0, 64, "MI210 data sheet"),
    ),
    HipTarget(
        "gfx942", "CDNA3",
        AmdGpu("Instinct MI300X", 5325, 163.4, 81.7, 304, 32, 256, 192, "MI300X data sheet"),
    ),
    HipTarget(
        "gfx950", "CDNA4",
        AmdGpu("Instinct MI355X", 8000, 157.3, 78.6, 256, 32, 256, 288, "MI355X data sheet"),
    ),
    HipTarget(
        "gfx1100", "RDNA3",
        AmdGpu("Radeon RX 7900 XTX", 960, 61.4, 1.92, 96, 6, 96, 24, "RX 7900 XTX product page"),
    ),
    HipTarget(
        "gfx1201", "RDNA4",
        AmdGpu("Radeon RX 9070 XT", 640, 48.7, 0.76, 64, 8, 64, 16, "RX 9070 XT product page"),
    ),
)  # fmt: skip

TARGETS: Mapping[str, HipTarget] = {target.name: target for target in _TARGETS}


def hardware(target: HipTarget) -> tuple[Metric, ...]:
    """What describe_arch tells of the target's GPU."""
    gpu, limits = target.gpu, target.limits
    unit = "work_group_processor" if limits.wgp else "compute_unit"
    figures = (
        ("memory_bandwidth", gpu.bandwidth, "GB/s"),
        ("fp32", gpu.fp32, "TFLOP/s"),
        ("fp64", gpu.fp64, "TFLOP/s"),
        ("memory", gpu.memory, "GB"),
        ("l2_cache", gpu.l2, "MB"),
        ("infinity_cache", gpu.infinity_cache, "MB"),
        ("compute_units", float(gpu.units), ""),
        ("simds_per_" + unit, 4.0, ""),
        ("wavefronts_per_simd", float(limits.waves), ""),
        ("vgprs_per_simd", float(limits.vgprs), "of 32 bits, per lane"),
        ("lds_per_" + unit, limits.lds / 1024, "KiB"),
        ("lds_per_block", limits.block_lds / 1024, "KiB"),
        ("threads_per_block", 1024.0, ""),
        ("wavefront", float(limits.wavefront), "threads"),
    )
    return tuple(
        Metric(name, value, unit_of, "documented") for name, value, unit_of in figures if value
    )
