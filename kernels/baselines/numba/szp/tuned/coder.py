"""What is compiled of szp: scans, and coding and decoding of slabs of chunks.

Two passes when encoding: the largest magnitude, then quantise and pack block by block. Decoding
knows from the codes where each slab starts. `lanes` holds what is done to a block.

With several threads (`team`), where the payloads of a slab go is known once the slab before is
encoded: a thread that is ahead of that encodes into memory of its own and copies. So the bytes do
not depend on the threads.
"""

import lanes
import numpy as np
import team
from numba import njit

BLOCK, GROUP = lanes.BLOCK, lanes.GROUP
CHUNK = 4096
CHUNK_BLOCKS = CHUNK // BLOCK
ALL = 0xFFFFFFFF
MASKED, FILLED, RAW = 32, 254, 255
SLAB_OF_SCAN = 1 << 17
"""Values."""
BELOW, LARGEST, FIRST = team.FREE, team.FREE + 1, team.FREE + 2
FILL, HAS_FILL = team.FREE, team.FREE + 1
ILLEGAL = 1 << 40
"""Words of a block whose code is refused: more than any slab has."""


# ---- scans ---------------------------------------------------------------------------------------


@njit
def peaks(bits, no_sign, limit, slab, shared):
    """Largest magnitude below `limit` and largest of all, as bit patterns: they order as floats.

    Also the first slab of values that has one which is not below.
    """
    below = largest = zero = bits.dtype.type(0)
    first, done = bits.size, 0
    slabs = (bits.size + slab - 1) // slab
    while True:
        mine = team.add(shared, team.CLAIMED, 1)
        if mine >= slabs:
            break
        part = bits[mine * slab : min(bits.size, (mine + 1) * slab)]
        for i in range(part.size):
            size = bits.dtype.type(part[i] & no_sign)
            largest = max(largest, size)
            below = max(below, size if size < limit else zero)
        if largest >= limit:
            first = min(first, mine)
        done += 1
    team.lift(shared, BELOW, np.int64(below))
    team.lift(shared, LARGEST, np.int64(largest))
    team.sink(shared, FIRST, first)
    team.finish(shared, done, slabs)


@njit
def first_at_least(bits, no_sign, limit):
    for i in range(bits.size):
        if bits[i] & no_sign >= limit:
            return bits[i]
    return bits.dtype.type(0)


@njit
def step_within(tolerance, peak, single):
    """The widest step at which no value up to `peak` fails for rounding alone."""
    unit = 2.0**-24 if single else 2.0**-53
    step = 2.0 * (tolerance - 3.001 * unit * peak) * (1.0 - 8.0 * unit)
    if not single:
        return step
    narrow = np.empty(1, np.float32)
    narrow[0] = step
    if narrow[0] > step:
        # The bits of positive floats order as they do.
        narrow.view(np.uint32)[0] -= np.uint32(1)
    return np.float64(narrow[0])


@njit
def sums(words, start, stop):
    """Sum of (2i + 1)·words[i] over start ≤ i < stop, modulo 2⁶⁴, and the plain sum."""
    part = words[start:stop]
    plain = np.uint64(0)
    weighted = np.uint64(0)
    for i in range(part.size):
        word = np.uint64(part[i])
        plain += word
        # 32-bit factors multiply in one instruction; a part has fewer than 2³² words.
        weighted += word * np.uint64(np.uint32(i))
    return np.uint64(2) * weighted + np.uint64(2 * start + 1) * plain, plain


@njit
def span(k, slab, full, chunks):
    """First chunk of slab k and the one behind it: a partial chunk is a slab of its own."""
    first = k * slab
    if first >= full:
        return full, chunks
    return first, min(full, first + slab)


@njit
def measure(codes, sizes, slab, full, starts):
    """Where the payloads of each slab start, and where the last one ends; starts[0] is given.

    The result says that no block has the size ILLEGAL.
    """
    legal = True
    for k in range(starts.size - 1):
        first, last = span(k, slab, full, full + 1)
        part = codes[first * CHUNK_BLOCKS : last * CHUNK_BLOCKS]
        total = 0
        for i in range(part.size):
            total += sizes[part[i]]
        legal &= total < ILLEGAL
        starts[k + 1] = starts[k] + total
    return legal


@njit(nogil=True)
def store(source, words, front, slab, shared):
    """Copy the words of lossless data to words[front:]."""
    slabs = (source.size + slab - 1) // slab
    check, done = np.uint64(0), 0
    while True:
        mine = team.add(shared, team.CLAIMED, 1)
        if mine >= slabs:
            break
        for first in range(mine * slab, min(source.size, (mine + 1) * slab), CHUNK):
            part = source[first : first + CHUNK]
            target = words[front + first : front + first + part.size]
            for i in range(part.size):
                target[i] = part[i]
            share, _ = sums(words, front + first, front + first + part.size)
            check += share
        done += 1
    team.add(shared, team.CHECK, np.int64(check))
    team.finish(shared, done, slabs)


# ---- blocks --------------------------------------------------------------------------------------


@njit(inline="always")
def encode_slab(
    x, bits, raw, count, bases, codes, words, at, q, magnitude, r, s, tolerance, fill, filled
):
    """Encode some chunks of x; payloads go to words[at:], and the result is where they end.

    x, bits and raw are one array seen as floats, as integers of that size and as 32-bit words. It
    is padded to whole blocks behind `count` values.
    """
    item = x.itemsize // 4
    for chunk in range(bases.size):
        based = False
        base = previous = np.int32(0)
        for block in range(chunk * CHUNK_BLOCKS, min(codes.size, (chunk + 1) * CHUNK_BLOCKS)):
            first = block * BLOCK
            keeps = lanes.quantise(x, first, q, r, s, tolerance)
            mask = np.uint32(0)
            if filled:
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
    return at


@njit(nogil=True)
def encode(x, bits, raw, slab, bases, codes, words, spares, scan, shared, tolerance, huge, step):
    """Encode x; payloads go to words from shared[AT] on, which moves to where they end.

    Tells the fill, if there is one, in shared[FILL] and shared[HAS_FILL], and the step in step[0].
    """
    q = np.empty(BLOCK, np.int32)
    magnitude = np.empty(BLOCK, np.int32)
    item = x.itemsize // 4
    full = x.size // CHUNK
    slabs = (full + slab - 1) // slab + (bases.size - full)
    # A partial chunk is encoded from a copy whose last value is repeated: repeats cost no bits.
    rest = np.empty(CHUNK, x.dtype)
    rest_bits, rest_raw = rest.view(bits.dtype), rest.view(raw.dtype)
    for i in range(CHUNK):
        rest[i] = x[min(full * CHUNK + i, x.size - 1)]
    spare = spares[team.add(shared, team.SEATS, 1)]
    peak = np.empty(1, bits.dtype)

    no_sign = bits.dtype.type(np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(65 - 8 * bits.itemsize))
    peaks(bits, no_sign, huge, SLAB_OF_SCAN, scan)
    if team.look(shared, team.CLAIMED) >= slabs:
        # Late: what follows would read data that may be another's already.
        team.finish(shared, 0, slabs)
        return
    peak[0] = scan[BELOW]
    single = bits.itemsize == 4
    wide = step_within(np.float64(tolerance), np.float64(peak.view(x.dtype)[0]), single)
    filled = scan[LARGEST] >= np.int64(huge)
    fill = bits.dtype.type(0)
    if filled:
        fill = first_at_least(bits[scan[FIRST] * SLAB_OF_SCAN :], no_sign, huge)
    # Every thread finds the same.
    step[0], shared[FILL], shared[HAS_FILL] = wide, np.int64(fill), filled
    s = x.dtype.type(wide)
    r = x.dtype.type(1) / s
    check, done = np.uint64(0), 0
    while True:
        mine = team.add(shared, team.CLAIMED, 1)
        if mine >= slabs:
            break
        first, last = span(mine, slab, full, bases.size)
        values = slice(first * CHUNK, last * CHUNK)
        part, part_bits = x[values], bits[values]
        part_raw = raw[first * CHUNK * item : last * CHUNK * item]
        if first == full:
            part, part_bits, part_raw = rest, rest_bits, rest_raw
        direct = team.look(shared, team.TURN) == mine
        begin = team.look(shared, team.AT) if direct else 0
        target = words if direct else spare
        end = encode_slab(
            part,
            part_bits,
            part_raw,
            x.size - first * CHUNK,
            bases[first:last],
            codes[first * CHUNK_BLOCKS : last * CHUNK_BLOCKS],
            target,
            begin,
            q,
            magnitude,
            r,
            s,
            tolerance,
            fill,
            filled,
        )
        share, plain = sums(target, begin, end)
        check += share
        if direct:
            team.tell(shared, team.AT, end)
            team.tell(shared, team.TURN, mine + 1)
        else:
            team.wait_for(shared, team.TURN, mine)
            place = team.look(shared, team.AT)
            team.tell(shared, team.AT, place + end)
            team.tell(shared, team.TURN, mine + 1)
            payloads = words[place : place + end]
            for i in range(payloads.size):
                payloads[i] = spare[i]
            check += np.uint64(2 * place) * plain
        done += 1
    team.add(shared, team.CHECK, np.int64(check))
    team.finish(shared, done, slabs)


@njit(inline="always")
def decode_slab(words, at, bases, codes, work, step, fill, out, bits, raw, count):
    """Decode `count` values, or as many as fit, into out; blocks are written whole.

    work: memory for the magnitudes of a block, and for its planes.
    """
    magnitude, spare = work
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
                keep = np.uint32((1 << width) - 1)
                q = lanes.restore_narrow(words, at + 1, keep, words[at], mask, q, step, out, first)
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


@njit(nogil=True)
def decode(words, starts, slab, bases, codes, step, fill, out, bits, raw, shared):
    """Decode all of out; the payloads of each slab start at `starts`.

    The caller has checked that they are as long as the codes say.
    """
    work = np.empty(BLOCK, np.int32), np.empty(BLOCK + GROUP, np.uint32)
    item = out.itemsize // 4
    full = out.size // CHUNK
    # A partial chunk goes through memory for a whole one, because blocks are written whole.
    rest = np.empty(CHUNK, out.dtype)
    rest_bits, rest_raw = rest.view(bits.dtype), rest.view(raw.dtype)
    slabs = starts.size - 1
    check, done = np.uint64(0), 0
    while True:
        mine = team.add(shared, team.CLAIMED, 1)
        if mine >= slabs:
            break
        first, last = span(mine, slab, full, bases.size)
        values = slice(first * CHUNK, last * CHUNK)
        part, part_bits = out[values], bits[values]
        part_raw = raw[first * CHUNK * item : last * CHUNK * item]
        if first == full:
            part, part_bits, part_raw = rest, rest_bits, rest_raw
        share, _ = sums(words, starts[mine], starts[mine + 1])
        check += share
        decode_slab(
            words,
            starts[mine],
            bases[first:last],
            codes[first * CHUNK_BLOCKS : last * CHUNK_BLOCKS],
            work,
            step,
            fill,
            part,
            part_bits,
            part_raw,
            out.size - first * CHUNK,
        )
        if first == full:
            for i in range(full * CHUNK, out.size):
                out[i] = rest[i - full * CHUNK]
        done += 1
    team.add(shared, team.CHECK, np.int64(check))
    team.finish(shared, done, slabs)
