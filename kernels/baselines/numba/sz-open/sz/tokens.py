"""Tokens: a byte for a code, in order of the codes, and for some of them further bits.

A plain token is 128 + kind of a code from 0 on, 127 − kind of one below: the kind is the magnitude
if that is small, else it tells the quarter of an octave that the magnitude is in, and further bits
tell the rest. Where a sample has few different codes, large ones among them, tokens are places in a
list of these instead, and the token OTHER has all of a code's bits.

Tokens have eight classes, by their order, for the context of the next one.

All arguments are addresses and numbers: see `words`.
"""

import numpy as np
from huffman import CONTEXTS, SYMBOLS, ZERO
from words import (
    BLOCK,
    DIRECT,
    HIGHEST,
    add_word,
    byte_at,
    clear,
    code_at,
    compiled,
    copy,
    item_at,
    octave,
    ones,
    outside,
    pack,
    put_byte,
    put_half,
    put_item,
    put_long,
    put_tokens,
    put_word,
    shifted_down,
    window_at,
)

CLASSES = CONTEXTS
BYTE_BITS, SIZE_BITS = np.int64(8), np.int64(6)
SAMPLES, SLOTS, MOST_LISTED, OTHER = 128, 1024, 200, 255


# ---- the sample and what is made of it -----------------------------------------------------------


@compiled
def plain_shapes(shapes):
    """Of every token: a code, above a bit of direction and 6 bits of how many further bits."""
    for token in range(SYMBOLS):
        minus = 1 if token < 128 else 0
        kind = min(token ^ 127 if minus else token ^ 128, HIGHEST)
        more, size = 0, kind
        if kind == HIGHEST:
            more, size = 32, 1 << 28
        elif kind >= DIRECT:
            more = ((kind - DIRECT) >> 2) + 3
            size = (4 + (kind & 3)) << more
        put_item(shapes, token, (-size if minus else size) << 7 | minus << 6 | more)


@compiled
def listed_shapes(codes, count, shapes):
    """The same for tokens that are places in a list."""
    for token in range(SYMBOLS):
        code = code_at(codes, token) if token < count else 0
        put_item(shapes, token, code << 7 | (0 if token < count else 32))


@compiled
def slot_of(table, code):
    """Where a code is in the hash table, or would be: above its token's 8 bits and one more."""
    slot = shifted_down(code * 0x9E3779B1 & 0xFFFFFFFF, 22)
    while True:
        entry = item_at(table, slot)
        if entry == 0 or entry >> 9 == code:
            return slot
        slot = (slot + 1) & (SLOTS - 1)


@compiled
def survey(codes, n, table, listed):
    """From a sample: whether most codes are other than 0, 1 and −1, and the length of the list.

    The list is sorted, in `table` its codes have their tokens; 0 if tokens are to be plain.
    """
    clear(table, 8 * SLOTS)
    seen = other = large = count = 0
    stride = max(1, n // (SAMPLES * BLOCK)) * BLOCK
    for start in range(0, n, stride):
        for i in range(start, min(start + BLOCK, n)):
            code = code_at(codes, i)
            seen += 1
            if -1 <= code <= 1:
                continue
            other += 1
            large += 1 if code <= -DIRECT or code >= DIRECT else 0
            if count <= MOST_LISTED:
                slot = slot_of(table, code)
                if item_at(table, slot) == 0:
                    put_item(table, slot, code << 9 | 1)
                    count += 1
    tokens = 10 * other > 7 * seen
    if count > MOST_LISTED or 8 * large < other or 8 * count > other:
        return tokens, 0
    if tokens:
        for code in range(-1, 2):
            put_item(table, slot_of(table, code), code << 9 | 1)
    count = 0
    for slot in range(SLOTS):
        entry, at = item_at(table, slot), count
        if entry:
            code = entry >> 9
            while at > 0 and code_at(listed, at - 1) > code:
                put_word(listed, at, code_at(listed, at - 1))
                at -= 1
            put_word(listed, at, code)
            count += 1
    for token in range(count):
        code = code_at(listed, token)
        put_item(table, slot_of(table, code), code << 9 | token << 1 | 1)
    return tokens, count


# ---- tokens and their classes --------------------------------------------------------------------


@compiled
def plain_tokens(codes, count, tokens, far, tail):
    """Tokens of `count` codes; those that have further bits go to `far`, their number is returned.

    `far` may be `codes`: it is never ahead.
    """
    n = 0
    for i in range(0, count, 16):
        source, at = codes, i
        if i + 16 > count:
            clear(tail, 4 * 16)
            copy(codes + 4 * i, 4 * (count - i), tail)
            source, at = tail, ZERO
        mask = put_tokens(source, at, tokens, i)
        if mask:
            pack(source, at, mask, far, n)
            n += ones(mask)
    return n


@compiled
def listed_tokens(codes, count, tokens, far, table):
    """The same by a hash table; codes that it lacks have further bits."""
    n = 0
    for i in range(count):
        code = code_at(codes, i)
        entry = item_at(table, slot_of(table, code))
        put_byte(tokens, i, entry >> 1 if entry else OTHER)
        put_word(far, n, code)
        n += 0 if entry else 1
    return n


@compiled
def put_thresholds(tokens, count, out, at):
    """Seven tokens that cut a sample of tokens in eight equal parts, as far as that is possible."""
    seen, stride, total = out + at + 8, (count >> 12) + 1, 0
    clear(seen, 4 * SYMBOLS)
    for i in range(0, count, stride):
        token = byte_at(tokens, i)
        add_word(seen, token, 1)
        total += 1
    below = token = 0
    for i in range(1, CLASSES):
        while token < SYMBOLS - 1 and CLASSES * (below + code_at(seen, token)) < i * total:
            below += code_at(seen, token)
            token += 1
        put_byte(out, at + i - 1, token)


@compiled
def put_classes(data, at, classes):
    """256·class of each token, by thresholds at data[at:]."""
    for token in range(SYMBOLS):
        rank = 0
        for i in range(CLASSES - 1):
            rank += 1 if token > byte_at(data, at + i) else 0
        put_half(classes, token, SYMBOLS * rank)


# ---- further bits --------------------------------------------------------------------------------


@compiled
def further_bits(code, listed):
    """What a code is beyond its token, and of how many bits."""
    if listed:
        return code & 0xFFFFFFFF, 32
    size = -code if code < 0 else code
    more = octave(size) - 2
    if more > 25:
        return size - (1 << 28), 32
    return size & ((1 << more) - 1), more


@compiled
def put_further(codes, count, listed, out, bit):
    """The further bits of codes that have some; the next free bit."""
    at, used = bit >> 3, bit & 7
    buffer, done = byte_at(out, at) & ((1 << used) - 1), 0
    while done < count:
        word, length = further_bits(code_at(codes, done), listed)
        done += 1
        while done < count:
            rest, more = further_bits(code_at(codes, done), listed)
            if length + more > 56:
                break
            word |= rest << length
            length += more
            done += 1
        buffer |= word << used
        put_long(out, at, buffer)
        used += length
        at += used >> 3
        buffer = shifted_down(buffer, used & 56)
        used &= 7
    put_long(out, at, buffer)
    return 8 * at + used


@compiled
def get_codes(tokens, count, listed, shapes, data, bit, last, codes):
    """Codes of `count` tokens, with further bits; the bit after those."""
    first, plain = 128 - DIRECT, 2 * DIRECT
    if listed:
        first, plain = 0, OTHER
    for i in range(0, count, 16):
        end = min(i + 16, count)
        if outside(tokens, i, first, plain):
            for k in range(i, end):
                shape = item_at(shapes, byte_at(tokens, k))
                more = get_bits(data, bit, last, shape & 63)
                put_word(codes, k, (shape >> 7) + (-more if shape & 64 else more))
                bit = min(bit + (shape & 63), last)
        else:
            for k in range(i, end):
                put_word(codes, k, item_at(shapes, byte_at(tokens, k)) >> 7)
    return bit


@compiled
def put_bits(out, bit, value, count):
    """Up to 57 bits of a value that has no others; the next free bit. Those after it become 0."""
    at, used = bit >> 3, bit & 7
    low = byte_at(out, at) & ((1 << used) - 1)
    put_long(out, at, value << used | low)
    return bit + count


@compiled
def put_list(codes, count, out, bit):
    """A sorted list: its length, and for each code what it is more than the one before."""
    bit = put_bits(out, bit, count, BYTE_BITS)
    before = -(1 << 31)
    for i in range(count):
        more = code_at(codes, i) - before
        size = octave(more) + 1
        bit = put_bits(out, bit, size, SIZE_BITS)
        bit = put_bits(out, bit, more, size)
        before += more
    return bit


@compiled
def get_bits(data, bit, last, count):
    return window_at(data, min(bit, last)) & ((1 << count) - 1)


@compiled
def get_list(data, bit, last, codes):
    """The reverse of `put_list`: its length and the bit after it."""
    count, code = get_bits(data, bit, last, BYTE_BITS), -(1 << 31)
    bit += 8
    for i in range(count):
        size = get_bits(data, bit, last, SIZE_BITS)
        size = min(size, 32)
        code += get_bits(data, bit + 6, last, size)
        bit += 6 + size
        put_word(codes, i, code)
    return count, bit
