"""histogram: eight tables in turn, so that a counter is seldom needed again while it is written.

The largest code, found at the speed of memory, sets the size of the tables: no code has to be
compared with nbins where it is counted.
"""

import numpy as np
from numba import njit

TABLES = 8


@njit
def _count(codes, tables):
    one = np.uint32(1)
    a, b, c, d = tables[0], tables[1], tables[2], tables[3]
    e, f, g, h = tables[4], tables[5], tables[6], tables[7]
    whole = codes.size // TABLES * TABLES
    for i in range(0, whole, TABLES):
        a[codes[i]] += one
        b[codes[i + 1]] += one
        c[codes[i + 2]] += one
        d[codes[i + 3]] += one
        e[codes[i + 4]] += one
        f[codes[i + 5]] += one
        g[codes[i + 6]] += one
        h[codes[i + 7]] += one
    for i in range(whole, codes.size):
        a[codes[i]] += one


def run(codes, nbins):
    counts = np.zeros(nbins, np.uint32)
    if codes.size:
        tables = np.zeros((TABLES, int(codes.max()) + 1), np.uint32)
        _count(codes, tables)
        used = min(nbins, tables.shape[1])
        np.sum(tables[:, :used], axis=0, dtype=np.uint32, out=counts[:used])
    return counts
