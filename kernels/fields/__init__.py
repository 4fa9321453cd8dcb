"""The fields: seven real ones shipped as files, and one that is computed. Name → info or values."""

from __future__ import annotations

from kernels.fields.registry import (
    FieldDataError,
    UnknownFieldError,
    info,
    load,
    names,
)

__all__ = ["FieldDataError", "UnknownFieldError", "info", "load", "names"]
