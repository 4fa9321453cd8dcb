"""lorenzo-2d: all rows below the first as one long line, then the first column put right.

Up minus left-up comes from the element before in the line; at the start of a row that is the end of
the row above, which is why the first column is done again. One long loop instead of many short ones
leaves the vector unit no partial rows. The difference of the element before is carried over instead
of computed twice: LLVM turns that into a shift of lanes.
"""

import numpy as np
from numba import njit


@njit
def _along(q, codes):
    before = np.int32(0)
    for i in range(q.size):
        codes[i] = q[i] - before
        before = q[i]


@njit
def _below(q, above, codes):
    before = np.int32(0)
    for i in range(q.size):
        down = np.int32(q[i] - above[i])
        codes[i] = down - before
        before = down


@njit
def _differences(q, codes, nx):
    n = q.size
    _along(q[:nx], codes[:nx])
    _below(q[nx:], q[: n - nx], codes[nx:])
    for i in range(nx, n, nx):
        codes[i] = q[i] - q[i - nx]


def run(q):
    codes = np.empty_like(q)
    if q.size:
        _differences(q.reshape(-1), codes.reshape(-1), q.shape[1])
    return codes
