"""Shapes that a field may have: text such as 26x1800x3600 → shape; what is wrong with one."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np

MOST_ELEMENTS = 2**31 - 1
"""Contract §3: fewer than 2³¹ elements."""
MOST_AXES = 4
DTYPES = ("float32", "float64")

_DIMS = re.compile(r"[1-9]\d{0,9}(x[1-9]\d{0,9})*", re.ASCII)


def parse_dims(text: str) -> tuple[int, ...]:
    """A shape in C order, slowest axis first. Raises ValueError."""
    if _DIMS.fullmatch(text) is None:
        raise ValueError(
            f"dims {text[:60]!r}: write whole numbers above 0 joined by x, the slowest axis first, "
            "such as 1000000 or 26x1800x3600"
        )
    return tuple(int(part) for part in text.split("x"))


def dims_text(shape: tuple[int, ...]) -> str:
    """26x1800x3600; `scalar` for a 0-D shape."""
    return "x".join(map(str, shape)) or "scalar"


def squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape without length-1 axes, if it has more axes than a field may have."""
    return shape if len(shape) <= MOST_AXES else tuple(n for n in shape if n != 1)


def problem_of_shape(shape: tuple[int, ...]) -> str | None:
    """Why a field can't have this shape; None if it can."""
    count = math.prod(shape)
    if len(shape) > MOST_AXES:
        return (
            f"{dims_text(shape)} has {len(shape)} axes of more than one element, a field at most "
            f"{MOST_AXES}: take a part of it, or join axes with numpy.reshape"
        )
    if count == 0:
        return f"{dims_text(shape)} holds no element: a field needs at least one"
    if count > MOST_ELEMENTS:
        return (
            f"{dims_text(shape)} has {count:,} elements, a field at most {MOST_ELEMENTS:,}: "
            "split it along its first axis"
        )
    return None


def has_value(dtype: np.dtype[np.generic], value: float) -> bool:
    """Whether a finite value stays finite in a float type. NaN and infinities always are there."""
    if not math.isfinite(value):
        return True
    with np.errstate(over="ignore"):
        return math.isfinite(float(dtype.type(value)))


def blocks(shape: tuple[int, ...], most: int) -> Iterator[tuple[slice, ...]]:
    """Slices that cover an array in C order, each at most `most` elements, contiguous in memory."""
    inner, axis = 1, len(shape)
    while axis > 0 and inner * shape[axis - 1] <= most:
        axis -= 1
        inner *= shape[axis]
    if axis == 0:
        yield tuple(slice(0, n) for n in shape)
        return
    step = max(1, most // inner)
    rest = tuple(slice(0, n) for n in shape[axis:])
    for outer in _points(shape[: axis - 1]):
        fixed = tuple(slice(i, i + 1) for i in outer)
        for start in range(0, shape[axis - 1], step):
            yield (*fixed, slice(start, min(start + step, shape[axis - 1])), *rest)


def _points(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every index of an array, in C order."""
    if not shape:
        yield ()
        return
    for first in range(shape[0]):
        for others in _points(shape[1:]):
            yield (first, *others)
