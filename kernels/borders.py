"""Where errors jump: a fault at the borders of blocks changes the error there and nowhere else.

The errors of an array flow in; the length of the blocks and the axis flow out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

LENGTHS = (4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4)
_JUMP = 2.2
"""Bounds by which two errors that are both right can't differ."""
_CHANCE = 1e-4
"""How likely it may be that jumps at random places all lie on borders."""

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Border:
    """Blocks at whose first elements errors jump."""

    length: int = 0
    """0: there are none."""
    axis: int = -1
    """-1: of the flat array."""


def border(errors: Reals, bound: float) -> Border:
    """The longest blocks at whose borders alone the error jumps; along an axis first."""
    axes = range(errors.ndim) if errors.ndim > 1 else ()
    found = [Border(_length(errors, axis, bound), axis) for axis in axes]
    longest = max(found, key=lambda one: one.length, default=Border())
    return longest if longest.length else Border(_length(errors.reshape(-1), 0, bound), -1)


def _length(errors: Reals, axis: int, bound: float) -> int:
    """Of the blocks along one axis; 0 if the error jumps elsewhere, or too seldom to tell."""
    with np.errstate(all="ignore"):
        jumps = ~(np.abs(np.diff(errors, axis=axis)) <= _JUMP * bound)
    places = np.nonzero(jumps)[axis] + 1
    for length in LENGTHS:
        if places.size and (places % length == 0).all():
            return length if float(length) ** -min(places.size, 40) <= _CHANCE else 0
    return 0
