"""bitpack whose planes are made in one of several ways: which one is declared."""

import numpy as np
from numba import njit

TRANSPOSED = False
"""Whether a block of 32 values becomes its planes in five halving steps, or bit by bit."""
LARGEST_FIRST = False
"""Whether a block's rate comes from its largest value, or from the OR of all."""
BLOCK = 32


@njit
def _rate(values):
    top = np.uint32(0)
    for value in values:
        top = max(top, value) if LARGEST_FIRST else np.uint32(top | value)
    rate = 0
    while top:
        top = np.uint32(top >> np.uint32(1))
        rate += 1
    return rate


@njit
def _planes(values, rate, words):
    for k in range(rate):
        word = np.uint32(0)
        for i in range(BLOCK):
            bit = np.uint32((values[i] >> np.uint32(k)) & np.uint32(1))
            word = np.uint32(word | np.uint32(bit << np.uint32(i)))
        words[k] = word


@njit
def _transposed(values, rate, words, square):
    for i in range(BLOCK):
        square[i] = values[i]
    width, mask = 16, np.uint32(0x0000FFFF)
    while width:
        by = np.uint32(width)
        for first in range(0, BLOCK, 2 * width):
            for i in range(first, first + width):
                swap = np.uint32((np.uint32(square[i] >> by) ^ square[i + width]) & mask)
                square[i + width] = np.uint32(square[i + width] ^ swap)
                square[i] = np.uint32(square[i] ^ np.uint32(swap << by))
        width //= 2
        mask = np.uint32(mask ^ np.uint32(mask << np.uint32(width)))
    for k in range(rate):
        words[k] = square[k]


@njit
def _pack(values, rates, words):
    square = np.empty(BLOCK, np.uint32)
    at = 0
    for block in range(rates.size):
        piece = values[block * BLOCK : (block + 1) * BLOCK]
        rate = _rate(piece)
        if TRANSPOSED:
            _transposed(piece, rate, words[at:], square)
        else:
            _planes(piece, rate, words[at:])
        rates[block] = rate
        at += rate
    return at


def run(values):
    blocks = -(-values.size // BLOCK)
    padded = np.zeros(blocks * BLOCK, np.uint32)
    padded[: values.size] = values
    rates = np.empty(blocks, np.uint8)
    words = np.empty(blocks * BLOCK, np.uint32)
    return rates, words[: _pack(padded, rates, words)]
