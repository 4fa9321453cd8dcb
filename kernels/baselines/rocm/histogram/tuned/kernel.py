"""histogram in shared memory, in several copies; in global memory if the bins do not fit."""

from pathlib import Path

import cupy as cp
import numpy as np

SOURCE = Path(__file__).with_name("histogram.hip").read_text()
MODULE = cp.RawModule(code=SOURCE, options=("-std=c++17",))
THREADS, EACH, MOST_BLOCKS = 256, 64, 1056
"""A block's own histogram is worth its while for some tens of codes per thread."""
SHARED_BINS = 48 * 1024 // 4
MOST_COPIES = 8


def run(codes, nbins):
    counts = cp.zeros(nbins, cp.uint32)
    if codes.size == 0:
        return counts
    args = codes, np.uint32(codes.size), counts, np.uint32(nbins)
    grid = (min(-(-codes.size // (THREADS * EACH)), MOST_BLOCKS),)
    copies = min(MOST_COPIES, SHARED_BINS // nbins)
    if copies == 0:
        MODULE.get_function("count_global")(grid, (THREADS,), args)
    else:
        count = MODULE.get_function("count_shared")
        shared = 4 * nbins * copies
        count(grid, (THREADS,), (*args, np.uint32(copies)), shared_mem=shared)
    return counts
