"""Arguments of elementwise and reduction kernels, and the C++ that declares them.

An array that is contiguous and not `raw` is passed as a pointer; another as a struct of pointer,
size, shape and strides (`_headers.CARRAY`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._params import ParameterInfo, typename
from ._storage import Array, view


@dataclass(frozen=True)
class Argument:
    """One argument of one call."""

    parameter: ParameterInfo
    dtype: np.dtype[Any]
    value: Any
    """An Array, or a scalar of `dtype`."""
    indexed: bool
    """An array that the kernel indexes: raw, or not contiguous."""

    def declaration(self) -> str:
        """Its parameter of the kernel."""
        kind, name = typename(self.dtype), self.parameter.name
        if not isinstance(self.value, Array):
            return f"const {kind} {name}"
        const = "const " if self.parameter.is_const else ""
        if not self.indexed:
            return f"{const}{kind} *_raw_{name}"
        host = self.value._host
        contiguous = str(bool(host.flags.c_contiguous)).lower()
        shown = name if self.parameter.raw else f"_raw_{name}"
        return f"CArray<{const}{kind}, {host.ndim}, {contiguous}> {shown}"

    def element(self, place: str, indices: str) -> str:
        """The statement that names its element; place: linear, indices: per axis."""
        if not isinstance(self.value, Array) or self.parameter.raw:
            return ""
        const = "const " if self.parameter.is_const else ""
        at = indices if self.indexed else place
        name = self.parameter.name
        return f"{const}{typename(self.dtype)} &{name} = _raw_{name}[{at}];"

    def passed(self) -> Any:
        """What is launched with."""
        if not isinstance(self.value, Array):
            return self.value
        if not self.indexed:
            return self.value
        host = self.value._host
        axes = max(host.ndim, 1)
        fields = np.zeros(2 + 2 * axes, np.int64)
        fields[0], fields[1] = self.value._pointer().ptr, host.size
        fields[2 : 2 + host.ndim] = host.shape
        fields[2 + axes : 2 + axes + host.ndim] = host.strides
        return fields.view(f"V{fields.nbytes}")

    def key(self) -> tuple[object, ...]:
        """What the code depends on."""
        if not isinstance(self.value, Array):
            return (self.dtype,)
        host = self.value._host
        return self.dtype, self.indexed, host.ndim, host.flags.c_contiguous


def indexer(shape: Sequence[int]) -> Any:
    """The argument for a `CIndexer`."""
    axes = max(len(shape), 1)
    fields = np.zeros(1 + 2 * axes, np.int64)
    fields[0] = np.prod(shape, dtype=np.int64)
    fields[1 : 1 + len(shape)] = shape
    return fields.view(f"V{fields.nbytes}")


def arguments(
    infos: Sequence[ParameterInfo], dtypes: Sequence[np.dtype[Any]], values: Sequence[Any]
) -> list[Argument]:
    """With scalars converted to the kernel's types."""
    made = []
    for info, dtype, value in zip(infos, dtypes, values, strict=True):
        if isinstance(value, Array):
            indexed = info.raw or not value._host.flags.c_contiguous
            made.append(Argument(info, dtype, value, indexed))
        else:
            with np.errstate(all="ignore"):
                scalar = np.asarray(value).astype(dtype)[()]
            made.append(Argument(info, dtype, scalar, indexed=False))
    return made


def broadcast(
    infos: Sequence[ParameterInfo], values: Sequence[Any], size: int | None
) -> tuple[list[Any], tuple[int, ...]]:
    """The values with arrays that are not raw of one shape, and that shape."""
    plain = [
        value
        for info, value in zip(infos, values, strict=False)
        if isinstance(value, Array) and not info.raw
    ]
    if size is not None:
        if plain:
            raise ValueError("Specified 'size' can be used only if all of the ndarray are 'raw'.")
        return list(values), (size,)
    if not plain:
        raise ValueError("Loop size is undecided.")
    shape = np.broadcast_shapes(*(one._host.shape for one in plain))
    made = []
    for info, value in zip(infos, values, strict=False):
        if isinstance(value, Array) and not info.raw and value._host.shape != shape:
            made.append(view(np.broadcast_to(value._host, shape), value))
        else:
            made.append(value)
    return made, shape
