"""lorenzo-1d-inverse: sums within tiles, sums of the tiles' totals, and both together."""

from pathlib import Path

import cupy as cp
import numpy as np

MODULE = cp.RawModule(code=Path(__file__).with_name("sums.hip").read_text())
TILE = 256


def run(codes):
    q = cp.empty_like(codes)
    if codes.size:
        tiles = -(-codes.size // TILE)
        totals = cp.empty(tiles, cp.uint32)
        n = np.uint32(codes.size)
        MODULE.get_function("sum_tiles")((tiles,), (TILE,), (codes, q, totals, n))
        ends = cp.cumsum(totals, dtype=cp.uint32)
        MODULE.get_function("add_before")((tiles,), (TILE,), (q, ends, n))
    return q
