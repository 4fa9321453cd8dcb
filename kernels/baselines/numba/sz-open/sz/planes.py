"""Lossless tiles: differences of the bit patterns, a byte plane at a time.

Bit patterns are mapped to integers that order as the floats do. Each is differenced with its
neighbour along one axis or none, zigzag-coded, and every byte of the result is a slab of codes of
its own: the upper ones are mostly 0 where the field is smooth.
"""

import numpy as np
from numba import njit

SAMPLES = 1024


@njit(nogil=True)
def ordered(pattern, top):
    """An integer that orders as the float with this pattern."""
    return ~pattern if pattern & top else pattern | top


@njit(nogil=True)
def zigzag(value, top):
    """Small for what is near 0 in two's complement."""
    doubled = value + value
    return ~doubled if value & top else doubled


@njit(nogil=True)
def best_distance(bits, distances, top):
    """Of these distances (0: none), that whose differences are shortest on a sample."""
    costs = np.zeros(len(distances))
    stride = max(1, bits.size // SAMPLES)
    for k in range(len(distances)):
        back = distances[k]
        for i in range(back, bits.size, stride):
            value = ordered(bits[i], top)
            if back:
                value -= ordered(bits[i - back], top)
            costs[k] += np.log2(1.0 + np.float64(zigzag(value, top)))
    return distances[np.argmin(costs)]


@njit(nogil=True)
def difference(bits, back, top, out):
    for i in range(bits.size):
        value = ordered(bits[i], top)
        if back and i >= back:
            value -= ordered(bits[i - back], top)
        out[i] = zigzag(value, top)


@njit(nogil=True)
def integrate(bits, back, top):
    """The reverse of `difference`, in place; bits hold what it gave."""
    one = bits.dtype.type(1)
    for i in range(bits.size):
        half = bits[i] >> one
        bits[i] = ~half if bits[i] & one else half
        if back and i >= back:
            bits[i] += bits[i - back]
    for i in range(bits.size):
        bits[i] = bits[i] ^ top if bits[i] & top else ~bits[i]
