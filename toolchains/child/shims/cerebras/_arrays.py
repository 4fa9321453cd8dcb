"""Host arrays as the machine takes them: rows of words per PE, PEs by rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._enums import MemcpyDataType, MemcpyOrder
from ._errors import SdkRuntimeError

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Shape:
    """PEs of a copy, elements of each, and how the host's array orders them."""

    height: int
    width: int
    count: int
    order: MemcpyOrder

    @property
    def size(self) -> int:
        """Elements of all."""
        return self.height * self.width * self.count

    def to_rows(self, array: Array) -> Array:
        """The host's array as (h, w, l)."""
        if self.order is MemcpyOrder.ROW_MAJOR:
            return array.reshape(self.height, self.width, self.count)
        return array.reshape(self.count, self.width, self.height).transpose(2, 1, 0)

    def from_rows(self, rows: Array) -> Array:
        """A flat array in the host's order."""
        shaped = rows.reshape(self.height, self.width, self.count)
        if self.order is MemcpyOrder.ROW_MAJOR:
            return shaped.reshape(-1)
        return shaped.transpose(2, 1, 0).reshape(-1)


def words_of(name: str, array: object, shape: Shape) -> npt.NDArray[np.uint32]:
    """A host's array as words, flat. Raises SdkRuntimeError if it is none for this shape."""
    checked = _checked(name, array, shape)
    return np.ascontiguousarray(checked).reshape(-1).view(np.uint32)


def destination(name: str, array: object, shape: Shape) -> Array:
    """The array that is written to. Raises SdkRuntimeError if it can't take this shape."""
    checked = _checked(name, array, shape)
    if not checked.flags.writeable or not checked.flags.c_contiguous:
        raise SdkRuntimeError(
            f"{name}: the array that is copied to has to be writable and contiguous"
        )
    return checked


def _checked(name: str, array: object, shape: Shape) -> Array:
    if not isinstance(array, np.ndarray):
        raise SdkRuntimeError(f"{name}: a NumPy array is needed, not {type(array).__name__}")
    if array.dtype.itemsize != 4 or array.dtype.kind not in "iuf":
        raise SdkRuntimeError(
            f"{name}: an array of 32-bit elements is needed, not {array.dtype}; for MEMCPY_16BIT"
            " too: sdk_utils.input_array_to_u32 widens, sdk_utils.memcpy_view narrows"
        )
    if array.size != shape.size:
        raise SdkRuntimeError(
            f"{name}: the array has {array.size} elements, but {shape.height} x {shape.width} PEs"
            f" with {shape.count} each take {shape.size}"
        )
    return array


def wavelets(name: str, array: object) -> npt.NDArray[np.uint32]:
    """A host's array as the words of wavelets: 16-bit elements in the lower half."""
    checked = _elements(name, array)
    flat = np.ascontiguousarray(checked).reshape(-1)
    if flat.dtype.itemsize == 4:
        return flat.view("<u4")
    return flat.view("<u2").astype("<u4")


def wavelet_destination(name: str, array: object, size: int) -> Array:
    """The array that gets `size` wavelets. Raises SdkRuntimeError if it can't."""
    checked = _elements(name, array)
    if checked.size != size:
        raise SdkRuntimeError(f"{name}: the array has {checked.size} elements, not {size}")
    if not checked.flags.writeable or not checked.flags.c_contiguous:
        raise SdkRuntimeError(f"{name}: the array has to be writable and contiguous")
    return checked


def _elements(name: str, array: object) -> Array:
    if not isinstance(array, np.ndarray):
        raise SdkRuntimeError(f"{name}: a NumPy array is needed, not {type(array).__name__}")
    if array.dtype.itemsize not in (2, 4) or array.dtype.kind not in "iuf":
        raise SdkRuntimeError(f"{name}: elements of 16 or 32 bits are needed, not {array.dtype}")
    return array


def narrow(words: npt.NDArray[np.uint32], data_type: MemcpyDataType) -> Array:
    """Words as the device's elements."""
    if data_type is MemcpyDataType.MEMCPY_16BIT:
        return (words & 0xFFFF).astype("<u2")
    return words.astype("<u4", copy=False)


def fill(target: Array, payload: bytes, dtype: str, shape: Shape) -> None:
    """Put what the machine sent into a host's array."""
    values = shape.from_rows(np.frombuffer(payload, dtype)).astype(np.uint32)
    flat = target.reshape(-1)
    kind = np.uint16 if flat.dtype.itemsize == 2 else np.uint32
    flat.view(kind)[:] = values.astype(kind)
