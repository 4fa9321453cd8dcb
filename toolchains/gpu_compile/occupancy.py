"""How many blocks of a kernel fit on a multiprocessor, and what limits that.

The limits are those of the table "Technical Specifications per Compute Capability" of the CUDA C++
Programming Guide; how registers and shared memory are allocated is what NVIDIA's own calculator,
`cuda_occupancy.h` of the CUDA runtime, does. Named barriers beyond one per block are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .ptxas import Resources

WARP = 32
REGISTER_UNIT = 256
"""Registers are given to warps in multiples of this."""
PARTITIONS = 4
"""Of a multiprocessor; a warp's registers lie in one."""
STATIC_SHARED = 48 * 1024
"""Bytes that a block may have; more only as dynamic shared memory, and if a launch asks for it."""
CONSTANTS = 64 * 1024
"""Bytes of a module's `__constant__` variables."""
BLOCK_SIZES = (64, 128, 256, 512, 1024)
USUAL_BLOCK = 256
"""Threads, where a kernel does not say."""
_KIB = 1024


@dataclass(frozen=True)
class SmLimits:
    """Of one multiprocessor."""

    arch: str
    warps: int
    """Resident at a time."""
    blocks: int
    shared: int
    """Bytes, for all its blocks."""
    shared_unit: int = 128
    """Bytes that shared memory is allocated in."""
    reserved: int = 1024
    """Bytes of each block's shared memory that the system takes."""
    registers: int = 65536
    """Of 32 bits; as many for one block."""
    thread_registers: int = 255
    block_threads: int = 1024

    @property
    def block_shared(self) -> int:
        """Bytes of shared memory that one block may have."""
        return self.shared - self.reserved


def _limits() -> Mapping[str, SmLimits]:
    ampere = SmLimits("sm_80", warps=64, blocks=32, shared=164 * _KIB)
    consumer = SmLimits("sm_86", warps=48, blocks=16, shared=100 * _KIB)
    hopper = SmLimits("sm_90", warps=64, blocks=32, shared=228 * _KIB)
    every = (
        SmLimits("sm_75", warps=32, blocks=16, shared=64 * _KIB, shared_unit=256, reserved=0),
        ampere,
        consumer,
        replace(consumer, arch="sm_87", shared=164 * _KIB),
        replace(consumer, arch="sm_88"),
        replace(consumer, arch="sm_89", blocks=24),
        hopper,
        replace(hopper, arch="sm_100"),
        replace(hopper, arch="sm_103"),
        replace(hopper, arch="sm_110", warps=48, blocks=24),
        replace(consumer, arch="sm_120", blocks=24),
        replace(consumer, arch="sm_121", blocks=24),
    )
    return {one.arch: one for one in every}


LIMITS: Mapping[str, SmLimits] = _limits()


@dataclass(frozen=True)
class Occupancy:
    """Of one kernel with one block size on one architecture."""

    threads: int
    """Of a block."""
    blocks: int
    """Resident on a multiprocessor; 0: it can't be launched so."""
    warps: int
    fraction: float
    """Of the warps that a multiprocessor can hold."""
    limit: str
    """warps | blocks | registers | shared memory: what there would have to be more of."""


def occupancy(
    limits: SmLimits, kernel: Resources, threads: int, dynamic_shared: int = 0
) -> Occupancy:
    """Theoretical occupancy. dynamic_shared: bytes asked for at the launch, beside static ones."""
    warps = -(-threads // WARP)
    allowed = min(kernel.max_threads or limits.block_threads, limits.block_threads)
    fits = {
        "warps": limits.warps // warps if threads <= allowed else 0,
        "blocks": limits.blocks,
        "registers": _by_registers(limits, kernel.registers, warps),
        "shared memory": _by_shared(limits, kernel.shared + dynamic_shared),
    }
    blocks = min(fits.values())
    limit = next(name for name, count in fits.items() if count == blocks)
    resident = blocks * warps
    return Occupancy(threads, blocks, resident, resident / limits.warps, limit)


def usual_block(kernel: Resources) -> int:
    """Threads of a block to tell a kernel's occupancy for: its launch bounds, or the usual."""
    return kernel.max_threads or USUAL_BLOCK


def occupancies(arch: str, kernel: Resources) -> tuple[Occupancy, ...]:
    """For the block sizes that a kernel may have; empty for an architecture that is not listed."""
    limits = LIMITS.get(arch.rstrip("af"))
    if limits is None:
        return ()
    most = kernel.max_threads or limits.block_threads
    sizes = {size for size in BLOCK_SIZES if size <= most} | {usual_block(kernel)}
    return tuple(occupancy(limits, kernel, size) for size in sorted(sizes))


def _by_registers(limits: SmLimits, registers: int, warps: int) -> int:
    """Blocks whose registers fit: warps are spread over partitions that can't share them."""
    of_warp = _up(registers * WARP, REGISTER_UNIT)
    # The hardware's check of a launch supposes that every partition gets as many warps.
    if registers > limits.thread_registers or of_warp * _up(warps, PARTITIONS) > limits.registers:
        return 0
    if of_warp == 0:
        return limits.blocks
    return limits.registers // PARTITIONS // of_warp * PARTITIONS // warps


def _by_shared(limits: SmLimits, wanted: int) -> int:
    taken = _up(wanted + limits.reserved, limits.shared_unit)
    if taken > limits.block_shared + limits.reserved:
        return 0
    return limits.shared // taken if taken else limits.blocks


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
