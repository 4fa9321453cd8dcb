"""Error metrics of a codec's pass, for a caller who asked for them."""

from __future__ import annotations

from kernels.metrics import measure
from kernels.modes.names import DIRECT, SEARCHED
from kernels.records import FieldInfo, Metric

from .passes import Pass


def quality(info: FieldInfo, done: Pass) -> tuple[Metric, ...]:
    """Of a pass over a field, as long as its decoded array is valid.

    Of a hidden field nothing, since they tell its values. Nor of logarithms, which the kernel was
    given and failed on: they are not the field.
    """
    if info.hidden or (done.bound.mode == "pw_rel" and not done.comparison.holds):
        return ()
    # In pw_rel every element has its own bound.
    bound = done.bound.absolute if done.bound.mode in (*DIRECT, *SEARCHED) else 0.0
    found = measure(done.original, done.decoded, bound, info.fill_value, done.size)
    return found.listed()
