"""Quantise, difference, zlib; values that would break the bound are stored as they are."""

import math
import zlib

import numpy as np
from numba import njit


@njit
def quantise(x, bound, step, codes, bad):
    last = 0
    for i in range(x.size):
        q = last
        if abs(x[i]) < step * 2.0**30:  # neither NaN nor Inf; q fits
            q = int(np.rint(x[i] / step))
        codes[i] = q - last
        # Strictly less, for the subtraction may round down to the bound.
        bad[i] = not abs(np.float64(x[i]) - x.dtype.type(q * step)) < bound
        last = q


def compress(data, abs_bound):
    x = data.reshape(-1)
    step = 2 * abs_bound * (1 - 2.0**-20)
    codes, bad = np.empty(x.size, np.int32), np.empty(x.size, np.bool_)
    quantise(x, abs_bound, step, codes, bad)
    body = codes.tobytes() + np.packbits(bad).tobytes() + x[bad].tobytes()
    return np.frombuffer(np.float64(step).tobytes() + zlib.compress(body, 1), np.uint8)


def decompress(stream, shape, dtype):
    n, step = math.prod(shape), stream[:8].view(np.float64)[0]
    body = np.frombuffer(zlib.decompress(stream[8:]), np.uint8)
    codes, rest = body[: 4 * n].view(np.int32), body[4 * n :]
    out = (codes.cumsum(dtype=np.int64) * step).astype(dtype)
    bad = np.unpackbits(rest[: (n + 7) // 8], count=n).astype(np.bool_)
    out[bad] = rest[(n + 7) // 8 :].view(dtype)
    return out.reshape(shape)
