"""Functions of the namespace that NumPy has not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from ._delegate import call
from ._device import Device, properties
from ._engine import PROCESS
from ._storage import Array, copied


def get_array_module(*args: Any) -> ModuleType:
    """The module of this package if one of the arguments is a device array, else numpy."""
    if any(isinstance(one, Array) for one in args):
        return sys.modules[__package__ or "cupy"]
    return np


def is_available() -> bool:
    """Whether there is a device."""
    return PROCESS.engine is not None


def memoize(*_: bool, **_options: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Remember results by arguments."""
    return cache


def clear_memo() -> None:
    """Nothing is remembered globally."""


def fuse(*args: Any, **kwargs: Any) -> Any:
    """A function as it is: what fusing makes of it computes the same."""
    unknown = set(kwargs) - {"kernel_name"}
    if unknown:
        raise TypeError(f"fuse() got an unexpected keyword argument {min(unknown)!r}")
    if len(args) == 1 and callable(args[0]):
        return args[0]
    return lambda function: function


def show_config(*, _full: bool = False) -> None:
    """Print what this is."""
    name = properties()["name"]
    sys.stdout.write(
        f"CuPy, emulated on the processor\nDevice 0 Name : {name!r}\n"
        f"Device 0 Compute Capability : {Device().compute_capability}\n"
    )


class Grid:
    """`mgrid` and `ogrid`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, key: Any) -> Any:
        made = getattr(np, self._name)[key]
        if isinstance(made, np.ndarray):
            return copied(made)
        return [copied(one) for one in made]


class Joined:
    """`r_` and `c_`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, key: Any) -> Any:
        return call(lambda parts: getattr(np, self._name)[parts], key)


def round_(a: Array, decimals: int = 0, out: Array | None = None) -> Any:
    """As `round`."""
    return call(np.round, a, decimals, out)
