"""Values as keys of tables: equal exactly if the values are."""

from __future__ import annotations

import struct

import numpy as np

from toolchains.csl.values import Active, Known


def key_of(value: Known) -> object:
    """A value with its type."""
    return (value.type, _data(value.data))


def _data(data: object) -> object:
    if isinstance(data, np.ndarray):
        return (data.dtype.str, data.tobytes())
    if isinstance(data, float):
        # By its bits: 0.0 and -0.0 differ, and a NaN is itself.
        return struct.pack("<d", data)
    if isinstance(data, tuple):
        return tuple(_data(one) for one in data)
    if isinstance(data, Active):
        return (data.field, _data(data.data))
    return data
