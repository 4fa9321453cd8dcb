"""`cupyx`, as far as kernels use it: scattering, pinned memory, rsqrt."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..cupy._delegate import call
from ..cupy._errors import NotEmulatedError
from ..cupy._memory import PinnedMemory
from ..cupy._storage import Array

REFUSED = (
    "DeviceSynchronized", "GeneralizedUFunc", "allow_synchronize", "distributed", "errstate",
    "get_runtime_info", "geterr", "jit", "linalg", "optimizing", "profiler", "scipy", "seterr",
    "signal", "time", "tools",
)  # fmt: skip
"""What CuPy has here, and the emulation has not."""


def scatter_add(a: Array, slices: Any, value: Any) -> None:
    """Add at indices; each counts."""
    call(np.add.at, a, slices, value)


def scatter_max(a: Array, slices: Any, value: Any) -> None:
    """Maximum at indices."""
    call(np.maximum.at, a, slices, value)


def scatter_min(a: Array, slices: Any, value: Any) -> None:
    """Minimum at indices."""
    call(np.minimum.at, a, slices, value)


def rsqrt(x: Array) -> Any:
    """One over the square root."""
    return call(lambda host: (1 / np.sqrt(host)).astype(np.sqrt(host).dtype), x)


def empty_pinned(shape: Any, dtype: npt.DTypeLike = float, order: Any = "C") -> Any:
    """A NumPy array in pinned memory."""
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    wanted = np.dtype(dtype)
    memory = PinnedMemory(max(int(np.prod(sizes)) * wanted.itemsize, 1))
    made: Any = np.ndarray(sizes, wanted, memory._content, order=order)
    return made


def zeros_pinned(shape: Any, dtype: npt.DTypeLike = float, order: Any = "C") -> Any:
    """As `empty_pinned`, with zeros."""
    made = empty_pinned(shape, dtype, order)
    made[...] = 0
    return made


def empty_like_pinned(a: Any, dtype: npt.DTypeLike | None = None, order: Any = "C") -> Any:
    """As `empty_pinned`, with the shape and type of another."""
    return empty_pinned(a.shape, dtype or a.dtype, order)


def zeros_like_pinned(a: Any, dtype: npt.DTypeLike | None = None, order: Any = "C") -> Any:
    """As `zeros_pinned`, with the shape and type of another."""
    return zeros_pinned(a.shape, dtype or a.dtype, order)


def __getattr__(name: str) -> object:
    if name in REFUSED:
        raise NotEmulatedError(f"cupyx.{name}")
    raise AttributeError(f"module 'cupyx' has no attribute {name!r}")
