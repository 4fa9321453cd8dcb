"""lorenzo-1d, first attempt: a wider copy of the input, then differences, then the modulo."""

import numpy as np
from numba import njit


@njit
def _differences(wide, out):
    for i in range(wide.size):
        previous = 0 if i == 0 else wide[i - 1]
        out[i] = (wide[i] - previous) % 4294967296


def run(q):
    out = np.zeros(q.size, np.int64)
    _differences(q.astype(np.int64), out)
    return out.astype(np.uint32).view(np.int32)
