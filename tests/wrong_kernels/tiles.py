"""Lorenzo differences within tiles of 8 along every axis, deflated; the rest stored apart."""

import zlib

import numpy as np

TILE = 8


def tiled(q):
    """As (tiles, 8, tiles, 8, …), padded with 0."""
    whole = np.pad(q, [(0, -n % TILE) for n in q.shape])
    return whole.reshape([m for n in whole.shape for m in (n // TILE, TILE)])


def differences(q):
    t = tiled(q)
    for axis in range(1, t.ndim, 2):
        t = np.diff(t, axis=axis, prepend=0)
    return t


def sums(d, shape):
    t = d
    for axis in range(1, t.ndim, 2):
        t = np.cumsum(t, axis=axis)
    whole = t.reshape([t.shape[i] * TILE for i in range(0, t.ndim, 2)])
    return whole[tuple(slice(n) for n in shape)]


def compress(data, abs_bound):
    data = np.atleast_1d(data)
    step = 2.0 * abs_bound or 1.0
    with np.errstate(all="ignore"):
        scaled = np.rint(data / step)
        q = np.where(np.abs(scaled) < 2.0**40, scaled, 0).astype(np.int64)
        y = (q * step).astype(data.dtype)
        apart = ~(np.abs(data.astype(np.float64) - y) < abs_bound)
    q[apart] = 0
    body = differences(q).tobytes() + np.packbits(apart).tobytes() + data[apart].tobytes()
    return np.frombuffer(np.float64(step).tobytes() + zlib.compress(body, 1), np.uint8)


def decompress(stream, shape, dtype):
    whole, shape = shape, shape or (1,)
    n = int(np.prod(shape))
    step = stream[:8].view(np.float64)[0]
    body = np.frombuffer(zlib.decompress(stream[8:]), np.uint8)
    form = [m for k in shape for m in (-(-k // TILE), TILE)]
    d = body[: 8 * int(np.prod(form))].view(np.int64).reshape(form)
    rest = body[d.nbytes :]
    apart = np.unpackbits(rest[: (n + 7) // 8], count=n).astype(bool).reshape(shape)
    y = (sums(d, shape) * step).astype(dtype)
    y[apart] = rest[(n + 7) // 8 :].view(dtype)
    return y.reshape(whole)
