"""lorenzo-1d: every value minus the one before it."""

from pathlib import Path

import cupy as cp
import numpy as np

SOURCE = Path(__file__).with_name("lorenzo.hip").read_text()
differences = cp.RawKernel(SOURCE, "differences")
THREADS = 256


def run(q):
    codes = cp.empty_like(q)
    if q.size:
        blocks = -(-q.size // THREADS)
        differences((blocks,), (THREADS,), (q, codes, np.uint32(q.size)))
    return codes
