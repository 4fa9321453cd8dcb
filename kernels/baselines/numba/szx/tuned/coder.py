"""What is compiled of szx: coding of blocks, alone and with other threads, and decoding.

A block's smallest and largest value decide how it is coded, and whether it can hold the fill value
at all. The fill is found on the way: nothing before the first value that is large enough to be it
can be equal to it. `lanes` holds what is done to a block.
"""

import lanes
import numpy as np
import team
from numba import njit

BLOCK = lanes.BLOCK
GROUP = 32
"""Blocks between check sums: their values and words stay in the first level of cache."""
FEW = 4
"""The same when decoding, so that words are summed while stores drain."""
MASKED, FILLED, RAW = 32, 254, 255
MASK_WORDS = BLOCK // 32
FILL, HAS_FILL = team.FREE, team.FREE + 1


@njit
def no_sums():
    return np.zeros(4 * lanes.HALF, np.uint64)


@njit
def check_of(words, start, summed, stop, sums):
    """Sum of (2i + 1)·words[i] over start ≤ i < stop, modulo 2⁶⁴, and the plain sum.

    `sums` has the rows before `summed`, and is cleared.
    """
    plain = weighted = np.uint64(0)
    rows = np.uint64((summed - start) // lanes.ROW)
    for k in range(lanes.HALF):
        upper, later = sums[2 * lanes.HALF + k], sums[3 * lanes.HALF + k]
        # Modulo 2⁶⁴, what is left of the pairs is the sum of their lower words.
        lower = sums[k] - (upper << np.uint64(32))
        running = sums[lanes.HALF + k] - (later << np.uint64(32)) + later
        plain += lower + upper
        weighted += (rows * (lower + upper) - running) * np.uint64(lanes.ROW)
        weighted += np.uint64(2 * k) * (lower + upper) + upper
    for i in range(summed, stop):
        word = np.uint64(words[i])
        plain += word
        weighted += word * np.uint64(i - start)
    for k in range(sums.size):
        sums[k] = 0
    return np.uint64(2) * weighted + np.uint64(2 * start + 1) * plain, plain


@njit
def check_sum(words, start, stop):
    """The first of these, of words of which none is summed yet."""
    sums, rows = no_sums(), (stop - start) // lanes.ROW
    lanes.add_rows(words, start, rows, sums)
    return check_of(words, start, start + rows * lanes.ROW, stop, sums)[0]


@njit
def span(k, slab, full, blocks):
    """First block of slab k and the one behind it: a short last block is a slab of its own."""
    first = k * slab
    if first >= full:
        return full, blocks
    return first, min(full, first + slab)


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
def find_fill(bits, first, limit, no_sign, shared, mine):
    """Tell the fill, for a slab with a value that may be it: the first such value of all."""
    while team.look(shared, team.TURN) < mine and team.look(shared, HAS_FILL) == 0:
        team.give_way()
    if team.look(shared, HAS_FILL) == 0:
        team.tell(shared, FILL, np.int64(first_above(bits, first, no_sign, limit)))
        team.tell(shared, HAS_FILL, 1)


@njit(inline="always")
def encode_slab(bits, count, codes, drops, words, data, at, work, numbers, shared, mine):
    """Encode blocks of `count` values; payloads go to words[at:].

    bits holds 128 values for each, the last one repeated if need be; words and data are one array.
    Of the numbers, magnitudes above `limit` are fill or non-finite; `scale` less the exponent is
    what a block may drop. Returns where the payloads end, and their share of the check sum.
    """
    half, tolerance, limit, scale = numbers
    held, lows, highs, marks, sums = work
    kind = bits.dtype.type
    item_words = bits.itemsize // 4
    mantissa = 23 if item_words == 1 else 52
    infinite = 255 if item_words == 1 else 2047
    lowest = np.int64(-1) << np.int64(32 * item_words - 1)
    no_sign = ~lowest
    stored, plane = count * item_words, -(-count // 4)
    fill = kind(team.look(shared, FILL))
    has_fill = team.look(shared, HAS_FILL) != 0
    start = summed = at
    for group in range(0, codes.size, GROUP):
        stop = min(codes.size, group + GROUP)
        # All at once, so that no block waits for the comparisons of its own values.
        for block in range(group, stop):
            lows[block - group], highs[block - group] = lanes.extremes(bits, block * BLOCK)
        for block in range(group, stop):
            first = block * BLOCK
            low, high = lows[block - group], highs[block - group]
            mask_words = 0
            largest = largest_of(low, high)
            if largest > limit:
                if not has_fill:
                    has_fill = True
                    find_fill(bits, first, kind(limit), kind(no_sign), shared, mine)
                    fill = kind(team.look(shared, FILL))
                masked = lanes.equal(bits, first, fill, count, marks, 0)
                if masked == count:
                    codes[block] = FILLED
                    continue
                if masked > 0:
                    mask_words = MASK_WORDS
                    low, high = lanes.extremes_besides(bits, first, fill)
                    largest = largest_of(low, high)
            constant = low == high
            item = turned(low, no_sign)
            exponent = largest >> mantissa
            if not constant and tolerance > 0 and exponent < infinite:
                least, most = (
                    lanes.real(kind(item)),
                    lanes.real(kind(turned(high, no_sign))),
                )
                middle = least * half + most * half
                if most - middle <= tolerance and middle - least <= tolerance:
                    constant = True
                    item = np.int64(0 if middle == 0 else lanes.pattern(middle))
            planes = 0
            shift = np.uint64(0)
            if not constant:
                # Rounding the top finite exponent could reach infinity.
                if exponent < infinite - 1:
                    shift = np.uint64(min(max(scale - max(exponent, 1), 0), mantissa))
                smallest = rounded(low, lowest, shift)
                planes = lanes.byte_length(rounded(high, lowest, shift) - smallest)
                item = np.int64(smallest)
                if planes == 0:
                    item = turned(np.int64(smallest << shift) + lowest, no_sign)
            if planes > 0 and mask_words + item_words + planes * plane >= stored:
                codes[block] = RAW
                lanes.copy(bits, first, words, at, 4 * stored)
                at += stored
                continue
            codes[block] = planes + (MASKED if mask_words > 0 else 0)
            if mask_words > 0:
                lanes.equal(bits, first, fill, count, words, at)
            put_item(words, at + mask_words, item, item_words)
            at += mask_words + item_words
            if planes > 0:
                drops[block] = shift
                half_unit = np.int64((np.uint64(1) << shift) >> np.uint64(1))
                offset, move, base = kind(half_unit - lowest), kind(shift), kind(item)
                if mask_words > 0:
                    # The smallest of the others is 0 in the planes.
                    lanes.replace(bits, first, fill, kind(turned(low, no_sign)), held)
                    lanes.split(held, 0, offset, move, base, planes, data, 4 * at)
                else:
                    lanes.split(bits, first, offset, move, base, planes, data, 4 * at)
                if count < BLOCK:
                    shorten(data, 4 * at, planes, count, 4 * plane)
                at += planes * plane
        rows = (at - summed) // lanes.ROW
        lanes.add_rows(words, summed, rows, sums)
        summed += rows * lanes.ROW
    return at, check_of(words, start, summed, at, sums)


@njit
def workplace(bits):
    return (
        np.empty(BLOCK, bits.dtype),
        np.empty(GROUP, bits.dtype),
        np.empty(GROUP, bits.dtype),
        np.empty(MASK_WORDS, np.uint32),
        no_sums(),
    )


@njit
def padded(bits):
    """The values after the last whole block, the last one repeated to make a block."""
    rest = np.empty(BLOCK, bits.dtype)
    first = bits.size - bits.size % BLOCK
    for i in range(BLOCK if first < bits.size else 0):
        rest[i] = bits[min(first + i, bits.size - 1)]
    return rest


@njit(nogil=True)
def encode(bits, slab, codes, drops, words, data, spares, shared, numbers):
    """Encode all blocks; payloads go to words from shared[AT] on, which moves.

    Where those of a slab go is known once the slab before is encoded. A thread that is ahead of
    that encodes into memory of its own, and copies.
    """
    work, rest = workplace(bits), padded(bits)
    full = bits.size // BLOCK
    slabs = (full + slab - 1) // slab + (codes.size - full)
    spare = spares[team.add(shared, team.SEATS, 1)]
    spare_data = spare.view(np.uint8)
    check, done = np.uint64(0), 0
    while True:
        mine = team.add(shared, team.CLAIMED, 1)
        if mine >= slabs:
            break
        first, last = span(mine, slab, full, codes.size)
        part, count = bits[first * BLOCK : last * BLOCK], BLOCK
        if first == full:
            part, count = rest, bits.size - full * BLOCK
        direct = team.look(shared, team.TURN) == mine
        begin = team.look(shared, team.AT) if direct else 0
        end, (share, plain) = encode_slab(
            part,
            count,
            codes[first:last],
            drops[first:last],
            words if direct else spare,
            data if direct else spare_data,
            begin,
            work,
            numbers,
            shared,
            mine,
        )
        check += share
        if direct:
            team.tell(shared, team.AT, end)
            team.tell(shared, team.TURN, mine + 1)
        else:
            team.wait_for(shared, team.TURN, mine)
            place = team.look(shared, team.AT)
            team.tell(shared, team.AT, place + end)
            team.tell(shared, team.TURN, mine + 1)
            lanes.copy(spare, 0, words, place, 4 * end)
            check += np.uint64(2 * place) * plain
        done += 1
    team.add(shared, team.CHECK, np.int64(check))
    team.finish(shared, done, slabs)


@njit(inline="always")
def decode_slab(words, data, at, count, codes, drops, work, fill, bits, streams):
    """Decode blocks of `count` values into bits, which has room for 128 each.

    The caller has checked codes, drops and lengths. Returns the payloads' share of the check sum.
    """
    kind = bits.dtype.type
    item_words = bits.itemsize // 4
    stored, plane = count * item_words, -(-count // 4)
    spare, held, sums = work
    start = summed = at
    for group in range(0, codes.size, FEW):
        for block in range(group, min(codes.size, group + FEW)):
            first = block * BLOCK
            code = np.int64(codes[block])
            if code == FILLED:
                lanes.fill(fill, bits, first, streams)
                continue
            if code == RAW:
                if count == BLOCK:
                    lanes.restore(words, at, bits, first, streams)
                else:
                    lanes.copy(words, at, bits, first, 4 * stored)
                at += stored
                continue
            mask = at
            at += MASK_WORDS if code >= MASKED else 0
            item = lanes.item(words, at, bits)
            at += item_words
            planes = code & 31
            if code < MASKED and count == BLOCK:
                if planes == 0:
                    lanes.fill(item, bits, first, streams)
                else:
                    lanes.join(data, 4 * at, planes, item, kind(drops[block]), bits, first, streams)
                at += planes * plane
                continue
            source, place = data, 4 * at
            if count < BLOCK:
                source, place = spare, 0
                for k in range(planes):
                    lanes.copy(data, 4 * (at + k * plane), spare, k * BLOCK, count)
            if planes == 0:
                lanes.fill(item, held, 0, False)
            else:
                lanes.join(source, place, planes, item, kind(drops[block]), held, 0, False)
            at += planes * plane
            if code < MASKED:
                lanes.restore(held, 0, bits, first, streams)
            else:
                lanes.blend(words, mask, fill, held, bits, first, streams)
        rows = (at - summed) // lanes.ROW
        lanes.add_rows(words, summed, rows, sums)
        summed += rows * lanes.ROW
    return check_of(words, start, summed, at, sums)[0]


@njit(nogil=True)
def decode(words, data, starts, slab, codes, drops, fill, bits, streams, shared):
    """Decode all of bits; the payloads of each slab start at `starts`."""
    full = bits.size // BLOCK
    rest = np.empty(BLOCK, bits.dtype)
    work = np.empty(BLOCK * bits.itemsize, np.uint8), np.empty(BLOCK, bits.dtype), no_sums()
    slabs = starts.size
    check, done = np.uint64(0), 0
    while True:
        mine = team.add(shared, team.CLAIMED, 1)
        if mine >= slabs:
            break
        first, last = span(mine, slab, full, codes.size)
        part, count = bits[first * BLOCK : last * BLOCK], BLOCK
        if first == full:
            part, count = rest, bits.size - full * BLOCK
        check += decode_slab(
            words,
            data,
            starts[mine],
            count,
            codes[first:last],
            drops[first:last],
            work,
            fill,
            part,
            streams and first < full,
        )
        if first == full:
            for i in range(count):
                bits[full * BLOCK + i] = rest[i]
        done += 1
    lanes.settle()
    team.add(shared, team.CHECK, np.int64(check))
    team.finish(shared, done, slabs)


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
def survey(codes, drops, item, mantissa, has_fill):
    """Bytes of the payloads of full blocks with such codes, and what is wrong with them."""
    total = 0
    known = within = True
    for i in range(codes.size):
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
    return total, SOUND if known and within else DROP if known else CODE


@njit
def examine(data, size, item, mantissa, has_fill, slab, starts):
    """What is wrong with a body, as a key of REFUSALS, or SOUND; where each slab's payloads start.

    A wrong code is told before a wrong drop.
    """
    blocks, full, tail = -(-size // BLOCK), size // BLOCK, size % BLOCK
    side = -(-blocks // 4) * 4
    if data.size < 2 * side:
        return SHORT
    pads = 0
    for i in range(blocks, side):
        pads |= data[i] | data[side + i]
    codes, drops = data[:blocks], data[side : side + blocks]
    total, wrong = 2 * side, SOUND
    for k in range(starts.size):
        starts[k] = total // 4
        first, last = span(k, slab, full, blocks)
        amount, found = survey(codes[first:last], drops[first:last], item, mantissa, has_fill)
        total += amount
        if found == CODE or wrong == SOUND:
            wrong = found
    if wrong != SOUND:
        return wrong
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
