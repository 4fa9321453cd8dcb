"""The fields: named arrays of scientific data. Name → info or values.

`Catalogue` knows all of them; the functions here those that come with the package.
"""

from __future__ import annotations

from kernels.fields.catalogue import Catalogue
from kernels.fields.errors import (
    FetchError,
    FieldDataError,
    FieldFileError,
    FieldNameError,
    MissingReaderError,
    UnknownFieldError,
)
from kernels.fields.shipped import info, load, names

__all__ = [
    "Catalogue",
    "FetchError",
    "FieldDataError",
    "FieldFileError",
    "FieldNameError",
    "MissingReaderError",
    "UnknownFieldError",
    "info",
    "load",
    "names",
]
