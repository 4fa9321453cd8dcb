"""Quantise, take differences, deflate; what misses the bound is stored as it is."""

import zlib

import numpy as np


def quantised(x, step):
    with np.errstate(all="ignore"):
        scaled = x / step
    fits = np.abs(scaled) < 2.0**30  # neither NaN nor Inf
    return np.rint(np.where(fits, scaled, 0)).astype(np.int32)


def restored(q, step):
    return q.astype(step.dtype) * step


def misses(x, y, abs_bound):
    with np.errstate(all="ignore"):
        error = np.abs(x.astype(np.float64) - y.astype(np.float64))
    return ~(error < abs_bound)  # NaN too


def compress(data, abs_bound):
    x = data.reshape(-1)
    step = x.dtype.type(min(2 * abs_bound, 1e38)) or x.dtype.type(1)
    q = quantised(x, step)
    apart = misses(x, restored(q, step), abs_bound)
    q[apart] = 0
    codes = np.diff(q, prepend=np.int32(0))
    body = codes.tobytes() + np.packbits(apart).tobytes() + x[apart].tobytes()
    return np.frombuffer(np.float64(step).tobytes() + zlib.compress(body, 1), np.uint8)


def decompress(stream, shape, dtype):
    n = int(np.prod(shape))
    step = stream[:8].view(np.float64)[0].astype(dtype)
    body = np.frombuffer(zlib.decompress(stream[8:]), np.uint8)
    q = np.cumsum(body[: 4 * n].view(np.int32), dtype=np.int32)
    marks = body[4 * n : 4 * n + (n + 7) // 8]
    apart = np.unpackbits(marks, count=n).astype(bool)
    y = restored(q, step)
    y[apart] = body[4 * n + marks.size :].view(dtype)
    return y.reshape(shape)
