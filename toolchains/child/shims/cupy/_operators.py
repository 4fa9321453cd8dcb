"""Operators of device arrays: universal functions, and conversion of single elements."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ._functions import function
from ._storage import Array, copied


def _yields(other: Any) -> bool:
    """Whether the other operand asks to be tried instead."""
    return getattr(other, "__array_ufunc__", ...) is None


def _binary(name: str) -> Callable[[Array, Any], Any]:
    def operator(self: Array, other: Any) -> Any:
        return NotImplemented if _yields(other) else function(name)(self, other)

    return operator


def _reflected(name: str) -> Callable[[Array, Any], Any]:
    def operator(self: Array, other: Any) -> Any:
        return function(name)(other, self)

    return operator


def _in_place(name: str) -> Callable[[Array, Any], Any]:
    def operator(self: Array, other: Any) -> Any:
        return function(name)(self, other, self)

    return operator


def _compared(name: str) -> Callable[[Array, Any], Any]:
    def operator(self: Array, other: Any) -> Any:
        if isinstance(other, np.ndarray) and other.ndim == 0:
            other = other.item()
        if name in ("equal", "not_equal") and _incomparable(other):
            return copied(np.full(self._host.shape, name == "not_equal"))
        return NotImplemented if _yields(other) else function(name)(self, other)

    return operator


def _incomparable(other: Any) -> bool:
    """Whether it is equal to itself at most."""
    compares: Any = type(other).__eq__
    return other is None or compares is object.__eq__


def _unary(name: str) -> Callable[[Array], Any]:
    def operator(self: Array) -> Any:
        return function(name)(self)

    return operator


class Operators(Array):
    """Arithmetic, comparison and conversion."""

    __add__, __radd__, __iadd__ = _binary("add"), _reflected("add"), _in_place("add")
    __sub__, __rsub__ = _binary("subtract"), _reflected("subtract")
    __isub__ = _in_place("subtract")
    __mul__, __rmul__ = _binary("multiply"), _reflected("multiply")
    __imul__ = _in_place("multiply")
    __truediv__, __rtruediv__ = _binary("true_divide"), _reflected("true_divide")
    __itruediv__ = _in_place("true_divide")
    __floordiv__, __rfloordiv__ = _binary("floor_divide"), _reflected("floor_divide")
    __ifloordiv__ = _in_place("floor_divide")
    __mod__, __rmod__ = _binary("remainder"), _reflected("remainder")
    __imod__ = _in_place("remainder")
    __divmod__, __rdivmod__ = _binary("divmod"), _reflected("divmod")
    __pow__, __rpow__, __ipow__ = _binary("power"), _reflected("power"), _in_place("power")
    __lshift__, __rlshift__ = _binary("left_shift"), _reflected("left_shift")
    __ilshift__ = _in_place("left_shift")
    __rshift__, __rrshift__ = _binary("right_shift"), _reflected("right_shift")
    __irshift__ = _in_place("right_shift")
    __and__, __rand__ = _binary("bitwise_and"), _reflected("bitwise_and")
    __iand__ = _in_place("bitwise_and")
    __or__, __ror__ = _binary("bitwise_or"), _reflected("bitwise_or")
    __ior__ = _in_place("bitwise_or")
    __xor__, __rxor__ = _binary("bitwise_xor"), _reflected("bitwise_xor")
    __ixor__ = _in_place("bitwise_xor")
    __matmul__, __rmatmul__ = _binary("matmul"), _reflected("matmul")

    __lt__, __le__ = _compared("less"), _compared("less_equal")
    __gt__, __ge__ = _compared("greater"), _compared("greater_equal")
    __eq__ = _compared("equal")
    __ne__ = _compared("not_equal")
    __hash__ = None  # type: ignore[assignment]

    __neg__, __pos__ = _unary("negative"), _unary("positive")
    __abs__, __invert__ = _unary("absolute"), _unary("invert")

    def __bool__(self) -> bool:
        if self._host.size == 0:
            warnings.warn(
                "The truth value of an empty array is ambiguous. Use `array.size > 0` to check "
                "that an array is not empty.",
                DeprecationWarning,
                stacklevel=2,
            )
            return False
        return bool(self._host)

    def __int__(self) -> int:
        return int(self._host)

    def __float__(self) -> float:
        return float(self._host)

    def __complex__(self) -> complex:
        return complex(self._host)

    def __bytes__(self) -> bytes:
        return bytes(self._host)
