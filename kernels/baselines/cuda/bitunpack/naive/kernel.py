"""bitunpack: sum up the sizes of the blocks, then a thread per value gathers its bits."""

from pathlib import Path

import cupy as cp
import numpy as np

SOURCE = Path(__file__).with_name("bitunpack.cu").read_text()
unpack = cp.RawKernel(SOURCE, "unpack")
THREADS = 256


def run(rates, words, n):
    values = cp.empty(n, cp.uint32)
    if n > 0:
        ends = cp.cumsum(rates, dtype=cp.uint32)
        unpack((-(-n // THREADS),), (THREADS,), (rates, words, ends, np.uint32(n), values))
    return values
