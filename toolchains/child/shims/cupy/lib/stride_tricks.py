"""Views with other strides."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._functions import as_strided
from .._storage import Array, wrapped

__all__ = ["as_strided", "sliding_window_view"]


def sliding_window_view(x: Array, window_shape: Any, axis: Any = None) -> Array:
    """All windows of a shape; a view that should only be read."""
    made = np.lib.stride_tricks.sliding_window_view(x._host, window_shape, axis, writeable=True)
    return wrapped(made, [x])
