"""lorenzo-1d in place: the input is ours to overwrite, so no memory is touched for the first time.

From the last element down, each element is read before it is overwritten, and the loop vectorises.
int32 stores drop the high half of the 64-bit difference: that is the modulo.
"""

from numba import njit


@njit
def _differences(q):
    for i in range(q.size - 1, 0, -1):
        q[i] -= q[i - 1]


def run(q):
    _differences(q)
    return q
