"""lorenzo-2d: warps walk down 16 rows of 32 columns, with the row above in registers."""

from pathlib import Path

import cupy as cp
import numpy as np

SOURCE = Path(__file__).with_name("lorenzo.hip").read_text()
differences = cp.RawKernel(SOURCE, "differences")
LANES, WARPS, ROWS = 32, 8, 16


def run(q):
    codes = cp.empty_like(q)
    if q.size:
        ny, nx = q.shape
        work = -(-nx // LANES) * -(-ny // ROWS)
        blocks = -(-work // WARPS)
        differences((blocks,), (LANES, WARPS), (q, codes, np.uint32(ny), np.uint32(nx)))
    return codes
