"""sz-open, first attempt: quantise, difference, zlib; what can't be quantised is stored whole."""

import zlib

import numpy as np
from numba import njit

LIMIT = 1 << 30


@njit
def quantise(x, bound, step, codes, bad):
    """Differences of q = rint(x / step); bad where q·step, in the data type, is out of bound.

    The comparison is strict because the subtraction may round down to the bound.
    """
    before = 0
    for i in range(x.size):
        q = 0
        scaled = np.float64(x[i]) / step
        if abs(scaled) < LIMIT:
            q = int(np.rint(scaled))
        bad[i] = not abs(np.float64(x[i]) - np.float64(x.dtype.type(q * step))) < bound
        if bad[i]:
            q = before
        codes[i] = q - before
        before = q


@njit
def restore(codes, step, out):
    q = 0
    for i in range(out.size):
        q += codes[i]
        out[i] = q * step


def compress(data, abs_bound):
    x = data.reshape(-1)
    step = 2.0 * abs_bound * (1 - 2.0**-20)
    if step < 1e-300:
        packed = zlib.compress(x.tobytes(), 1)
        return np.frombuffer(np.float64(0.0).tobytes() + packed, np.uint8)
    codes = np.zeros(x.size, np.int32)
    bad = np.zeros(x.size, np.bool_)
    quantise(x, abs_bound, step, codes, bad)
    places = np.flatnonzero(bad)
    body = np.int64(places.size).tobytes() + places.tobytes() + x[places].tobytes()
    planes = codes.view(np.uint8).reshape(-1, 4).T  # bytes of one weight together compress better
    packed = zlib.compress(body + planes.tobytes(), 1)
    return np.frombuffer(np.float64(step).tobytes() + packed, np.uint8)


def decompress(stream, shape, dtype):
    step = stream[:8].view(np.float64)[0]
    body = zlib.decompress(stream[8:].tobytes())
    if step == 0.0:
        return np.frombuffer(body, dtype).reshape(shape).copy()
    count = int(np.frombuffer(body, np.int64, 1)[0])
    places = np.frombuffer(body, np.int64, count, 8)
    values = np.frombuffer(body, dtype, count, 8 + 8 * count)
    planes = np.frombuffer(body, np.uint8, offset=8 + (8 + dtype.itemsize) * count)
    codes = np.ascontiguousarray(planes.reshape(4, -1).T).view(np.int32).reshape(-1)
    out = np.zeros(codes.size, dtype)
    restore(codes, step, out)
    out[places] = values
    return out.reshape(shape)
