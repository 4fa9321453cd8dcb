"""Bound modes: what was asked + pristine data → the absolute bound that a kernel sees."""

from __future__ import annotations

import math

from kernels.records import Array, Bound
from kernels.verify import value_range

MODES = ("abs", "rel")
"""abs: |x − x'| ≤ value. rel: |x − x'| ≤ value · (max − min), which some tools call NOA."""


class BoundError(ValueError):
    """A bound that can't be asked for, or can't be derived from this data."""


def derive(data: Array, fill_value: float | None, mode: str, value: float) -> Bound:
    """The absolute bound for `data`; 0.0 asks for a lossless stream.

    The range is over finite values that are not the fill value; the bound then holds for every
    element. Raises BoundError for an unknown mode, and for a value or a result that is not a
    positive finite number.
    """
    name = mode.lower()
    if name not in MODES:
        raise BoundError(f"bound mode {mode!r} is unknown: choose one of {', '.join(MODES)}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BoundError(f"bound {value!r} is not a number: give one above 0, such as 1e-3")
    try:
        asked = float(value)
    except OverflowError:
        asked = math.inf
    if not (math.isfinite(asked) and asked > 0.0):
        raise BoundError(f"bound {value!r}: it must be above 0 and finite, such as 1e-3")
    if name == "abs":
        return Bound(name, asked, asked)
    absolute = asked * value_range(data, fill_value)
    if not math.isfinite(absolute):
        raise BoundError(
            f"bound {asked!r} times the range of this data overflows: ask for less, or use mode abs"
        )
    return Bound(name, asked, absolute)
