"""compact: whole vectors of 16 words, whatever a block's size.

What is copied beyond a block is overwritten by the next one. A block of up to 16 words is then one
load and one store, without a branch that depends on its size. Only where a vector would reach
beyond the last slot are words copied one by one. The output has room for one vector more than it
needs.
"""

import lanes
import numpy as np
from numba import njit


@njit
def _prefix_sum(sizes, offsets):
    total = np.uint32(0)
    offsets[0] = total
    for b in range(sizes.size):
        total = np.uint32(total + sizes[b])
        offsets[b + 1] = total


@njit
def _move(words, cap, sizes, packed):
    reach = -(-cap // lanes.WORDS) * lanes.WORDS
    safe = max(0, min(sizes.size, (words.size - reach) // cap + 1))
    at = 0
    for b in range(safe):
        size = np.int64(sizes[b])
        start = b * cap
        lanes.copy(words, start, packed, at)
        for k in range(lanes.WORDS, size, lanes.WORDS):
            lanes.copy(words, start + k, packed, at + k)
        at += size
    for b in range(safe, sizes.size):
        size = np.int64(sizes[b])
        for k in range(size):
            packed[at + k] = words[b * cap + k]
        at += size


def run(slots, sizes):
    offsets = np.empty(sizes.size + 1, np.uint32)
    _prefix_sum(sizes, offsets)
    total = int(offsets[-1])
    packed = np.empty(total + lanes.WORDS, np.uint32)
    if slots.size:
        _move(slots.reshape(-1), slots.shape[1], sizes, packed)
    return offsets, packed[:total]
