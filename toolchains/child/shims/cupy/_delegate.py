"""NumPy's functions on emulated arrays: arguments unwrapped, results wrapped.

Parameters are those of CuPy (`_signatures.py`), which are often fewer than NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from ._signatures import SIGNATURES
from ._storage import Array, copied, wrapped

_ARRAYS = frozenset(
    ["a", "a1", "ar", "ar1", "arr", "arr1", "ary", "element", "filt", "m", "p", "val", "x", "z"],
)
"""First parameters that must be arrays already."""
_PLAIN = frozenset({"iscomplexobj", "isrealobj", "isfortran"})
"""Answers that are Python's own."""


@dataclass
class _Sources:
    """Arrays among the arguments of a call."""

    arrays: list[Array]

    def unwrap(self, value: Any) -> Any:
        """The same for NumPy. Raises TypeError for NumPy's own arrays."""
        if isinstance(value, Array):
            self.arrays.append(value)
            return value._host
        if isinstance(value, np.ndarray):
            raise unsupported(value)
        if type(value) in (list, tuple):
            return type(value)(map(self.unwrap, value))
        return value

    def wrap(self, result: Any) -> Any:
        """NumPy's result as CuPy has it: scalars are arrays, too."""
        if isinstance(result, np.ndarray):
            return wrapped(result, self.arrays)
        if isinstance(result, np.generic | bool | int | float | complex):
            return copied(np.asarray(result))
        if isinstance(result, tuple) and hasattr(result, "_fields"):
            return type(result)(*map(self.wrap, result))
        if isinstance(result, list | tuple):
            return type(result)(map(self.wrap, result))
        return result


def unsupported(value: object) -> TypeError:
    """As CuPy's kernels refuse an argument."""
    return TypeError(f"Unsupported type {type(value)}")


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """NumPy's function on arrays of either package's kind."""
    sources = _Sources([])
    values = [sources.unwrap(value) for value in args]
    named = {name: sources.unwrap(value) for name, value in kwargs.items()}
    with np.errstate(all="ignore"):
        result = function(*values, **named)
    return sources.wrap(result)


@dataclass(frozen=True)
class _Parameter:
    """One parameter of a function: its name in CuPy, and in NumPy."""

    name: str
    numpy: str
    positional: bool
    """NumPy takes it by position only."""


class Delegated:
    """A function of CuPy's that NumPy computes."""

    def __init__(self, name: str, function: Callable[..., Any], parameters: str) -> None:
        """parameters: as `_signatures.SIGNATURES` has them."""
        self.__name__ = self.__qualname__ = name
        self.__module__ = "cupy"
        self.__doc__ = f"As numpy.{name}, on device arrays."
        self._function, self._parameters = function, tuple(map(_parsed, parameters.split()))

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._parameters and self._parameters[0].name == "*":
            return call(self._function, *args, **kwargs)
        given = self._bound(args, kwargs)
        self._require_array(given)
        values, named = [], {}
        for one in self._parameters:
            if one.name in given and one.positional:
                values.append(given[one.name])
            elif one.name in given:
                named[one.numpy] = given[one.name]
        result = call(self._function, *values, **named)
        if self.__name__ in _PLAIN:
            return bool(result._host)
        return result

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        names = [one.name for one in self._parameters]
        if len(args) > len(names):
            raise TypeError(
                f"{self.__name__}() takes at most {len(names)} arguments, {len(args)} were given"
            )
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                raise TypeError(
                    f"{self.__name__}() got an unexpected keyword argument {name!r}; "
                    f"CuPy has {', '.join(names)}"
                )
            if name in given:
                raise TypeError(f"{self.__name__}() got multiple values for argument {name!r}")
            given[name] = value
        return given

    def _require_array(self, given: dict[str, Any]) -> None:
        first = self._parameters[0].name if self._parameters else ""
        if first in _ARRAYS and first in given and not isinstance(given[first], Array):
            raise unsupported(given[first])


def _parsed(text: str) -> _Parameter:
    name, _, other = text.lstrip("/").partition("=")
    return _Parameter(name, other or name, text.startswith("/"))


def delegated(name: str) -> Delegated:
    """One of `_signatures.SIGNATURES`."""
    return Delegated(name, attrgetter(name)(np), SIGNATURES[name])
