"""Strings of bytes as canonical Huffman codes, each byte's table chosen by the byte before it.

A string is cut in four equal lanes, each with its own bits: four independent chains of look-ups
fill each other's waiting time when they are decoded. Code words have at most 11 bits (LIMIT), so
that one look-up in a table of 2048 finds any of them, and five fit in what one unaligned load of
64 bits has left. Bits are filled in from the lowest up.

A stream is: nothing if the string is empty; the bytes themselves if there are few; else a byte
(0 stored, 1 one table, 2 a table per class of the byte before), lengths, the lanes' sizes in
bytes, the lanes.

The lengths of a table are nibbles, for 256 bytes in order:
| 0 | one absent | 1…11 | a length | 12, a | a + 2 absent | 13, a, b | 16b + a + 18 absent |
| 14, a | the last length a + 3 times more | 15 | no more |
A table with one byte in it, of length 1, has a code word of no bits.

Arguments are addresses of arrays and numbers, all int64: see `words`. A constant that is passed on
is an np.int64, since numba compiles a function again for each int that it finds as an argument.
"""

import numpy as np
from words import (
    add_item,
    add_word,
    byte_at,
    clear,
    compiled,
    copy,
    half_at,
    item_at,
    long_at,
    octave,
    put_byte,
    put_half,
    put_item,
    put_long,
    put_word,
    shifted_down,
    turned,
    window_at,
    word_at,
)

LIMIT, LANES, STEPS = 11, 4, 5
SIZE = 1 << LIMIT
SYMBOLS = np.int64(256)
CONTEXTS = np.int64(8)
"""Classes of the byte before, at most."""
FEW = 24
STORED, ONE_TABLE, MORE_TABLES = 0, 1, 2
PAD = 8
"""Bytes that may be read, and written, after a stream."""
HEAD = 1 + CONTEXTS * (SYMBOLS // 2 + 1) + 4 * LANES
"""Bytes at most before the lanes."""
LIST = 2 * SYMBOLS
ZERO, HEAVIEST = np.int64(0), np.int64(1 << 48)
# Parts of the working memory, in bytes.
COUNTS = 0
"""u32[class, byte], then of all classes."""
COPIES = COUNTS + 4 * SYMBOLS * (CONTEXTS + 1)
LENGTHS = COPIES + 4 * SYMBOLS * CONTEXTS * LANES
CODES = LENGTHS + SYMBOLS * (CONTEXTS + 1)
NO_CLASSES = CODES + 4 * SYMBOLS * CONTEXTS
LISTS = NO_CLASSES + 2 * SYMBOLS
TABLES = LISTS + 8 * LIST * 3
WORK = TABLES + 2 * SIZE * CONTEXTS


@compiled
def sorted_leaves(counts, leaves):
    """Bytes that occur, as counts above 8 bits of byte, lightest first; their number."""
    places, n = leaves + 8 * LIST, 0
    clear(places, 8 * 34)
    for symbol in range(SYMBOLS):
        add_item(places, octave(word_at(counts, symbol)) + 2, 1)
    put_item(places, 1, 0)
    for i in range(2, 33):
        add_item(places, i, item_at(places, i - 1))
    for symbol in range(SYMBOLS):
        count = word_at(counts, symbol)
        if count:
            place = octave(count) + 1
            put_item(leaves, item_at(places, place), count << 8 | symbol)
            add_item(places, place, 1)
            n += 1
    for i in range(1, n):
        key, at = item_at(leaves, i), i
        while at > 0 and item_at(leaves, at - 1) > key:
            put_item(leaves, at, item_at(leaves, at - 1))
            at -= 1
        put_item(leaves, at, key)
    return n


@compiled
def code_lengths(counts, lengths, lists):
    """Huffman's lengths, those above LIMIT shortened.

    Nodes are made in order of weight, so that the lightest two are at the heads of two queues, of
    leaves and of nodes. `lists` has the leaves, then per node its weight, and last its depth.
    """
    nodes, depths = lists + 8 * LIST, lists + 16 * LIST
    clear(lengths, SYMBOLS)
    n = sorted_leaves(counts, lists)
    if n == 1:
        put_byte(lengths, item_at(lists, 0) & 255, 1)
    if n < 2:
        return
    leaf = node = 0
    put_item(lists, n, HEAVIEST)
    for new in range(n - 1):
        put_item(nodes, new, HEAVIEST)
        weight = 0
        for _ in range(2):
            light, joint = item_at(lists, leaf) >> 8, item_at(nodes, node)
            if light <= joint:
                put_item(depths, leaf, new)
                weight += light
                leaf += 1
            else:
                put_item(depths, SYMBOLS + node, new)
                weight += joint
                node += 1
        put_item(nodes, new, weight)
    # From the root down, a node's parent gives way to its depth; leaves are counted by depth.
    numbers, inner = nodes, depths + 8 * SYMBOLS
    put_item(inner, n - 2, 0)
    for node in range(n - 3, -1, -1):
        put_item(inner, node, item_at(inner, item_at(inner, node)) + 1)
    clear(numbers, 8 * SYMBOLS)
    for leaf in range(n):
        add_item(numbers, item_at(inner, item_at(depths, leaf)) + 1, 1)
    # Two leaves that are too deep: one takes their parent's place, the other goes beside a leaf
    # that is not so deep (JPEG, ITU-T T.81, figure K.3).
    for depth in range(n - 1, LIMIT, -1):
        while item_at(numbers, depth):
            higher = depth - 2
            while item_at(numbers, higher) == 0:
                higher -= 1
            add_item(numbers, depth, -2)
            add_item(numbers, depth - 1, 1)
            add_item(numbers, higher + 1, 2)
            add_item(numbers, higher, -1)
    depth = LIMIT
    for leaf in range(n):
        while item_at(numbers, depth) == 0:
            depth -= 1
        put_byte(lengths, item_at(lists, leaf) & 255, depth)
        add_item(numbers, depth, -1)


@compiled
def code_words(lengths, codes, lists):
    """u32 per byte: its code word, first bit lowest, above the four bits of its length.

    The number of bytes that have one, or −1 unless the lengths make a whole code: one that gives
    every string of bits a meaning.
    """
    used = 0
    clear(lists, 8 * (LIMIT + 2))
    clear(codes, 4 * SYMBOLS)
    for symbol in range(SYMBOLS):
        length = byte_at(lengths, symbol)
        add_item(lists, length, 1)
        used += 1 if length else 0
    if used == 0 or (used == 1 and item_at(lists, 1)):
        return used
    at = 0
    for length in range(1, LIMIT + 1):
        number = item_at(lists, length)
        put_item(lists, length, at << 1)
        at = (at << 1) + number
    if at != SIZE:
        return -1
    for symbol in range(SYMBOLS):
        length = byte_at(lengths, symbol)
        if length:
            word = turned(item_at(lists, length), length)
            add_item(lists, length, 1)
            put_word(codes, symbol, word << 4 | length)
    return used


# ---- encoding ------------------------------------------------------------------------------------


@compiled
def count_pairs(source, m, classes, work):
    """How often each byte follows each class; each lane counts in a copy of its own."""
    quarter, size = m >> 2, SYMBOLS * CONTEXTS
    clear(work + COPIES, 4 * size * LANES)
    a = work + COPIES
    b, c, d = a + 4 * size, a + 8 * size, a + 12 * size
    ka = kb = kc = kd = half_at(classes, 0)
    for i in range(quarter):
        one, two = byte_at(source, i), byte_at(source, i + quarter)
        three, four = byte_at(source, i + 2 * quarter), byte_at(source, i + 3 * quarter)
        add_word(a, ka + one, 1)
        add_word(b, kb + two, 1)
        add_word(c, kc + three, 1)
        add_word(d, kd + four, 1)
        ka, kb = half_at(classes, one), half_at(classes, two)
        kc, kd = half_at(classes, three), half_at(classes, four)
    for i in range(4 * quarter, m):
        one = byte_at(source, i)
        add_word(d, kd + one, 1)
        kd = half_at(classes, one)
    counts = work + COUNTS
    clear(counts + 4 * size, 4 * SYMBOLS)
    for i in range(size):
        here = word_at(a, i) + word_at(b, i) + word_at(c, i) + word_at(d, i)
        put_word(counts, i, here)
        add_word(counts, size + (i & 255), here)


@compiled
def put_lengths(lengths, out, at):
    """One table's lengths, to nibble `at` of `out` on; the next free nibble."""
    symbol, last = 0, -1
    while symbol < SYMBOLS:
        length, end = byte_at(lengths, symbol), symbol + 1
        while end < SYMBOLS and byte_at(lengths, end) == length:
            end += 1
        run = end - symbol
        if length and (length != last or run < 3):
            value, nibbles, run = length, 1, 1
        elif length:
            run = min(run, 18)
            value, nibbles = 14 | (run - 3) << 4, 2
        elif end == SYMBOLS:
            value, nibbles = 15, 1
        elif run == 1:
            value, nibbles = 0, 1
        elif run < 18:
            value, nibbles = 12 | (run - 2) << 4, 2
        else:
            value, nibbles = 13 | (run - 18) << 4, 3
        low = byte_at(out, at >> 1) & 15 if at & 1 else 0
        value = value << (4 * (at & 1)) | low
        put_byte(out, at >> 1, value)
        put_byte(out, (at >> 1) + 1, value >> 8)
        at += nibbles
        symbol += run
        last = length
    return at


@compiled
def cost(counts, lengths):
    """Bits of all code words of a table; a byte that is alone has none."""
    bits = used = 0
    for symbol in range(SYMBOLS):
        length = byte_at(lengths, symbol)
        used += 1 if length else 0
        bits += length * word_at(counts, symbol)
    return bits if used > 1 else 0


@compiled
def put_lane(source, count, classes, codes, out, at):
    """Code words of `count` bytes, to out[at:]; the next free byte."""
    buffer = used = done = 0
    kind = half_at(classes, 0)
    while done < count:
        word = length = 0
        if done + STEPS <= count:
            for i in range(STEPS):
                byte = byte_at(source, done + i)
                code = word_at(codes, kind + byte)
                kind = half_at(classes, byte)
                word |= code >> 4 << length
                length += code & 15
            done += STEPS
        else:
            byte = byte_at(source, done)
            code = word_at(codes, kind + byte)
            kind = half_at(classes, byte)
            word, length = code >> 4, code & 15
            done += 1
        buffer |= word << used
        put_long(out, at, buffer)
        used += length
        at += used >> 3
        buffer = shifted_down(buffer, used & 56)
        used &= 7
    return at + ((used + 7) >> 3)


@compiled
def put_stream(source, m, classes, contexts, out, at, work):
    """m bytes, to out[at:]; the new place. `classes` are u16[256]: 256·class of each byte.

    Up to HEAD + m + PAD bytes of `out` are written.
    """
    if m < FEW:
        copy(source, m, out + at)
        return at + m
    count_pairs(source, m, classes, work)
    lengths, lists, begin = work + LENGTHS, work + LISTS, 2 * at + 2
    bits, nibbles, kind = 0, begin, MORE_TABLES
    for table in range(contexts):
        counts, here = work + COUNTS + 4 * SYMBOLS * table, lengths + SYMBOLS * table
        code_lengths(counts, here, lists)
        bits += cost(counts, here)
        nibbles = put_lengths(here, out, nibbles)
    if contexts > 1:
        counts, here = (
            work + COUNTS + 4 * SYMBOLS * CONTEXTS,
            lengths + SYMBOLS * CONTEXTS,
        )
        code_lengths(counts, here, lists)
        bits_alone = cost(counts, here)
        if bits_alone + 4 * put_lengths(here, work + COPIES, ZERO) <= bits + 4 * (nibbles - begin):
            bits, nibbles, contexts = bits_alone, put_lengths(here, out, begin), 1
            lengths = here
    if contexts == 1:
        kind, classes = ONE_TABLE, work + NO_CLASSES
        clear(classes, 2 * SYMBOLS)
    sizes = (nibbles + 1) >> 1
    if sizes - at + 5 * LANES + (bits >> 3) > m:
        put_byte(out, at, STORED)
        copy(source, m, out + at + 1)
        return at + 1 + m
    put_byte(out, at, kind)
    for table in range(contexts):
        code_words(lengths + SYMBOLS * table, work + CODES + 4 * SYMBOLS * table, lists)
    quarter, end = m >> 2, sizes + 4 * LANES
    for lane in range(LANES):
        start, size = (
            lane * quarter,
            quarter if lane < LANES - 1 else m - lane * quarter,
        )
        begin, end = (
            end,
            put_lane(source + start, size, classes, work + CODES, out, end),
        )
        for i in range(4):
            put_byte(out, sizes + 4 * lane + i, (end - begin) >> (8 * i))
    return end


# ---- decoding ------------------------------------------------------------------------------------


@compiled
def get_lengths(data, at, end, lengths):
    """One table's lengths from nibble `at` on; the next nibble, or −1. `end` in nibbles."""
    symbol = last = 0
    clear(lengths, SYMBOLS)
    while symbol < SYMBOLS:
        if at + 3 > end:
            return -1
        next_bits = long_at(data, at >> 1) >> (4 * (at & 1))
        nibble, a, b = next_bits & 15, (next_bits >> 4) & 15, (next_bits >> 8) & 15
        if nibble == 15:
            return at + 1
        length, run, nibbles = nibble, 1, 1
        if nibble == 12:
            length, run, nibbles = 0, a + 2, 2
        elif nibble == 13:
            length, run, nibbles = 0, 16 * b + a + 18, 3
        elif nibble == 14:
            length, run, nibbles = last, a + 3, 2
        if symbol + run > SYMBOLS:
            return -1
        for i in range(symbol, symbol + run):
            put_byte(lengths, i, length)
        at += nibbles
        symbol += run
        last = length
    return at


@compiled
def fill_table(lengths, classes, table, work):
    """By the next 11 bits: length, byte (from bit 4), class of the byte (from bit 12)."""
    codes = work + CODES
    used = code_words(lengths, codes, work + LISTS)
    clear(table, 2 * SIZE)
    for symbol in range(SYMBOLS):
        if byte_at(lengths, symbol):
            code = word_at(codes, symbol)
            entry = half_at(classes, symbol) << 4 | symbol << 4 | code & 15
            for i in range(code >> 4, SIZE, 1 << (code & 15)):
                put_half(table, i, entry)
    return used >= 0


@compiled
def look_up(table, entry, window):
    """The entry for the window's next bits, by the class in the last entry."""
    return half_at(table, (entry >> 1) & ((CONTEXTS - 1) * SIZE) | window & (SIZE - 1))


@compiled
def get_rest(source, last, table, at, entry, target, begin, end):
    """A lane's bytes from `begin` to `end`; the bit after them."""
    for i in range(begin, end):
        at = min(at, last)
        entry = look_up(table, entry, window_at(source, at))
        put_byte(target, i, entry >> 4)
        at += entry & 15
    return at


@compiled
def get_lanes(source, last, begins, table, entry, target, m):
    """m bytes from lanes that begin at these bytes; whether each ends where the next begins.

    No bit after `last` is read as a lane's next, whatever the data say.
    """
    a0, a1 = 8 * item_at(begins, 0), 8 * item_at(begins, 1)
    a2, a3 = 8 * item_at(begins, 2), 8 * item_at(begins, 3)
    e0 = e1 = e2 = e3 = entry
    quarter, i = m >> 2, ZERO
    to1, to2, to3 = target + quarter, target + 2 * quarter, target + 3 * quarter
    while i + STEPS <= quarter:
        a0, a1, a2, a3 = min(a0, last), min(a1, last), min(a2, last), min(a3, last)
        w0, w1 = window_at(source, a0), window_at(source, a1)
        w2, w3 = window_at(source, a2), window_at(source, a3)
        for k in range(i, i + STEPS):
            e0, e1 = look_up(table, e0, w0), look_up(table, e1, w1)
            e2, e3 = look_up(table, e2, w2), look_up(table, e3, w3)
            w0, w1 = w0 >> (e0 & 15), w1 >> (e1 & 15)
            w2, w3 = w2 >> (e2 & 15), w3 >> (e3 & 15)
            a0, a1 = a0 + (e0 & 15), a1 + (e1 & 15)
            a2, a3 = a2 + (e2 & 15), a3 + (e3 & 15)
            put_byte(target, k, e0 >> 4)
            put_byte(to1, k, e1 >> 4)
            put_byte(to2, k, e2 >> 4)
            put_byte(to3, k, e3 >> 4)
        i += STEPS
    a0 = get_rest(source, last, table, a0, e0, target, i, quarter)
    a1 = get_rest(source, last, table, a1, e1, to1, i, quarter)
    a2 = get_rest(source, last, table, a2, e2, to2, i, quarter)
    a3 = get_rest(source, last, table, a3, e3, to3, i, m - 3 * quarter)
    miss = (a0 + 7) >> 3 ^ item_at(begins, 1) | (a1 + 7) >> 3 ^ item_at(begins, 2)
    miss |= (a2 + 7) >> 3 ^ item_at(begins, 3) | (a3 + 7) >> 3 ^ item_at(begins, 4)
    return miss == 0


@compiled
def get_stream(data, at, end, m, classes, contexts, target, work):
    """The reverse of `put_stream`: m bytes. The new place, or −1 if there is no such stream.

    `end` is how far data may be read; a stream ends at least PAD before.
    """
    end -= PAD
    if m < FEW:
        if at + m > end:
            return -1
        copy(data + at, m, target)
        return at + m
    kind = byte_at(data, at) if at < end else -1
    at += 1
    if kind == STORED:
        if at + m > end:
            return -1
        copy(data + at, m, target)
        return at + m
    if kind == ONE_TABLE:
        contexts, classes = 1, work + NO_CLASSES
        clear(classes, 2 * SYMBOLS)
    elif kind != MORE_TABLES:
        return -1
    nibble, lengths, tables, begins = (
        2 * at,
        work + LENGTHS,
        work + TABLES,
        work + COUNTS,
    )
    for table in range(contexts):
        nibble = get_lengths(data, nibble, 2 * end, lengths)
        if nibble < 0 or not fill_table(lengths, classes, tables + 2 * SIZE * table, work):
            return -1
    at = (nibble + 1) >> 1
    begin = at + 4 * LANES
    if begin > end:
        return -1
    for lane in range(LANES):
        put_item(begins, lane, begin)
        begin += long_at(data, at + 4 * lane) & 0xFFFFFFFF
    put_item(begins, LANES, begin)
    last, entry = 8 * end + 7, half_at(classes, 0) << 4
    if begin > end or not get_lanes(data, last, begins, tables, entry, target, m):
        return -1
    return begin
