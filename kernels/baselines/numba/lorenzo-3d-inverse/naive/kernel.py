"""lorenzo-3d-inverse, first attempt: the sum along x, then along y, then along z."""

from numba import njit


@njit
def _sums(q):
    nz, ny, nx = q.shape
    # Storing as int32 is the modulo.
    for z in range(nz):
        for y in range(ny):
            for x in range(1, nx):
                q[z, y, x] += q[z, y, x - 1]
    for z in range(nz):
        for y in range(1, ny):
            for x in range(nx):
                q[z, y, x] += q[z, y - 1, x]
    for z in range(1, nz):
        for y in range(ny):
            for x in range(nx):
                q[z, y, x] += q[z - 1, y, x]


def run(codes):
    q = codes.copy()
    _sums(q)
    return q
