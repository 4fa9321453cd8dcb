"""`ReductionKernel`: map, reduce and post-map, of which a program writes the expressions.

One block per element of the output: threads take elements in turn, then halve by pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._elementwise import check_count, check_types, outputs
from ._kernels import Argument, arguments, broadcast, indexer
from ._launch import module
from ._params import Types, check_name, parameters, types
from ._raw import Function, declared
from ._storage import Array, view

_BLOCK = 256
_MOST_BLOCKS = 65535
_CODE = """\
#include "cupy/carray.cuh"
{types}
{preamble}
typedef {reduce_type} _type_reduce;
extern "C" __global__ void {name}({parameters}, CIndexer<{axes}> _in_ind,
                                  CIndexer<{out_axes}> _out_ind)
{{
__shared__ __align__(16) unsigned char _room[{block} * sizeof(_type_reduce)];
_type_reduce *_partial = reinterpret_cast<_type_reduce *>(_room);
const simt_index _outputs = _out_ind.size(), _count = _in_ind.size() / _outputs;
for (simt_index _o = blockIdx.x; _o < _outputs; _o += gridDim.x) {{
_out_ind.set(_o);
_type_reduce _sum = _type_reduce({identity});
for (simt_index _j = threadIdx.x; _j < _count; _j += {block}) {{
const simt_index _i = _j * _outputs + _o;
_in_ind.set(_i);
{inputs}
const _type_reduce _mapped = static_cast<_type_reduce>({map_expr});
{{
const _type_reduce &a = _sum, &b = _mapped;
_sum = ({reduce_expr});
}}
}}
_partial[threadIdx.x] = _sum;
__syncthreads();
for (unsigned _half = {block} / 2; _half > 0; _half /= 2) {{
if (threadIdx.x < _half) {{
const _type_reduce a = _partial[threadIdx.x], b = _partial[threadIdx.x + _half];
_partial[threadIdx.x] = ({reduce_expr});
}}
__syncthreads();
}}
if (threadIdx.x == 0) {{
const _type_reduce a = _partial[0];
{outputs}
{post_map_expr};
}}
__syncthreads();
}}
}}
"""


class ReductionKernel:
    """A kernel that reduces along axes."""

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: Any,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: tuple[str, ...] = (),
    ) -> None:
        """See cupy.ReductionKernel."""
        check_name(name)
        self.in_params = parameters(in_params, is_const=True)
        self.out_params = parameters(out_params, is_const=False)
        self.params = self.in_params + self.out_params
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.map_expr, self.reduce_expr = map_expr, reduce_expr
        self.post_map_expr = post_map_expr
        self.identity = "" if identity is None else str(identity)
        self.name = self.__name__ = name
        self.reduce_type = reduce_type or self.out_params[0].ctype
        self.reduce_dims, self.preamble, self.options = reduce_dims, preamble, options
        self._codes: dict[tuple[object, ...], str] = {}
        self._functions: dict[tuple[object, ...], Function] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Reduce. kwargs: out, axis, keepdims, stream."""
        out, axis = kwargs.pop("out", None), kwargs.pop("axis", None)
        keepdims = kwargs.pop("keepdims", False)
        kwargs.pop("stream", None)
        if kwargs:
            raise TypeError(f"Wrong arguments {kwargs}")
        check_count(self, args)
        if out is not None:
            if self.nout != 1 or len(args) != self.nin:
                raise ValueError("cannot specify 'out' as both a positional and keyword argument")
            args = (*args, out)
        check_types(args)
        values, shape = broadcast(self.in_params, args[: self.nin], None)
        found = types(self.in_params, self.out_params, args)
        reduced = _axes(axis, len(shape))
        kept = tuple(i for i in range(len(shape)) if i not in reduced)
        if any(one.raw for one in self.in_params) and reduced != tuple(range(len(reduced))):
            raise NotImplementedError("Illegal conditions: raw arguments need the leading axes")
        self._check_size(shape, reduced)
        sizes = tuple(shape[i] for i in kept)
        full = tuple(1 if i in reduced else shape[i] for i in range(len(shape)))
        outs = outputs(
            self.out_params, found.outputs, args[self.nin :], full if keepdims else sizes, False
        )
        flat = [_with(one, sizes) for one in outs]
        if 0 not in sizes:
            order = (*reduced, *kept)
            turned = [
                view(value._host.transpose(order), value)
                if isinstance(value, Array) and not info.raw
                else value
                for info, value in zip(self.in_params, values, strict=True)
            ]
            self._run([*turned, *flat], found, tuple(shape[i] for i in order), sizes)
        return outs[0] if self.nout == 1 else tuple(outs)

    def _check_size(self, shape: Sequence[int], reduced: Sequence[int]) -> None:
        if not self.identity and 0 in [shape[i] for i in reduced]:
            raise ValueError(
                f"zero-size array to reduction operation {self.name} which has no identity"
            )

    def _run(
        self, values: Sequence[Any], found: Types, shape: tuple[int, ...], sizes: tuple[int, ...]
    ) -> None:
        made = arguments(self.params, (*found.inputs, *found.outputs), values)
        key = (found.names, len(shape), len(sizes), *(one.key() for one in made))
        if key not in self._functions:
            self._codes[key] = self._code(made, found.code(), len(shape), len(sizes))
            source = declared(self._codes[key], self.options)
            self._functions[key] = Function(module(source), self.name)
        blocks = min(int(np.prod(sizes, dtype=np.int64)), _MOST_BLOCKS)
        passed = [*(one.passed() for one in made), indexer(shape), indexer(sizes)]
        self._functions[key]((blocks,), (_BLOCK,), passed)

    def _code(self, made: Sequence[Argument], typedefs: str, axes: int, out_axes: int) -> str:
        inputs = [one.element("_i", "_in_ind.get()") for one in made[: self.nin]]
        outs = [one.element("_o", "_out_ind.get()") for one in made[self.nin :]]
        return _CODE.format(
            types=typedefs,
            preamble=self.preamble,
            reduce_type=self.reduce_type,
            name=self.name,
            parameters=", ".join(one.declaration() for one in made),
            axes=axes,
            out_axes=out_axes,
            block=_BLOCK,
            identity=self.identity,
            inputs="\n".join(filter(None, inputs)),
            map_expr=self.map_expr,
            reduce_expr=self.reduce_expr,
            outputs="\n".join(filter(None, outs)),
            post_map_expr=self.post_map_expr,
        )

    @property
    def cached_codes(self) -> dict[Any, str]:
        """Generated code, by what it was generated for."""
        return dict(self._codes)

    @property
    def cached_code(self) -> str:
        """The first generated code."""
        return next(iter(self._codes.values()))


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    if any(not -ndim <= one < ndim for one in given):
        raise np.exceptions.AxisError(f"axis {axis} is out of bounds for array of dimension {ndim}")
    return tuple(sorted({one % ndim for one in given}))


def _with(out: Array, sizes: tuple[int, ...]) -> Array:
    """Without the axes that were kept with a length of 1."""
    host = out._host
    if host.shape == sizes:
        return out
    squeezed = tuple(i for i, size in enumerate(host.shape) if size == 1)
    drop = squeezed[: host.ndim - len(sizes)]
    return view(host.squeeze(drop), out)
