"""szx, first attempt: block by block and byte by byte, in numba; integers are all 64-bit."""

import math

import numpy as np
import szstream
from numba import njit

MAGIC = b"SZX1"
BLOCK = 128
FILLED, RAW = 254, 255
ONE, BYTE = np.uint64(1), np.uint64(255)


def tolerance(abs_bound, dtype):
    """Largest T whose comparison in the data type proves the bound; 0 if it is too small."""
    if dtype == np.float64:
        t = math.nextafter(min(abs_bound, 2.0**901), -math.inf)
        return 0.0 if t < 2.0**-900 else min(t, 2.0**900)
    t = np.float32(min(abs_bound, 2.0**101))
    above = np.nextafter(t, np.float32(np.inf))
    while t > 0 and float(t) + (float(above) - float(t)) / 2 > abs_bound:
        t, above = np.nextafter(t, np.float32(-np.inf)), t
    return 0.0 if t < 2.0**-100 else min(float(t), 2.0**100)


@njit
def put(out, at, value, count):
    for k in range(count):
        out[at + k] = (value >> np.uint64(8 * k)) & BYTE
    return at + count


@njit
def get(data, at, count):
    value = np.uint64(0)
    for k in range(count):
        value |= np.uint64(data[at + k]) << np.uint64(8 * k)
    return value


@njit
def ordered(bits, top):
    """An integer that orders as the value does."""
    return bits ^ ((top << ONE) - ONE) if bits & top else bits | top


@njit
def pattern(y, top):
    """The inverse of `ordered`."""
    return y ^ top if y & top else y ^ ((top << ONE) - ONE)


@njit
def encode(x, bits, mantissa, t, log2_bound, fill, has_fill, codes, drops, out):
    """Write codes, drops and payloads; returns the bytes of the payloads. `bits`: those of x."""
    width = x.itemsize
    top = ONE << np.uint64(8 * width - 1)
    bias = (1 << (8 * width - 2 - mantissa)) - 1
    middle = np.zeros(1, x.dtype)
    at = 0
    for block in range(codes.size):
        first = block * BLOCK
        m = min(BLOCK, x.size - first)
        low = high = -1
        masked = 0
        mask = np.zeros(16, np.uint8)
        for i in range(first, first + m):
            if has_fill and bits[i] == fill:
                mask[(i - first) // 8] |= 1 << (i - first) % 8
                masked += 1
                continue
            y = ordered(bits[i], top)
            low = i if low < 0 or y < ordered(bits[low], top) else low
            high = i if high < 0 or y > ordered(bits[high], top) else high
        if masked == m:
            codes[block] = FILLED
            continue

        # Mapping and rounding keep the order, so the extremes decide everything.
        exponent = 0
        for i in (low, high):
            exponent = max(exponent, np.int64((bits[i] & (top - ONE)) >> np.uint64(mantissa)))
        drop = max(log2_bound - (max(exponent, 1) - bias) + mantissa + 1, 0)
        shift = np.uint64(0 if exponent >= 2 * bias else min(drop, mantissa))
        half = (ONE << shift) >> ONE
        base = item = (ordered(bits[low], top) + half) >> shift
        spread = ((ordered(bits[high], top) + half) >> shift) - base
        planes = 0
        while planes < width and spread >> np.uint64(8 * planes):
            planes += 1
        middle[0] = x[low] / 2 + x[high] / 2
        if bits[low] == bits[high]:
            planes, item = 0, bits[low]
        elif exponent <= 2 * bias and max(x[high] - middle[0], middle[0] - x[low]) <= t:
            planes, item = 0, get(middle.view(np.uint8), 0, width)
        elif planes == 0:
            item = pattern(base << shift, top)

        mask_bytes = 16 if masked > 0 else 0
        padded = -(-m // 4) * 4
        if planes > 0 and mask_bytes + width + planes * padded >= m * width:
            codes[block] = RAW
            for i in range(first, first + m):
                at = put(out, at, bits[i], width)
            continue
        codes[block] = planes + 2 * mask_bytes
        for i in range(mask_bytes):
            out[at + i] = mask[i]
        at = put(out, at + mask_bytes, item, width)
        if planes > 0:
            drops[block] = shift
        for k in range(planes):
            for i in range(m):
                if not (mask[i // 8] >> (i % 8)) & 1:
                    y = (ordered(bits[first + i], top) + half) >> shift
                    out[at + i] = ((y - base) >> np.uint64(8 * k)) & BYTE
            at += padded
    return at


@njit
def decode(payload, codes, drops, fill, width, bits):
    """Set every value's bits; the caller has checked codes, drops and lengths."""
    top = ONE << np.uint64(8 * width - 1)
    at = 0
    for block in range(codes.size):
        first = block * BLOCK
        m = min(BLOCK, bits.size - first)
        code = codes[block]
        if code == FILLED:
            for i in range(first, first + m):
                bits[i] = fill
            continue
        if code == RAW:
            for i in range(first, first + m):
                bits[i] = get(payload, at, width)
                at += width
            continue
        mask = at
        at += 16 if code >= 32 else 0
        item = get(payload, at, width)
        at += width
        planes, padded = code % 32, -(-m // 4) * 4
        for i in range(m):
            delta = np.uint64(0)
            for k in range(planes):
                delta |= np.uint64(payload[at + k * padded + i]) << np.uint64(8 * k)
            y = (item + delta) << np.uint64(drops[block])
            value = pattern(y, top) if planes > 0 else item
            if code >= 32 and (payload[mask + i // 8] >> (i % 8)) & 1:
                value = fill
            bits[first + i] = value
        for k in range(planes):
            for i in range(m, padded):
                if payload[at + k * padded + i]:
                    raise ValueError("a byte that pads a plane is not zero")
        at += planes * padded


def payload_sizes(codes, n, width):
    """Bytes of each block's payload; a code that does not exist is an error."""
    counts = np.full(codes.size, BLOCK)
    counts[-1:] = (n - 1) % BLOCK + 1
    padded = -(-counts // 4) * 4
    sizes = width + codes % 32 * padded + 16 * (codes >= 32)
    sizes[codes == FILLED] = 0
    sizes[codes == RAW] = counts[codes == RAW] * width
    if ((codes < FILLED) & ((codes >= 64) | (codes % 32 >= width))).any():
        raise ValueError("a block has a code that does not exist")
    return sizes


def compress(data, abs_bound):
    x = data.reshape(-1)
    single = x.dtype == np.float32
    bits = x.view(np.uint32 if single else np.uint64)
    t = tolerance(abs_bound, x.dtype)
    far = np.flatnonzero(~(np.abs(x) < t * 2.0 ** (21 if single else 29))) if t > 0 else []
    fill_bits = int(bits[far[0]]) if len(far) else None
    blocks = -(-x.size // BLOCK)
    side = -(-blocks // 4) * 4
    body = np.zeros(2 * side + x.nbytes + 24, np.uint8)
    end = 2 * side + encode(
        x,
        bits.astype(np.uint64),
        23 if single else 52,
        t,
        math.frexp(abs_bound)[1] - 1 if abs_bound > 0 else -10000,
        np.uint64(fill_bits or 0),
        fill_bits is not None,
        body[:blocks],
        body[side : side + blocks],
        body[2 * side :],
    )
    body = body[:end]
    head = szstream.header(MAGIC, data.shape, data.dtype, step=0.0, fill_bits=fill_bits, body=body)
    return np.concatenate([head, body])


def decompress(stream, shape, dtype):
    head = szstream.parse(stream, MAGIC, shape, dtype)
    n, width = math.prod(shape), dtype.itemsize
    blocks = -(-n // BLOCK)
    side = -(-blocks // 4) * 4
    if head.body.size < 2 * side:
        raise ValueError("the stream is too short for its codes")
    codes = head.body[:blocks].astype(np.int64)
    drops = head.body[side : side + blocks]
    if head.body[blocks:side].any() or head.body[side + blocks : 2 * side].any():
        raise ValueError("the bytes that pad codes and drops are not zero")
    if 2 * side + payload_sizes(codes, n, width).sum() != head.body.size:
        raise ValueError("the codes do not fit the payload")
    if head.fill_bits is None and ((codes >= 32) & (codes < RAW)).any():
        raise ValueError("a block uses the fill value, but the header has none")
    has_planes = (codes < FILLED) & (codes % 32 > 0)
    if (drops > np.where(has_planes, 23 if width == 4 else 52, 0)).any():
        raise ValueError("a block drops more bits than it may")
    bits = np.empty(n, np.uint64)
    decode(head.body[2 * side :], codes, drops, np.uint64(head.fill_bits or 0), width, bits)
    unsigned = np.uint32 if width == 4 else np.uint64
    return bits.astype(unsigned).view(dtype).reshape(shape)
