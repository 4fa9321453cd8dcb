"""lorenzo-2d-inverse: each row's running sum in vector registers, plus the row above.

Along x the sums of 64 values are taken together, so that the serial chain is one addition per 16
values; along y whole rows add up. The rest of a row goes through one masked vector.
"""

import lanes
import numpy as np
from numba import njit


@njit
def _row(codes, at, above, there, q, nx):
    before = np.int32(0)
    x = 0
    while x + lanes.WIDE <= nx:
        before = lanes.put_wide(codes, at + x, above, there + x, q, before)
        x += lanes.WIDE
    while x + lanes.LANES <= nx:
        before = lanes.put_vector(codes, at + x, above, there + x, q, before)
        x += lanes.LANES
    if x < nx:
        lanes.put_rest(codes, at + x, above, there + x, q, before, nx - x)


@njit
def _sums(codes, q, nx):
    _row(codes, 0, np.zeros(nx, np.int32), 0, q, nx)
    for at in range(nx, codes.size, nx):
        _row(codes, at, q, at - nx, q, nx)


def run(codes):
    q = np.empty_like(codes)
    if codes.size:
        _sums(codes.reshape(-1), q.reshape(-1), codes.shape[1])
    return q
