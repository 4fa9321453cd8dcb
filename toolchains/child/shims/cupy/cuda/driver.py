"""Errors of the driver API."""

from __future__ import annotations

from .._errors import CUDADriverError, NotEmulatedError

__all__ = ["CUDADriverError"]


def __getattr__(name: str) -> object:
    if name.startswith("_"):
        raise AttributeError(name)
    raise NotEmulatedError(f"cupy.cuda.driver.{name}")
