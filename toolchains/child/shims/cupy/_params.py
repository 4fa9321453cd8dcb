"""Parameters of elementwise and reduction kernels: their declarations, and the types they get."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._storage import Array, checked_dtype

_NAME = re.compile(r"[a-zA-Z_]\w*\Z", re.ASCII)
_TYPES: Mapping[str, str] = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float16": "float16",
    "float32": "float",
    "float64": "double",
    "complex64": "complex<float>",
    "complex128": "complex<double>",
}
_INCLUDES = {"float16": "cupy/float16.cuh", "complex": "cupy/complex.cuh"}


@dataclass(frozen=True)
class ParameterInfo:
    """One parameter, as a kernel's declaration spells it."""

    name: str
    ctype: str
    """In C++; a placeholder is one letter."""
    dtype: np.dtype[Any] | None
    """None: a placeholder."""
    raw: bool
    is_const: bool


@dataclass(frozen=True)
class Types:
    """What placeholders stand for in one call."""

    inputs: tuple[np.dtype[Any], ...]
    outputs: tuple[np.dtype[Any], ...]
    names: tuple[tuple[str, np.dtype[Any]], ...]
    """Placeholder, type; in order of the placeholders."""

    def code(self) -> str:
        """Includes and typedefs."""
        found = (*(dtype for _, dtype in self.names), *self.inputs, *self.outputs)
        spelled = " ".join(map(typename, found))
        lines = [f'#include "{file}"' for word, file in _INCLUDES.items() if word in spelled]
        lines += [f"typedef {typename(dtype)} {name};" for name, dtype in self.names]
        return "\n".join(lines)


def typename(dtype: np.dtype[Any]) -> str:
    """The type in C++. Raises ValueError for those that kernels have none for."""
    if dtype.name not in _TYPES:
        raise ValueError(f"Unsupported dtype {dtype}")
    return _TYPES[dtype.name]


def check_name(name: str) -> None:
    """Raise ValueError for what is no name of a kernel."""
    if not _NAME.match(name):
        raise ValueError(f'Invalid kernel name: "{name}"')


def parameters(text: str, *, is_const: bool) -> tuple[ParameterInfo, ...]:
    """Those of a list such as `T x, raw float32 y`."""
    if not text.strip():
        return ()
    return tuple(_parameter(one, is_const) for one in text.strip().split(","))


def _parameter(text: str, is_const: bool) -> ParameterInfo:
    words = text.split()
    if len(words) < 2:
        raise ValueError(f"Syntax error: {text}")
    *flags, kind, name = words
    unknown = set(flags) - {"raw", "_non_const"}
    if unknown:
        raise ValueError(f'Unknown keyword "{min(unknown)}"')
    dtype = None if len(kind) == 1 else checked_dtype(kind)
    return ParameterInfo(
        name,
        kind if dtype is None else typename(dtype),
        dtype,
        raw="raw" in flags,
        is_const=is_const and "_non_const" not in flags,
    )


def types(
    inputs: Sequence[ParameterInfo], outputs: Sequence[ParameterInfo], args: Sequence[Any]
) -> Types:
    """What the types are with these arguments; outputs may be missing, scalars say nothing.

    Outputs are looked at first. Raises TypeError where they contradict each other.
    """
    given = list(zip(inputs, args, strict=False))
    wanted = [*zip(outputs, args[len(inputs) :], strict=False), *given]
    names: dict[str, np.dtype[Any]] = {}
    for one, arg in wanted:
        if not isinstance(arg, Array):
            continue
        found = arg._host.dtype
        expected = one.dtype if one.dtype is not None else names.setdefault(one.ctype, found)
        if expected != found:
            raise TypeError(f"Type is mismatched. {one.name} {found} {expected}")
    return Types(
        tuple(_type(one, names) for one in inputs),
        tuple(_type(one, names) for one in outputs),
        tuple(sorted(names.items())),
    )


def _type(one: ParameterInfo, names: Mapping[str, np.dtype[Any]]) -> np.dtype[Any]:
    if one.dtype is not None:
        return one.dtype
    if one.ctype not in names:
        raise TypeError(
            f"the type {one.ctype} of {one.name} is unknown: no array argument has it; pass the "
            "output array, or name a type"
        )
    return names[one.ctype]
