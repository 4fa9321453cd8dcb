"""Host memory that the device can reach."""

from __future__ import annotations

from .._memory import PinnedMemory, PinnedMemoryPointer

__all__ = [
    "PinnedMemory", "PinnedMemoryPointer", "PinnedMemoryPool", "alloc_pinned_memory",
    "set_pinned_memory_allocator",
]  # fmt: skip


def alloc_pinned_memory(size: int) -> PinnedMemoryPointer:
    """Fresh host memory."""
    return PinnedMemoryPointer(PinnedMemory(size), 0)


class PinnedMemoryPool:
    """An allocator of pinned memory that keeps nothing."""

    def malloc(self, size: int) -> PinnedMemoryPointer:
        """Fresh host memory."""
        return alloc_pinned_memory(size)

    def free_all_blocks(self) -> None:
        """Give back what is free: it has been."""

    def n_free_blocks(self) -> int:
        """Blocks that are kept though free."""
        return 0


def set_pinned_memory_allocator(allocator: object = None) -> None:
    """All pinned memory is the same here."""


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """The pool that pinned memory comes from."""
    return PinnedMemoryPool()
