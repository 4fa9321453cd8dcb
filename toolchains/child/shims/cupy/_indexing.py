"""Indices of device arrays: NumPy's, but that integer arrays wrap around at the ends of an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._delegate import unsupported
from ._storage import Array, Host, copied, view


def get(array: Array, key: Any) -> Array:
    """`array[key]`: a view for slices and integers, a copy for arrays of indices."""
    if isinstance(key, str) or (isinstance(key, list) and key and isinstance(key[0], str)):
        return view(array._host[key], array)
    parts, advanced = _prepared(array._host, key)
    if advanced:
        return copied(np.asarray(array._host[parts]))
    # With an ellipsis even one element is a view.
    whole = parts if any(part is Ellipsis for part in parts) else (*parts, Ellipsis)
    return view(array._host[whole], array)


def put(array: Array, key: Any, value: Any) -> None:
    """`array[key] = value`. Raises for NumPy's arrays where CuPy does."""
    if isinstance(key, str):
        put(view(array._host[key], array), Ellipsis, value)
        return
    parts, advanced = _prepared(array._host, key)
    if isinstance(value, Array):
        source: Any = value._host
    elif advanced:
        source = np.asarray(value, array._host.dtype)
    else:
        source = scalar(value)
    with np.errstate(all="ignore"):
        array._host[parts] = source


def scalar(value: Any) -> Any:
    """What `fill` takes. Raises ValueError for other arrays of NumPy's, TypeError for the rest."""
    if isinstance(value, Array):
        if value._host.ndim:
            raise ValueError("non-scalar cupy.ndarray cannot be used for fill")
        return value._host[()]
    if isinstance(value, np.ndarray):
        if value.shape != ():
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        return value.item()
    if not isinstance(value, bool | int | float | complex | np.generic):
        raise unsupported(value)
    return value


def _prepared(host: Host, key: Any) -> tuple[tuple[Any, ...], bool]:
    """The index as NumPy takes it, and whether arrays are in it."""
    parts = [_part(part) for part in (key if isinstance(key, tuple) else (key,))]
    advanced = any(isinstance(part, np.ndarray) for part in parts)
    return tuple(_wrapped(host, parts)) if advanced else tuple(parts), advanced


def _part(part: Any) -> Any:
    if part is None or part is Ellipsis or isinstance(part, slice):
        return _plain_slice(part) if isinstance(part, slice) else part
    if isinstance(part, Array):
        made = part._host
    elif isinstance(part, list | tuple):
        made = np.asarray([p._host if isinstance(p, Array) else p for p in part])
        made = made.astype(np.int64) if made.size == 0 else made
    elif isinstance(part, bool | np.bool_ | np.ndarray):
        made = np.asarray(part)
    else:
        return part
    if made.dtype.kind not in "biu":
        raise IndexError(
            f"arrays used as indices must be of integer or boolean type (actual: {made.dtype.type})"
        )
    return made


def _plain_slice(part: slice) -> slice:
    """Ends that are device arrays would copy to the host: CuPy refuses them."""
    for end in (part.start, part.stop, part.step):
        if isinstance(end, Array):
            raise TypeError("slice indices must be integers or None or have an __index__ method")
    return part


def _wrapped(host: Host, parts: list[Any]) -> list[Any]:
    """Integers beyond the ends of their axis, brought inside."""
    used = sum(_axes(part) for part in parts)
    made, axis = [], 0
    for part in parts:
        if part is Ellipsis:
            axis += host.ndim - used
        elif isinstance(part, np.ndarray) and part.dtype.kind != "b":
            length = host.shape[axis] if axis < host.ndim else 0
            part = part.astype(np.int64) % length if length else part
        axis += _axes(part)
        made.append(part)
    return made


def _axes(part: Any) -> int:
    """Of the array that a part of an index is about."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, np.ndarray) and part.dtype.kind == "b":
        return part.ndim
    return 1
