"""Blocks of 32: a base and differences of 1, 2 or 4 bytes each, or the values as they are."""

import numpy as np

BLOCK = 32
RAW = 255


def padded(x):
    blocks = -(-x.size // BLOCK)
    out = np.zeros((blocks, BLOCK), x.dtype)
    out.reshape(-1)[: x.size] = x
    return out


def width(differences):
    largest = int(np.abs(differences).max())
    return 1 if largest < 1 << 7 else 2 if largest < 1 << 15 else 4


def compress(data, abs_bound):
    x = padded(data.reshape(-1))
    step = x.dtype.type(min(2 * abs_bound, 1e38))
    with np.errstate(all="ignore"):
        scaled = np.rint(x / step)
        q = np.where(np.abs(scaled) < 2.0**24, scaled, 0).astype(np.int64)
        y = q.astype(x.dtype) * step
        fine = (np.abs(x.astype(np.float64) - y) < abs_bound).all(axis=1)
    codes, parts = [], []
    for i, block in enumerate(q):
        if not fine[i]:
            codes.append(RAW)
            parts.append(x[i].tobytes())
            continue
        differences = np.diff(block, prepend=block[0])
        codes.append(width(differences))
        parts.append(block[:1].astype(np.int32).tobytes())
        parts.append(differences.astype(f"i{codes[-1]}").tobytes())
    head = np.float64(step).tobytes() + bytes(codes)
    return np.frombuffer(head + b"".join(parts), np.uint8)


def decompress(stream, shape, dtype):
    n = int(np.prod(shape))
    blocks = -(-n // BLOCK)
    step = stream[:8].view(np.float64)[0].astype(dtype)
    codes, body = stream[8 : 8 + blocks], stream[8 + blocks :].tobytes()
    y = np.zeros((blocks, BLOCK), dtype)
    at = 0
    for i, code in enumerate(codes.tolist()):
        if code == RAW:
            y[i] = np.frombuffer(body, dtype, BLOCK, at)
            at += BLOCK * dtype.itemsize
            continue
        base = np.frombuffer(body, np.int32, 1, at)[0]
        differences = np.frombuffer(body, f"i{code}", BLOCK, at + 4)
        y[i] = (base + np.cumsum(differences, dtype=np.int64)).astype(dtype) * step
        at += 4 + BLOCK * code
    return y.reshape(-1)[:n].reshape(shape)
