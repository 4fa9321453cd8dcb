"""`cupy.cuda`: the device, its memory, streams and compiled code."""

from __future__ import annotations

from .._engine import PROCESS
from .._errors import NotEmulatedError
from . import (
    compiler,
    device,
    driver,
    function,
    memory,
    nvtx,
    pinned_memory,
    profiler,
    runtime,
    stream,
)  # fmt: skip
from .compiler import CompileException
from .device import Device, get_device_id
from .function import Function, Module
from .memory import (
    BaseMemory,
    ManagedMemory,
    Memory,
    MemoryAsyncPool,
    MemoryPointer,
    MemoryPool,
    UnownedMemory,
    alloc,
    get_allocator,
    malloc_async,
    malloc_managed,
    set_allocator,
    using_allocator,
)  # fmt: skip
from .pinned_memory import (
    PinnedMemory,
    PinnedMemoryPointer,
    PinnedMemoryPool,
    alloc_pinned_memory,
    set_pinned_memory_allocator,
)  # fmt: skip
from .stream import Event, ExternalStream, Stream, get_current_stream, get_elapsed_time

__all__ = [
    "BaseMemory", "CompileException", "Device", "Event", "ExternalStream", "Function",
    "ManagedMemory", "Memory", "MemoryAsyncPool", "MemoryPointer", "MemoryPool", "Module",
    "PinnedMemory", "PinnedMemoryPointer", "PinnedMemoryPool", "Stream", "UnownedMemory", "alloc",
    "alloc_pinned_memory", "compiler", "device", "driver", "function", "get_allocator",
    "get_current_stream", "get_device_id", "get_elapsed_time", "get_local_runtime_version",
    "is_available", "malloc_async", "malloc_managed", "memory", "nvtx", "pinned_memory", "profile",
    "profiler", "runtime", "set_allocator", "set_pinned_memory_allocator", "stream",
    "using_allocator",
]  # fmt: skip
REFUSED = (
    "CFunctionAllocator", "Graph", "MemoryAsync", "MemoryHook", "PythonFunctionAllocator", "common",
    "cub", "get_cublas_handle", "get_cuda_path", "get_hipcc_path", "get_nvcc_path", "get_rocm_path",
    "graph", "memory_hook", "memory_hooks", "nvrtc", "texture", "thrust", "nccl", "jitify",
)  # fmt: skip
"""What CuPy has here, and the emulation has not."""


def is_available() -> bool:
    """Whether there is a device: an emulated one, if device code can be compiled for it."""
    return PROCESS.engine is not None


def get_local_runtime_version() -> int:
    """As `runtime.runtimeGetVersion`."""
    return runtime.runtimeGetVersion()


class profile:
    """A with-block for a profiler: there is none."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def __getattr__(name: str) -> object:
    if name in REFUSED:
        raise NotEmulatedError(f"cupy.cuda.{name}")
    raise AttributeError(f"module 'cupy.cuda' has no attribute {name!r}")
