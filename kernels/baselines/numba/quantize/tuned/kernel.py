"""quantize in one pass where that will do: the step needs no look at the data if |x| is below
110000 bounds, which costs 2% of the step. Where a value below 2²³ bounds fails, the largest
magnitude is found after all, and the golden step used.

All 32 values of a block are quantised, checked and written in vector registers.
"""

import lanes
import numpy as np
from numba import njit

F = np.float32
UNIT = 2.0**-24
EXPECTED = 110_000
"""Bounds. Room for the rounding of larger values would make the step less than 0.98 of golden's."""


@njit
def _quantise(x, q, ok, r, step, tolerance, near):
    """False as soon as a value below `near` can't be kept."""
    whole = x.size // lanes.BLOCK * lanes.BLOCK
    for at in range(0, whole, lanes.BLOCK):
        if lanes.quantise(x, at, q, ok, r, step, tolerance, near) != 0:
            return False
    rest = x.size - whole
    if rest:
        # Through memory of a whole block; what pads it is 0, which is always kept.
        part = np.zeros(lanes.BLOCK, np.float32)
        for i in range(rest):
            part[i] = x[whole + i]
        integers = np.empty(lanes.BLOCK, np.int32)
        flags = np.empty(lanes.BLOCK, np.uint8)
        failed = lanes.quantise(part, 0, integers, flags, r, step, tolerance, near)
        for i in range(rest):
            q[whole + i] = integers[i]
            ok[whole + i] = flags[i]
        return failed == 0
    return True


@njit
def _largest_below(bits, limit):
    """Of the magnitudes, as bit patterns: they order as floats do."""
    largest = np.uint32(0)
    for i in range(bits.size):
        size = np.uint32(bits[i] & np.uint32(0x7FFFFFFF))
        largest = max(largest, size if size < limit else np.uint32(0))
    return largest


def tolerance_within(eb):
    """T: |x - x'| <= T, rounded to float32, proves the bound. 0 asks to flag everything."""
    t = F(min(eb, 2.0**101))
    above = np.nextafter(t, F(np.inf))
    while t > 0 and float(t) + (float(above) - float(t)) / 2 > eb:
        t, above = np.nextafter(t, F(0)), t
    return min(float(t), 2.0**100) if t >= 2.0**-100 else 0.0


def step_within(tolerance, largest):
    """The widest step at which no value up to `largest` fails for rounding alone."""
    step = 2 * (tolerance - 3.001 * UNIT * largest) * (1 - 8 * UNIT)
    narrow = F(step)
    return narrow if float(narrow) <= step else np.nextafter(narrow, F(0))


def run(x, eb):
    t = tolerance_within(eb)
    if t == 0.0:
        return np.zeros(x.size, np.int32), np.zeros(x.size, np.uint8), F(0)
    q, ok = np.empty(x.size, np.int32), np.empty(x.size, np.uint8)
    step = step_within(t, EXPECTED * t)
    # Beyond 2²³ bounds no step can keep a value: q would be 2²² or more.
    if not _quantise(x, q, ok, F(1) / step, step, F(t), F(t * 2.0**23)):
        found = _largest_below(x.view(np.uint32), F(t * 2.0**21).view(np.uint32))
        step = step_within(t, float(np.uint32(found).view(F)))
        _quantise(x, q, ok, F(1) / step, step, F(t), F(0))
    return q, ok, step
