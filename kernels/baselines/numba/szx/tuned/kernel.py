"""szx for one core at the speed of memory: whole blocks of 128 values in vector registers.

One pass either way, with the check sum of a group of blocks taken while its words are in cache.
A block's smallest and largest value decide how it is coded, and whether it can hold the fill value
at all. The fill is found on the way: nothing before the first value that is large enough to be it
can be equal to it. `lanes` holds what is done to a block.

Large buffers are kept, and used again once nobody holds a view of them: the first touch of fresh
memory costs as much as encoding into it.
"""

import math
import sys

import lanes
import numpy as np
import szstream
from numba import njit

MAGIC = b"SZX1"
BLOCK = lanes.BLOCK
GROUP = 32
"""Blocks between check sums: their values and words stay in the first level of cache."""
HEADER_WORDS = szstream.HEADER_BYTES // 4
MASKED, FILLED, RAW = 32, 254, 255
MASK_WORDS = BLOCK // 32
SLACK_WORDS = 8 + 2 * BLOCK
"""Planes of a short last block are first written as wide as any, and its mask and constant may take
more than its values do."""
LARGEST = np.iinfo(np.int64).max
MANTISSA_BITS = {np.dtype(np.float32): 23, np.dtype(np.float64): 52}


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
def turned(ordered, no_sign):
    """Ordered bits to bits, sign-extended to 64."""
    wide = np.int64(ordered)
    return wide ^ ((wide >> 63) & no_sign)


@njit
def largest_of(low, high):
    """The larger magnitude of two ordered values, as bits without a sign."""
    a, b = np.int64(low), np.int64(high)
    return max(a ^ (a >> 63), b ^ (b >> 63))


@njit
def rounded(ordered, lowest, shift):
    """What is kept of an ordered value: y of the format."""
    half = (np.uint64(1) << shift) >> np.uint64(1)
    return (np.uint64(np.int64(ordered) - lowest) + half) >> shift


@njit
def put_item(words, at, item, item_words):
    words[at] = np.uint32(item & 0xFFFFFFFF)
    if item_words == 2:
        words[at + 1] = np.uint32(np.uint64(item) >> np.uint64(32))


@njit
def get_item(words, at, item_words):
    low = np.uint64(words[at])
    if item_words == 2:
        low |= np.uint64(words[at + 1]) << np.uint64(32)
    return np.int64(low)


@njit
def first_above(bits, first, no_sign, limit):
    i = first
    while bits[i] & no_sign <= limit:
        i += 1
    return bits[i]


@njit
def shorten(data, at, planes, count, pitch):
    """Bring planes of a short block together, each zero-padded to `pitch` bytes."""
    for k in range(planes):
        for i in range(pitch):
            data[at + k * pitch + i] = data[at + k * BLOCK + i] if i < count else 0


@njit
def encode(
    bits, count, codes, drops, words, data, at, half, tolerance, limit, scale, fill, has_fill
):
    """Encode blocks of `count` values; bits holds 128 for each, the last one repeated if need be.

    words and data are one array, and payloads go from words[at:]. Magnitudes above `limit` are fill
    or non-finite; `scale` less the exponent is what a block may drop.
    Returns where the payloads end, their share of the check sum, and the fill.
    """
    kind = bits.dtype.type
    item_words = bits.itemsize // 4
    mantissa = 23 if item_words == 1 else 52
    infinite = 255 if item_words == 1 else 2047
    lowest = np.int64(-1) << np.int64(32 * item_words - 1)
    no_sign = ~lowest
    stored, plane = count * item_words, -(-count // 4)
    held = np.empty(BLOCK, bits.dtype)
    lows, highs = np.empty(GROUP, bits.dtype), np.empty(GROUP, bits.dtype)
    check = np.uint64(0)
    for group in range(0, codes.size, GROUP):
        start = at
        stop = min(codes.size, group + GROUP)
        # All at once, so that no block waits for the comparisons of its own values.
        for block in range(group, stop):
            lows[block - group], highs[block - group] = lanes.extremes(bits, block * BLOCK)
        for block in range(group, stop):
            first = block * BLOCK
            masked = 0
            low, high = lows[block - group], highs[block - group]
            largest = largest_of(low, high)
            if largest > limit:
                if not has_fill:
                    has_fill = True
                    fill = first_above(bits, first, kind(no_sign), kind(limit))
                masked = lanes.equal(bits, first, fill, count, words, at)
                if masked == count:
                    codes[block] = FILLED
                    continue
                if masked > 0:
                    low, high = lanes.extremes_besides(bits, first, fill)
                    # The smallest of the others is 0 in the planes.
                    lanes.replace(bits, first, fill, kind(turned(low, no_sign)), held)
                    largest = largest_of(low, high)

            constant = low == high
            item = turned(low, no_sign)
            exponent = largest >> mantissa
            planes = 0
            shift = np.uint64(0)
            if not constant and tolerance > 0 and exponent < infinite:
                least, most = lanes.real(kind(item)), lanes.real(kind(turned(high, no_sign)))
                middle = least * half + most * half
                if most - middle <= tolerance and middle - least <= tolerance:
                    constant = True
                    item = np.int64(0 if middle == 0 else lanes.pattern(middle))
            if not constant:
                # Rounding the top finite exponent could reach infinity.
                if exponent < infinite - 1:
                    shift = np.uint64(min(max(scale - max(exponent, 1), 0), mantissa))
                smallest = rounded(low, lowest, shift)
                planes = lanes.byte_length(rounded(high, lowest, shift) - smallest)
                item = np.int64(smallest)
                if planes == 0:
                    item = turned(np.int64(smallest << shift) + lowest, no_sign)
            mask_words = MASK_WORDS if masked > 0 else 0
            if planes > 0 and mask_words + item_words + planes * plane >= stored:
                codes[block] = RAW
                lanes.copy(bits, first, words, at, 4 * stored)
                at += stored
                continue
            codes[block] = planes + (MASKED if masked > 0 else 0)
            put_item(words, at + mask_words, item, item_words)
            at += mask_words + item_words
            if planes > 0:
                drops[block] = shift
                half_unit = np.int64((np.uint64(1) << shift) >> np.uint64(1))
                offset, move, base = kind(half_unit - lowest), kind(shift), kind(item)
                if masked > 0:
                    lanes.split(held, 0, offset, move, base, planes, data, 4 * at)
                else:
                    lanes.split(bits, first, offset, move, base, planes, data, 4 * at)
                if count < BLOCK:
                    shorten(data, 4 * at, planes, count, 4 * plane)
                at += planes * plane
        check += check_sum(words, start, at)
    return at, check, fill, has_fill


@njit
def decode(words, data, at, count, codes, drops, fill, bits):
    """Decode blocks of `count` values into bits, which has room for 128 each.

    The caller has checked codes, drops and lengths. Returns where the payloads end, and their share
    of the check sum.
    """
    kind = bits.dtype.type
    item_words = bits.itemsize // 4
    stored, plane = count * item_words, -(-count // 4)
    spare = np.empty(BLOCK * bits.itemsize, np.uint8)
    check = np.uint64(0)
    for group in range(0, codes.size, GROUP):
        start = at
        for block in range(group, min(codes.size, group + GROUP)):
            first = block * BLOCK
            code = np.int64(codes[block])
            if code == FILLED:
                lanes.fill(fill, bits, first)
                continue
            if code == RAW:
                lanes.copy(words, at, bits, first, 4 * stored)
                at += stored
                continue
            mask = at
            at += MASK_WORDS if code >= MASKED else 0
            item = kind(get_item(words, at, item_words))
            at += item_words
            planes = code & 31
            if planes == 0:
                lanes.fill(item, bits, first)
            elif count == BLOCK:
                lanes.join(data, 4 * at, planes, item, kind(drops[block]), bits, first)
            else:
                for k in range(planes):
                    lanes.copy(data, 4 * (at + k * plane), spare, k * BLOCK, count)
                lanes.join(spare, 0, planes, item, kind(drops[block]), bits, first)
            at += planes * plane
            if code >= MASKED:
                lanes.blend(words, mask, fill, bits, first)
        check += check_sum(words, start, at)
    return at, check


SOUND, SHORT, PADDED, CODE, DROP, LENGTH = range(6)
REFUSALS = {
    SHORT: "the body is too short for the codes and drops of its blocks",
    PADDED: "bytes that pad the codes, the drops or the planes of the last block are not zero",
    CODE: "a block code is refused: legal are 0 to {last}, 255, and with a fill value also 32 to "
    "32 + {last} and 254",
    DROP: "a drop is refused: at most {most} is legal, and 0 for a block without planes",
    LENGTH: "the payloads are not as long as their codes say",
}


@njit
def examine(data, size, item, mantissa, has_fill):
    """What is wrong with a body, as a key of REFUSALS, or SOUND."""
    blocks, tail = -(-size // BLOCK), size % BLOCK
    side = -(-blocks // 4) * 4
    if data.size < 2 * side:
        return SHORT
    pads = 0
    for i in range(blocks, side):
        pads |= data[i] | data[side + i]
    codes, drops = data[:blocks], data[side : side + blocks]
    total = 2 * side
    known = within = True
    for i in range(blocks):
        code = np.int32(codes[i])
        planes = code & 31
        masked = code >= MASKED
        whole = code >= FILLED
        known &= (code == RAW) | (
            (whole | ((code < 2 * MASKED) & (planes < item))) & (has_fill | (code < MASKED))
        )
        within &= drops[i] <= (mantissa if (planes > 0) & (not whole) else 0)
        coded = item + planes * BLOCK + (4 * MASK_WORDS if masked else 0)
        total += (BLOCK * item if code == RAW else 0) if whole else coded
    if not known:
        return CODE
    if not within:
        return DROP
    code = np.int64(codes[-1]) if tail else np.int64(FILLED)
    planes, pitch = code & 31, -(-tail // 4) * 4
    if code == RAW:
        total -= (BLOCK - tail) * item
    elif code != FILLED:
        total -= planes * (BLOCK - pitch)
    if total != data.size:
        return LENGTH
    if code < FILLED:
        for k in range(planes):
            for i in range(tail, pitch):
                pads |= data[data.size - (k + 1) * pitch + i]
    return SOUND if pads == 0 else PADDED


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


# ---- the two calls -------------------------------------------------------------------------------


def tolerance_within(bound, dtype):
    """T: |x − x'| ≤ T in the data's own arithmetic proves the bound. 0: too small for that."""
    if dtype == np.float64:
        value = min(math.nextafter(bound, -math.inf), 2.0**900)
        return value if value >= 2.0**-900 else 0.0
    value = np.float32(min(bound, 2.0**101))
    above = np.nextafter(value, np.float32(np.inf))
    while value > 0 and float(value) + (float(above) - float(value)) / 2 > bound:
        value, above = np.nextafter(value, np.float32(0)), value
    return min(float(value), 2.0**100) if value >= 2.0**-100 else 0.0


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
    x = data.reshape(-1)
    blocks, full = -(-x.size // BLOCK), x.size // BLOCK
    side = -(-blocks // 4)
    stream = _buffer("stream", 4 * (HEADER_WORDS + 2 * side + SLACK_WORDS) + x.nbytes)
    body = stream[szstream.HEADER_BYTES :]
    words = body.view(np.uint32)
    words[: 2 * side] = 0
    codes, drops = body[:blocks], body[4 * side : 4 * side + blocks]

    integer, reach = (np.int32, 2.0**21) if dtype == np.float32 else (np.int64, 2.0**29)
    tolerance = tolerance_within(bound, dtype)
    limit = LARGEST
    if tolerance > 0:
        limit = int(dtype.type(tolerance * reach).view(integer)) - 1
    scales = dtype.type(0.5), dtype.type(tolerance), limit, _scale(bound, dtype)
    bits = x.view(integer)
    end, check, fill, has_fill = encode(
        bits, BLOCK, codes[:full], drops[:full], words, body, 2 * side, *scales, integer(0), False
    )
    if full < blocks:
        rest = np.full(BLOCK, bits[-1])
        count = x.size - full * BLOCK
        rest[:count] = bits[full * BLOCK :]
        end, share, fill, has_fill = encode(
            rest,
            count,
            codes[full:],
            drops[full:],
            words,
            body,
            end,
            *scales,
            integer(fill),
            has_fill,
        )
        check += share
    check = int(check) + int(check_sum(words, 0, 2 * side))
    fill_bits = int(fill) % (1 << 8 * dtype.itemsize) if has_fill else None
    stream[: szstream.HEADER_BYTES] = szstream.header(
        MAGIC, data.shape, dtype, step=0.0, fill_bits=fill_bits, body=check
    )
    return stream[: 4 * (HEADER_WORDS + end)]


def decompress(stream, shape, dtype):
    dtype = np.dtype(dtype)
    header = szstream.parse(stream, MAGIC, shape, dtype, verify_check=False)
    size = math.prod(shape)
    # Words are read whole, so a stream at an odd address is copied.
    body = header.body if header.body.ctypes.data % 4 == 0 else header.body.copy()
    item, most = dtype.itemsize, MANTISSA_BITS[dtype]
    found = examine(body, size, item, most, header.fill_bits is not None)
    if found != SOUND:
        raise ValueError(REFUSALS[found].format(last=item - 1, most=most))
    blocks, full = -(-size // BLOCK), size // BLOCK
    side = -(-blocks // 4)
    words = body.view(np.uint32)
    codes, drops = body[:blocks], body[4 * side : 4 * side + blocks]
    integer = np.int32 if item == 4 else np.int64
    out = _buffer("out", size * item).view(integer)
    fill = np.uint64(header.fill_bits or 0).astype(integer)
    at, check = decode(words, body, 2 * side, BLOCK, codes[:full], drops[:full], fill, out)
    check = int(check) + int(check_sum(words, 0, 2 * side))
    if full < blocks:
        rest, count = np.empty(BLOCK, integer), size - full * BLOCK
        at, share = decode(words, body, at, count, codes[full:], drops[full:], fill, rest)
        out[full * BLOCK :] = rest[:count]
        check += int(share)
    if header.check is not None:
        szstream.require_check(check % (1 << 64), header.check)
    return out.view(dtype).reshape(shape)
