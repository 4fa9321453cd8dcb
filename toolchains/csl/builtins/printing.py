"""Known values as text."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from toolchains.csl import types
from toolchains.csl.types import Type
from toolchains.csl.values import DIRECTIONS, Known


def shown(value: Known) -> str:
    """A value as CSL would write it, roughly."""
    return _shown(value.type, value.data)


def _shown(kind: Type, data: object) -> str:
    match kind:
        case types.Array():
            items = data.tolist() if isinstance(data, np.ndarray) else data
            assert isinstance(items, Iterable)
            inside = ", ".join(_shown(kind.element, item) for item in items)
            return f"{kind}{{ {inside} }}"
        case types.Anonymous() | types.Struct() if isinstance(data, tuple):
            pairs = zip(kind.fields, data, strict=True)
            return ".{ " + ", ".join(f".{n} = {_shown(k, item)}" for (n, k), item in pairs) + " }"
        case types.Tuple() if isinstance(data, tuple):
            inside = ", ".join(_shown(k, item) for k, item in zip(kind.items, data, strict=True))
            return f".{{ {inside} }}" if inside else ".{}"
        case types.Enum():
            return next((f"{kind}.{name}" for name, n in kind.members if n == data), str(data))
    return _simple(kind, data)


def _simple(kind: Type, data: object) -> str:
    if isinstance(data, bytes):
        return data.decode("utf-8", "replace")
    if isinstance(data, bool):
        return str(data).lower()
    if kind == types.DIRECTION and isinstance(data, int):
        return DIRECTIONS[data]
    if data is None:
        return "{}"
    return str(data) if isinstance(data, int | float) or kind == types.TYPE else f"a {kind}"
