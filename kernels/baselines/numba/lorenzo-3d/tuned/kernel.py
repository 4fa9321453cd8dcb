"""lorenzo-3d: each plane below its first row as one long line, then its first column put right.

Each element's x neighbour is the one before it in the line; at the start of a row that is the end
of the row above, which is why the first column is done again. One long loop per plane instead of
many short ones leaves the vector unit few partial rows. What was computed for the element before is
carried over instead of computed twice: LLVM turns that into a shift of lanes.
"""

import numpy as np
from numba import njit


@njit
def _along(a, codes):
    before = np.int32(0)
    for i in range(a.size):
        codes[i] = a[i] - before
        before = a[i]


@njit
def _from_one(a, b, codes):
    """Neighbours in y or in z only."""
    before = np.int32(0)
    for i in range(a.size):
        here = np.int32(a[i] - b[i])
        codes[i] = here - before
        before = here


@njit
def _from_three(a, above, behind, both, codes):
    before = np.int32(0)
    for i in range(a.size):
        here = np.int32(a[i] - above[i] - behind[i] + both[i])
        codes[i] = here - before
        before = here


@njit
def _first_plane(q, codes, nx):
    _along(q[:nx], codes[:nx])
    _from_one(q[nx:], q[: q.size - nx], codes[nx:])
    for i in range(nx, q.size, nx):
        codes[i] = q[i] - q[i - nx]


@njit
def _plane(q, behind, codes, nx):
    rest = q.size - nx
    _from_one(q[:nx], behind[:nx], codes[:nx])
    _from_three(q[nx:], q[:rest], behind[nx:], behind[:rest], codes[nx:])
    for i in range(nx, q.size, nx):
        codes[i] = (q[i] - q[i - nx]) - (behind[i] - behind[i - nx])


@njit
def _differences(q, codes, plane, nx):
    _first_plane(q[:plane], codes[:plane], nx)
    for at in range(plane, q.size, plane):
        _plane(q[at : at + plane], q[at - plane : at], codes[at : at + plane], nx)


def run(q):
    codes = np.empty_like(q)
    if q.size:
        _, ny, nx = q.shape
        _differences(q.reshape(-1), codes.reshape(-1), ny * nx, nx)
    return codes
