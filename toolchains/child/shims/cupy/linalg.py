"""`cupy.linalg`: NumPy's on device arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.linalg import LinAlgError

from ._functions import function
from ._signatures import SIGNATURES
from ._ufunc import matmul

__all__ = ["LinAlgError", "matmul"]


def __getattr__(name: str) -> Callable[..., Any]:
    if f"linalg.{name}" in SIGNATURES:
        return function(f"linalg.{name}")
    raise AttributeError(f"module 'cupy.linalg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [name.partition(".")[2] for name in SIGNATURES if name.startswith("linalg.")]
