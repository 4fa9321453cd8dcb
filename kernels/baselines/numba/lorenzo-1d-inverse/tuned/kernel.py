"""lorenzo-1d-inverse into a new array, 64 values at a time in vector registers.

Not in place: the first write to each page of the input makes the system copy that page.
"""

import lanes
import numpy as np
from numba import njit


@njit
def _sums(codes, q):
    total = np.int32(0)
    whole = codes.size // lanes.WIDE * lanes.WIDE
    for at in range(0, whole, lanes.WIDE):
        total = lanes.put_sums(codes, at, q, total)
    for i in range(whole, codes.size):
        total = np.int32(total + codes[i])
        q[i] = total


def run(codes):
    q = np.empty_like(codes)
    _sums(codes, q)
    return q
