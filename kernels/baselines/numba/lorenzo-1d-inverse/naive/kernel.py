"""lorenzo-1d-inverse, first attempt: sums in a wider type, then the modulo."""

import numpy as np
from numba import njit


@njit
def _sums(codes, out):
    for i in range(codes.size):
        before = 0 if i == 0 else out[i - 1]
        out[i] = (before + codes[i]) % 4294967296


def run(codes):
    out = np.zeros(codes.size, np.int64)
    _sums(codes, out)
    return out.astype(np.uint32).view(np.int32)
