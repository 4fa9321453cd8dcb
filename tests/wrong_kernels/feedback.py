"""Each value predicted from those decoded before it, as SZ does; outliers stored as they are."""

import math
import zlib

import numpy as np
from numba import njit


@njit
def encode(x, bound, step, codes):
    last = 0.0
    for i in range(x.size):
        codes[i] = -128
        scaled = (x[i] - last) / step
        if abs(scaled) < 127:
            q = int(np.rint(scaled))
            y = x.dtype.type(last + q * step)
            if abs(np.float64(x[i]) - y) < bound:
                codes[i] = q
                last = np.float64(y)
                continue
        if math.isfinite(x[i]):
            last = np.float64(x[i])


@njit
def decode(codes, exact, step, y):
    last, k = 0.0, 0
    for i in range(y.size):
        if codes[i] == -128:
            y[i] = exact[k]
            k += 1
        else:
            y[i] = y.dtype.type(last + codes[i] * step)
        if math.isfinite(y[i]):
            last = np.float64(y[i])


def compress(data, abs_bound):
    x = data.reshape(-1)
    step = 2 * abs_bound or 1.0
    codes = np.empty(x.size, np.int8)
    encode(x, abs_bound, step, codes)
    body = codes.tobytes() + x[codes == -128].tobytes()
    return np.frombuffer(np.float64(step).tobytes() + zlib.compress(body, 1), np.uint8)


def decompress(stream, shape, dtype):
    y = np.empty(math.prod(shape), dtype)
    step = float(stream[:8].view(np.float64)[0])
    body = np.frombuffer(zlib.decompress(stream[8:]), np.uint8)
    codes, exact = body[: y.size].view(np.int8), body[y.size :].view(dtype)
    decode(codes, exact, step, y)
    return y.reshape(shape)
