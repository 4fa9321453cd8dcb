"""bitpack, first attempt: every bit of every value is put where it belongs."""

import numpy as np
from numba import njit


@njit
def _pack(values, rates, words):
    at = 0
    for block in range(rates.size):
        first = block * 32
        last = min(first + 32, values.size)
        largest = values[first:last].max()
        rate = 0
        while rate < 32 and largest >> rate:
            rate += 1
        for i in range(first, last):
            for k in range(rate):
                words[at + k] |= ((values[i] >> k) & 1) << (i - first)
        rates[block] = rate
        at += rate
    return at


def run(values):
    blocks = (values.size + 31) // 32
    rates = np.zeros(blocks, np.uint8)
    words = np.zeros(blocks * 32, np.uint32)
    end = _pack(values, rates, words)
    return rates, words[:end]
