"""Lorenzo prediction along any axes of a tile, of whole numbers of steps.

Values are rounded to whole steps before anything is predicted, so that differences are exact
integers and the encoder needs nothing of what the decoder does. The numbers lie in `q` row by row,
each row behind a zero, and behind all of them a row of zeros stands for neighbours outside the
tile.
"""

import lanes
import numpy as np
from numba import njit

LANES = lanes.LANES
X, Y, Z = 1, 2, 4
inner = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def room(shape):
    """Numbers that `q` needs."""
    return (shape[0] * shape[1] + 1) * (shape[2] + 1)


@inner
def near(shape, axes, z, y):
    """Where in q a row starts, and its neighbours: the row before, the plane before, both."""
    pitch = shape[2] + 1
    here = (z * shape[1] + y) * pitch + 1
    zeros = shape[0] * shape[1] * pitch + 1
    above, behind = axes & Y and y > 0, axes & Z and z > 0
    row = here - pitch if above else zeros
    plane = here - shape[1] * pitch if behind else zeros
    both = here - (shape[1] + 1) * pitch if above and behind else zeros
    return here, row, plane, both


@inner
def bridge(work, at, n, q, places, left, scale):
    """Give values that can't be coded the numbers that are predicted, and make them NaN."""
    here, row, plane, both = places
    step, inverse, allowed, limit, magic = scale
    for i in range(n):
        value = work[at + i]
        whole = value * inverse + magic - magic
        if not (abs(whole) < limit and abs(value - whole * step) <= allowed):
            guess = q[row + i] + q[plane + i] - q[both + i]
            if left:
                j = i - 1
                guess += q[here + j] - q[row + j] - q[plane + j] + q[both + j]
            q[here + i] = guess
            work[at + i] = np.nan


@njit(nogil=True)
def encode(work, shape, axes, q, codes, scale):
    """Codes of a tile; not 0 if some values can't be coded. scale: as for interpolation."""
    n, left = shape[2], np.int32(-(axes & X))
    for i in range(shape[0] * shape[1] + 1):
        q[i * (n + 1)] = 0
    for i in range(q.size - n, q.size):
        q[i] = 0
    missed = 0
    for line in range(shape[0] * shape[1]):
        z, y = divmod(line, shape[1])
        places, at = near(shape, axes, z, y), line * n
        bad = 0
        for i in range(0, n, LANES):
            bad |= lanes.quantise(work, at + i, n - i, q, places[0] + i, scale)
        if bad:
            bridge(work, at, n, q, places, left, scale)
            missed = 1
        here, row, plane, both = places
        for i in range(0, n, LANES):
            spots = here + i, row + i, plane + i, both + i
            lanes.difference(q, spots, left, n - i, codes, at + i)
    return missed


@njit(nogil=True)
def decode(work, shape, axes, q, codes, step):
    """The tile, at the start of `work`, from its codes."""
    n, left = shape[2], np.int32(-(axes & X))
    for i in range(q.size - n, q.size):
        q[i] = 0
    for line in range(shape[0] * shape[1]):
        z, y = divmod(line, shape[1])
        here, row, plane, both = near(shape, axes, z, y)
        at, carry = line * n, np.int32(0)
        for i in range(0, n, LANES):
            spots = here + i, row + i, plane + i, both + i
            carry = lanes.integrate(codes, at + i, carry, q, spots, left, n - i, work, at + i, step)
