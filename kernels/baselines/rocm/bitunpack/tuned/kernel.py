"""bitunpack in one pass, by decoupled look-back."""

from pathlib import Path

import cupy as cp
import numpy as np

SOURCE = Path(__file__).with_name("bitunpack.hip").read_text()
unpack = cp.RawKernel(SOURCE, "unpack", options=("-std=c++17",))
THREADS, TILE = 256, 4096


def run(rates, words, n):
    values = cp.empty(n, cp.uint32)
    if n > 0:
        tiles = -(-n // TILE)
        states = cp.zeros(tiles, cp.uint64)
        unpack((tiles,), (THREADS,), (rates, words, np.uint32(n), states, values))
    return values
