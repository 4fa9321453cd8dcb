"""lorenzo-3d-inverse: a running sum along one axis after the other."""

import math
from pathlib import Path

import cupy as cp
import numpy as np

SOURCE = Path(__file__).with_name("sums.cu").read_text()
sum_lines = cp.RawKernel(SOURCE, "sum_lines")
THREADS = 64


def run(codes):
    q = codes.copy()
    if q.size == 0:
        return q
    for axis, length in enumerate(q.shape):
        outer, inner = math.prod(q.shape[:axis]), math.prod(q.shape[axis + 1 :])
        blocks = -(-outer * inner // THREADS)
        sizes = np.uint32(outer), np.uint32(length), np.uint32(inner)
        sum_lines((blocks,), (THREADS,), (q, *sizes))
    return q
