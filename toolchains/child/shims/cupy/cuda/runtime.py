"""The runtime API, as far as it is about one emulated device."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import NoReturn

from .._device import TOTAL_BYTES as _TOTAL
from .._device import Device, limit, properties, used_bytes
from .._engine import PROCESS
from .._errors import CUDARuntimeError, NotEmulatedError, TimelessError
from .._memory import Memory, PinnedMemory, known

memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost = 0, 1, 2
memcpyDeviceToDevice, memcpyDefault = 3, 4
streamDefault, streamNonBlocking = 0, 1
eventDefault, eventBlockingSync, eventDisableTiming = 0, 1, 2
_ATTRIBUTES: Mapping[str, tuple[int, str]] = {
    "cudaDevAttrMaxThreadsPerBlock": (1, "maxThreadsPerBlock"),
    "cudaDevAttrMaxSharedMemoryPerBlock": (8, "sharedMemPerBlock"),
    "cudaDevAttrTotalConstantMemory": (9, "totalConstMem"),
    "cudaDevAttrWarpSize": (10, "warpSize"),
    "cudaDevAttrMaxRegistersPerBlock": (12, "regsPerBlock"),
    "cudaDevAttrMultiProcessorCount": (16, "multiProcessorCount"),
    "cudaDevAttrL2CacheSize": (38, "l2CacheSize"),
    "cudaDevAttrMaxThreadsPerMultiProcessor": (39, "maxThreadsPerMultiProcessor"),
    "cudaDevAttrMaxSharedMemoryPerMultiprocessor": (81, "sharedMemPerMultiprocessor"),
    "cudaDevAttrMaxRegistersPerMultiprocessor": (82, "regsPerMultiprocessor"),
    "cudaDevAttrCooperativeLaunch": (95, "cooperativeLaunch"),
    "cudaDevAttrMaxSharedMemoryPerBlockOptin": (97, "sharedMemPerBlockOptin"),
}
"""Name → its number in CUDA's driver_types.h, and the property it is."""


def getDeviceCount() -> int:
    """One."""
    return 1


def getDevice() -> int:
    """The only one."""
    return 0


def setDevice(device: int) -> None:
    """Raise CUDARuntimeError for any but 0."""
    Device(device).use()


def getDeviceProperties(device: int) -> dict[str, object]:
    """Limits and sizes of the device."""
    Device(device).use()
    return properties()


def deviceGetAttribute(attrib: int, device: int) -> int:
    """One of the limits."""
    Device(device).use()
    for number, name in _ATTRIBUTES.values():
        if number == attrib and name in properties():
            return limit(name)
    raise NotEmulatedError(f"cupy.cuda.runtime.deviceGetAttribute({attrib}, ...)")


def deviceSynchronize() -> None:
    """Wait for what was asked for."""


def runtimeGetVersion() -> int:
    """Of CUDA 13.0, or ROCm 7.0: what CuPy 14 is built for."""
    return 70000000 if PROCESS.is_hip else 13000


def driverGetVersion() -> int:
    """The same."""
    return runtimeGetVersion()


def memGetInfo() -> tuple[int, int]:
    """Free bytes, all bytes."""
    return _TOTAL - used_bytes(), _TOTAL


def malloc(size: int) -> int:
    """The address of fresh device memory."""
    memory = Memory(size)
    PROCESS.allocations[memory.ptr] = memory
    return memory.ptr


mallocAsync = mallocManaged = malloc


def free(ptr: int) -> None:
    """Give memory of `malloc` back."""
    if ptr and PROCESS.allocations.pop(ptr, None) is None:
        raise CUDARuntimeError("cudaErrorInvalidValue", "invalid argument: no address of malloc")


freeAsync = free


def hostAlloc(size: int, flags: int = 0) -> int:
    """The address of fresh pinned memory."""
    memory = PinnedMemory(size, flags)
    PROCESS.allocations[memory.ptr] = memory
    return memory.ptr


def freeHost(ptr: int) -> None:
    """Give memory of `hostAlloc` back."""
    free(ptr)


def memcpy(dst: int, src: int, size: int, kind: int) -> None:
    """Copy bytes; kind: one of memcpyHostToDevice … memcpyDefault."""
    if kind in (memcpyHostToDevice, memcpyDeviceToDevice):
        _require(dst, size)
    if kind in (memcpyDeviceToHost, memcpyDeviceToDevice):
        _require(src, size)
    ctypes.memmove(dst, src, size)


def memcpyAsync(dst: int, src: int, size: int, kind: int, stream: int = 0) -> None:
    """As `memcpy`."""
    memcpy(dst, src, size, kind)


def memset(ptr: int, value: int, size: int) -> None:
    """Fill bytes."""
    _require(ptr, size)
    ctypes.memset(ptr, value & 255, size)


def memsetAsync(ptr: int, value: int, size: int, stream: int = 0) -> None:
    """As `memset`."""
    memset(ptr, value, size)


def _require(address: int, size: int) -> None:
    if size and not known(address, size):
        raise CUDARuntimeError(
            "cudaErrorInvalidValue", f"invalid argument: no device memory at {address:#x}"
        )


def streamSynchronize(stream: int) -> None:
    """Wait for what was asked for."""


def eventElapsedTime(start: int, end: int) -> NoReturn:
    """Raise TimelessError."""
    raise TimelessError("cupy.cuda.runtime.eventElapsedTime")


def profilerStart() -> None:
    """Nothing."""


def profilerStop() -> None:
    """Nothing."""


def __getattr__(name: str) -> object:
    if name == "is_hip":
        return PROCESS.is_hip
    if name in _ATTRIBUTES:
        return _ATTRIBUTES[name][0]
    if name.startswith("_"):
        raise AttributeError(name)
    raise NotEmulatedError(f"cupy.cuda.runtime.{name}")


__all__ = ["CUDARuntimeError", "getDeviceCount", "getDeviceProperties"]
