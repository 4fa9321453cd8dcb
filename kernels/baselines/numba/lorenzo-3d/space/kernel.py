"""lorenzo-3d whose loops have several forms: which one is declared."""

import numpy as np
from numba import njit

LONG = False
"""Whether the rows of a plane below its first are one line; its first column is put right after."""
CARRIED = False
"""Whether what the value before gave is kept in a register, or computed again."""
GATHERED = False
"""Whether the plane behind is taken off first, in a pass of its own."""


@njit
def _line(q, above, codes):
    """Along x and y of one line, above it another."""
    if CARRIED:
        before = np.int32(0)
        for i in range(q.size):
            down = np.int32(q[i] - above[i])
            codes[i] = down - before
            before = down
    else:
        codes[0] = q[0] - above[0]
        for i in range(1, q.size):
            codes[i] = q[i] - q[i - 1] - above[i] + above[i - 1]


@njit
def _plane(q, zeros, codes, nx):
    _line(q[:nx], zeros, codes[:nx])
    step = q.size if LONG else nx
    for first in range(nx, q.size, step):
        last = min(first + step, q.size)
        _line(q[first:last], q[first - nx : last - nx], codes[first:last])
    if LONG:
        for i in range(nx, q.size, nx):
            codes[i] = q[i] - q[i - nx]


@njit
def _subtract(q, behind, rest):
    for i in range(q.size):
        rest[i] = q[i] - behind[i]


@njit
def _differences(q, codes, plane, nx):
    zeros = np.zeros(nx, np.int32)
    if GATHERED:
        rest = np.empty_like(q)
        rest[:plane] = q[:plane]
        _subtract(q[plane:], q[: q.size - plane], rest[plane:])
        for at in range(0, q.size, plane):
            _plane(rest[at : at + plane], zeros, codes[at : at + plane], nx)
        return
    rest = np.empty(plane, np.int32)
    _plane(q[:plane], zeros, codes[:plane], nx)
    for at in range(plane, q.size, plane):
        _subtract(q[at : at + plane], q[at - plane : at], rest)
        _plane(rest, zeros, codes[at : at + plane], nx)


def run(q):
    codes = np.empty_like(q)
    if q.size:
        _, ny, nx = q.shape
        _differences(q.reshape(-1), codes.reshape(-1), ny * nx, nx)
    return codes
