"""lorenzo-1d into a new array: one loop, which vectorises.

Not in place: the input is a private copy, but the first write to each of its pages makes the system
copy that page, while new memory comes from the allocator, which has it already.
"""

import numpy as np
from numba import njit


@njit
def _differences(q, codes):
    if q.size:
        codes[0] = q[0]
    for i in range(1, q.size):
        codes[i] = q[i] - q[i - 1]


def run(q):
    codes = np.empty_like(q)
    _differences(q, codes)
    return codes
