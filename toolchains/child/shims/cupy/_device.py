"""The emulated device: one, with the properties of a GPU of its family."""

from __future__ import annotations

from collections.abc import Mapping

from ._engine import PROCESS
from ._errors import CUDARuntimeError, NotEmulatedError

TOTAL_BYTES = 80_000_000_000
SHARED_BYTES = 48 * 1024
"""Of a block, unless a kernel asks for more; a whole work group's LDS on AMD is 64 KiB."""
_COMMON: dict[str, object] = {
    "totalGlobalMem": TOTAL_BYTES,
    "maxThreadsPerBlock": 1024,
    "maxThreadsDim": (1024, 1024, 64),
    "maxGridSize": (2**31 - 1, 65535, 65535),
    "totalConstMem": 65536,
    "textureAlignment": 512,
    "concurrentKernels": 1,
    "ECCEnabled": 1,
    "unifiedAddressing": 1,
    "managedMemory": 1,
    "cooperativeLaunch": 0,
    "integrated": 0,
    "pciBusID": 0,
    "pciDeviceID": 0,
    "pciDomainID": 0,
}
# H100 SXM: NVIDIA's CUDA C++ Programming Guide, table of compute capabilities, 9.0.
_CUDA: dict[str, object] = {
    "name": b"emulated CUDA device",
    "sharedMemPerBlock": SHARED_BYTES,
    "sharedMemPerBlockOptin": 232448,
    "sharedMemPerMultiprocessor": 233472,
    "reservedSharedMemPerBlock": 1024,
    "regsPerBlock": 65536,
    "regsPerMultiprocessor": 65536,
    "maxThreadsPerMultiProcessor": 2048,
    "maxBlocksPerMultiProcessor": 32,
    "multiProcessorCount": 132,
    "l2CacheSize": 52428800,
    "major": 9,
    "minor": 0,
}
# MI300X and, with waves of 32, RX 7900 XTX: AMD's hardware specifications of ROCm.
_HIP: dict[str, object] = {
    "name": b"emulated HIP device",
    "sharedMemPerBlock": 65536,
    "sharedMemPerBlockOptin": 65536,
    "sharedMemPerMultiprocessor": 65536,
    "regsPerBlock": 65536,
    "regsPerMultiprocessor": 65536,
    "maxThreadsPerMultiProcessor": 2048,
    "l2CacheSize": 4194304,
}
_HIP_WARPS: dict[int, dict[str, object]] = {
    64: {"multiProcessorCount": 304, "major": 9, "minor": 4, "gcnArchName": "gfx942"},
    32: {"multiProcessorCount": 48, "major": 11, "minor": 0, "gcnArchName": "gfx1100"},
}


def properties() -> dict[str, object]:
    """As `cudaGetDeviceProperties` has them. Those of time are absent: there is none."""
    own = _HIP | _HIP_WARPS[PROCESS.warp] if PROCESS.is_hip else _CUDA
    return {**_COMMON, **own, "warpSize": PROCESS.warp}


def limit(name: str) -> int:
    """One of the properties that are whole numbers."""
    value = properties()[name]
    assert isinstance(value, int)
    return value


def used_bytes() -> int:
    """Memory in use."""
    return sum(PROCESS.regions.values())


class Device:
    """The only device, number 0."""

    def __init__(self, device: int | Device | None = None) -> None:
        self.id: int = device.id if isinstance(device, Device) else int(device or 0)

    def __int__(self) -> int:
        return self.id

    def __enter__(self) -> Device:
        self.use()
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def use(self) -> None:
        """Make it the current one. Raises CUDARuntimeError if there is none of that number."""
        if self.id != 0:
            raise CUDARuntimeError("cudaErrorInvalidDevice", "invalid device ordinal", 101)

    def synchronize(self) -> None:
        """Wait for what was asked for: everything is done already."""

    @property
    def compute_capability(self) -> str:
        """Such as "90"."""
        found = properties()
        return f"{found['major']}{found['minor']}"

    @property
    def mem_info(self) -> tuple[int, int]:
        """Free bytes, all bytes."""
        return TOTAL_BYTES - used_bytes(), TOTAL_BYTES

    @property
    def attributes(self) -> Mapping[str, int]:
        """Limits by the names that CuPy has for them."""
        found = properties()
        return {
            attribute: value
            for attribute, name in ATTRIBUTES.items()
            if isinstance(value := found.get(name), int)
        }

    @property
    def pci_bus_id(self) -> str:
        """Made up."""
        return "0000:00:00.0"

    def __getattr__(self, name: str) -> object:
        if name.endswith("_handle"):
            raise NotEmulatedError(f"cupy.cuda.Device.{name}")
        raise AttributeError(f"'Device' object has no attribute {name!r}")


ATTRIBUTES = {
    "MaxThreadsPerBlock": "maxThreadsPerBlock",
    "MaxSharedMemoryPerBlock": "sharedMemPerBlock",
    "MaxSharedMemoryPerBlockOptin": "sharedMemPerBlockOptin",
    "MaxSharedMemoryPerMultiprocessor": "sharedMemPerMultiprocessor",
    "TotalConstantMemory": "totalConstMem",
    "WarpSize": "warpSize",
    "MaxRegistersPerBlock": "regsPerBlock",
    "MaxRegistersPerMultiprocessor": "regsPerMultiprocessor",
    "MultiProcessorCount": "multiProcessorCount",
    "MaxThreadsPerMultiProcessor": "maxThreadsPerMultiProcessor",
    "MaxBlocksPerMultiprocessor": "maxBlocksPerMultiProcessor",
    "L2CacheSize": "l2CacheSize",
    "ConcurrentKernels": "concurrentKernels",
    "UnifiedAddressing": "unifiedAddressing",
    "ManagedMemory": "managedMemory",
    "CooperativeLaunch": "cooperativeLaunch",
    "ComputeCapabilityMajor": "major",
    "ComputeCapabilityMinor": "minor",
}
