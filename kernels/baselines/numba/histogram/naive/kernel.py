"""histogram, first attempt: one counter after the other."""

import numpy as np
from numba import njit


@njit
def _count(codes, counts):
    for i in range(codes.size):
        code = codes[i]
        if code < counts.size:
            counts[code] += 1


def run(codes, nbins):
    counts = np.zeros(nbins, np.uint32)
    _count(codes, counts)
    return counts
