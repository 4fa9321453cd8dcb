"""histogram: codes are counted in tables that take turns; how many, and how large, is declared."""

import numpy as np
from numba import njit

TABLES = 1
TAKE_MAXIMUM = False


@njit
def _count(codes, tables):
    one = np.uint32(1)
    whole = codes.size // TABLES * TABLES
    for i in range(0, whole, TABLES):
        for k in range(TABLES):
            tables[k, codes[i + k]] += one
    for i in range(whole, codes.size):
        tables[0, codes[i]] += one


@njit
def _largest(codes):
    largest = np.uint16(0)
    for code in codes:
        largest = max(largest, code)
    return largest


def run(codes, nbins):
    counts = np.zeros(nbins, np.uint32)
    if codes.size:
        # All codes there can be, or only as many as there are: a look at the data for small tables.
        width = int(_largest(codes)) + 1 if TAKE_MAXIMUM else 1 << 16
        tables = np.zeros((TABLES, width), np.uint32)
        _count(codes, tables)
        used = min(nbins, width)
        np.sum(tables[:, :used], axis=0, dtype=np.uint32, out=counts[:used])
    return counts
