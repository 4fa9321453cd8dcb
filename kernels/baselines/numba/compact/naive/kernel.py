"""compact, first attempt: where each block begins, then one block after the other."""

import numpy as np
from numba import njit


@njit
def _offsets(sizes, offsets):
    offsets[0] = 0
    for b in range(sizes.size):
        offsets[b + 1] = offsets[b] + sizes[b]


@njit
def _move(slots, sizes, offsets, packed):
    for b in range(sizes.size):
        for k in range(sizes[b]):
            packed[offsets[b] + k] = slots[b, k]


def run(slots, sizes):
    offsets = np.empty(sizes.size + 1, np.uint32)
    _offsets(sizes, offsets)
    packed = np.empty(offsets[-1], np.uint32)
    _move(slots, sizes, offsets, packed)
    return offsets, packed
