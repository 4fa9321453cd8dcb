"""bitpack: measure all blocks, sum up their sizes, then pack them, a thread per block."""

from pathlib import Path

import cupy as cp
import numpy as np

SOURCE = Path(__file__).with_name("bitpack.hip").read_text()
MODULE = cp.RawModule(code=SOURCE, options=("-std=c++17",))
BLOCK, THREADS = 32, 128


def run(values):
    n, blocks = np.uint32(values.size), -(-values.size // BLOCK)
    rates = cp.empty(blocks, cp.uint8)
    if blocks == 0:
        return rates, cp.empty(0, cp.uint32)
    grid = (-(-blocks // THREADS),)
    MODULE.get_function("measure")(grid, (THREADS,), (values, n, rates))
    ends = cp.cumsum(rates, dtype=cp.uint32)
    words = cp.empty(int(ends[-1]), cp.uint32)
    MODULE.get_function("pack")(grid, (THREADS,), (values, n, rates, ends, words))
    return rates, words
