"""bitpack in one pass, by decoupled look-back."""

from pathlib import Path

import cupy as cp
import numpy as np

SOURCE = Path(__file__).with_name("bitpack.hip").read_text()
pack = cp.RawKernel(SOURCE, "pack", options=("-std=c++17",))
BLOCK, THREADS, TILE = 32, 256, 4096


def run(values):
    n = values.size
    rates, words = cp.empty(-(-n // BLOCK), cp.uint8), cp.empty(-(-n // BLOCK) * BLOCK, cp.uint32)
    if n == 0:
        return rates, words
    tiles = -(-n // TILE)
    states, total = cp.zeros(tiles, cp.uint64), cp.empty(1, cp.uint32)
    pack((tiles,), (THREADS,), (values, np.uint32(n), rates, states, words, total))
    return rates, words[: int(total[0])]
