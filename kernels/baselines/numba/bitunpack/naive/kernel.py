"""bitunpack, first attempt: every bit is moved on its own."""

import numpy as np
from numba import njit


@njit
def _unpack(rates, words, values):
    at = 0
    for block in range(rates.size):
        first = block * 32
        for k in range(rates[block]):
            for i in range(first, min(first + 32, values.size)):
                values[i] |= ((words[at] >> (i - first)) & 1) << k
            at += 1


def run(rates, words, n):
    values = np.zeros(n, np.uint32)
    _unpack(rates, words, values)
    return values
