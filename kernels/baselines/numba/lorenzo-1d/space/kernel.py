"""lorenzo-1d whose loop has several forms: which one is declared."""

import numpy as np
from numba import njit

CARRIED = False
"""Whether the value before is kept in a register, or read again."""
PIECE = 0
"""Values of an inner loop; 0: all in one."""
BACKWARDS = False


@njit
def _forwards(q, codes, first, last):
    for i in range(first, last):
        codes[i] = q[i] - q[i - 1]


@njit
def _backwards(q, codes, first, last):
    for i in range(last - 1, first - 1, -1):
        codes[i] = q[i] - q[i - 1]


@njit
def _carried(q, codes, first, last):
    before = q[first - 1]
    for i in range(first, last):
        codes[i] = q[i] - before
        before = q[i]


@njit
def _differences(q, codes):
    codes[0] = q[0]
    step = PIECE if PIECE > 0 else q.size
    for first in range(1, q.size, step):
        last = min(first + step, q.size)
        if CARRIED:
            _carried(q, codes, first, last)
        elif BACKWARDS:
            _backwards(q, codes, first, last)
        else:
            _forwards(q, codes, first, last)


def run(q):
    codes = np.empty_like(q)
    if q.size:
        _differences(q.reshape(-1), codes.reshape(-1))
    return codes
