"""Errors of compilation."""

from __future__ import annotations

from .._errors import CompileException, NotEmulatedError
from .._params import check_name

__all__ = ["CompileException", "HIPCCException", "JitifyException", "NVCCException"]


def is_valid_kernel_name(name: str) -> bool:
    """Whether a kernel can have it."""
    try:
        check_name(name)
    except ValueError:
        return False
    return True


class NVCCException(Exception):
    """Never raised here."""


class HIPCCException(Exception):
    """Never raised here."""


class JitifyException(Exception):
    """Never raised here."""


def __getattr__(name: str) -> object:
    if name in {"compile_using_nvrtc", "compile_using_nvcc", "compile_using_hipcc"}:
        raise NotEmulatedError(f"cupy.cuda.compiler.{name}")
    raise AttributeError(f"module 'cupy.cuda.compiler' has no attribute {name!r}")
