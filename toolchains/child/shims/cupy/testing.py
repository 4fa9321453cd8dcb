"""`cupy.testing`: NumPy's comparisons, of arrays of either kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._errors import NotEmulatedError
from ._storage import Array

_ASSERTS = [
    "assert_allclose",
    "assert_array_almost_equal",
    "assert_array_almost_equal_nulp",
    "assert_array_equal",
    "assert_array_less",
    "assert_array_max_ulp",
]


def _host(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_host(one) for one in value]
    return value._host if isinstance(value, Array) else value


def __getattr__(name: str) -> Callable[..., None]:
    if name in _ASSERTS:
        function = getattr(np.testing, name)
        return lambda *args, **kwargs: function(*map(_host, args), **kwargs)
    if name.startswith("_"):
        raise AttributeError(name)
    raise NotEmulatedError(f"cupy.testing.{name}")
