"""Values as a person reads them: runs of equal ones once, float32 with the digits that it has."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

_RUN = 3
"""Fewest equal values that are told as a run."""


def listed(values: Sequence[str], dtype: str) -> str:
    """`repr` texts of numbers, separated by commas: 1e+20 ×64, 0.5, nan."""
    return runs_listed([(value, 1) for value in values], dtype)


def runs_listed(runs: Sequence[tuple[str, int]], dtype: str) -> str:
    """The same of values that each stand so many times."""
    short = [(_short(value), n) for value, n in runs] if dtype == "float32" else runs
    told: list[str] = []
    for value, equal in itertools.groupby(short, key=lambda run: run[0]):
        count = sum(n for _, n in equal)
        told += [f"{value} ×{count}"] if count >= _RUN else [value] * count
    return ", ".join(told)


def _short(value: str) -> str:
    """The fewest digits that give the same float32."""
    return str(np.float32(float(value)))
