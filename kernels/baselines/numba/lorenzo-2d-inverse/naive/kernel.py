"""lorenzo-2d-inverse, first attempt: a border of zeros, then every element from its neighbours."""

import numpy as np
from numba import njit


@njit
def _sums(codes, p):
    ny, nx = codes.shape
    for y in range(ny):
        for x in range(nx):
            # p is shifted by one: p[y + 1, x + 1] is q[y, x]. Storing as int32 is the modulo.
            p[y + 1, x + 1] = codes[y, x] + p[y + 1, x] + p[y, x + 1] - p[y, x]


def run(codes):
    ny, nx = codes.shape
    p = np.zeros((ny + 1, nx + 1), np.int32)
    _sums(codes, p)
    return p[1:, 1:].copy()
