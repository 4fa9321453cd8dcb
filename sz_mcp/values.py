"""Values as a person reads them: runs of equal ones once, float32 with the digits that it has."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

_RUN = 3
"""Fewest equal values that are told as a run."""


def listed(values: Sequence[str], dtype: str) -> str:
    """`repr` texts of numbers, separated by commas: 1e+20 ×64, 0.5, nan."""
    short = [_short(value) for value in values] if dtype == "float32" else values
    told: list[str] = []
    for value, equal in itertools.groupby(short):
        count = len(list(equal))
        told += [f"{value} ×{count}"] if count >= _RUN else [value] * count
    return ", ".join(told)


def _short(value: str) -> str:
    """The fewest digits that give the same float32."""
    return str(np.float32(float(value)))
