"""The numbers that keep a bound with arithmetic of the data's own type."""

import math

import numpy as np


def tolerance_within(bound, dtype):
    """T: |x − x'| ≤ T in the data's own arithmetic proves the bound. 0 asks for lossless."""
    if math.isnan(bound) or bound < 0:
        raise ValueError(f"abs_bound {bound!r} is refused: it must be 0 or more")
    if dtype == np.float64:
        value = min(math.nextafter(bound, -math.inf), 2.0**900)
        return value if value >= 2.0**-900 else 0.0
    value = np.float32(min(bound, 2.0**101))
    above = np.nextafter(value, np.float32(np.inf))
    while value > 0 and float(value) + (float(above) - float(value)) / 2 > bound:
        value, above = np.nextafter(value, np.float32(0)), value
    return min(float(value), 2.0**100) if value >= 2.0**-100 else 0.0


def step_within(tolerance, peak, dtype):
    """The widest step at which no value up to `peak` fails for rounding alone."""
    unit = 2.0**-24 if dtype == np.float32 else 2.0**-53
    step = 2 * (tolerance - 3.001 * unit * peak) * (1 - 8 * unit)
    if dtype == np.float64:
        return step
    narrow = np.float32(step)
    return float(narrow if float(narrow) <= step else np.nextafter(narrow, np.float32(0)))
