"""Points and rectangles of PEs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class IntVector:
    """A PE: column and row."""

    x: int
    y: int


@dataclass(frozen=True)
class IntRectangle:
    """PEs from the upper left corner up to, and without, the lower right one."""

    upper_left: IntVector
    lower_right: IntVector
