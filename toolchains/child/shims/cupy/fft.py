"""`cupy.fft`: NumPy's on device arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._functions import function
from ._signatures import SIGNATURES


def __getattr__(name: str) -> Callable[..., Any]:
    if f"fft.{name}" in SIGNATURES:
        return function(f"fft.{name}")
    raise AttributeError(f"module 'cupy.fft' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [name.partition(".")[2] for name in SIGNATURES if name.startswith("fft.")]
