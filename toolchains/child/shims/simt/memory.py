"""Memory for kernels, and the table of allocations that checked variants look accesses up in."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable

from .abi import Allocation, Hooks

_ALIGN = 256
"""As cudaMalloc's; what is smaller shows in models of coalescing."""


class Memory:
    """Zeroed memory at a multiple of 256 bytes, until the object is dropped."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._buffer = (ctypes.c_uint8 * (size + _ALIGN))()
        self.address = -(-ctypes.addressof(self._buffer) // _ALIGN) * _ALIGN


class Registry:
    """Arrays that kernels may touch: address → bytes and name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._arrays: dict[int, tuple[int, str]] = {}

    def register(self, address: int, nbytes: int, name: str = "") -> None:
        """An array came into being."""
        with self._lock:
            self._arrays[address] = (nbytes, name)

    def forget(self, address: int) -> None:
        """It is gone."""
        with self._lock:
            self._arrays.pop(address, None)

    def hooks(self, more: Iterable[Memory]) -> CheckedHooks:
        """The table for a launch; more: memory of the module's variables."""
        return CheckedHooks(self.ranges(more))

    def ranges(self, more: Iterable[Memory]) -> list[tuple[int, int]]:
        """Start and end of everything, ascending; more: memory of the module's variables."""
        with self._lock:
            ranges = [(address, address + size) for address, (size, _) in self._arrays.items()]
        ranges += [(one.address, one.address + one.size) for one in more]
        return sorted(ranges)


class CheckedHooks:
    """A `Hooks` structure and what it points to."""

    def __init__(self, ranges: list[tuple[int, int]]) -> None:
        """ranges: start and end of each allocation, ascending."""
        self._table = (Allocation * max(1, len(ranges)))(*(Allocation(*one) for one in ranges))
        self._hooks = Hooks(len(ranges), ctypes.addressof(self._table), None)
        self.address = ctypes.addressof(self._hooks)
