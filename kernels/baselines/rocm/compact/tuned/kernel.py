"""compact in one pass, by decoupled look-back."""

from pathlib import Path

import cupy as cp
import numpy as np

SOURCE = Path(__file__).with_name("compact.hip").read_text()
compact = cp.RawKernel(SOURCE, "compact", options=("-std=c++17",))
THREADS = 256


def run(slots, sizes):
    blocks, cap = slots.shape
    packed = cp.empty(slots.size, cp.uint32)
    if slots.size == 0:
        return cp.zeros(blocks + 1, cp.uint32), packed
    offsets = cp.empty(blocks + 1, cp.uint32)
    tiles = -(-blocks // THREADS)
    states = cp.zeros(tiles, cp.uint64)
    args = slots, sizes, np.uint32(blocks), np.uint32(cap), states, offsets, packed
    compact((tiles,), (THREADS,), args)
    return offsets, packed[: int(offsets[-1])]
