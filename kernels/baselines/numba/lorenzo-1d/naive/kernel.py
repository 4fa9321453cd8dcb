"""lorenzo-1d: int32 stores wrap, which is the modulo."""

import numpy as np
from numba import njit


@njit
def differences(q, out):
    previous = 0
    for i in range(q.size):
        out[i] = q[i] - previous
        previous = q[i]


def run(q):
    out = np.empty_like(q)
    differences(q, out)
    return out
