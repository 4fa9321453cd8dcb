"""Device memory: blocks that kernels and copies touch, aligned as CUDA aligns them.

Fresh memory is never zero: a kernel that reads what nobody wrote gets a pattern, and another one
when threads run in descending order, so that the two results differ.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from ._device import TOTAL_BYTES, Device
from ._engine import PROCESS
from ._errors import CUDARuntimeError, OutOfMemoryError

ALIGNMENT = 512
"""cudaMalloc aligns to 256 bytes, CuPy's pool to 512."""
_PATTERNS = (0xA5, 0x5A)
"""Of fresh memory, in ascending and descending order; the first float of each is no plain number:
-2.9e-16 and 1.5e16."""
Bytes = npt.NDArray[np.uint8]


class BaseMemory:
    """A block of device memory."""

    ptr: int = 0
    size: int = 0
    device_id: int = 0

    def __int__(self) -> int:
        return self.ptr

    @property
    def device(self) -> Device:
        """Where it is."""
        return Device(self.device_id)

    @property
    def _content(self) -> Bytes:
        """All of it, as NumPy sees it; for this package only."""
        return _at(self.ptr, self.size)


class Memory(BaseMemory):
    """A fresh block; freed with its last user."""

    def __init__(self, size: int) -> None:
        if size < 0:
            raise ValueError(f"an allocation of {size} bytes")
        self.size = size
        self._bytes = _fresh(size)
        self.ptr = self._bytes.ctypes.data if size else 0
        if size:
            PROCESS.regions[self.ptr] = size
            weakref.finalize(self, PROCESS.regions.pop, self.ptr, None).atexit = False

    @property
    def _content(self) -> Bytes:
        """See BaseMemory."""
        return self._bytes


class UnownedMemory(BaseMemory):
    """A block that something else keeps alive."""

    def __init__(self, ptr: int, size: int, owner: object, device_id: int = 0) -> None:
        self.ptr, self.size, self.device_id = ptr, size, max(device_id, 0)
        self._owner = owner
        if size and not known(ptr, size):
            PROCESS.regions[ptr] = size
            weakref.finalize(self, PROCESS.regions.pop, ptr, None).atexit = False


class MemoryPointer:
    """A place in a block."""

    def __init__(self, mem: BaseMemory, offset: int) -> None:
        self.mem, self._offset = mem, offset

    @property
    def ptr(self) -> int:
        """Its address."""
        return self.mem.ptr + self._offset

    @property
    def device(self) -> Device:
        """Where it is."""
        return self.mem.device

    @property
    def device_id(self) -> int:
        """Where it is."""
        return self.mem.device_id

    def __int__(self) -> int:
        return self.ptr

    def __repr__(self) -> str:
        return f"<MemoryPointer 0x{self.ptr:x} device={self.device_id} mem={self.mem!r}>"

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self._offset + offset)

    __radd__ = __add__

    def __sub__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self._offset - offset)

    def _part(self, size: int) -> Bytes:
        """`size` bytes from here on. Raises CUDARuntimeError beyond the block's end."""
        if self._offset < 0 or self._offset + size > self.mem.size:
            raise CUDARuntimeError(
                "cudaErrorInvalidValue",
                f"invalid argument: {size} bytes at offset {self._offset} of {self.mem.size}",
            )
        return self.mem._content[self._offset : self._offset + size]

    def copy_from_device(self, src: MemoryPointer, size: int) -> None:
        """Copy `size` bytes of device memory here."""
        if size > 0:
            self._part(size)[...] = src._part(size)

    def copy_from_host(self, mem: object, size: int) -> None:
        """Copy `size` bytes here; mem: a host address, or a ctypes pointer."""
        if size > 0:
            self._part(size)[...] = _at(_address(mem), size)

    def copy_from(self, mem: object, size: int) -> None:
        """Copy `size` bytes here, of either kind."""
        if isinstance(mem, MemoryPointer):
            self.copy_from_device(mem, size)
        else:
            self.copy_from_host(mem, size)

    def copy_to_host(self, mem: object, size: int) -> None:
        """Copy `size` bytes from here to a host address."""
        if size > 0:
            _at(_address(mem), size)[...] = self._part(size)

    def memset(self, value: int, size: int) -> None:
        """Fill `size` bytes."""
        if size > 0:
            self._part(size)[...] = value & 255

    def copy_from_device_async(self, src: MemoryPointer, size: int, stream: object = None) -> None:
        """As without a stream: copies are done when they are asked for."""
        self.copy_from_device(src, size)

    def copy_from_host_async(self, mem: object, size: int, stream: object = None) -> None:
        """See `copy_from_device_async`."""
        self.copy_from_host(mem, size)

    def copy_from_async(self, mem: object, size: int, stream: object = None) -> None:
        """See `copy_from_device_async`."""
        self.copy_from(mem, size)

    def copy_to_host_async(self, mem: object, size: int, stream: object = None) -> None:
        """See `copy_from_device_async`."""
        self.copy_to_host(mem, size)

    def memset_async(self, value: int, size: int, stream: object = None) -> None:
        """See `copy_from_device_async`."""
        self.memset(value, size)


class PinnedMemory:
    """A block of host memory that devices can reach."""

    def __init__(self, size: int, flags: int = 0) -> None:
        self.size, self.flags = size, flags
        self._content = _fresh(size)
        self.ptr = self._content.ctypes.data
        PROCESS.regions[self.ptr] = size
        weakref.finalize(self, PROCESS.regions.pop, self.ptr, None).atexit = False


class PinnedMemoryPointer(np.ndarray[Any, np.dtype[np.uint8]]):
    """A place in pinned memory; a buffer of bytes, as `numpy.frombuffer` takes it."""

    mem: PinnedMemory

    def __new__(cls, mem: PinnedMemory, offset: int) -> PinnedMemoryPointer:
        """The rest of the block from `offset` on."""
        made = mem._content[offset:].view(cls)
        made.mem = mem
        return made

    @property
    def ptr(self) -> int:
        """Its address."""
        return int(self.ctypes.data)


def _fresh(size: int) -> Bytes:
    if size + sum(PROCESS.regions.values()) > TOTAL_BYTES:
        raise OutOfMemoryError(f"Out of memory allocating {size:,} bytes")
    try:
        whole = np.empty(size + ALIGNMENT, np.uint8)
    except MemoryError as error:
        raise OutOfMemoryError(f"Out of memory allocating {size:,} bytes") from error
    start = -whole.ctypes.data % ALIGNMENT
    block = whole[start : start + size]
    block.fill(_PATTERNS[PROCESS.descending])
    return block


def _at(address: int, size: int) -> Bytes:
    if size == 0:
        return np.empty(0, np.uint8)
    bytes_: Any = (ctypes.c_ubyte * size).from_address(address)
    made: Bytes = np.frombuffer(bytes_, np.uint8)
    return made


def _address(mem: object) -> int:
    if isinstance(mem, int):
        return mem
    value = getattr(mem, "value", None)
    if not isinstance(value, int):
        raise TypeError(f"an address is needed, not {type(mem).__name__}")
    return value


def known(address: int, size: int = 1) -> bool:
    """Whether kernels may touch these bytes."""
    return any(
        start <= address and address + size <= start + length
        for start, length in PROCESS.regions.items()
    )


def alloc(size: int) -> MemoryPointer:
    """Memory of the current allocator."""
    if PROCESS.allocator is None:
        return MemoryPointer(Memory(size), 0)
    made = PROCESS.allocator(size)
    if not isinstance(made, MemoryPointer):
        raise TypeError(f"the allocator returned {type(made).__name__}, not a MemoryPointer")
    return made
