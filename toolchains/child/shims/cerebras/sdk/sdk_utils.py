"""Helpers of host programs for 16-bit data, which takes 32 bits of each element on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import SdkRuntimeError

Array = npt.NDArray[Any]


def memcpy_view(arr: Array, datatype: Any) -> Array:
    """A view of an array of 32-bit elements as elements of 32 bits, or as the lower 16 of each."""
    wanted = np.dtype(datatype)
    if arr.dtype.itemsize != 4:
        raise SdkRuntimeError(f"memcpy_view: an array of 32-bit elements, not {arr.dtype}")
    if wanted.itemsize == 4:
        same: Array = arr.view(wanted)
        return same
    if wanted.itemsize == 2:
        halves: Array = arr.view(wanted)
        return halves[..., ::2]
    raise SdkRuntimeError(f"memcpy_view: a type of 16 or 32 bits, not {wanted}")


def input_array_to_u32(
    np_arr: Array, sentinel: int | None, fast_dim_sz: int
) -> npt.NDArray[np.uint32]:
    """16-bit elements in the lower half of 32 bits, 32-bit ones as they are.

    The upper half is zero, or unless `sentinel` is None the element's index modulo `fast_dim_sz`.
    """
    if np_arr.dtype.itemsize == 4:
        return np_arr.reshape(-1).view(np.uint32)
    if np_arr.dtype.itemsize != 2:
        raise SdkRuntimeError(f"input_array_to_u32: 16 or 32 bits, not {np_arr.dtype}")
    words = np.ascontiguousarray(np_arr).reshape(-1).view(np.uint16).astype(np.uint32)
    if sentinel is None:
        return words
    index = np.arange(words.size, dtype=np.uint32) % np.uint32(fast_dim_sz)
    return words | index << np.uint32(16)


def calculate_cycles(timestamp_buf: Array) -> int:
    """Cycles between two time stamps of three 16-bit words, in three 32-bit elements."""
    words = [int(one) for one in np.ascontiguousarray(timestamp_buf).reshape(-1).view(np.uint16)]
    start, end = (sum(w << 16 * n for n, w in enumerate(part)) for part in (words[:3], words[3:6]))
    return end - start
