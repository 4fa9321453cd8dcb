"""Values that can't be predicted or coded: fill values, NaN, Inf, and what fails its bound.

Each value of a tile has a kind: 0 coded, 1 the tile's fill value, 2 stored as it is. Kinds are
mostly alike along rows and columns, so that their exclusive or with the kind to the left, above, or
both is what the entropy stage gets.
"""

import numpy as np
from numba import njit

CODED, FILL, STORED = 0, 1, 2
LEFT, ABOVE = 1, 2
"""Bits of a scheme: which neighbours a kind is combined with."""


@njit(nogil=True)
def scan(bits, no_sign, limit, hole):
    """Put `hole` where a magnitude is at least `limit`; the largest one below.

    Magnitudes are compared as integers: bit patterns of floats order as they do, NaN above all.
    """
    largest = bits.dtype.type(0)
    for i in range(bits.size):
        size = bits[i] & no_sign
        big = size >= limit
        bits[i] = hole if big else bits[i]
        largest = max(largest, bits.dtype.type(0) if big else size)
    return largest


@njit(nogil=True)
def classify(values, decoded, allowed, bits, no_sign, limit, kinds):
    """Kinds of a tile's values; the fill value, which is the first of those that are huge."""
    fill = bits.dtype.type(0)
    first = True
    for i in range(bits.size):
        kinds[i] = CODED
        if not abs(values[i] - decoded[i]) <= allowed:
            if first and bits[i] & no_sign >= limit:
                fill, first = bits[i], False
            kinds[i] = FILL if bits[i] == fill and not first else STORED
    return fill


@njit(nogil=True)
def combine(kinds, columns, codes):
    """Kinds as codes by the scheme that leaves fewest; the scheme, and how many are stored."""
    counts = np.zeros(4, np.int64)
    stored = 0
    for i in range(kinds.size):
        left = kinds[i - 1] if i else np.uint8(0)
        above = kinds[i - columns] if i >= columns else np.uint8(0)
        both = kinds[i - columns - 1] if i > columns else np.uint8(0)
        kind = kinds[i]
        stored += kind == STORED
        counts[0] += kind != 0
        counts[LEFT] += kind != left
        counts[ABOVE] += kind != above
        counts[LEFT | ABOVE] += kind ^ left != above ^ both
    scheme = np.argmin(counts)
    for i in range(kinds.size):
        code = kinds[i]
        if scheme & LEFT and i:
            code ^= kinds[i - 1]
        if scheme & ABOVE and i >= columns:
            code ^= kinds[i - columns]
        if scheme == LEFT | ABOVE and i > columns:
            code ^= kinds[i - columns - 1]
        codes[i] = code
    return scheme, stored


@njit(nogil=True)
def separate(codes, columns, scheme, kinds):
    """The reverse of `combine`: how many are stored; −1 if a code or a kind is none."""
    stored = 0
    for i in range(kinds.size):
        if codes[i] & ~3:
            return -1
        kind = np.uint8(codes[i])
        if scheme & LEFT and i:
            kind ^= kinds[i - 1]
        if scheme & ABOVE and i >= columns:
            kind ^= kinds[i - columns]
        if scheme == LEFT | ABOVE and i > columns:
            kind ^= kinds[i - columns - 1]
        if kind > STORED:
            return -1
        kinds[i] = kind
        stored += kind == STORED
    return stored


@njit(nogil=True)
def patch(bits, kinds, fill, stored):
    """Put fill values and stored ones in their places."""
    k = 0
    for i in range(bits.size):
        if kinds[i] == FILL:
            bits[i] = fill
        elif kinds[i] == STORED:
            bits[i] = stored[k]
            k += 1
