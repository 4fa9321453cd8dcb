"""Launches: what a program passes, checked against what a kernel declares.

A real launch copies as many bytes as the kernel's parameter has from wherever the argument is; what
does not fit there reads garbage, and here is an error.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._device import SHARED_BYTES, limit
from ._engine import PROCESS, Dim3, GlobalInfo, Info, KernelInfo, Loaded, Param, Source
from ._errors import CUDADriverError, invalid_value
from ._memory import Memory, MemoryPointer, known
from ._storage import Array


class Module:
    """A compiled module and the memory of its variables."""

    def __init__(self, source: Source, info: Info) -> None:
        self.source, self.info = source, info
        self._loaded: dict[tuple[str, Dim3, bool], Loaded] = {}
        self.variables = {one.symbol: _variable(one) for one in info.globals}

    def loaded(self, symbol: str, block: Dim3) -> Loaded:
        """A kernel for a block shape and the order of threads that is wanted now."""
        key = (symbol, block, PROCESS.descending)
        if key not in self._loaded:
            engine = PROCESS.needs_engine("device code")
            self._loaded[key] = engine.kernel(
                self.source, symbol, block, descending=PROCESS.descending
            )
        return self._loaded[key]

    def variable(self, name: str) -> MemoryPointer:
        """The memory of one. Raises CUDADriverError if there is none of that name."""
        for one in self.info.globals:
            if name in (one.name, one.symbol):
                return MemoryPointer(self.variables[one.symbol], 0)
        raise _not_found(name, [one.name for one in self.info.globals], "variable")

    def kernel(self, name: str) -> KernelInfo:
        """One of its kernels, by symbol or name expression. Raises CUDADriverError."""
        for one in self.info.kernels:
            if name == one.symbol or (name == one.name and name in self.source.names):
                return one
        for one in self.info.kernels:
            if name == one.name:
                raise CUDADriverError(
                    "CUDA_ERROR_NOT_FOUND",
                    f"named symbol not found: {name} is a C++ function, whose symbol is "
                    f'{one.symbol}; declare it extern "C", or name it in name_expressions',
                    500,
                )
        raise _not_found(name, [one.name for one in self.info.kernels], "kernel")


def _variable(one: GlobalInfo) -> Memory:
    memory = Memory(one.size)
    memory._content[...] = np.frombuffer(one.init, np.uint8) if one.init else 0
    return memory


def _not_found(name: str, names: Sequence[str], kind: str) -> CUDADriverError:
    there = ", ".join(names) or "none"
    detail = f"named symbol not found: no {kind} {name}; there is {there}"
    return CUDADriverError("CUDA_ERROR_NOT_FOUND", detail, 500)


def module(source: Source) -> Module:
    """Compile it, or take it from an earlier time. Raises CompileException."""
    key = (source.code, source.options, source.names, source.dialect, source.warp)
    if key not in PROCESS.modules:
        engine = PROCESS.needs_engine("device code")
        PROCESS.modules[key] = Module(source, engine.module(source))
    made = PROCESS.modules[key]
    assert isinstance(made, Module)
    return made


@dataclass(frozen=True)
class _Value:
    """An argument as the kernel gets it."""

    data: bytes
    said: str
    """What it is, for messages."""
    address: bool = False
    whole: int | None = None
    """Its value, if it is an integer."""
    kind: str = ""
    """int | float; empty for the rest."""


def launch(
    made: Module, info: KernelInfo, shape: tuple[Any, Any], args: Sequence[Any], shared: int,
    most_dynamic: int,
) -> None:  # fmt: skip
    """Run a kernel to its end.

    shape: grid and block; most_dynamic: bytes of dynamic shared memory that it may ask for.
    """
    grid, block = _dim3(shape[0], "grid"), _dim3(shape[1], "block")
    _check_shape(info, grid, block)
    _check_shared(info, shared, most_dynamic)
    values = _checked(info, args)
    made.loaded(info.symbol, block).launch(grid, values, made.variables, shared)


def _dim3(sizes: Any, what: str) -> Dim3:
    """Missing sizes are 1, and so, as in CuPy, are those below 1."""
    if not isinstance(sizes, tuple):
        raise TypeError(
            f"Argument '{what}' has incorrect type (expected tuple, got {type(sizes).__name__})"
        )
    try:
        x, y, z = [max(1, operator.index(size)) for size in (*sizes, 1, 1)[:3]]
    except TypeError as error:
        raise TypeError(f"{what} = {sizes}: {error}") from error
    return x, y, z


def _check_shape(info: KernelInfo, grid: Dim3, block: Dim3) -> None:
    most = (2**31 - 1, 65535, 65535)
    if any(size > end for size, end in zip(grid, most, strict=True)):
        raise invalid_value(f"{info.name}: a grid of {grid} blocks, at most {most} is possible")
    threads = block[0] * block[1] * block[2]
    if block[2] > 64 or threads > limit("maxThreadsPerBlock"):
        raise invalid_value(
            f"{info.name}: a block of {block} = {threads} threads; at most 1024, and 64 along z, "
            "are possible"
        )
    if threads > info.max_threads:
        raise invalid_value(
            f"{info.name}: a block of {threads} threads, but its __launch_bounds__ promise at most "
            f"{info.max_threads}"
        )


def _check_shared(info: KernelInfo, shared: int, most_dynamic: int) -> None:
    if shared < 0:
        raise OverflowError("can't convert negative value to size_t")
    if info.shared_bytes > SHARED_BYTES and not PROCESS.is_hip:
        raise invalid_value(f"{info.name}: {info.shared_bytes} bytes of static shared memory")
    if shared <= most_dynamic:
        return
    raise invalid_value(
        f"{info.name}: {shared} bytes of dynamic and {info.shared_bytes} of static shared memory; "
        f"this kernel may have {most_dynamic} dynamic ones (set its max_dynamic_shared_size_bytes "
        f"for more, up to {limit('sharedMemPerBlockOptin') - info.shared_bytes})"
    )


def _checked(info: KernelInfo, args: Sequence[Any]) -> list[bytes]:
    if len(args) != len(info.params):
        wanted = ", ".join(one.name for one in info.params)
        raise TypeError(
            f"{info.name} has {len(info.params)} parameters ({wanted}), {len(args)} arguments were "
            "given"
        )
    return [
        _fitting(f"{info.name}: argument {number} ({param.name})", param, _value(arg))
        for number, (param, arg) in enumerate(zip(info.params, args, strict=True), 1)
    ]


def _fitting(who: str, param: Param, value: _Value) -> bytes:
    """The bytes of the parameter. Raises TypeError if the argument is not what it needs."""
    size = len(value.data)
    if param.pointer:
        if not value.address and (size != 8 or value.whole is None):
            raise TypeError(f"{who} is {value.said}, but the parameter is a pointer")
        if value.whole and not known(value.whole):
            raise TypeError(
                f"{who} is {value.said}, which is no address of device memory; pass the array, or "
                "its .data.ptr"
            )
        return value.data
    if value.address and param.size != 8:
        raise TypeError(f"{who} is {value.said}, but the parameter is {_said(param)}, no pointer")
    # Little-endian: of a wider integer the driver takes the low bytes, which hold small values.
    if value.whole is not None and param.kind != "float" and size > param.size:
        bits = 8 * param.size
        if -(1 << bits - 1) <= value.whole < 1 << bits:
            return value.data[: param.size]
        raise TypeError(f"{who} is {value.said}, which does not fit into {param.size} bytes")
    if size == param.size and (not value.kind or param.kind in ("", value.kind)):
        return value.data
    raise TypeError(f"{who} is {value.said}, but the parameter is {_said(param)}{_fix(param)}")


def _said(param: Param) -> str:
    return {"int": "an integer", "float": "a float"}.get(param.kind, "a value") + (
        f" of {param.size} bytes"
    )


def _fix(param: Param) -> str:
    if param.kind:
        other = f" or numpy.uint{8 * param.size}" if param.kind == "int" else ""
        return f"; pass numpy.{param.kind}{8 * param.size}({param.name}){other}"
    return "; pass numpy.void, or a NumPy array of one record, for a struct"


def _value(arg: Any) -> _Value:
    for kind, convert in _CONVERSIONS.items():
        if isinstance(arg, kind):
            return convert(arg)
    raise TypeError(f"Unsupported type {type(arg)}")


def _address(pointer: int, said: str) -> _Value:
    return _Value(np.uint64(pointer).tobytes(), said, address=True)


def _array(arg: np.ndarray) -> _Value:
    if arg.size == 1:
        return _scalar(arg.reshape(-1)[0], f"a NumPy array of one {arg.dtype}")
    raise TypeError(
        f"You are trying to pass a numpy.ndarray of shape {arg.shape} as a kernel parameter. Only "
        "numpy.ndarrays of size one can be passed by value. If you meant to pass a pointer to "
        "__global__ memory, you need to pass a cupy.ndarray instead."
    )


def _scalar(arg: Any, said: str) -> _Value:
    """Of NumPy, or what it makes of a number."""
    kind = {"i": "int", "u": "int", "b": "int", "f": "float"}.get(arg.dtype.kind, "")
    whole = int(arg) if arg.dtype.kind in "iu" else None
    return _Value(arg.tobytes(), said, whole=whole, kind=kind)


def _int(arg: int) -> _Value:
    return _scalar((np.uint64 if arg >= 1 << 63 else np.int64)(arg), f"the int {arg}")


_CONVERSIONS: dict[type, Callable[[Any], _Value]] = {
    type(None): lambda _: _address(0, "None"),
    Array: lambda a: _address(a._pointer().ptr, f"a cupy.ndarray of {a._host.dtype}"),
    MemoryPointer: lambda a: _address(a.ptr, "a MemoryPointer"),
    np.generic: lambda a: _scalar(a, f"the {a.dtype} {a}"),
    bool: lambda a: _scalar(np.bool_(a), f"the bool {a}"),
    int: _int,
    float: lambda a: _scalar(np.float64(a), f"the float {a!r}"),
    complex: lambda a: _scalar(np.complex128(a), f"the complex {a!r}"),
    np.ndarray: _array,
}
"""Kind of argument → what a kernel gets; the first that fits."""
