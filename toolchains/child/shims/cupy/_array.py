"""`cupy.ndarray`: an array on the emulated device. NumPy's arrays do not mix with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from . import _indexing
from ._delegate import call, delegated
from ._device import Device
from ._errors import NotEmulatedError
from ._functions import UFUNCS, astype, function
from ._memory import MemoryPointer
from ._operators import Operators
from ._storage import Array, Host, checked_dtype, copied, fresh, placed, view


class Flags:
    """Of an array: contiguity and ownership, by attribute or by name."""

    def __init__(self, array: Array) -> None:
        self.c_contiguous = array._host.flags.c_contiguous
        self.f_contiguous = array._host.flags.f_contiguous
        self.owndata = array.base is None

    @property
    def forc(self) -> bool:
        """Contiguous in either order."""
        return self.c_contiguous or self.f_contiguous

    @property
    def fnc(self) -> bool:
        """Contiguous in Fortran's order only."""
        return self.f_contiguous and not self.c_contiguous

    def __getitem__(self, name: str) -> bool:
        return bool(getattr(self, name.lower()))

    def __repr__(self) -> str:
        return (
            f"  C_CONTIGUOUS : {self.c_contiguous}\n"
            f"  F_CONTIGUOUS : {self.f_contiguous}\n  OWNDATA : {self.owndata}"
        )


_REFUSED = {
    "flat": "reshape(-1) or ravel() give the elements",
    **dict.fromkeys(("cstruct", "dump", "dumps", "mdspan", "toDlpack"), ""),
    **dict.fromkeys(("__dlpack__", "__dlpack_device__"), "asnumpy gives a NumPy array"),
}
"""What CuPy's arrays have, and these have not; why, or what to do."""


def _method(name: str) -> Callable[..., Any]:
    """The function of that name, with the array as its first argument."""

    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        return function(name)(self, *args, **kwargs)

    method.__name__ = name
    return method


class ndarray(Operators):
    """An array on the device."""

    def __init__(
        self,
        shape: int | tuple[int, ...],
        dtype: npt.DTypeLike = float,
        memptr: MemoryPointer | None = None,
        strides: tuple[int, ...] | None = None,
        order: str = "C",
    ) -> None:
        """See cupy.ndarray."""
        sizes = (int(shape),) if isinstance(shape, int | np.integer) else tuple(map(int, shape))
        if any(size < 0 for size in sizes):
            raise ValueError("Negative dimensions are not allowed")
        found = checked_dtype(dtype)
        made = (
            fresh(sizes, found, order)
            if memptr is None and strides is None
            else placed(sizes, found, memptr or fresh(sizes, found)._pointer(), strides, order)
        )
        self._host, self._memory, self.base = made._host, made._memory, None

    # --- What it is. ---
    @property
    def data(self) -> MemoryPointer:
        """Where its first element is."""
        return self._pointer()

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of every axis; setting it reshapes in place."""
        return self._host.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        made = self._host.reshape(shape)
        if made.size and not np.may_share_memory(made, self._host):
            raise AttributeError("Incompatible shape for in-place modification.")
        self._host = made

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return self._host.dtype

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next, for every axis."""
        return self._host.strides

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._host.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._host.size

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self._host.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._host.nbytes

    @property
    def flags(self) -> Flags:
        """Contiguity and ownership."""
        return Flags(self)

    @property
    def device(self) -> Device:
        """Where it is."""
        return self._memory.device

    @property
    def T(self) -> Array:
        """Axes reversed; a view."""
        return view(self._host.T, self)

    @property
    def mT(self) -> Array:
        """The last two axes swapped; a view."""
        return view(self._host.mT, self)

    @property
    def real(self) -> Array:
        """Real parts; a view."""
        return view(self._host.real, self)

    @real.setter
    def real(self, value: Any) -> None:
        _indexing.put(view(self._host.real, self), Ellipsis, value)

    @property
    def imag(self) -> Array:
        """Imaginary parts; a view of complex arrays, zeros of others."""
        return (
            view(self._host.imag, self) if self._host.dtype.kind == "c" else copied(self._host.imag)
        )

    @imag.setter
    def imag(self, value: Any) -> None:
        _indexing.put(view(self._host.imag, self), Ellipsis, value)

    # --- To and from the host. ---
    def get(
        self,
        stream: object = None,
        order: Any = "C",
        out: Host | None = None,
        blocking: bool = True,
    ) -> Host:
        """A copy on the host."""
        if out is None:
            return np.array(self._host, order="K" if order == "A" else order)
        if not isinstance(out, np.ndarray):
            raise TypeError("Only numpy.ndarray can be obtained from cupy.ndarray")
        if out.dtype != self.dtype:
            raise TypeError(f"{out.dtype} array cannot be obtained from {self.dtype} array")
        if out.shape != self.shape:
            raise ValueError(
                f"Shape mismatch. Expected shape: {out.shape}, actual shape: {self.shape}"
            )
        out[...] = self._host
        return out

    def set(self, arr: Host, stream: object = None) -> None:
        """Copy an array of the host here."""
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if self.dtype != arr.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array")
        if self.shape != arr.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
        if not self.flags.forc:
            raise RuntimeError("Cannot set to non-contiguous array")
        self._host[...] = arr

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "strides": None if self.flags.c_contiguous else self.strides,
            "data": (self.data.ptr, False),
            "version": 3,
            "stream": 1,
        }

    def __getattr__(self, name: str) -> NoReturn:
        if name in _REFUSED:
            raise NotEmulatedError(f"cupy.ndarray.{name}", _REFUSED[name])
        raise AttributeError(f"'cupy.ndarray' object has no attribute {name!r}")

    def item(self, *args: Any) -> Any:
        """One element as a Python number."""
        return self._host.item(*args)

    def tolist(self) -> Any:
        """Elements as nested lists."""
        return self._host.tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """The content, packed."""
        return self._host.tobytes(order)

    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Write the elements to a file."""
        self._host.tofile(fid, sep, format)

    # --- Copies and views. ---
    def copy(self, order: Any = "C") -> Array:
        """A copy on the device."""
        return copied(self._host, order)

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, _memo: Any) -> Array:
        return self.copy()

    def __reduce__(self) -> tuple[Callable[[Host], Array], tuple[Host]]:
        return copied, (self.get(),)

    def astype(
        self,
        dtype: npt.DTypeLike,
        order: Any = "K",
        casting: Any = None,
        subok: Any = None,
        copy: bool = True,
    ) -> Array:
        """With elements of another type; floats beyond an integer's range become its ends."""
        if subok is not None:
            raise NotImplementedError("subok is not supported yet")
        return astype(self, dtype, order=order, casting=casting or "unsafe", copy=copy)

    def view(self, dtype: npt.DTypeLike | None = None, type: Any = None) -> Array:
        """The same bytes, as another type."""
        if type is not None and type is not ndarray:
            raise NotEmulatedError("cupy.ndarray.view(type=...)")
        return view(self._host.view() if dtype is None else self._host.view(dtype), self)

    def reshape(self, *shape: Any, order: Any = "C", copy: Any = None) -> Array:
        """In another shape; a view where possible."""
        sizes = shape[0] if len(shape) == 1 else shape
        order = "C" if order == "A" and not self.flags.fnc else order
        made: Array = call(np.reshape, self, sizes, order=order, copy=copy)
        return made if made is not self else view(self._host.view(), self)

    def transpose(self, *axes: Any) -> Array:
        """Axes in another order; a view."""
        return view(self._host.transpose(*axes), self)

    def flatten(self, order: Any = "C") -> Array:
        """A copy with one axis."""
        return copied(self._host.flatten(order))

    def byteswap(self, inplace: bool = False) -> Array:
        """Bytes of every element reversed."""
        made = self._host.byteswap(inplace)
        return self if inplace else copied(made)

    def reduced_view(self, dtype: Any = None) -> Array:
        """With as few axes as its strides allow."""
        return self.reshape(-1) if self.flags.c_contiguous else self

    # --- In place. ---
    def fill(self, value: Any) -> None:
        """Set every element."""
        with np.errstate(all="ignore"):
            self._host[...] = np.asarray(_indexing.scalar(value)).astype(self.dtype)

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        """In place."""
        self._host.sort(axis, kind=kind or "stable")

    def partition(self, kth: int, axis: int = -1) -> None:
        """In place."""
        self._host.partition(kth, axis)

    def put(self, indices: Any, values: Any, mode: str = "wrap") -> None:
        """Set elements of the flattened array."""
        call(np.put, self, indices, values, mode=mode)

    def scatter_add(self, slices: Any, value: Any) -> None:
        """Add at indices; each counts."""
        call(np.add.at, self, slices, value)

    def scatter_max(self, slices: Any, value: Any) -> None:
        """Maximum at indices."""
        call(np.maximum.at, self, slices, value)

    def scatter_min(self, slices: Any, value: Any) -> None:
        """Minimum at indices."""
        call(np.minimum.at, self, slices, value)

    # --- Functions as methods. ---
    all = _method("all")
    any = _method("any")
    argmax = _method("argmax")
    argmin = _method("argmin")
    argpartition = _method("argpartition")
    argsort = _method("argsort")
    choose = _method("choose")
    clip = _method("clip")
    conj = _method("conj")
    conjugate = _method("conj")
    cumprod = _method("cumprod")
    cumsum = _method("cumsum")
    diagonal = _method("diagonal")
    dot = _method("dot")
    max = _method("max")
    mean = _method("mean")
    min = _method("min")
    nonzero = _method("nonzero")
    prod = _method("prod")
    ptp = _method("ptp")
    ravel = _method("ravel")
    repeat = _method("repeat")
    round = _method("round")
    searchsorted = _method("searchsorted")
    squeeze = _method("squeeze")
    std = _method("std")
    sum = _method("sum")
    swapaxes = _method("swapaxes")
    take = _method("take")
    trace = _method("trace")
    var = _method("var")

    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Array:
        """Slices where a condition holds."""
        made: Array = delegated("compress")(condition, self, axis=axis, out=out)
        return made

    # --- NumPy's protocols. ---
    __array_priority__ = 100

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc.__name__ not in UFUNCS and ufunc is not np.matmul:
            return NotImplemented
        if isinstance(kwargs.get("out"), tuple):
            (kwargs["out"],) = kwargs["out"]
        made = function(ufunc.__name__)
        return (made if method == "__call__" else getattr(made, method))(*inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = ".".join([*func.__module__.split(".")[1:], func.__name__])
        try:
            found = function(name)
        except KeyError:
            return NotImplemented
        return found(*args, **kwargs)

    # --- Elements. ---
    def __getitem__(self, key: Any) -> Array:
        return _indexing.get(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _indexing.put(self, key, value)

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Iterator[Array]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return repr(self._host)

    def __str__(self) -> str:
        return str(self._host)

    def __format__(self, spec: str) -> str:
        return format(self._host if self.ndim else self._host[()], spec)


ndarray.__module__ = "cupy"
