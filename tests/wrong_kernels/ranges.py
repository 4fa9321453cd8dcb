"""Blocks of 64: their middle, levels from minimum to maximum, or the values as they are."""

import numpy as np

BLOCK = 64
CONSTANT = 255


def packed(block, abs_bound):
    """A code and the bytes of a block."""
    low, high = float(block.min()), float(block.max())
    middle = float(block.min() / 2 + block.max() / 2)
    if high - middle < abs_bound and middle - low < abs_bound:
        return CONSTANT, np.float64(middle).tobytes()
    levels = np.ceil((high - low) / (1.9 * abs_bound)) if abs_bound else np.inf
    if levels < 65536:
        kind = np.uint8 if levels < 256 else np.uint16
        scale = (high - low) / max(levels, 1.0)
        q = np.rint((block - low) / (scale or 1.0)).astype(kind)
        y = unpacked(q, low, scale, block.dtype)
        if (np.abs(block.astype(np.float64) - y) < abs_bound).all():
            return kind().itemsize, np.array([low, scale]).tobytes() + q.tobytes()
    return 0, block.tobytes()


def unpacked(q, low, scale, dtype):
    return (low + q * scale).astype(dtype)


def compress(data, abs_bound):
    x = data.reshape(-1)
    with np.errstate(all="ignore"):
        parts = [packed(x[i : i + BLOCK], abs_bound) for i in range(0, x.size, BLOCK)]
    body = b"".join(bytes([code]) + text for code, text in parts)
    return np.frombuffer(body, np.uint8)


def decompress(stream, shape, dtype):
    y = np.empty(int(np.prod(shape)), dtype)
    body, at = stream.tobytes(), 0
    for i in range(0, y.size, BLOCK):
        m, code = min(BLOCK, y.size - i), body[at]
        at += 1
        if code == 0:
            y[i : i + m] = np.frombuffer(body, dtype, m, at)
            at += m * dtype.itemsize
            continue
        if code == CONSTANT:
            y[i : i + m] = np.frombuffer(body, np.float64, 1, at)
            at += 8
            continue
        low, scale = np.frombuffer(body, np.float64, 2, at)
        q = np.frombuffer(body, f"u{code}", m, at + 16)
        y[i : i + m] = unpacked(q, low, scale, dtype)
        at += 16 + m * code
    return y.reshape(shape)
