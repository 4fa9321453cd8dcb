"""huffman-decode, first attempt: one bit at a time, until the bits are a code word.

Code words of one length are consecutive numbers, so that a word is known from its distance to the
first of its length.
"""

import numpy as np
from numba import njit

CHUNK = 4096


@njit
def _decode(counts, symbols, bits, words, codes):
    start = 0
    for chunk in range(bits.size):
        at = start
        for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, codes.size)):
            word = first = index = 0
            for length in range(1, 17):
                word |= (words[at // 32] >> (31 - at % 32)) & 1
                at += 1
                if word - first < counts[length]:
                    codes[i] = symbols[index + word - first]
                    break
                index += counts[length]
                first = (first + counts[length]) << 1
                word <<= 1
        start += (bits[chunk] + 31) // 32 * 32


def run(lens, bits, words, n):
    counts = np.bincount(lens, minlength=17)
    # Symbols by length, then by number; those of length 0 have no code word.
    symbols = np.argsort(lens, kind="stable")[counts[0] :]
    codes = np.zeros(n, np.uint16)
    _decode(counts, symbols, bits, words, codes)
    return codes
