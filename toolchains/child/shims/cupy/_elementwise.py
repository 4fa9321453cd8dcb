"""`ElementwiseKernel`: a loop over elements, of which a program writes the body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._delegate import unsupported
from ._kernels import Argument, arguments, broadcast, indexer
from ._launch import module
from ._params import ParameterInfo, check_name, parameters, types
from ._raw import Function, declared
from ._storage import Array, fresh, view
from ._ufunc import SCALARS

_CODE = """\
#include "cupy/carray.cuh"
{types}
{preamble}
extern "C" __global__ void {name}({parameters}, CIndexer<{axes}> _ind)
{{
{loop_prep};
for (simt_index i = (simt_index)blockIdx.x * blockDim.x + threadIdx.x; i < _ind.size();
     i += (simt_index)blockDim.x * gridDim.x) {{
_ind.set(i);
{elements}
{operation};
}}
{after_loop};
}}
"""


class ElementwiseKernel:
    """A kernel that computes outputs from inputs, element by element, with broadcasting."""

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        **kwargs: Any,
    ) -> None:
        """kwargs: loop_prep, after_loop, options."""
        check_name(name)
        self.in_params = parameters(in_params, is_const=True)
        self.out_params = parameters(out_params, is_const=False)
        self.params = self.in_params + self.out_params
        if any(one.name == "i" for one in self.params):
            raise ValueError("Can not use 'i' as a parameter name")
        unknown = set(kwargs) - {"loop_prep", "after_loop", "options"}
        if unknown:
            raise TypeError(f"Wrong arguments {sorted(unknown)}")
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.operation, self.preamble = operation, preamble
        self.name = self.__name__ = name
        self.reduce_dims, self.no_return, self.return_tuple = reduce_dims, no_return, return_tuple
        self.kwargs = kwargs
        self._codes: dict[tuple[object, ...], str] = {}
        self._functions: dict[tuple[object, ...], Function] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute outputs, into arrays that are given or made. kwargs: size, block_size, stream."""
        size, block = kwargs.pop("size", None), kwargs.pop("block_size", 128)
        kwargs.pop("stream", None)
        if kwargs:
            raise TypeError(f"Wrong arguments {kwargs}")
        if block <= 0:
            raise ValueError("block_size must be greater than zero")
        check_count(self, args)
        check_types(args)
        values, shape = broadcast(self.params, args, size)
        found = types(self.in_params, self.out_params, args)
        outs = outputs(self.out_params, found.outputs, args[self.nin :], shape, size is not None)
        if 0 not in shape:
            self._run([*values[: self.nin], *outs], found, shape, block)
        return self._returned(outs)

    def _run(self, values: Sequence[Any], found: Any, shape: tuple[int, ...], block: int) -> None:
        if self.reduce_dims:
            values, shape = _flat(self.params, values, shape)
        made = arguments(self.params, (*found.inputs, *found.outputs), values)
        key = (found.names, len(shape), *(one.key() for one in made))
        if key not in self._functions:
            self._codes[key] = self._code(made, found.code(), len(shape))
            source = declared(self._codes[key], tuple(self.kwargs.get("options", ())))
            self._functions[key] = Function(module(source), self.name)
        count = int(np.prod(shape, dtype=np.int64))
        passed = [*(one.passed() for one in made), indexer(shape)]
        self._functions[key].linear_launch(count, passed, block_max_size=block)

    def _code(self, made: Sequence[Argument], typedefs: str, axes: int) -> str:
        elements = [one.element("i", "_ind.get()") for one in made]
        return _CODE.format(
            types=typedefs,
            preamble=self.preamble,
            name=self.name,
            parameters=", ".join(one.declaration() for one in made),
            axes=axes,
            loop_prep=self.kwargs.get("loop_prep", ""),
            elements="\n".join(filter(None, elements)),
            operation=self.operation,
            after_loop=self.kwargs.get("after_loop", ""),
        )

    def _returned(self, outs: Sequence[Array]) -> Any:
        if self.no_return:
            return None
        return outs[0] if self.nout == 1 and not self.return_tuple else tuple(outs)

    @property
    def cached_codes(self) -> dict[Any, str]:
        """Generated code, by what it was generated for."""
        return dict(self._codes)

    @property
    def cached_code(self) -> str:
        """The first generated code."""
        return next(iter(self._codes.values()))


def check_count(kernel: Any, args: Sequence[Any]) -> None:
    """Raise TypeError for a wrong number of arguments."""
    if len(args) not in (kernel.nin, kernel.nargs):
        raise TypeError(
            f"Wrong number of arguments for {kernel.name!r}. It must be either {kernel.nin} or "
            f"{kernel.nargs} (with outputs), but given {len(args)}."
        )


def check_types(args: Sequence[Any]) -> None:
    """Raise TypeError for what is neither a device array nor a scalar."""
    for one in args:
        if not isinstance(one, (Array, *SCALARS)):
            raise unsupported(one)


def outputs(
    infos: Sequence[ParameterInfo],
    dtypes: Sequence[np.dtype[Any]],
    given: Sequence[Any],
    shape: tuple[int, ...],
    sized: bool,
) -> list[Array]:
    """Those that are given, once they fit, or fresh ones."""
    if not given:
        if any(one.raw for one in infos) and not sized:
            raise ValueError("Output array size is Undecided")
        return [fresh(shape, dtype) for dtype in dtypes]
    for info, one in zip(infos, given, strict=True):
        if not isinstance(one, Array):
            raise TypeError("Output arguments type must be cupy.ndarray")
        if not info.raw and one._host.shape != shape:
            raise ValueError("Out shape is mismatched")
    return list(given)


def _flat(
    infos: Sequence[ParameterInfo], values: Sequence[Any], shape: tuple[int, ...]
) -> tuple[list[Any], tuple[int, ...]]:
    """With one axis, if all arrays are contiguous."""
    plain = [
        value
        for info, value in zip(infos, values, strict=True)
        if isinstance(value, Array) and not info.raw
    ]
    if not all(one._host.flags.c_contiguous for one in plain):
        return list(values), shape
    made = [
        view(value._host.reshape(-1), value) if any(value is one for one in plain) else value
        for value in values
    ]
    return made, (int(np.prod(shape, dtype=np.int64)),)
