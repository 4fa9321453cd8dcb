"""Universal functions on device arrays: types, promotion and loops are NumPy's.

They take arrays of the device and scalars, nothing else: no lists, no NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._delegate import call, unsupported
from ._storage import Array, fresh

SCALARS = (bool, int, float, complex, np.number, np.bool_)
_BOOLEANS = {"negative": "logical_not", "subtract": "logical_xor"}
"""Functions of which CuPy has a loop for bool, and NumPy none: what it computes."""
_REDUCED = {"add": "sum", "multiply": "prod"}
_SCATTERED = frozenset(
    {"add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"}
)
"""Those that have `at`."""


class ufunc:
    """A universal function."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        """function: NumPy's; mostly a ufunc."""
        self.name, self.__name__ = f"cupy_{name}", name
        self.__doc__ = f"As numpy.{name}, on device arrays."
        self._function = function
        self.nin = int(getattr(function, "nin", 1))
        self.nout = int(getattr(function, "nout", 1))
        self.nargs = self.nin + self.nout

    def __repr__(self) -> str:
        return f"<ufunc '{self.name}'>"

    @property
    def types(self) -> list[str]:
        """Loops, as NumPy writes them."""
        return list(getattr(self._function, "types", ()))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(f"Wrong number of arguments for {self.__name__!r}: {len(args)}")
        outs = _outs(args[self.nin :], kwargs.pop("out", None), self.nout)
        unknown = set(kwargs) - {"dtype", "casting", "where", "axis", "keepdims"}
        if unknown:
            raise TypeError(f"Wrong arguments {sorted(unknown)}")
        for value in (*args[: self.nin], *(one for one in outs if one is not None)):
            if not isinstance(value, (Array, *SCALARS)):
                raise unsupported(value)
        inputs = args[: self.nin]
        if not isinstance(self._function, np.ufunc):
            return call(self._function, *inputs, **kwargs)
        function = self._for(inputs)
        made = _results(function, inputs, outs, kwargs)
        hosts = [one._host if isinstance(one, Array) else one for one in inputs]
        kwargs = {k: v._host if isinstance(v, Array) else v for k, v in kwargs.items()}
        with np.errstate(all="ignore"):
            function(*hosts, out=tuple(one._host for one in made), **kwargs)
        return made[0] if self.nout == 1 else tuple(made)

    def _for(self, inputs: Sequence[Any]) -> Any:
        """NumPy's function for these inputs."""
        other = _BOOLEANS.get(self.__name__)
        if other and all(_is_bool(one) for one in inputs):
            return getattr(np, other)
        return self._function

    def outer(self, A: Any, B: Any, **kwargs: Any) -> Any:
        """For all pairs of elements."""
        for value in (A, B):
            if not isinstance(value, (Array, *SCALARS)):
                raise unsupported(value)
        left = A._host if isinstance(A, Array) else np.asarray(A)
        right = B._host if isinstance(B, Array) else np.asarray(B)
        return call(lambda: self._function.outer(left, right, **kwargs))  # type: ignore[attr-defined]

    def at(self, a: Array, indices: Any, b: Any = None) -> None:
        """In place, every index counts."""
        if self.__name__ not in _SCATTERED:
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        call(self._function.at, a, indices, b)  # type: ignore[attr-defined]

    def reduce(self, array: Array, **kwargs: Any) -> Any:
        """Along an axis: of add and multiply only."""
        if self.__name__ not in _REDUCED:
            raise NotImplementedError(f"`{self.name}.reduce` is not supported yet")
        axis = kwargs.pop("axis", 0)
        return call(getattr(np, _REDUCED[self.__name__]), array, axis=axis, **kwargs)

    def accumulate(self, array: Array, **kwargs: Any) -> Any:
        """Along an axis: of add and multiply only."""
        if self.__name__ not in _REDUCED:
            raise NotImplementedError(f"`{self.name}.accumulate` is not supported yet")
        return call(self._function.accumulate, array, **kwargs)  # type: ignore[attr-defined]

    def reduceat(self, array: Array, indices: Any, **kwargs: Any) -> Any:
        """Over slices: of add only."""
        if self.__name__ != "add":
            raise NotImplementedError(f"`{self.name}.reduceat` is not supported yet")
        return call(self._function.reduceat, array, indices, **kwargs)  # type: ignore[attr-defined]


def _is_bool(value: Any) -> bool:
    if isinstance(value, Array):
        return value._host.dtype.kind == "b"
    return isinstance(value, bool | np.bool_)


def _outs(given: Sequence[Any], named: Any, count: int) -> list[Any]:
    """Where results are to go; None: into fresh arrays."""
    if named is not None and given:
        raise ValueError("Cannot specify 'out' as both a positional and keyword argument")
    if isinstance(named, tuple):
        given = named
    elif named is not None:
        given = (named,)
    for one in given:
        if one is not None and not isinstance(one, Array):
            raise TypeError("Output arguments type must be cupy.ndarray")
    return [*given, *[None] * (count - len(given))]


def _results(
    function: np.ufunc, inputs: Sequence[Any], outs: Sequence[Any], kwargs: dict[str, Any]
) -> list[Array]:
    """The arrays to compute into."""
    shape = np.broadcast_shapes(*(one._host.shape for one in inputs if isinstance(one, Array)))
    if all(one is not None for one in outs):
        if any(one._host.shape != shape for one in outs):
            raise ValueError("Out shape is mismatched")
        return list(outs)
    dtypes = _dtypes(function, inputs, kwargs.get("dtype"))
    pairs = zip(outs, dtypes, strict=True)
    return [fresh(shape, dtype) if one is None else one for one, dtype in pairs]


def _dtypes(function: np.ufunc, inputs: Sequence[Any], dtype: Any) -> list[np.dtype[Any]]:
    """Types of the results. Python's numbers are weak, as in NumPy 2."""
    given = [_type(one) for one in inputs]
    wanted = [None] * function.nout
    if dtype is not None:
        fixed = np.dtype(dtype)
        if function.types and function.types[0].endswith("?") and fixed.kind != "b":
            return [np.dtype(bool)] * function.nout
        return [fixed] * function.nout
    if np.ufunc is type(function) and given:
        resolved = function.resolve_dtypes((*given, *wanted))
        return [np.dtype(one) for one in resolved[function.nin :]]
    raise TypeError(f"no result type for {function}")


def _type(value: Any) -> Any:
    if isinstance(value, Array):
        return value._host.dtype
    if type(value) in (int, float, complex):
        return type(value)
    return np.asarray(value).dtype


def matmul(a: Array, b: Array, out: Array | None = None, **kwargs: Any) -> Any:
    """Matrix product. Raises TypeError for what is no device array."""
    for value in (a, b):
        if not isinstance(value, Array):
            raise unsupported(value)
    return call(np.matmul, a, b, out=out, **kwargs)
