"""Functions that make device arrays, and those that bring them back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ._delegate import unsupported
from ._storage import Array, Host, checked_dtype, copied, fresh, view

Shape = int | tuple[int, ...]


def array(
    obj: Any,
    dtype: npt.DTypeLike | None = None,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> Array:
    """A device array of numbers, of NumPy's arrays, of nested lists of either."""
    if subok:
        raise NotImplementedError("subok is not supported yet")
    if isinstance(obj, Array):
        return _converted(obj, dtype, copy, order, ndmin)
    host = np.array(_on_host(obj), dtype=dtype, order="K" if order == "A" else order, ndmin=ndmin)
    return copied(host, order or "K")


def _converted(source: Array, dtype: Any, copy: Any, order: Any, ndmin: int) -> Array:
    wanted = source._host.dtype if dtype is None else np.dtype(dtype)
    shape = (1,) * (ndmin - source._host.ndim) + source._host.shape
    right = _ordered(source._host, order or "K")
    if not copy and wanted == source._host.dtype and right:
        same = shape == source._host.shape
        return source if same else view(source._host.reshape(shape), source)
    return copied(source._host.astype(wanted).reshape(shape), order or "K")


def _ordered(host: Host, order: Any) -> bool:
    if order == "C":
        return host.flags.c_contiguous
    return host.flags.f_contiguous if order == "F" else True


def _on_host(obj: Any) -> Any:
    """Lists of device arrays as lists of NumPy's."""
    if isinstance(obj, Array):
        return obj._host
    if type(obj) in (list, tuple) and any(isinstance(o, Array | list | tuple) for o in obj):
        return [_on_host(one) for one in obj]
    return obj


def asarray(
    a: Any,
    dtype: npt.DTypeLike | None = None,
    order: Any = None,
    *,
    copy: bool | None = None,
    blocking: bool = False,
) -> Array:
    """As `array`, but without a copy of what is on the device already."""
    return array(a, dtype, bool(copy), order or "K")


asanyarray = asarray


def ascontiguousarray(a: Any, dtype: npt.DTypeLike | None = None) -> Array:
    """In C order, with at least one axis."""
    return array(a, dtype, copy=False, order="C", ndmin=1)


def asfortranarray(a: Any, dtype: npt.DTypeLike | None = None) -> Array:
    """In Fortran's order, with at least one axis."""
    return array(a, dtype, copy=False, order="F", ndmin=1)


def asnumpy(
    a: Any, stream: object = None, order: Any = "C", out: Any = None, *, blocking: bool = True
) -> Host:
    """A copy on the host."""
    if isinstance(a, Array):
        host: Host = a.get(stream=stream, order=order, out=out, blocking=blocking)  # type: ignore[attr-defined]
        return host
    if out is None:
        return np.array(a, order=order)
    out[...] = a
    return out  # type: ignore[no-any-return]


def copy(a: Any, order: Any = "K") -> Array:
    """A copy on the device."""
    if not isinstance(a, Array):
        return array(a, order=order)
    return copied(a._host, order)


def _sizes(shape: Shape) -> tuple[int, ...]:
    sizes = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    if any(isinstance(size, Array) for size in sizes):
        raise TypeError("an integer is needed for a shape, not a cupy.ndarray")
    if any(size < 0 for size in sizes):
        raise ValueError("Negative dimensions are not allowed")
    return tuple(int(size) for size in sizes)


def empty(shape: Shape, dtype: npt.DTypeLike = float, order: Any = "C") -> Array:
    """Memory with no content worth reading."""
    return fresh(_sizes(shape), checked_dtype(dtype), order)


def full(
    shape: Shape, fill_value: Any, dtype: npt.DTypeLike | None = None, order: Any = "C"
) -> Array:
    """The same value everywhere."""
    value = fill_value._host if isinstance(fill_value, Array) else np.asarray(fill_value)
    made = empty(shape, value.dtype if dtype is None else dtype, order)
    made._host[...] = value
    return made


def zeros(shape: Shape, dtype: npt.DTypeLike = float, order: Any = "C") -> Array:
    """Zeros."""
    made = empty(shape, dtype, order)
    made._host.view(np.uint8 if made._host.dtype.kind == "V" else made._host.dtype)[...] = 0
    return made


def ones(shape: Shape, dtype: npt.DTypeLike = float, order: Any = "C") -> Array:
    """Ones."""
    return full(shape, 1, np.dtype(dtype), order)


def _like(prototype: Any, dtype: Any, order: Any, shape: Shape | None) -> tuple[Any, Any, Any]:
    if not isinstance(prototype, Array):
        raise TypeError(f"a cupy.ndarray is needed, not {type(prototype).__name__}")
    host = prototype._host
    keeps = order in {"K", "A"} and host.flags.fnc
    sizes = host.shape if shape is None else shape
    return sizes, host.dtype if dtype is None else dtype, "F" if keeps or order == "F" else "C"


def empty_like(
    prototype: Array,
    dtype: npt.DTypeLike | None = None,
    order: Any = "K",
    subok: None = None,
    shape: Shape | None = None,
) -> Array:
    """As `empty`, with the shape and type of another."""
    return empty(*_like(prototype, dtype, order, shape))


def zeros_like(
    a: Array,
    dtype: npt.DTypeLike | None = None,
    order: Any = "K",
    subok: None = None,
    shape: Shape | None = None,
) -> Array:
    """As `zeros`, with the shape and type of another."""
    return zeros(*_like(a, dtype, order, shape))


def ones_like(
    a: Array,
    dtype: npt.DTypeLike | None = None,
    order: Any = "K",
    subok: None = None,
    shape: Shape | None = None,
) -> Array:
    """As `ones`, with the shape and type of another."""
    return ones(*_like(a, dtype, order, shape))


def full_like(
    a: Array,
    fill_value: Any,
    dtype: npt.DTypeLike | None = None,
    order: Any = "K",
    subok: None = None,
    shape: Shape | None = None,
) -> Array:
    """As `full`, with the shape and type of another."""
    sizes, found, layout = _like(a, dtype, order, shape)
    return full(sizes, fill_value, found, layout)


def _number(value: Any) -> Any:
    return value._host[()] if isinstance(value, Array) else value


def arange(
    start: Any, stop: Any = None, step: Any = 1, dtype: npt.DTypeLike | None = None
) -> Array:
    """As numpy.arange."""
    begin, end = (0, start) if stop is None else (start, stop)
    return copied(np.arange(*map(_number, (begin, end, step)), dtype=dtype))


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
) -> Any:
    """As numpy.linspace."""
    first, last = _number(start), _number(stop)
    drawn: Any = np.linspace
    made = drawn(first, last, num, endpoint, retstep, dtype, axis)
    return (copied(made[0]), made[1]) if retstep else copied(made)


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """As numpy.logspace."""
    first, last = _number(start), _number(stop)
    return copied(np.logspace(first, last, num, endpoint, base, dtype, axis))


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: npt.DTypeLike = float,
    order: Any = "C",
) -> Array:
    """Ones on a diagonal."""
    return copied(np.eye(N, M, k, dtype, order), order)


def identity(n: int, dtype: npt.DTypeLike = float) -> Array:
    """Ones on the diagonal."""
    return copied(np.identity(n, dtype))


def meshgrid(*xi: Array, indexing: Any = "xy", sparse: bool = False, copy: bool = True) -> Any:
    """As numpy.meshgrid."""
    for one in xi:
        if not isinstance(one, Array):
            raise unsupported(one)
    made = np.meshgrid(*(one._host for one in xi), indexing=indexing, sparse=sparse)
    return [copied(one) for one in made]


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Array:
    """A copy of host memory."""
    return copied(np.frombuffer(buffer, dtype, count, offset))


def fromfile(file: Any, dtype: Any = float, count: int = -1, sep: str = "", offset: int = 0) -> Any:
    """As numpy.fromfile."""
    return copied(np.fromfile(file, dtype, count, sep, offset))


def fromiter(iterable: Iterable[Any], dtype: Any, count: int = -1) -> Array:
    """As numpy.fromiter."""
    return copied(np.fromiter(iterable, dtype, count))


def fromfunction(function: Any, shape: Shape, *, dtype: Any = float, **kwargs: Any) -> Any:
    """A function of indices, which are device arrays."""
    grid = np.indices(_sizes(shape), dtype=dtype)
    return function(*map(copied, grid), **kwargs)
