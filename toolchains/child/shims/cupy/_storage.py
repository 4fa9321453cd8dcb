"""What an emulated array is made of: NumPy's view of device memory, and the block that holds it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ._memory import BaseMemory, MemoryPointer, alloc

Host = npt.NDArray[Any]
KINDS = "?bhilqBHILQefdFD"
"""Type codes of what an array may hold; records of them are possible, too."""


class Array:
    """Memory, shape and strides; `ndarray` adds what programs see."""

    _host: Host
    _memory: BaseMemory
    base: Array | None
    _concrete: ClassVar[type[Array]]
    """`ndarray`."""

    def __init_subclass__(cls) -> None:
        if cls.__name__ == "ndarray":
            Array._concrete = cls

    def _pointer(self) -> MemoryPointer:
        """Where the first element is."""
        if self._host.size == 0:
            return MemoryPointer(self._memory, 0)
        return MemoryPointer(self._memory, self._host.ctypes.data - self._memory.ptr)


def checked_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """The dtype. Raises ValueError for what CuPy has no arrays of."""
    found = np.dtype(dtype)
    if (found.char in KINDS or found.kind == "V") and found.isnative:
        return found
    raise ValueError(f"Unsupported dtype {found}")


def over(host: Host, memory: BaseMemory, base: Array | None = None) -> Array:
    """An array over `host`, which lies in `memory`; base: the array that it is a view of."""
    made = Array._concrete.__new__(Array._concrete)
    made._host, made._memory = host, memory
    made.base = base if base is None or base.base is None else base.base
    return made


def view(host: Host, source: Array) -> Array:
    """Part of an array, or the same values in another shape."""
    return over(host, source._memory, source)


def placed(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    pointer: MemoryPointer,
    strides: tuple[int, ...] | None = None,
    order: Any = "C",
) -> Array:
    """An array at an address."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if size == 0:
        return over(np.empty(shape, dtype), pointer.mem)
    if strides is None:
        host = np.ndarray(shape, dtype, pointer._part(size), order=order)
    else:
        room = pointer.mem.size - (pointer.ptr - pointer.mem.ptr)
        host = np.ndarray(shape, dtype, pointer._part(room), strides=strides)
    return over(host, pointer.mem)


def fresh(shape: tuple[int, ...], dtype: np.dtype[Any], order: Any = "C") -> Array:
    """An array in memory of its own, with no content worth reading."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    return placed(shape, dtype, alloc(size), order=order)


def copied(host: Host, order: Any = "C") -> Array:
    """NumPy's values in device memory. order: C, F, A or K."""
    dtype = checked_dtype(host.dtype)
    if order in {"A", "K"}:
        order = "F" if host.flags.fnc else "C"
    made = fresh(host.shape, dtype, order)
    made._host[...] = host
    return made


def wrapped(result: Host, sources: Iterable[Array]) -> Array:
    """What NumPy returned: one of the sources, a view of one, or values that move to the device."""
    address = result.__array_interface__["data"][0]
    for source in sources:
        if result is source._host:
            return source
        if result.size and source._memory.ptr <= address < source._memory.ptr + source._memory.size:
            return view(result, source)
    return copied(result)
