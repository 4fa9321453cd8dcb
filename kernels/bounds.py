"""Bound modes: what was asked + pristine data → the absolute bound that a kernel sees.

Kernels know an absolute bound only. In abs and rel it follows from the data alone; in pw_rel the
kernel is given logarithms (`modes.pointwise`), and in psnr, l2norm and ratio the bound is searched
for (`modes.search`), both by `sz_mcp.pipeline.passes`.
"""

from __future__ import annotations

import math

from kernels.modes.errors import BoundError as BoundError
from kernels.modes.names import MODES
from kernels.modes.pointwise import log_bound
from kernels.modes.search import first_bound, noise_bound, norm_bound, ratio_grid
from kernels.records import Array, Bound
from kernels.verify import value_range


def derive(data: Array, fill_value: float | None, mode: str, value: float) -> Bound:
    """The absolute bound for `data`; 0.0 asks for a lossless stream.

    The range is over finite values that are not the fill value; the bound then holds for every
    element. In pw_rel it is that of the logarithms, in the searched modes the one that the search
    begins with. Raises BoundError for an unknown mode, and for a value or a result that is not a
    positive finite number.
    """
    name, asked = mode.lower(), checked(mode, value)
    if name == "abs":
        return Bound(name, asked, asked)
    if name == "pw_rel":
        return Bound(name, asked, log_bound(data.dtype, asked))
    span = value_range(data, fill_value)
    if not math.isfinite(span) or (name == "rel" and not math.isfinite(asked * span)):
        raise BoundError(
            f"bound {asked!r} times the range of this data overflows: ask for less, or use mode abs"
        )
    if span == 0.0 or data.size == 0:
        return Bound(name, asked, 0.0)
    match name:
        case "rel":
            absolute = asked * span
        case "psnr":
            absolute = first_bound(noise_bound(asked, span))
        case "l2norm":
            absolute = first_bound(norm_bound(asked, data.size))
        case _:
            absolute = ratio_grid(span, data.dtype.itemsize)[0]
    return Bound(name, asked, absolute)


def checked(mode: str, value: float) -> float:
    """The value as a number. Raises BoundError if it, or the mode, can't be asked for at all."""
    if mode.lower() not in MODES:
        raise BoundError(f"bound mode {mode!r} is unknown: choose one of {', '.join(MODES)}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BoundError(f"bound {value!r} is not a number: give one above 0, such as 1e-3")
    try:
        asked = float(value)
    except OverflowError:
        asked = math.inf
    if not (math.isfinite(asked) and asked > 0.0):
        raise BoundError(f"bound {value!r}: it must be above 0 and finite, such as 1e-3")
    return asked
