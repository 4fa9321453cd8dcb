"""szp, first attempt: NumPy for whole-array steps, numba for what goes bit by bit.

No fill codes are written: a block with a value that can't be quantised is stored raw.
The decoder reads every code.
"""

import math

import numpy as np
import szstream
from numba import njit

MAGIC = b"SZP1"
BLOCK = 32
CHUNK = 4096


def tolerance(abs_bound, dtype):
    """Largest T in the data type whose rounded comparison proves the bound; 0 means lossless."""
    if dtype == np.float64:
        t = math.nextafter(min(abs_bound, 2.0**901), -math.inf)
        return 0.0 if t < 2.0**-900 else min(t, 2.0**900)
    t = np.float32(min(abs_bound, 2.0**101))
    above = np.nextafter(t, np.float32(np.inf))
    while t > 0 and float(t) + (float(above) - float(t)) / 2 > abs_bound:
        t, above = np.nextafter(t, np.float32(-np.inf)), t
    return 0.0 if t < 2.0**-100 else min(float(t), 2.0**100)


def quantise(x, abs_bound):
    """(step, q, ok): q·step is within the bound of x wherever ok."""
    single = x.dtype == np.float32
    real = x.dtype.type
    t = tolerance(abs_bound, x.dtype)
    if t == 0.0 or x.size == 0:
        return 0.0, np.zeros(x.size, np.int32), np.zeros(x.size, np.bool_)
    u, limit, magic = 2.0**-53, 2.0**30, 1.5 * 2.0**52
    if single:
        u, limit, magic = 2.0**-24, 2.0**22, 12582912.0
    magnitude = np.abs(x)
    largest = float(magnitude.max(initial=0.0, where=magnitude < t * limit / 2))
    step = 2.0 * (t - 3.001 * u * largest) * (1.0 - 8.0 * u)
    if single and float(np.float32(step)) > step:
        step = float(np.nextafter(np.float32(step), np.float32(0)))
    s = real(step)
    with np.errstate(all="ignore"):
        p = x * (real(1.0) / s)
        f = (p + real(magic)) - real(magic)
        ok = (np.abs(p) < limit) & (np.abs(f) < limit) & (np.abs(x - f * s) <= t)
    return float(s), np.where(ok, f, 0).astype(np.int32), ok


@njit
def pack(differences, rates, starts, words):
    """Set the sign and plane bits of every coded element. `starts`: each block's first word."""
    for i in range(differences.size):
        rate = rates[i // BLOCK]
        at = starts[i // BLOCK]
        d = differences[i]
        bit = i % BLOCK
        for plane in range(rate):
            words[at + 1 + plane] |= ((abs(d) >> plane) & 1) << bit
        if d < 0:
            words[at] |= 1 << bit


@njit
def unpack(words, codes, starts, differences, masked):
    """Read every coded element's difference, and whether it is masked."""
    for i in range(differences.size):
        code = codes[i // BLOCK]
        at = starts[i // BLOCK]
        bit = i % BLOCK
        if code == 254:
            masked[i] = True
        if code >= 64:
            continue
        if code >= 32:
            masked[i] = (words[at] >> bit) & 1
            at += 1
        if code % 32 == 0 or masked[i]:
            continue
        d = 0
        for plane in range(code % 32):
            d |= ((words[at + 1 + plane] >> bit) & 1) << plane
        differences[i] = -d if (words[at] >> bit) & 1 else d


def payload_sizes(codes, n, words_per_value):
    """Words of each block's payload."""
    sizes = np.where(codes % 32 > 0, codes % 32 + 1, 0) + (codes >= 32)
    sizes[codes == 254] = 0
    sizes[codes == 255] = BLOCK * words_per_value
    if n % BLOCK and codes[-1] == 255:
        sizes[-1] = n % BLOCK * words_per_value
    return sizes


def compress(data, abs_bound):
    x = data.reshape(-1)
    step, q, ok = quantise(x, abs_bound)
    n, blocks, chunks = x.size, -(-x.size // BLOCK), -(-x.size // CHUNK)

    good = np.ones(blocks * BLOCK, np.bool_)
    good[:n] = ok
    raw = ~good.reshape(-1, BLOCK).all(axis=1)
    coded = np.flatnonzero(~np.repeat(raw, BLOCK)[:n])
    chunk = coded // CHUNK
    first = np.diff(chunk, prepend=-1) != 0
    bases = np.zeros(chunks, np.int32)
    bases[chunk[first]] = q[coded[first]]
    steps = np.diff(q[coded], prepend=0)
    steps[first] = 0
    differences = np.zeros(blocks * BLOCK, np.int32)
    differences[coded] = steps

    largest = np.abs(differences).reshape(-1, BLOCK).max(axis=1)
    rates = np.frexp(largest.astype(np.float64))[1]
    codes = np.where(raw, 255, rates)
    sizes = payload_sizes(codes, n, x.itemsize // 4)
    starts = np.cumsum(sizes) - sizes
    words = np.zeros(sizes.sum(), np.uint32)
    pack(differences, rates, starts, words)
    for block in np.flatnonzero(raw):
        part = x[block * BLOCK : (block + 1) * BLOCK].view(np.uint32)
        words[starts[block] : starts[block] + part.size] = part

    padded = np.zeros(-(-blocks // 4) * 4, np.uint8)
    padded[:blocks] = codes
    body = np.concatenate([bases.view(np.uint8), padded, words.view(np.uint8)])
    head = szstream.header(MAGIC, data.shape, data.dtype, step=step, fill_bits=None, body=body)
    return np.concatenate([head, body])


def decompress(stream, shape, dtype):
    head = szstream.parse(stream, MAGIC, shape, dtype)
    n = math.prod(shape)
    blocks, chunks = -(-n // BLOCK), -(-n // CHUNK)
    front = 4 * chunks + -(-blocks // 4) * 4
    if head.body.size < front:
        raise ValueError("the stream is too short for its codes")
    bases = head.body[: 4 * chunks].view(np.int32)
    codes = head.body[4 * chunks : 4 * chunks + blocks].astype(np.int64)
    words = head.body[front:].view(np.uint32)
    sizes = payload_sizes(codes, n, dtype.itemsize // 4)
    if ((codes >= 64) & (codes < 254)).any() or sizes.sum() != words.size:
        raise ValueError("the codes do not fit the payload")
    if head.fill_bits is None and ((codes >= 32) & (codes < 255)).any():
        raise ValueError("a block uses the fill value, but the header has none")
    if head.step == 0.0 and (codes != 255).any():
        raise ValueError("step 0 is lossless, but a block is not raw")

    starts = np.cumsum(sizes) - sizes
    differences = np.zeros(chunks * CHUNK, np.int32)
    masked = np.zeros(blocks * BLOCK, np.bool_)
    unpack(words, codes, starts, differences[: blocks * BLOCK], masked)
    q = np.cumsum(differences.reshape(-1, CHUNK), axis=1, dtype=np.int32) + bases[:, None]
    out = q.reshape(-1)[:n].astype(dtype) * dtype.type(head.step)
    out.view(np.uint32 if dtype == np.float32 else np.uint64)[masked[:n]] = head.fill_bits or 0
    for block in np.flatnonzero(codes == 255):
        part = words[starts[block] : starts[block] + sizes[block]]
        out[block * BLOCK : (block + 1) * BLOCK] = part.view(dtype)
    return out.reshape(shape)
