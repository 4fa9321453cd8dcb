"""szp at the speed of memory: whole blocks of 32 values in vector registers.

Two passes when compressing: the largest magnitude, then the blocks. Two when decompressing: the
codes, which say how long everything is, then the blocks. The check sum of each slab of chunks is
taken while its words are in cache. `coder` holds the passes, `team` shares them among threads.
"""

import math

import coder
import kept
import numpy as np
import szstream
import team
from coder import BLOCK, CHUNK, FILLED, MASKED, RAW
from tolerance import tolerance_within

MAGIC = b"SZP1"
HEADER_WORDS = szstream.HEADER_BYTES // 4
ALONE_CHUNKS = 32
"""Of a slab of a single thread: what was written is still in cache when it is summed."""
MOST_CHUNKS, LEAST_CHUNKS, SLABS_EACH = 32, 8, 8
"""Of a slab of several threads: they work on fewer borders, and get about as much each."""
TO_ENCODE, TO_DECODE = 1 << 21, 1 << 20
"""Bytes of a field that make waking another thread worth its while."""
MOST_SLABS = 4096
"""Of a decoder, which notes where each of them starts."""
SLACK_WORDS = 2 + coder.GROUP + BLOCK
"""A block writes a sign word and eight planes whatever its width, and a coded tail can be longer
than a raw one."""
NO_SPARES = np.empty((1, 0), np.uint32)


def _threads(nbytes, each):
    return max(1, min(team.size(), nbytes // each))


def _slab(chunks, threads):
    if threads == 1:
        return ALONE_CHUNKS
    return min(MOST_CHUNKS, max(LEAST_CHUNKS, chunks // (SLABS_EACH * threads)))


def compress(data, abs_bound):
    dtype = data.dtype
    if dtype not in (np.float32, np.float64):
        raise NotImplementedError(f"dtype {dtype}: only float32 and float64 are supported")
    bound = float(abs_bound)
    if math.isnan(bound) or bound < 0:
        raise ValueError(f"abs_bound {bound!r} is refused: it must be 0 or more")
    team.settle()
    x = data.reshape(-1)
    chunks, blocks = -(-x.size // CHUNK), -(-x.size // BLOCK)
    front = chunks + -(-blocks // 4)
    room = HEADER_WORDS + front + blocks * BLOCK * dtype.itemsize // 4 + SLACK_WORDS
    stream = kept.buffer("stream", 4 * room)
    body = stream.view(np.uint32)[HEADER_WORDS:]
    codes = body[chunks:front].view(np.uint8)
    codes[blocks:] = 0
    tolerance = tolerance_within(bound, dtype)
    if tolerance == 0.0 or x.size == 0:
        step, fill = 0.0, None
        body[:chunks] = 0
        codes[:blocks] = RAW
        end, check = _store(x.view(np.uint32), body, front)
    else:
        step, fill, end, check = _encode(x, tolerance, body, codes[:blocks], front)
    check += int(coder.sums(body, 0, front)[0])
    stream[: szstream.HEADER_BYTES] = szstream.header(
        MAGIC, data.shape, dtype, step=step, fill_bits=fill, body=check
    )
    return stream[: 4 * (HEADER_WORDS + end)]


def _store(words, body, front):
    """End of the payloads, their share of the check sum."""
    shared, threads = team.counters(), _threads(words.nbytes, TO_ENCODE)
    team.together(threads, coder.store, words, body, front, MOST_CHUNKS * CHUNK, shared)
    return front + words.size, int(shared[team.CHECK])


def _encode(x, tolerance, body, codes, front):
    """Step, fill pattern, end of the payloads, their share of the check sum."""
    dtype = x.dtype
    integer = np.uint32 if dtype == np.float32 else np.uint64
    threads = _threads(x.nbytes, TO_ENCODE)
    slab = _slab(x.size // CHUNK, threads)
    spares = NO_SPARES
    if threads > 1:
        room = slab * CHUNK * dtype.itemsize // 4 + SLACK_WORDS
        spares = kept.buffer("spares", 4 * threads * room).view(np.uint32).reshape(threads, room)
    scan, shared, step = team.counters(), team.counters(), np.empty(1)
    scan[coder.FIRST] = x.size
    shared[team.AT] = front
    team.together(
        threads,
        coder.encode,
        x,
        x.view(integer),
        x.view(np.uint32),
        slab,
        body[: -(-x.size // CHUNK)].view(np.int32),
        codes,
        body,
        spares,
        scan,
        shared,
        dtype.type(tolerance),
        dtype.type(tolerance * (2.0**21 if dtype == np.float32 else 2.0**29)).view(integer),
        step,
    )
    fill = int(shared[coder.FILL]) % (1 << 8 * dtype.itemsize) if shared[coder.HAS_FILL] else None
    return float(step[0]), fill, int(shared[team.AT]), int(shared[team.CHECK])


def decompress(stream, shape, dtype):
    dtype = np.dtype(dtype)
    team.settle()
    header = szstream.parse(stream, MAGIC, shape, dtype, verify_check=False)
    count = math.prod(shape)
    chunks, blocks = -(-count // CHUNK), -(-count // BLOCK)
    front = chunks + -(-blocks // 4)
    # Words are read whole, so a stream at an odd address is copied.
    body = (header.body if header.body.ctypes.data % 4 == 0 else header.body.copy()).view(np.uint32)
    if body.size < front:
        raise ValueError(f"the body has {body.size} words, but bases and codes alone need {front}")
    codes = body[chunks:front].view(np.uint8)
    if np.any(codes[blocks:]):
        raise ValueError("the bytes that pad the block codes are not zero")
    codes = codes[:blocks]
    threads = _threads(count * dtype.itemsize, TO_DECODE)
    slab = max(_slab(chunks, threads), -(-chunks // MOST_SLABS))
    starts = _starts(codes, count, dtype, header, (front, body.size), slab)

    integer = np.uint32 if dtype == np.float32 else np.uint64
    out = kept.buffer("out", count * dtype.itemsize).view(dtype)
    shared = team.counters()
    team.together(
        threads,
        coder.decode,
        body,
        starts,
        slab,
        body[:chunks].view(np.int32),
        codes,
        dtype.type(header.step),
        integer(header.fill_bits or 0),
        out,
        out.view(integer),
        out.view(np.uint32),
        shared,
    )
    if header.check is not None:
        check = int(coder.sums(body, 0, front)[0]) + int(shared[team.CHECK])
        szstream.require_check(check % (1 << 64), header.check)
    return out.reshape(shape)


def _starts(codes, count, dtype, header, room, slab):
    """Where the payloads of each slab start, and where the last one ends.

    Illegal codes are refused, and payloads whose length is not what the codes say.
    """
    item = dtype.itemsize // 4
    sizes = np.full(256, coder.ILLEGAL, np.int64)
    sizes[RAW] = BLOCK * item
    if header.step != 0:
        sizes[0] = 0
        sizes[1:MASKED] = np.arange(2, MASKED + 1)
        if header.fill_bits is not None:
            sizes[MASKED : 2 * MASKED] = sizes[:MASKED] + 1
            sizes[FILLED] = 0
    full = count // CHUNK
    starts = np.full(-(-full // slab) + (count > full * CHUNK) + 1, room[0])
    if not coder.measure(codes, sizes, slab, full, starts):
        raise ValueError(
            "a block code is refused: legal are 255, with a step also 0 to 31, and with a fill "
            f"value too 32 to 63 and 254 (step {header.step!r}, fill {header.fill_bits})"
        )
    tail = count % BLOCK
    if tail and codes[-1] == RAW:
        starts[-1] -= (BLOCK - tail) * item
    if starts[-1] != room[1]:
        raise ValueError(
            f"the payloads have {room[1] - room[0]} words, but their codes need "
            f"{starts[-1] - room[0]}"
        )
    return starts
