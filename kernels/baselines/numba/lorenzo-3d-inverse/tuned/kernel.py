"""lorenzo-3d-inverse: each row's running sum in vector registers, then y and z by whole rows.

Along x the sums of 64 values are taken together, so that the serial chain is one addition per 16
values. `plane` holds the sums over x and y of the present row, which stay in the first cache; the
row behind is added to them. The rest of a row goes through one masked vector.
"""

import lanes
import numpy as np
from numba import njit


@njit
def _row(codes, at, plane, behind, there, q):
    before = np.int32(0)
    nx = plane.size
    x = 0
    while x + lanes.WIDE <= nx:
        before = lanes.put_wide(codes, at + x, plane, x, behind, there + x, q, before)
        x += lanes.WIDE
    while x + lanes.LANES <= nx:
        before = lanes.put_vector(codes, at + x, plane, x, behind, there + x, q, before)
        x += lanes.LANES
    if x < nx:
        lanes.put_rest(codes, at + x, plane, x, behind, there + x, q, before, nx - x)


@njit
def _sums(codes, q, ny, nx):
    plane = np.zeros(nx, np.int32)
    nothing = np.zeros(nx, np.int32)
    size = ny * nx
    for at in range(0, codes.size, nx):
        if at % size == 0:
            plane[:] = 0
        if at < size:
            _row(codes, at, plane, nothing, 0, q)
        else:
            _row(codes, at, plane, q, at - size, q)


def run(codes):
    q = np.empty_like(codes)
    if codes.size:
        _, ny, nx = codes.shape
        _sums(codes.reshape(-1), q.reshape(-1), ny, nx)
    return q
