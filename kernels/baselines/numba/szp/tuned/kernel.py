"""szp for one core at the speed of memory: whole blocks of 32 values in vector registers.

Two passes when compressing: the largest magnitude, then quantise and pack block by block, with
the check sum of each chunk taken while its words are in cache. Three when decompressing: the codes
(they say how long everything is), the check sum, the blocks. `lanes` holds what is done to a block.

Large buffers are kept, and used again once nobody holds a view of them: the first touch of fresh
memory costs as much as encoding into it.
"""

import math
import sys

import lanes
import numpy as np
import szstream
from numba import njit

MAGIC = b"SZP1"
BLOCK, GROUP = lanes.BLOCK, lanes.GROUP
CHUNK = 4096
CHUNK_BLOCKS = CHUNK // BLOCK
HEADER_WORDS = szstream.HEADER_BYTES // 4
ALL = 0xFFFFFFFF
MASKED, FILLED, RAW = 32, 254, 255
SLACK_WORDS = 2 + GROUP + BLOCK
"""A block writes a sign word and eight planes whatever its width, and a coded tail can be longer
than a raw one."""


# ---- scans ---------------------------------------------------------------------------------------


@njit
def peaks(bits, no_sign, limit):
    """Largest magnitude below `limit` and largest of all, as bit patterns: they order as floats."""
    zero = bits.dtype.type(0)
    below = largest = zero
    for i in range(bits.size):
        size = bits.dtype.type(bits[i] & no_sign)
        largest = max(largest, size)
        below = max(below, size if size < limit else zero)
    return below, largest


@njit
def first_at_least(bits, no_sign, limit):
    for i in range(bits.size):
        if bits[i] & no_sign >= limit:
            return i
    return -1


@njit
def check_sum(words, start, stop):
    """Sum of (2i + 1)·words[i] over start ≤ i < stop, modulo 2⁶⁴."""
    part = words[start:stop]
    plain = np.uint64(0)
    weighted = np.uint64(0)
    for i in range(part.size):
        word = np.uint64(part[i])
        plain += word
        # 32-bit factors multiply in one instruction; a part has fewer than 2³² words.
        weighted += word * np.uint64(np.uint32(i))
    return np.uint64(2) * weighted + np.uint64(2 * start + 1) * plain


@njit
def payload_words(codes, sizes):
    total = 0
    for i in range(codes.size):
        total += sizes[codes[i]]
    return total


# ---- blocks --------------------------------------------------------------------------------------


@njit
def encode(x, bits, raw, count, bases, codes, words, at, r, s, tolerance, fill, has_fill):
    """Encode the first `count` values of x, whose length is padded to whole blocks.

    x, bits and raw are one array seen as floats, as integers of that size and as 32-bit words.
    Payloads go to words[at:]; returns where they end and their share of the check sum.
    """
    q = np.empty(BLOCK, np.int32)
    magnitude = np.empty(BLOCK, np.int32)
    item = x.itemsize // 4
    check = np.uint64(0)
    for chunk in range(bases.size):
        start = at
        based = False
        base = previous = np.int32(0)
        for block in range(chunk * CHUNK_BLOCKS, min(codes.size, (chunk + 1) * CHUNK_BLOCKS)):
            first = block * BLOCK
            keeps = lanes.quantise(x, first, q, r, s, tolerance)
            mask = np.uint32(0)
            if has_fill:
                mask = lanes.equal(bits, first, fill)
            if keeps != ALL or mask != 0 or not based:
                size = min(BLOCK, count - first)
                valid = np.uint32(ALL >> (BLOCK - size))
                mask = np.uint32(mask & valid)
                if mask == valid:
                    codes[block] = FILLED
                    continue
                if (keeps | mask) & valid != valid:
                    codes[block] = RAW
                    for i in range(size * item):
                        words[at + i] = raw[first * item + i]
                    at += size * item
                    continue
                holes = np.uint32(mask | ~valid)
                if not based:
                    based = True
                    base = previous = q[lanes.first_clear(holes)]
                carried = previous
                for i in range(BLOCK):
                    carried = carried if (holes >> np.uint32(i)) & 1 else q[i]
                    q[i] = carried
                if mask != 0:
                    words[at] = mask
                    at += 1
            width = lanes.bit_length(lanes.split(q, previous, magnitude, words, at))
            previous = q[BLOCK - 1]
            for k in range(GROUP, width):
                words[at + 1 + k] = lanes.plane(magnitude, np.uint32(1 << k))
            at += width + (width > 0)
            codes[block] = width + (MASKED if mask != 0 else 0)
        bases[chunk] = base
        check += check_sum(words, start, at)
    return at, check


@njit
def decode(words, at, bases, codes, step, fill, out, bits, raw, count):
    """Decode `count` values into out, whose length is padded to whole blocks; returns the end.

    The caller has checked that the payloads are as long as the codes say.
    """
    narrow = np.empty(BLOCK, np.int16)
    magnitude = np.empty(BLOCK, np.int32)
    spare = np.empty(BLOCK + GROUP, np.uint32)
    item = out.itemsize // 4
    for chunk in range(bases.size):
        q = bases[chunk]
        for block in range(chunk * CHUNK_BLOCKS, min(codes.size, (chunk + 1) * CHUNK_BLOCKS)):
            first = block * BLOCK
            code = np.int64(codes[block])
            if code == FILLED:
                for i in range(BLOCK):
                    bits[first + i] = fill
                continue
            if code == RAW:
                size = min(BLOCK, count - first)
                for i in range(size * item):
                    raw[first * item + i] = words[at + i]
                at += size * item
                continue
            mask = np.uint32(0)
            if code >= MASKED:
                mask = words[at]
                at += 1
            width = code & 31
            if width == 0:
                value = out.dtype.type(q) * step
                for i in range(BLOCK):
                    out[first + i] = value
            elif width <= GROUP and at + 1 + GROUP <= words.size:
                lanes.join(words, at + 1, np.uint32((1 << width) - 1), narrow)
                q = lanes.restore(narrow, words[at], mask, q, step, out, first)
                at += 1 + width
            else:
                # Copied, so that whole groups of planes can be read at the stream's end too.
                for k in range(width):
                    spare[k] = words[at + 1 + k]
                for k in range(GROUP):
                    spare[width + k] = 0
                for i in range(BLOCK):
                    magnitude[i] = 0
                for k in range(0, width, GROUP):
                    lanes.join(spare, k, np.uint32(k), magnitude)
                q = lanes.restore(magnitude, words[at], mask, q, step, out, first)
                at += 1 + width
            if mask != 0:
                for i in range(BLOCK):
                    if (mask >> np.uint32(i)) & 1:
                        bits[first + i] = fill
    return at


# ---- numbers that the header needs ---------------------------------------------------------------


def tolerance_within(bound, dtype):
    """T: |x − x'| ≤ T in the data's own arithmetic proves the bound. 0 asks for lossless."""
    if math.isnan(bound) or bound < 0:
        raise ValueError(f"abs_bound {bound!r} is refused: it must be 0 or more")
    if dtype == np.float64:
        value = min(math.nextafter(bound, -math.inf), 2.0**900)
        return value if value >= 2.0**-900 else 0.0
    value = np.float32(min(bound, 2.0**101))
    above = np.nextafter(value, np.float32(np.inf))
    while value > 0 and float(value) + (float(above) - float(value)) / 2 > bound:
        value, above = np.nextafter(value, np.float32(0)), value
    return min(float(value), 2.0**100) if value >= 2.0**-100 else 0.0


def step_within(tolerance, peak, dtype):
    """The widest step at which no value up to `peak` fails for rounding alone."""
    unit = 2.0**-24 if dtype == np.float32 else 2.0**-53
    step = 2 * (tolerance - 3.001 * unit * peak) * (1 - 8 * unit)
    if dtype == np.float64:
        return step
    narrow = np.float32(step)
    return float(narrow if float(narrow) <= step else np.nextafter(narrow, np.float32(0)))


# ---- memory --------------------------------------------------------------------------------------

_kept = {}


def _buffer(name, size):
    """`size` bytes of the kept buffer, or of a new one while someone still holds a view of it."""
    kept = _kept.pop(name, None)
    unshared = np.empty(0, np.uint8)
    if kept is None or kept.size < size or sys.getrefcount(kept) > sys.getrefcount(unshared):
        kept = np.empty(size, np.uint8)
    _kept[name] = kept
    return kept[:size]


def _padded(part):
    """A copy with its last value repeated to a whole block: repeats cost no bits."""
    padded = np.empty(-(-part.size // BLOCK) * BLOCK, part.dtype)
    padded[: part.size] = part
    padded[part.size :] = part[-1:]
    return padded


# ---- the two calls -------------------------------------------------------------------------------


def compress(data, abs_bound):
    dtype = data.dtype
    if dtype not in (np.float32, np.float64):
        raise NotImplementedError(f"dtype {dtype}: only float32 and float64 are supported")
    x = data.reshape(-1)
    chunks, blocks = -(-x.size // CHUNK), -(-x.size // BLOCK)
    front = chunks + -(-blocks // 4)
    room = HEADER_WORDS + front + blocks * BLOCK * dtype.itemsize // 4 + SLACK_WORDS
    stream = _buffer("stream", 4 * room)
    body = stream.view(np.uint32)[HEADER_WORDS:]
    codes = body[chunks:front].view(np.uint8)
    codes[blocks:] = 0
    tolerance = tolerance_within(float(abs_bound), dtype)
    if tolerance == 0.0 or x.size == 0:
        step, fill = 0.0, None
        end = front + x.size * dtype.itemsize // 4
        body[:chunks] = 0
        codes[:blocks] = RAW
        body[front:end] = x.view(np.uint32)
        check = int(check_sum(body, front, end))
    else:
        step, fill, end, check = _encode(x, tolerance, body, codes[:blocks], front)
    check += int(check_sum(body, 0, front))
    stream[: szstream.HEADER_BYTES] = szstream.header(
        MAGIC, data.shape, dtype, step=step, fill_bits=fill, body=check
    )
    return stream[: 4 * (HEADER_WORDS + end)]


def _encode(x, tolerance, body, codes, front):
    """Step, fill pattern, end of the payloads, their share of the check sum."""
    dtype = x.dtype
    integer = np.uint32 if dtype == np.float32 else np.uint64
    bits = x.view(integer)
    no_sign = integer(np.iinfo(integer).max >> 1)
    huge = dtype.type(tolerance * (2.0**21 if dtype == np.float32 else 2.0**29)).view(integer)
    below, largest = peaks(bits, no_sign, huge)
    fill = int(bits[first_at_least(bits, no_sign, huge)]) if largest >= huge else None
    step = step_within(tolerance, float(integer(below).view(dtype)), dtype)

    bases = body[: -(-x.size // CHUNK)].view(np.int32)
    full = x.size // CHUNK
    end, check = front, 0
    # The last, partial chunk is encoded from a copy that is padded to whole blocks.
    for part, chunks in (
        (x[: full * CHUNK], slice(0, full)),
        (_padded(x[full * CHUNK :]), slice(full, bases.size)),
    ):
        end, share = encode(
            part,
            part.view(integer),
            part.view(np.uint32),
            min(part.size, x.size - chunks.start * CHUNK),
            bases[chunks],
            codes[chunks.start * CHUNK_BLOCKS : chunks.stop * CHUNK_BLOCKS],
            body,
            end,
            dtype.type(1) / dtype.type(step),
            dtype.type(step),
            dtype.type(tolerance),
            integer(fill or 0),
            fill is not None,
        )
        check += int(share)
    return step, fill, end, check


def decompress(stream, shape, dtype):
    dtype = np.dtype(dtype)
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
    _require_length(codes, count, dtype, header, body.size - front)
    if header.check is not None:
        szstream.require_check(int(check_sum(body, 0, body.size)), header.check)

    integer = np.uint32 if dtype == np.float32 else np.uint64
    out = _buffer("out", count * dtype.itemsize).view(dtype)
    full = count // CHUNK
    rest = np.empty(-(-(count - full * CHUNK) // BLOCK) * BLOCK, dtype)
    at = front
    # The last, partial chunk goes through memory that is padded to whole blocks.
    for part, start, stop in ((out[: full * CHUNK], 0, full), (rest, full, chunks)):
        at = decode(
            body,
            at,
            body[start:stop].view(np.int32),
            codes[start * CHUNK_BLOCKS : stop * CHUNK_BLOCKS],
            dtype.type(header.step),
            integer(header.fill_bits or 0),
            part,
            part.view(integer),
            part.view(np.uint32),
            min(part.size, count - start * CHUNK),
        )
    out[full * CHUNK :] = rest[: count - full * CHUNK]
    return out.reshape(shape)


def _require_length(codes, count, dtype, header, available):
    """Refuse illegal codes, and payloads whose length is not what the codes say."""
    illegal = 1 << 40
    item = dtype.itemsize // 4
    sizes = np.full(256, illegal, np.int64)
    sizes[RAW] = BLOCK * item
    if header.step != 0:
        sizes[0] = 0
        sizes[1:MASKED] = np.arange(2, MASKED + 1)
        if header.fill_bits is not None:
            sizes[MASKED : 2 * MASKED] = sizes[:MASKED] + 1
            sizes[FILLED] = 0
    needed = int(payload_words(codes, sizes))
    if needed >= illegal:
        raise ValueError(
            "a block code is refused: legal are 255, with a step also 0 to 31, and with a fill "
            f"value too 32 to 63 and 254 (step {header.step!r}, fill {header.fill_bits})"
        )
    tail = count % BLOCK
    if tail and codes[-1] == RAW:
        needed -= (BLOCK - tail) * item
    if needed != available:
        raise ValueError(f"the payloads have {available} words, but their codes need {needed}")
