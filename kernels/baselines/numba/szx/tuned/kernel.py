"""szx at the speed of memory: whole blocks of 128 values in vector registers.

One pass either way, with the check sum of a group of blocks taken while its words are in cache.
`coder` holds the passes.

With several threads (`team`), each takes slabs of blocks. What is encoded before its place is known
goes into spare memory first; a slab that holds large values waits until those before it have told
the fill. So the bytes do not depend on the threads.
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
MOST_GROUPS, LEAST_GROUPS, SLABS_EACH = 32, 8, 8
"""Of a slab of several threads: they work on fewer borders, and get about as much each."""
WORTHWHILE = 1 << 22
"""Bytes of a field that make waking another thread worth its while."""
MOST_SLABS = 4096
"""Of a decoder, which notes where each of them starts."""
STREAMED = 40 << 20
"""Bytes of a field that is larger than caches are: its values go past them, so that memory is not
read before it is written."""
HEADER_WORDS = szstream.HEADER_BYTES // 4
SLACK_WORDS = 8 + 2 * BLOCK
"""Planes of a short last block are first written as wide as any, and its mask and constant may take
more than its values do."""
NO_SPARES = np.empty((1, 0), np.uint32)
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
    bits, threads = x.view(integer), _threads(x.nbytes)
    slab, spares = max(1, blocks), NO_SPARES
    if threads > 1:
        slab = _slab(blocks, threads)
        room = slab * BLOCK * dtype.itemsize // 4 + SLACK_WORDS
        spares = kept.buffer("spares", 4 * threads * room).view(np.uint32).reshape(threads, room)
    team.together(
        threads, coder.encode, bits, slab, codes, drops, words, body, spares, shared, numbers
    )
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
    words = header.body.view(np.uint32)
    if not words.flags.aligned:
        words = words.copy()
    body = words.view(np.uint8)
    item, most = dtype.itemsize, MANTISSA_BITS[dtype]
    blocks, full = -(-size // BLOCK), size // BLOCK
    threads = _threads(size * item)
    slab = max(_slab(blocks, threads), -(-full // MOST_SLABS)) if threads > 1 else blocks
    starts = np.empty(-(-full // max(1, slab)) + (blocks - full), np.int64)
    found = coder.examine(body, size, item, most, header.fill_bits is not None, slab, starts)
    if found != coder.SOUND:
        raise ValueError(coder.REFUSALS[found].format(last=item - 1, most=most))
    side = -(-blocks // 4)
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
        out.nbytes >= STREAMED,
        shared,
    )
    if header.check is not None:
        check = int(shared[team.CHECK]) + int(coder.check_sum(words, 0, 2 * side))
        szstream.require_check(check % (1 << 64), header.check)
    return out.view(dtype).reshape(shape)
