"""Quantise in float32 with a check that nothing contracts; what misses the bound is stored."""

import math

import numpy as np
from numba import njit, types
from numba.extending import intrinsic


@intrinsic
def fused(context, x, y, z):
    """x * y + z with one rounding, as a compiler makes it of two operations if it may."""

    def build(context, builder, signature, args):
        return builder.fma(*args)

    return types.float32(types.float32, types.float32, types.float32), build


@njit
def encode(x, bound, step, inverse, codes, apart):
    for i in range(x.size):
        p = x[i] * inverse
        q = np.rint(p) if abs(p) < np.float32(4194304) else np.float32(0)
        y = q * step
        error = abs(x[i] - y)
        apart[i] = not error <= bound
        codes[i] = 0 if apart[i] else int(q)


def compress(data, abs_bound):
    if data.dtype != np.float32:
        raise NotImplementedError
    x = data.reshape(-1)
    bound = below(abs_bound)
    step = np.float32(2) * bound or np.float32(1)
    codes, apart = np.empty(x.size, np.int32), np.empty(x.size, np.bool_)
    encode(x, bound, step, np.float32(1) / step, codes, apart)
    head = step.tobytes() + codes.tobytes() + np.packbits(apart).tobytes()
    return np.frombuffer(head + x[apart].tobytes(), np.uint8)


def below(abs_bound):
    """The largest float32 such that no difference that is rounded to it exceeds the bound."""
    t = np.float32(min(abs_bound, 1e30))
    while t > 0 and float(t) + float(np.spacing(t)) / 2 > abs_bound:
        t = np.nextafter(t, np.float32(0))
    return t


def decompress(stream, shape, dtype):
    n = math.prod(shape)
    step = stream[:4].view(np.float32)[0]
    codes = stream[4 : 4 + 4 * n].view(np.int32)
    rest = stream[4 + 4 * n :]
    apart = np.unpackbits(rest[: (n + 7) // 8], count=n).astype(np.bool_)
    y = codes.astype(np.float32) * step
    y[apart] = rest[(n + 7) // 8 :].view(np.float32)
    return y.reshape(shape)
