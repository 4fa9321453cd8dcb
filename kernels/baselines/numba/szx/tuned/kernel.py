"""szx at the speed of memory: whole blocks of 128 values in vector registers.

One pass either way, with the check sum of a group of blocks taken while its words are in cache.
`coder` holds the passes.

With several threads (`team`), each takes slabs of blocks. How all blocks of a slab will be coded is
decided first, which says where the next slab goes; one that holds large values waits until those
before it have told the fill. So the bytes do not depend on the threads.
"""

import math

import coder
import kept
import numpy as np
import szstream
import team
from coder import BLOCK, GROUP
from tolerance import tolerance_within

MAGIC = b"SZX1"
MOST_GROUPS, LEAST_GROUPS, SLABS_EACH = 128, 8, 8
"""Of a slab of several threads: they work on fewer borders, and get about as much each."""
WORTHWHILE = 1 << 22
"""Bytes of a field that make waking another thread worth its while."""
MOST_SLABS = 4096
"""Of a decoder, which notes where each of them starts."""
HEADER_WORDS = szstream.HEADER_BYTES // 4
SLACK_WORDS = 8 + 2 * BLOCK
"""Planes of a short last block are first written as wide as any, and its mask and constant may take
more than its values do."""
LARGEST = np.iinfo(np.int64).max
MANTISSA_BITS = {np.dtype(np.float32): 23, np.dtype(np.float64): 52}


def _threads(nbytes):
    return max(1, min(team.size(), nbytes // WORTHWHILE))


def _slab(blocks, threads):
    groups = blocks // (SLABS_EACH * threads * GROUP)
    return GROUP * min(MOST_GROUPS, max(LEAST_GROUPS, groups))


def _scale(bound, dtype):
    """Exponent field from which nothing is dropped: ⌊log₂ bound⌋ + bias + mantissa bits + 1."""
    if bound == 0:
        return -1
    mantissa, bias = MANTISSA_BITS[dtype], 127 if dtype == np.float32 else 1023
    return math.frexp(bound)[1] - 1 + bias + mantissa + 1


def compress(data, abs_bound):
    dtype = data.dtype
    if dtype not in MANTISSA_BITS:
        raise NotImplementedError(f"dtype {dtype}: only float32 and float64 are supported")
    bound = float(abs_bound)
    if not 0 <= bound < math.inf:
        raise ValueError(f"abs_bound {bound!r} is refused: it must be finite and 0 or more")
    team.settle()
    x = data.reshape(-1)
    blocks = -(-x.size // BLOCK)
    side = -(-blocks // 4)
    stream = kept.buffer("stream", 4 * (HEADER_WORDS + 2 * side + SLACK_WORDS) + x.nbytes)
    body = stream[szstream.HEADER_BYTES :]
    words = body.view(np.uint32)
    words[: 2 * side] = 0
    codes, drops = body[:blocks], body[4 * side : 4 * side + blocks]

    integer, reach = (np.int32, 2.0**21) if dtype == np.float32 else (np.int64, 2.0**29)
    tolerance = tolerance_within(bound, dtype)
    limit = LARGEST
    if tolerance > 0:
        limit = int(dtype.type(tolerance * reach).view(integer)) - 1
    shared = team.counters()
    shared[team.AT] = 2 * side
    numbers = dtype.type(0.5), dtype.type(tolerance), limit, _scale(bound, dtype)
    bits, full, threads = x.view(integer), x.size // BLOCK, _threads(x.nbytes)
    rest = words, body, shared, numbers
    if threads > 1:
        slab = _slab(blocks, threads)
        team.together(threads, coder.encode_together, bits, slab, codes, drops, *rest)
    else:
        coder.encode(bits, BLOCK, codes[:full], drops[:full], *rest)
        if full < blocks:
            count = x.size - full * BLOCK
            coder.encode(coder.padded(bits), count, codes[full:], drops[full:], *rest)
    check = int(shared[team.CHECK]) + int(coder.check_sum(words, 0, 2 * side))
    fill = int(shared[coder.FILL]) % (1 << 8 * dtype.itemsize) if shared[coder.HAS_FILL] else None
    stream[: szstream.HEADER_BYTES] = szstream.header(
        MAGIC, data.shape, dtype, step=0.0, fill_bits=fill, body=check
    )
    return stream[: 4 * (HEADER_WORDS + int(shared[team.AT]))]


def decompress(stream, shape, dtype):
    dtype = np.dtype(dtype)
    team.settle()
    header = szstream.parse(stream, MAGIC, shape, dtype, verify_check=False)
    size = math.prod(shape)
    # Words are read whole, so a stream at an odd address is copied.
    body = header.body if header.body.ctypes.data % 4 == 0 else header.body.copy()
    item, most = dtype.itemsize, MANTISSA_BITS[dtype]
    blocks, full = -(-size // BLOCK), size // BLOCK
    threads = _threads(size * item)
    slab = max(_slab(blocks, threads), -(-full // MOST_SLABS)) if threads > 1 else blocks
    starts = np.empty(-(-full // max(1, slab)) + (blocks - full), np.int64)
    found = coder.examine(body, size, item, most, header.fill_bits is not None, slab, starts)
    if found != coder.SOUND:
        raise ValueError(coder.REFUSALS[found].format(last=item - 1, most=most))
    side = -(-blocks // 4)
    words = body.view(np.uint32)
    integer = np.int32 if item == 4 else np.int64
    out = kept.buffer("out", size * item).view(integer)
    shared = team.counters()
    team.together(
        threads,
        coder.decode,
        words,
        body,
        starts,
        slab,
        body[:blocks],
        body[4 * side : 4 * side + blocks],
        np.uint64(header.fill_bits or 0).astype(integer),
        out,
        shared,
    )
    if header.check is not None:
        check = int(shared[team.CHECK]) + int(coder.check_sum(words, 0, 2 * side))
        szstream.require_check(check % (1 << 64), header.check)
    return out.view(dtype).reshape(shape)
