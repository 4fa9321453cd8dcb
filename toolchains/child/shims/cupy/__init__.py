"""An emulated `cupy`: NumPy for arrays, and the SIMT emulator for kernels.

For programs it is CuPy 14 with one device. What CuPy has and this has not raises "not emulated:
NAME"; what CuPy has not is no attribute here either. Who starts a program first sets `PROCESS`.
"""

from __future__ import annotations

from typing import Any

import numpy as _numpy

from . import cuda, exceptions, fft, lib, linalg, random, testing
from ._array import ndarray
from ._elementwise import ElementwiseKernel
from ._errors import NotEmulatedError as _NotEmulatedError
from ._functions import CUSTOM as _CUSTOM
from ._functions import UFUNCS as _UFUNCS
from ._functions import function as _function
from ._misc import (
    Grid as _Grid,
)  # fmt: skip
from ._misc import (
    Joined as _Joined,
)
from ._misc import (
    clear_memo,
    fuse,
    get_array_module,
    is_available,
    memoize,
    round_,
    show_config,
)
from ._raw import RawKernel, RawModule
from ._reduction import ReductionKernel
from ._refused import REFUSED as _REFUSED
from ._signatures import SIGNATURES as _SIGNATURES
from ._ufunc import ufunc
from .cuda.memory import get_default_memory_pool
from .cuda.pinned_memory import get_default_pinned_memory_pool

__version__ = "14.2.0"
__all__ = [
    "ElementwiseKernel", "RawKernel", "RawModule", "ReductionKernel", "clear_memo", "cuda",
    "exceptions", "fft", "fuse", "get_array_module", "get_default_memory_pool",
    "get_default_pinned_memory_pool", "is_available", "lib", "linalg", "memoize", "ndarray",
    "random", "round_", "show_config", "testing", "ufunc",
]  # fmt: skip

_OF_NUMPY = frozenset(
    [
        "bool",
        "bool_",
        "byte",
        "cdouble",
        "complex128",
        "complex64",
        "complexfloating",
        "csingle",
        "double",
        "dtype",
        "e",
        "euler_gamma",
        "finfo",
        "float16",
        "float32",
        "float64",
        "floating",
        "generic",
        "half",
        "iinfo",
        "index_exp",
        "inexact",
        "inf",
        "int16",
        "int32",
        "int64",
        "int8",
        "int_",
        "intc",
        "integer",
        "intp",
        "long",
        "longlong",
        "nan",
        "ndindex",
        "newaxis",
        "number",
        "pi",
        "s_",
        "short",
        "signedinteger",
        "single",
        "ubyte",
        "uint",
        "uint16",
        "uint32",
        "uint64",
        "uint8",
        "uintc",
        "uintp",
        "ulong",
        "ulonglong",
        "unsignedinteger",
        "ushort",
        "broadcast_shapes",
        "get_printoptions",
        "isdtype",
        "issubdtype",
        "iterable",
        "mintypecode",
        "printoptions",
        "promote_types",
        "set_printoptions",
        "typename",
    ]
)
"""Types, constants and functions of them that are NumPy's own."""
_RENAMED = {
    "Inf": "inf", "Infinity": "inf", "NAN": "nan", "NaN": "nan", "PINF": "inf", "infty": "inf",
    "alltrue": "all", "cfloat": "complex128", "complex_": "complex128", "cumproduct": "cumprod",
    "float_": "float64", "product": "prod", "singlecomplex": "complex64", "sometrue": "any",
}  # fmt: skip
"""Old names that CuPy kept."""
_NUMBERS = {"NINF": -_numpy.inf, "NZERO": -0.0, "PZERO": 0.0}
_EXCEPTIONS = frozenset(exceptions.__all__)
_GRIDS = {"mgrid": _Grid, "ogrid": _Grid, "c_": _Joined, "r_": _Joined}


def __getattr__(name: str) -> Any:
    name = _RENAMED.get(name, name)
    if name in _OF_NUMPY:
        return getattr(_numpy, name)
    if name in _UFUNCS or name in _CUSTOM or (name in _SIGNATURES and "." not in name):
        return _function(name)
    if name in _GRIDS:
        return _GRIDS[name](name)
    if name in _NUMBERS:
        return _NUMBERS[name]
    if name in _EXCEPTIONS:
        return getattr(exceptions, name)
    if name in _REFUSED:
        raise _NotEmulatedError(f"cupy.{name}")
    raise AttributeError(f"module 'cupy' has no attribute {name!r}")


def __dir__() -> list[str]:
    functions = (name for name in _SIGNATURES if "." not in name)
    return sorted(
        {
            *__all__, *_OF_NUMPY, *_RENAMED, *_UFUNCS, *_CUSTOM, *functions, *_GRIDS, *_NUMBERS,
            *_EXCEPTIONS, *_REFUSED,
        }
    )  # fmt: skip
