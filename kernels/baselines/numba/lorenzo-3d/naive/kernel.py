"""lorenzo-3d, first attempt: a border of zeros, so that every element has all its neighbours."""

import numpy as np
from numba import njit


@njit
def _differences(p, codes):
    nz, ny, nx = codes.shape
    for z in range(nz):
        for y in range(ny):
            for x in range(nx):
                # p is shifted by one: p[z + 1, y + 1, x + 1] is q[z, y, x].
                here = p[z + 1, y + 1, x + 1] - p[z + 1, y + 1, x]
                above = p[z + 1, y, x + 1] - p[z + 1, y, x]
                behind = p[z, y + 1, x + 1] - p[z, y + 1, x]
                both = p[z, y, x + 1] - p[z, y, x]
                # Storing as int32 is the modulo.
                codes[z, y, x] = here - above - behind + both


def run(q):
    nz, ny, nx = q.shape
    p = np.zeros((nz + 1, ny + 1, nx + 1), np.int32)
    p[1:, 1:, 1:] = q
    codes = np.empty((nz, ny, nx), np.int32)
    _differences(p, codes)
    return codes
