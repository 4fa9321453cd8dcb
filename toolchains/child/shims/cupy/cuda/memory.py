"""Device memory and its pools. A pool keeps nothing: what is freed goes back at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._device import TOTAL_BYTES, used_bytes
from .._engine import PROCESS
from .._errors import CUDARuntimeError, NotEmulatedError, OutOfMemoryError
from .._memory import BaseMemory, Memory, MemoryPointer, UnownedMemory, alloc

__all__ = [
    "BaseMemory", "CUDARuntimeError", "ManagedMemory", "Memory", "MemoryAsyncPool", "MemoryPointer",
    "MemoryPool", "OutOfMemoryError", "UnownedMemory", "alloc", "get_allocator", "malloc_async",
    "malloc_managed", "set_allocator", "using_allocator",
]  # fmt: skip
Allocator = Callable[[int], MemoryPointer]


class ManagedMemory(Memory):
    """Memory of host and device."""


class MemoryPool:
    """An allocator with a limit."""

    def __init__(self, allocator: Allocator | None = None) -> None:
        self._allocator, self._limit = allocator, 0

    def malloc(self, size: int) -> MemoryPointer:
        """Fresh memory. Raises OutOfMemoryError beyond the limit."""
        if self._limit and used_bytes() + size > self._limit:
            raise OutOfMemoryError(
                f"Out of memory allocating {size:,} bytes (allocated so far: {used_bytes():,} "
                f"bytes, limit set to: {self._limit:,} bytes)."
            )
        return self._allocator(size) if self._allocator else MemoryPointer(Memory(size), 0)

    def free_all_blocks(self, stream: object = None) -> None:
        """Give back what is free: it has been."""

    def free_all_free(self) -> None:
        """See `free_all_blocks`."""

    def n_free_blocks(self) -> int:
        """Blocks that are kept though free."""
        return 0

    def used_bytes(self) -> int:
        """Bytes in use."""
        return used_bytes()

    def free_bytes(self) -> int:
        """Bytes that are kept though free."""
        return 0

    def total_bytes(self) -> int:
        """Bytes in use or kept."""
        return used_bytes()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Bytes, or a part of the device's memory; 0: no limit."""
        if size is not None and fraction is not None:
            raise ValueError("size and fraction cannot be specified at one time")
        self._limit = int(TOTAL_BYTES * fraction) if fraction is not None else size or 0

    def get_limit(self) -> int:
        """Bytes; 0: no limit."""
        return self._limit


class MemoryAsyncPool(MemoryPool):
    """As MemoryPool."""

    def __init__(self, *_handles: object) -> None:
        super().__init__()


def malloc_managed(size: int) -> MemoryPointer:
    """Memory of host and device."""
    return MemoryPointer(ManagedMemory(size), 0)


def malloc_async(size: int) -> MemoryPointer:
    """Fresh memory."""
    return MemoryPointer(Memory(size), 0)


def set_allocator(allocator: Allocator | None = None) -> None:
    """Let arrays get their memory from somewhere else."""
    PROCESS.allocator = allocator


def get_allocator() -> Any:
    """Where arrays get their memory from."""
    return PROCESS.allocator or get_default_memory_pool().malloc


class using_allocator:
    """Inside a with-block arrays get their memory from somewhere else."""

    def __init__(self, allocator: Allocator | None = None) -> None:
        self._allocator = allocator

    def __enter__(self) -> None:
        self._before, PROCESS.allocator = PROCESS.allocator, self._allocator

    def __exit__(self, *_: object) -> None:
        PROCESS.allocator = self._before


def get_default_memory_pool() -> MemoryPool:
    """The pool that arrays come from unless told otherwise."""
    if PROCESS.pool is None:
        PROCESS.pool = MemoryPool()
        PROCESS.allocator = PROCESS.allocator or PROCESS.pool.malloc
    pool: MemoryPool = PROCESS.pool
    return pool


def __getattr__(name: str) -> object:
    if name in {
        "CFunctionAllocator", "CFunctionAllocatorMemory", "MemoryAsync", "PooledMemory",
        "PythonFunctionAllocator", "PythonFunctionAllocatorMemory", "SingleDeviceMemoryPool",
        "SystemMemory", "malloc_system",
    }:  # fmt: skip
        raise NotEmulatedError(f"cupy.cuda.memory.{name}")
    raise AttributeError(f"module 'cupy.cuda.memory' has no attribute {name!r}")
