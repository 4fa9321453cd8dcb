"""lorenzo-3d: blocks walk down 16 planes of 32 x 8 columns, with the plane before in registers."""

from pathlib import Path

import cupy as cp
import numpy as np

SOURCE = Path(__file__).with_name("lorenzo.cu").read_text()
differences = cp.RawKernel(SOURCE, "differences")
LANES, WARPS, PLANES = 32, 8, 16


def run(q):
    codes = cp.empty_like(q)
    if q.size:
        nz, ny, nx = q.shape
        blocks = -(-nx // LANES) * -(-ny // WARPS) * -(-nz // PLANES)
        dims = np.uint32(nz), np.uint32(ny), np.uint32(nx)
        differences((blocks,), (LANES, WARPS), (q, codes, *dims))
    return codes
