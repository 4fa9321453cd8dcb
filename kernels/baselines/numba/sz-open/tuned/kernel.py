"""sz-open for one core at the speed of memory: Lorenzo prediction on integers, bit planes.

Values are quantised (q), so that prediction is exact integer arithmetic. A value is predicted from
the row above and the plane before, as earlier places of the flat sequence; what is left is
differenced along the flat index, zigzag-coded and stored in blocks of 32 as as many bit planes as
the block's largest number needs. Which of the two neighbours help is decided on a sample.

Stream: 64-byte header ‖ a 4-bit code per block ‖ payload words ‖ bytes of the codes that need more.

| code | payload |
|---|---|
| 0…13 | that many plane words, least significant first |
| 14 | nothing: every element is the fill value |
| 15 | a byte says more: w planes; 64 + w: a mask word of fill values first; 255: stored as it is |

Fill values and raw blocks are holes: to the predictor they are what it predicts, and the running
residual passes over them.
"""

import math
import struct
import sys

import lanes
import numpy as np
from numba import njit

BLOCK, GROUP = lanes.BLOCK, lanes.GROUP
ALL = 0xFFFFFFFF
MASKED, RAW = 64, 255
"""Of a code's byte."""
FILLED, MORE = 14, 15
"""Of its four bits."""
HEADER = struct.Struct("<QQdQQQQQ")
"""Elements, bytes of one, step (0: stored as they are), fill pattern, row delay, plane delay,
payload words, further code bytes."""
HEADER_WORDS = HEADER.size // 4
SLACK_WORDS = 2 + GROUP + 2 * BLOCK
MAX_DELAY = 1 << 18
"""Elements: a plane farther back is out of the cache that the ring should stay in."""
SAMPLES = 256


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
def whole(x, r):
    p = x * r
    return np.int64(p) if abs(p) < 1e9 else np.int64(0)


@njit
def planes_needed(x, r, row, plane, samples):
    """Planes that sampled blocks need after no neighbour, row above, plane before, both."""
    widths = np.zeros(4, np.int64)
    start = row + plane + 1
    stride = max(1, (x.size - start - BLOCK) // samples)
    for at in range(start, x.size - BLOCK, stride):
        top_a = top_b = top_c = top_d = np.int64(0)
        a = b = c = d = np.int64(0)
        for i in range(at - 1, at + BLOCK):
            here, above = whole(x[i], r), whole(x[i - row], r)
            back, both = whole(x[i - plane], r), whole(x[i - row - plane], r)
            if i >= at:
                top_a |= abs(here - a)
                top_b |= abs(here - above - b)
                top_c |= abs(here - back - c)
                top_d |= abs(here - above - back + both - d)
            a, b, c, d = here, here - above, here - back, here - above - back + both
        widths[0] += lanes.bit_length(np.uint32(min(top_a, ALL)))
        widths[1] += lanes.bit_length(np.uint32(min(top_b, ALL)))
        widths[2] += lanes.bit_length(np.uint32(min(top_c, ALL)))
        widths[3] += lanes.bit_length(np.uint32(min(top_d, ALL)))
    return widths


# ---- blocks --------------------------------------------------------------------------------------


@njit
def places(first, delays, size):
    """Where the predictor reads in the ring; zeros lie behind it for what is not used."""
    row, plane = delays
    unused = size + BLOCK
    at_row = (first - row) & (size - 1) if row > 0 else unused
    at_plane = (first - plane) & (size - 1) if plane > 0 else unused
    at_both = (first - row - plane) & (size - 1) if row > 0 and plane > 0 else unused
    return at_row, at_plane, at_both


@njit
def encode(
    x, bits, raw, count, state, ring, delays, packed, more, words, at, r, s, t, fill, filled
):
    """Encode the first `count` values of x, whose length is padded to whole blocks.

    x, bits and raw are one array seen as floats, as integers of that size and as 32-bit words.
    state: elements done, last residual, further code bytes; carried from part to part.
    """
    q = np.empty(BLOCK, np.int32)
    magnitude = np.empty(BLOCK, np.int32)
    item = x.itemsize // 4
    size = ring.size - 2 * BLOCK
    offset, residual, extra = state[0], np.int32(state[1]), state[2]
    for block in range((count + BLOCK - 1) // BLOCK):
        first = block * BLOCK
        place = (offset + first) & (size - 1)
        row, plane, both = places(offset + first, delays, size)
        keeps = lanes.quantise(x, first, q, r, s, t)
        mask = holes = np.uint32(0)
        if filled:
            mask = lanes.equal(bits, first, fill)
        code = 0
        if keeps != ALL or mask != 0:
            present = min(BLOCK, count - first)
            valid = np.uint32(ALL >> (BLOCK - present))
            mask = np.uint32(mask & valid)
            holes = np.uint32(mask | ~valid)
            if mask == valid:
                code = -1
            elif (keeps | mask) & valid != valid:
                code = RAW
                for i in range(present * item):
                    words[at + i] = raw[first * item + i]
                at += present * item
            else:
                carried = residual
                lanes.extrapolate(ring, row, plane, both, place)
                for i in range(BLOCK):
                    near = ring[place + i]
                    hole = (holes >> np.uint32(i)) & 1
                    carried = carried if hole else np.int32(q[i] - near)
                    q[i] = np.int32(carried + near)
                if mask != 0:
                    words[at] = mask
                    at += 1
        if code == 0:
            top, residual = lanes.split(
                q, holes, ring, row, plane, both, residual, place, magnitude, words, at
            )
            width = lanes.bit_length(top)
            for k in range(GROUP, width):
                words[at + k] = lanes.plane(magnitude, np.uint32(1) << np.uint32(k))
            at += width
            code = width + (MASKED if mask != 0 else 0)
        else:
            lanes.extrapolate(ring, row, plane, both, place)
        nibble = FILLED
        if code >= FILLED:
            nibble = MORE
            more[extra] = code
            extra += 1
        elif code >= 0:
            nibble = code
        if place == 0:
            for i in range(BLOCK):
                ring[size + i] = ring[i]
        number = (offset >> 5) + block
        if number & 1:
            packed[number >> 1] |= np.uint8(nibble << 4)
        else:
            packed[number >> 1] = np.uint8(nibble)
    state[0], state[1], state[2] = offset + count, residual, extra
    return at


@njit
def decode(words, at, state, ring, delays, packed, more, step, fill, out, bits, raw, count):
    """Decode `count` values into out, whose length is padded to whole blocks.

    Returns where the payloads end, or −1 if they or the further code bytes end too early.
    """
    narrow = np.empty(BLOCK, np.int16)
    magnitude = np.empty(BLOCK, np.int32)
    spare = np.empty(BLOCK + GROUP, np.uint32)
    item = out.itemsize // 4
    size = ring.size - 2 * BLOCK
    offset, residual, extra = state[0], np.int32(state[1]), state[2]
    for block in range((count + BLOCK - 1) // BLOCK):
        first = block * BLOCK
        number = (offset >> 5) + block
        code = np.int64(packed[number >> 1] >> np.uint8(4 * (number & 1))) & 15
        place = (offset + first) & (size - 1)
        row, plane, both = places(offset + first, delays, size)
        mask = np.uint32(0)
        filled = code == FILLED
        if code == MORE:
            if extra >= more.size:
                return -1
            code = np.int64(more[extra])
            extra += 1
            if MASKED <= code < RAW:
                if at >= words.size:
                    return -1
                mask = words[at]
                at += 1
                code -= MASKED
        if filled:
            lanes.extrapolate(ring, row, plane, both, place)
            for i in range(BLOCK):
                bits[first + i] = fill
        elif code == RAW:
            present = min(BLOCK, count - first)
            if at + present * item > words.size:
                return -1
            lanes.extrapolate(ring, row, plane, both, place)
            for i in range(present * item):
                raw[first * item + i] = words[at + i]
            at += present * item
        elif code <= GROUP and at + GROUP <= words.size:
            lanes.join(words, at, np.uint32((1 << code) - 1), narrow)
            residual = lanes.restore(
                narrow, mask, ring, row, plane, both, residual, place, step, out, first
            )
            at += code
        else:
            if code > BLOCK or at + code > words.size:
                return -1
            # Copied, so that whole groups of planes can be read at the stream's end too.
            for k in range(code):
                spare[k] = words[at + k]
            for k in range(GROUP):
                spare[code + k] = 0
            for i in range(BLOCK):
                magnitude[i] = 0
            for k in range(0, code, GROUP):
                lanes.join(spare, k, np.uint32(k), magnitude)
            residual = lanes.restore(
                magnitude, mask, ring, row, plane, both, residual, place, step, out, first
            )
            at += code
        if mask != 0:
            for i in range(BLOCK):
                if (mask >> np.uint32(i)) & 1:
                    bits[first + i] = fill
        if place == 0:
            for i in range(BLOCK):
                ring[size + i] = ring[i]
    state[0], state[1], state[2] = offset + count, residual, extra
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


def delays_of(shape):
    """Distances of the row above and the plane before; 0 where there is none to use.

    At least a block apart, because a block is decoded at once: of short rows, several are skipped.
    """
    if len(shape) < 2 or 0 in shape:
        return 0, 0
    row = shape[-1] * -(-BLOCK // shape[-1])
    plane = shape[-1] * shape[-2] if len(shape) > 2 else 0
    plane = plane if row < plane <= MAX_DELAY else 0
    return (row if row <= MAX_DELAY else 0), plane


def chosen_delays(x, r, shape):
    """Those of `delays_of` that make the numbers of sampled blocks shorter."""
    row, plane = delays_of(shape)
    if x.size < row + plane + 4 * BLOCK:
        return 0, 0
    samples = min(SAMPLES, 1 + x.size // (64 * BLOCK))
    widths = planes_needed(x, r, row, plane, samples)
    possible = [k for k in range(4) if (row or not k & 1) and (plane or not k & 2)]
    best = min(possible, key=lambda k: widths[k])
    return row * (best & 1), plane * (best >> 1)


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


def _ring(delays):
    """A power of two of places, the first block again behind it, then a block of zeros."""
    size = 1 << (sum(delays) + BLOCK).bit_length()
    ring = _buffer("ring", 4 * (size + 2 * BLOCK)).view(np.int32)
    ring[:] = 0
    return ring


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
    tolerance = tolerance_within(float(abs_bound), dtype)
    if tolerance == 0.0 or x.size == 0:
        return np.concatenate([_header(x, 0.0), x.view(np.uint8)])

    integer = np.uint32 if dtype == np.float32 else np.uint64
    bits = x.view(integer)
    no_sign = integer(np.iinfo(integer).max >> 1)
    huge = dtype.type(tolerance * (2.0**21 if dtype == np.float32 else 2.0**29)).view(integer)
    below, largest = peaks(bits, no_sign, huge)
    fill = int(bits[first_at_least(bits, no_sign, huge)]) if largest >= huge else None
    step = step_within(tolerance, float(integer(below).view(dtype)), dtype)
    r, s = dtype.type(1) / dtype.type(step), dtype.type(step)
    delays = chosen_delays(x, r, data.shape)

    blocks = -(-x.size // BLOCK)
    front = HEADER_WORDS + -(-blocks // 8)
    room = front + blocks * BLOCK * dtype.itemsize // 4 + SLACK_WORDS
    stream = _buffer("stream", 4 * room + blocks)
    words = stream[: 4 * room].view(np.uint32)
    packed = stream[4 * HEADER_WORDS : 4 * front]
    more = np.empty(blocks, np.uint8)
    ring, state = _ring(delays), np.zeros(3, np.int64)
    whole, at = x.size // BLOCK * BLOCK, front
    for part, count in ((x[:whole], whole), (_padded(x[whole:]), x.size - whole)):
        at = encode(
            part,
            part.view(integer),
            part.view(np.uint32),
            count,
            state,
            ring,
            delays,
            packed,
            more,
            words,
            at,
            r,
            s,
            dtype.type(tolerance),
            integer(fill or 0),
            fill is not None,
        )
    extra = int(state[2])
    packed[-(-blocks // 2) :] = 0
    stream[: 4 * HEADER_WORDS] = _header(x, step, fill or 0, *delays, at - front, extra)
    stream[4 * at : 4 * at + extra] = more[:extra]
    return stream[: 4 * at + extra]


def _header(x, step, fill=0, row=0, plane=0, payload=0, extra=0):
    packed = HEADER.pack(x.size, x.itemsize, step, fill, row, plane, payload, extra)
    return np.frombuffer(packed, np.uint8)


def decompress(stream, shape, dtype):
    dtype = np.dtype(dtype)
    count = math.prod(shape)
    if stream.size < HEADER.size:
        raise ValueError(f"the stream has {stream.size} bytes, less than a header: it is cut")
    fields = HEADER.unpack(stream[: HEADER.size].tobytes())
    elements, itemsize, step, fill, row, plane, payload, extra = fields
    if (elements, itemsize) != (count, dtype.itemsize):
        raise ValueError(f"the stream holds {elements} values of {itemsize} bytes, not {shape}")
    if not 0.0 <= step <= float(np.finfo(dtype).max):
        raise ValueError(f"the stream's step is {step!r}: the stream is damaged")
    if step == 0.0:
        return _stored(stream[HEADER.size :], shape, dtype)
    blocks = -(-count // BLOCK)
    front = HEADER_WORDS + -(-blocks // 8)
    end = front + payload
    if stream.size != 4 * end + extra or max(row, plane) > MAX_DELAY or fill >> (8 * itemsize):
        raise ValueError(f"the stream has {stream.size} bytes, not the {4 * end + extra} it needs")
    # Words are read whole, so a stream at an odd address is copied.
    aligned = stream if stream.ctypes.data % 4 == 0 else stream.copy()
    words = aligned[: 4 * end].view(np.uint32)
    packed, more = aligned[4 * HEADER_WORDS : 4 * front], aligned[4 * end :]

    integer = np.uint32 if dtype == np.float32 else np.uint64
    out = _buffer("out", count * dtype.itemsize).view(dtype)
    whole, at = count // BLOCK * BLOCK, front
    rest = np.empty(BLOCK if whole < count else 0, dtype)
    ring, state = _ring((row, plane)), np.zeros(3, np.int64)
    for part, number in ((out[:whole], whole), (rest, count - whole)):
        at = decode(
            words,
            at,
            state,
            ring,
            (row, plane),
            packed,
            more,
            dtype.type(step),
            integer(fill),
            part,
            part.view(integer),
            part.view(np.uint32),
            number,
        )
        if at < 0:
            raise ValueError("the payloads are shorter than their codes say: the stream is damaged")
    if at != words.size or state[2] != extra:
        raise ValueError("the payloads are longer than their codes say: the stream is damaged")
    out[whole:] = rest[: count - whole]
    return out.reshape(shape)


def _stored(body, shape, dtype):
    if body.size != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"{body.size} bytes are stored, which is not {dtype} data of {shape}")
    return body.copy().view(dtype).reshape(shape)
