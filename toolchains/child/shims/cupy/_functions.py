"""Functions of the namespace by name: universal, delegated, and those that differ from NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _creation
from ._delegate import call, delegated, unsupported
from ._storage import Array, checked_dtype, copied, wrapped
from ._ufunc import matmul, ufunc

UFUNCS: Mapping[str, str] = {
    **{
        name: name
        for name in [
            "absolute",
            "add",
            "arccos",
            "arccosh",
            "arcsin",
            "arcsinh",
            "arctan",
            "arctan2",
            "arctanh",
            "bitwise_and",
            "bitwise_count",
            "bitwise_or",
            "bitwise_xor",
            "cbrt",
            "ceil",
            "conjugate",
            "copysign",
            "cos",
            "cosh",
            "deg2rad",
            "degrees",
            "divide",
            "divmod",
            "equal",
            "exp",
            "exp2",
            "expm1",
            "fabs",
            "fix",
            "float_power",
            "floor",
            "floor_divide",
            "fmax",
            "fmin",
            "fmod",
            "frexp",
            "gcd",
            "greater",
            "greater_equal",
            "heaviside",
            "hypot",
            "i0",
            "invert",
            "isfinite",
            "isinf",
            "isnan",
            "lcm",
            "ldexp",
            "left_shift",
            "less",
            "less_equal",
            "log",
            "log10",
            "log1p",
            "log2",
            "logaddexp",
            "logaddexp2",
            "logical_and",
            "logical_not",
            "logical_or",
            "logical_xor",
            "maximum",
            "minimum",
            "modf",
            "multiply",
            "negative",
            "nextafter",
            "not_equal",
            "positive",
            "power",
            "rad2deg",
            "radians",
            "reciprocal",
            "remainder",
            "right_shift",
            "rint",
            "sign",
            "signbit",
            "sin",
            "sinc",
            "sinh",
            "sqrt",
            "square",
            "subtract",
            "tan",
            "tanh",
            "trunc",
        ]
    },
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift",
    "conj": "conjugate",
    "mod": "remainder",
    "pow": "power",
    "true_divide": "divide",
}
"""Name in CuPy → the ufunc."""


def _extreme(name: str) -> Callable[..., Any]:
    """Such as argmax: with a type for the result."""

    def found(
        a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        if not isinstance(a, Array):
            raise unsupported(a)
        made = call(getattr(np, name), a, axis=axis, out=out, keepdims=keepdims)
        return made if dtype is None else astype(made, dtype)

    found.__name__ = name
    return found


def astype(
    x: Array, dtype: npt.DTypeLike, *, order: Any = "K", casting: Any = "unsafe", copy: bool = True
) -> Array:
    """As on a GPU: what is beyond an integer's range becomes its nearest end, NaN 0."""
    if not isinstance(x, Array):
        raise unsupported(x)
    wanted, host = checked_dtype(dtype), x._host
    if not copy and wanted == host.dtype:
        return x
    if not np.can_cast(host.dtype, wanted, casting):
        raise TypeError(
            f"Cannot cast array data from {host.dtype!r} to {wanted!r} "
            f"according to the rule {casting!r}"
        )
    with np.errstate(all="ignore"):
        made = host.astype(wanted, order=order)
        if host.dtype.kind == "f" and wanted.kind in "iu" and wanted.itemsize >= 4:
            ends = np.iinfo(wanted)
            made[np.isnan(host)] = 0
            made[host >= float(ends.max)] = ends.max
            made[host <= float(ends.min)] = ends.min
    return copied(made, "K")


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of either, or the places where a condition holds."""
    if (x is None) != (y is None):
        raise ValueError("Must provide both 'x' and 'y' or neither.")
    if x is None:
        if not isinstance(condition, Array):
            raise unsupported(condition)
        return call(np.where, condition)
    return call(np.where, condition, x, y)


def take(a: Array, indices: Any, axis: Any = None, out: Any = None) -> Any:
    """Elements along an axis; indices wrap around."""
    if not isinstance(a, Array):
        raise unsupported(a)
    if isinstance(indices, np.ndarray):
        indices = copied(indices)
    return call(np.take, a, indices, axis=axis, out=out, mode="wrap")


def sort(a: Array, axis: Any = -1, kind: Any = None) -> Any:
    """Sorted; equals stay in their order."""
    if not isinstance(a, Array):
        raise unsupported(a)
    return call(np.sort, a, axis=axis, kind=kind or "stable")


def argsort(a: Array, axis: Any = -1, kind: Any = None) -> Any:
    """The order that sorts; equals stay in theirs."""
    if not isinstance(a, Array):
        raise unsupported(a)
    return call(np.argsort, a, axis=axis, kind=kind or "stable")


def choose(a: Array, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    """As numpy.choose."""
    return call(np.choose, a, choices, out=out, mode=mode)


def copyto(dst: Array, src: Any, casting: Any = "same_kind", where: Any = None) -> None:
    """Copy into an array."""
    call(np.copyto, dst, src, casting=casting, where=True if where is None else where)


def put(a: Array, ind: Any, v: Any, mode: Any = "wrap") -> None:
    """Set elements of the flattened array."""
    call(np.put, a, ind, v, mode=mode)


def fill_diagonal(a: Array, val: Any, wrap: bool = False) -> None:
    """Set the diagonal."""
    call(np.fill_diagonal, a, val, wrap)


def einsum(*operands: Any, **kwargs: Any) -> Any:
    """As numpy.einsum."""
    return call(np.einsum, *operands, **kwargs)


def pad(array: Array, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """As numpy.pad."""
    return call(np.pad, array, pad_width, mode=mode, **kwargs)


def gradient(f: Array, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """As numpy.gradient."""
    return call(np.gradient, f, *varargs, axis=axis, edge_order=edge_order)


def _of_all(name: str) -> Callable[..., Any]:
    """A function of any number of arrays."""

    def found(*arys: Any) -> Any:
        return call(getattr(np, name), *arys)

    found.__name__ = name
    return found


def _of_types(name: str) -> Callable[..., Any]:
    """A function of types, with an answer on the host."""

    def found(*args: Any, **kwargs: Any) -> Any:
        hosts = (a._host if isinstance(a, Array) else a for a in args)
        return getattr(np, name)(*hosts, **kwargs)

    found.__name__ = name
    return found


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays might overlap."""
    both = isinstance(a, Array) and isinstance(b, Array)
    return both and np.may_share_memory(a._host, b._host, max_work)


def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays overlap."""
    both = isinstance(a, Array) and isinstance(b, Array)
    return both and np.shares_memory(a._host, b._host, max_work)


def size(a: Any, axis: int | None = None) -> int:
    """Number of elements."""
    host = a._host if isinstance(a, Array) else np.asarray(a)
    return int(host.size if axis is None else host.shape[axis])


def as_strided(x: Array, shape: Any = None, strides: Any = None) -> Array:
    """A view with any strides."""
    made = np.lib.stride_tricks.as_strided(x._host, shape, strides)
    return wrapped(made, [x])


CUSTOM: Mapping[str, Callable[..., Any]] = {
    **{
        name: getattr(_creation, name)
        for name in (
            "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray",
            "asnumpy", "copy", "empty", "empty_like", "eye", "frombuffer", "fromfile",
            "fromfunction", "fromiter", "full", "full_like", "identity", "linspace", "logspace",
            "meshgrid", "ones", "ones_like", "zeros", "zeros_like",
        )
    },
    **{name: _extreme(name) for name in ("argmax", "argmin", "nanargmax", "nanargmin")},
    **{
        name: _of_all(name)
        for name in ("atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "ix_")
    },
    **{
        name: _of_types(name)
        for name in (
            "can_cast", "common_type", "iscomplexobj", "isrealobj", "isscalar", "min_scalar_type",
            "ndim", "result_type", "shape", "array_repr", "array_str", "array2string", "base_repr",
            "binary_repr", "format_float_positional", "format_float_scientific",
        )
    },
    **{
        one.__name__: one
        for one in (
            argsort, astype, choose, copyto, einsum, fill_diagonal, gradient, matmul,
            may_share_memory, pad, put, shares_memory, size, sort, take, where,
        )
    },
}  # fmt: skip
"""Functions with rules of their own."""


@cache
def function(name: str) -> Callable[..., Any]:
    """A function of the namespace, such as sum or linalg.norm. Raises KeyError."""
    if name in UFUNCS:
        return ufunc(UFUNCS[name], getattr(np, UFUNCS[name]))
    return CUSTOM[name] if name in CUSTOM else delegated(name)
