"""The fields: named arrays of scientific data. Name → info or values."""

from __future__ import annotations

from kernels.fields.catalogue import Catalogue
from kernels.fields.registry import (
    FieldDataError,
    UnknownFieldError,
    info,
    load,
    names,
)

__all__ = ["Catalogue", "FieldDataError", "UnknownFieldError", "info", "load", "names"]
