"""Names that exist: the nearest real one for a name that does not, and what to write instead."""

from __future__ import annotations

import difflib
import functools
import math
import sys

import numba
import numpy as np
from numba.core import types
from numba.core.registry import cpu_target

from toolchains.child import szstream

from .rules import Facts

_CUTOFF = 0.6
_INSTALLED = ("numba", "numpy", "szstream")
_ALIASES = {
    "int": "np.int64 (or np.int32)",
    "float": "np.float64 (or np.float32)",
    "bool": "np.bool_",
    "object": "no objects at all",
    "long": "np.int64",
    "uint": "np.uint64 (or np.uint32)",
    "complex": "np.complex128",
    "str": "no strings at all",
}
_OWNERS = {"numpy": "np.", "numba": "numba.", "szstream": "szstream.", "math": "math."}

INSTEAD = {
    "packbits": "a loop: for 8 or 32 flags, word |= np.uint32(flag) << np.uint32(i)",
    "unpackbits": "a loop: (word >> np.uint32(i)) & np.uint32(1)",
    "pad": "np.zeros(new_size, x.dtype), then out[:x.size] = x",
    "tile": "a loop that copies, or np.repeat",
    "einsum": "the loops themselves",
    "lexsort": "np.argsort of one combined key",
    "ndarray": "nothing: inside @njit types are fixed; test before the call, in Python",
    "save": "nothing: a kernel sees no files",
    "load": "nothing: a kernel sees no files; keep tables as arrays in the source",
    "bitwise_count": "a loop: while v: v &= v - 1; n += 1",
    "apply_along_axis": "a loop over that axis",
    "vectorize": "@numba.vectorize, or a loop",
    "fromiter": "np.empty(n, dtype) and a loop",
    "fromstring": "np.frombuffer outside @njit",
    "meshgrid": "the loops themselves",
    "block": "np.empty and slices",
    "put": "a loop over the indices",
    "compress": "x[mask] on a 1-D array",
    "ravel_multi_index": "(i * ny + j) * nz + k",
    "unravel_index": "// and % by the shape",
    "gradient": "a loop of differences",
    "bitwise_or": "a loop with |",
}
"""NumPy functions that numba lacks → what to write."""

_KEYWORDS = {
    "prepend": "out[0] = x[0], then out[i] = x[i] - x[i - 1] in a loop",
    "append": "np.empty of the longer length and a loop",
    "axis": "a loop over that axis",
    "dtype": "x.astype(dtype) before, or a loop that adds into one variable of that type",
    "out": "out[:] = ... afterwards",
    "keepdims": "index with the loop variable instead",
    "return_counts": "np.bincount for small integers, or a loop over the sorted array",
    "return_index": "np.argsort and a loop",
    "kind": "leave it out",
    "where": "an if inside a loop",
    "copy": "leave it out",
    "order": "np.ascontiguousarray, or leave it out",
    "shape": "np.zeros(shape, x.dtype)",
    "initial": "start the loop with that value",
}
"""Keyword arguments that numba's versions lack → what to write."""


def nearest_in_numba(facts: Facts) -> Facts | None:
    """The nearest name that numba knows, for `name` of `owner`: a module, or an array."""
    owner, name = str(facts["owner"]), str(facts["name"])
    known = _array_attributes() if "array" in owner else _numba_names(owner)
    return _nearest(name, known, "." if "array" in owner else _OWNERS.get(owner, f"{owner}."))


def nearest_name(facts: Facts) -> Facts | None:
    """The nearest name in plain Python, for `name` of `owner`: a module, or an array."""
    owner, name = str(facts["owner"]), str(facts["name"])
    known = tuple(dir(np.ndarray)) if "ndarray" in owner else _names(owner)
    return _nearest(name, known, "." if "ndarray" in owner else _OWNERS.get(owner, f"{owner}."))


def nearest_of_either(facts: Facts) -> Facts | None:
    """For a name of a module, or of an array: `wrong`, and the nearest that exists."""
    owner = str(facts["owner"] or facts["array"])
    name = str(facts["name"] or facts["of_array"])
    found = nearest_name({"owner": owner, "name": name})
    return {**found, "wrong": f"{owner}.{name}"} if found else None


def nearest_module(facts: Facts) -> Facts | None:
    """The nearest module that a child has."""
    known = (*_INSTALLED, *sys.stdlib_module_names)
    return _nearest(str(facts["name"]), known, "", cutoff=0.8)


def nearest_option(facts: Facts) -> Facts | None:
    """The nearest option of @njit; `known` lists them, in quotes."""
    return _nearest(str(facts["name"]), tuple(str(facts["known"]).replace("'", "").split(", ")), "")


def numpy_name(facts: Facts) -> Facts | None:
    """A name that was written without `np.`, or an import that is missing."""
    name = str(facts["name"])
    if name in ("np", "numpy"):
        return {"instead": "import numpy as np"}
    if name in ("njit", "prange", "jit"):
        return {"instead": f"from numba import {name}"}
    if name in ("numba", "math", "szstream", "struct", "zlib"):
        return {"instead": f"import {name}"}
    return {"instead": f"np.{name}"} if hasattr(np, name) else None


def alias(facts: Facts) -> Facts | None:
    """What NumPy's removed alias of a Python type was."""
    instead = _ALIASES.get(str(facts["name"]))
    return {"instead": instead} if instead else None


def instead_of_function(facts: Facts) -> Facts | None:
    """What to write for a NumPy function that numba lacks."""
    instead = INSTEAD.get(str(facts["name"]).rpartition(".")[2])
    return {"instead": instead} if instead else None


def instead_of_keyword(facts: Facts) -> Facts | None:
    """What to write for a keyword argument that numba lacks."""
    instead = _KEYWORDS.get(str(facts["keyword"]))
    return {"instead": instead} if instead else None


def _nearest(
    name: str, known: tuple[str, ...], prefix: str, *, cutoff: float = _CUTOFF
) -> Facts | None:
    public = [one for one in known if not one.startswith("_")]
    close = difflib.get_close_matches(name, public, 1, cutoff)
    if not close:
        folded = {one.lower(): one for one in public}
        close = [folded[c] for c in difflib.get_close_matches(name.lower(), folded, 1, cutoff)]
    return {"nearest": f"{prefix}{close[0]}"} if close else None


def _names(owner: str) -> tuple[str, ...]:
    modules = {"numpy": np, "numba": numba, "szstream": szstream, "math": math}
    module = modules.get(owner)
    return tuple(dir(module)) if module else ()


@functools.cache
def _numba_names(owner: str) -> tuple[str, ...]:
    """What numba compiles of a module."""
    if owner != "numpy":
        return _names(owner)
    context = _typing_context()
    module = types.Module(np)  # type: ignore[no-untyped-call]
    return tuple(n for n in dir(np) if _resolves(context, module, n))


@functools.cache
def _array_attributes() -> tuple[str, ...]:
    context = _typing_context()
    array = types.Array(types.float32, 1, "C")
    return tuple(n for n in dir(np.ndarray) if _resolves(context, array, n))


def _typing_context() -> object:
    """Numba's, with everything registered that it loads when it first compiles."""
    cpu_target.target_context.refresh()
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context


def _resolves(context: object, owner: object, name: str) -> bool:
    if name.startswith("_"):
        return False
    try:
        return context.resolve_getattr(owner, name) is not None  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001 - numba raises what it likes for what it does not know
        return False
