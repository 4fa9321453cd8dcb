"""How many wavefronts of a kernel fit on a compute unit, and what limits that.

Sizes and granules are those of LLVM's AMDGPU back end ("User Guide for AMDGPU Backend", Kernel
Descriptor, GRANULATED_WORKITEM_VGPR_COUNT and GRANULATED_LDS_SIZE; AMDGPUBaseInfo for what a SIMD
holds) and of AMD's instruction set guides for MI200, CDNA3, CDNA4, RDNA3 and RDNA4. A unit is a CU
of CDNA with four SIMDs; of RDNA it is a work group processor with four, or in CU mode a CU with
two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .elf_notes import KernelResources

_KIB = 1024
_SGPR_STEPS = ((80, 10), (88, 9), (100, 8))
"""SGPRs up to which so many waves fit on a SIMD of GFX8 and GFX9; beyond: 7."""
_SGPR_LEAST = 7
USUAL_BLOCK = 256
"""Threads, where a kernel does not say."""
MOST_THREADS = 1024
"""Of a block; what a kernel without launch bounds is compiled for."""


@dataclass(frozen=True)
class Limits:
    """Of one architecture."""

    wavefront: int
    waves: int
    """Resident on a SIMD."""
    vgprs: int
    """Of a SIMD, per lane."""
    vgpr_unit: int
    """They are allocated in multiples of this."""
    lds: int
    """Bytes of a CU of CDNA; of a work group processor of RDNA."""
    block_lds: int
    """Bytes that one block may have."""
    lds_unit: int
    sgprs_limit: bool
    """Whether SGPRs come from a file that wavefronts share."""
    wgp: bool = False
    """Whether two CUs form a work group processor."""


_CDNA2 = Limits(64, 8, 512, 8, 64 * _KIB, 64 * _KIB, 512, sgprs_limit=True)
_RDNA3 = Limits(32, 16, 1536, 24, 128 * _KIB, 64 * _KIB, 512, sgprs_limit=False, wgp=True)
LIMITS: Mapping[str, Limits] = {
    "gfx90a": _CDNA2,
    "gfx942": _CDNA2,
    "gfx950": replace(_CDNA2, lds=160 * _KIB, block_lds=160 * _KIB, lds_unit=1280),
    "gfx1100": _RDNA3,
    "gfx1201": _RDNA3,
}


@dataclass(frozen=True)
class HipOccupancy:
    """Of one kernel with one block size."""

    threads: int
    """Of a block."""
    blocks: int
    """Resident on a unit; 0: it can't be launched so."""
    waves_per_simd: float
    fraction: float
    """Of the wavefronts that a unit can hold."""
    limit: str
    """waves | blocks | VGPRs | SGPRs | LDS: what there would have to be more of."""


def occupancy(
    limits: Limits, kernel: KernelResources, threads: int, dynamic_lds: int = 0
) -> HipOccupancy:
    """Theoretical occupancy. dynamic_lds: bytes asked for at the launch, beside static ones."""
    whole = limits.wgp and kernel.wgp_mode
    simds = 4 if whole or not limits.wgp else 2
    waves = -(-threads // limits.wavefront)
    held = limits.waves * simds
    lds = limits.lds if whole or not limits.wgp else limits.lds // 2
    fits = {
        "waves": held // waves if threads <= kernel.max_threads else 0,
        "VGPRs": _by_registers(limits.vgprs, limits.vgpr_unit, kernel.vgprs) * simds // waves,
        "SGPRs": _by_sgprs(limits, kernel.sgprs) * simds // waves,
        "LDS": _by_lds(limits, lds, kernel.lds_bytes + dynamic_lds),
        "blocks": _barriers(whole=whole) if waves > 1 else held,
    }
    blocks = min(fits.values())
    limit = next(name for name, count in fits.items() if count == blocks)
    resident = blocks * waves
    return HipOccupancy(threads, blocks, resident / simds, resident / held, limit)


def usual_block(kernel: KernelResources) -> int:
    """Threads of a block to tell a kernel's occupancy for: its launch bounds, or the usual."""
    return kernel.max_threads if kernel.max_threads < MOST_THREADS else USUAL_BLOCK


def usual_occupancy(arch: str, kernel: KernelResources) -> HipOccupancy | None:
    """With the usual block; None for an architecture that is not listed."""
    limits = LIMITS.get(arch)
    return None if limits is None else occupancy(limits, kernel, usual_block(kernel))


def _by_registers(total: int, unit: int, used: int) -> int:
    """Waves of a SIMD whose registers fit."""
    return total // (-(-max(used, 1) // unit) * unit)


def _by_sgprs(limits: Limits, used: int) -> int:
    if not limits.sgprs_limit:
        return limits.waves
    waves = next((count for most, count in _SGPR_STEPS if used <= most), _SGPR_LEAST)
    return min(waves, limits.waves)


def _by_lds(limits: Limits, lds: int, wanted: int) -> int:
    taken = -(-wanted // limits.lds_unit) * limits.lds_unit
    if taken > limits.block_lds:
        return 0
    return lds // taken if taken else 1 << 20


def _barriers(*, whole: bool) -> int:
    """Blocks of more than one wavefront take one of the unit's barriers each."""
    return 32 if whole else 16
