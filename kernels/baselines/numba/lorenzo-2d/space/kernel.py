"""lorenzo-2d whose loops have several forms: which one is declared."""

import numpy as np
from numba import njit

LONG = False
"""Whether rows are taken as one line, and the first column put right afterwards."""
CARRIED = False
"""Whether what the value before gave is kept in a register, or computed again."""
ROWS = 1
"""Rows of a line, if they are taken so."""


@njit
def _along(q, codes):
    before = np.int32(0)
    for i in range(q.size):
        codes[i] = q[i] - before
        before = q[i]


@njit
def _line(q, above, codes):
    codes[0] = q[0] - above[0]
    if CARRIED:
        before = np.int32(q[0] - above[0])
        for i in range(1, q.size):
            down = np.int32(q[i] - above[i])
            codes[i] = down - before
            before = down
    else:
        for i in range(1, q.size):
            codes[i] = q[i] - q[i - 1] - above[i] + above[i - 1]


@njit
def _differences(q, codes, nx):
    _along(q[:nx], codes[:nx])
    step = ROWS * nx if LONG else nx
    for first in range(nx, q.size, step):
        last = min(first + step, q.size)
        _line(q[first:last], q[first - nx : last - nx], codes[first:last])
    if LONG:
        for i in range(nx, q.size, nx):
            codes[i] = q[i] - q[i - nx]


def run(q):
    codes = np.empty_like(q)
    if q.size:
        _differences(q.reshape(-1), codes.reshape(-1), q.shape[1])
    return codes
