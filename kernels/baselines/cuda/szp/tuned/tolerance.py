"""The bound as the data's own arithmetic can check it."""

import math

import numpy as np


def tolerance_within(bound, dtype):
    """T: |x − x'| ≤ T in the data's own arithmetic proves the bound. 0: too small for that."""
    if dtype == np.float64:
        value = min(math.nextafter(bound, -math.inf), 2.0**900)
        return value if value >= 2.0**-900 else 0.0
    value = np.float32(min(bound, 2.0**101))
    above = np.nextafter(value, np.float32(np.inf))
    while value > 0 and float(value) + (float(above) - float(value)) / 2 > bound:
        value, above = np.nextafter(value, np.float32(0)), value
    return min(float(value), 2.0**100) if value >= 2.0**-100 else 0.0
