"""Entropy stage: int32 codes, most of them near 0, as a slab of bytes and back.

Codes are looked at in fours. A code of 0, 1 or −1 is told by two bits; the eight bits of a *quad*
are a symbol, and the quad before is its context. The other codes follow as *tokens*, a byte each,
the token before being the context. Quads of 0 are left out: a bit each says so, in a level of bytes
from which bytes of 0 are left out in turn, level upon level, so that nothing but zeros costs next
to nothing. Where few codes are near 0, all are tokens instead. Quads, levels and tokens are strings
of bytes to `huffman`.

Tokens are in order of the codes they stand for. Small codes have one each, others share one with
their quarter of an octave and have further bits. Where a sample has few different codes, large ones
among them, tokens are places in a list of these, and the last token has all of a code's bits.

Slab: a byte (how it is made), seven thresholds between the tokens' classes, u32 size of the further
bits, these (first of them the list, if there is one), the levels from the top, the quads, the
tokens, eight bytes 0. No codes: no bytes.

All functions but the first and the two that are called have addresses: see `words`.
"""

import huffman
import numpy as np
import tokens
from huffman import SYMBOLS, ZERO
from numba import njit
from words import (
    BLOCK,
    address,
    byte_at,
    bytes_in,
    clear,
    compiled,
    copy,
    gathered,
    item_at,
    long_at,
    ones,
    pack,
    pack_bytes,
    put_byte,
    put_half,
    put_item,
    put_long,
    signs,
    spell,
    spread,
    spread_bytes,
)

STORED, QUADS, TOKENS, LISTED = 0, 1, 2, 4
"""How a slab is made; LISTED is added to one of the two before."""
CHUNK = 1024 * BLOCK
"""Codes that are looked at before their tokens are made."""
QUAD_CLASSES, ONE = np.int64(4), np.int64(1)
HEAD, PAD, TOP, MOST_LEVELS = 12, huffman.PAD, 8, 12
# Parts of the working memory, in bytes.
SHAPES = huffman.WORK
TOKEN_CLASSES = SHAPES + 8 * SYMBOLS
FOUR_CLASSES = TOKEN_CLASSES + 2 * SYMBOLS
ONE_CLASS = FOUR_CLASSES + 2 * SYMBOLS
STARTS = ONE_CLASS + 2 * SYMBOLS
LISTED_CODES = STARTS + 8 * MOST_LEVELS
TAIL = LISTED_CODES + 8 * tokens.SLOTS
HASH = TAIL + 4 * BLOCK
OTHERS = HASH + 8 * tokens.SLOTS
ENCODER = OTHERS + 4 * (CHUNK + 2 * BLOCK)


@njit(nogil=True)
def bound(n):
    """Bytes that `encode` needs at most for n codes, with what it tries before it stores them."""
    return 6 * n + 12 * (huffman.HEAD + PAD) + 8 * tokens.SLOTS


@compiled
def put_quad_classes(classes):
    """256·class of each quad: what its last code is."""
    for quad in range(SYMBOLS):
        put_half(classes, quad, SYMBOLS * ((quad >> 3) & 1 | (quad >> 6) & 2))


# ---- encoding ------------------------------------------------------------------------------------


@compiled
def put_quads(codes, blocks, quads, level, others):
    """So many blocks of 32 codes: how many quads other than 0 they have, and how many others."""
    at = count = 0
    for block in range(blocks):
        here = BLOCK * block
        plus, minus = signs(codes, here)
        some, other, byte = plus | minus, plus & minus, 0
        if some:
            quad = spread(plus) | spread(minus) << 4
            byte = bytes_in(quad)
            put_long(quads, at, pack_bytes(quad, byte))
            at += ones(byte)
            if other:
                pack(codes, here, other, others, count)
                count += ones(other & 0xFFFF)
                pack(codes, here + 16, other >> 16, others, count)
                count += ones(other >> 16)
        put_byte(level, block, byte)
    return at, count


@compiled
def level_starts(n, starts):
    """Where each level begins in the memory of all, lowest first; the number of the top one."""
    size, begin, top = (n + BLOCK - 1) >> 5, 0, 0
    while True:
        put_item(starts, top, begin)
        begin += size
        put_item(starts, top + 1, begin)
        if size <= TOP:
            return top
        size = (size + 7) >> 3
        top += 1


@compiled
def raise_levels(levels, starts, top):
    """Every level above the lowest: a bit for each byte below that is not 0."""
    for k in range(top):
        begin, above = item_at(starts, k), item_at(starts, k + 1)
        for i in range(begin, above, 8):
            some = bytes_in(long_at(levels, i)) & ((1 << min(8, above - i)) - 1)
            put_byte(levels, above + ((i - begin) >> 3), some)


@compiled
def pack_level(levels, begin, above, space):
    """The bytes of a level that are not 0; their number."""
    count = 0
    for i in range(begin, above, 8):
        some = byte_at(levels, above + ((i - begin) >> 3))
        put_long(space, count, pack_bytes(long_at(levels, i), some))
        count += ones(some)
    return count


@njit(nogil=True)
def encode(all_codes, target, at):
    """One slab of all codes, to target[at:], which has `bound` bytes; the new place."""
    n = all_codes.size
    if n == 0:
        return at
    memory = np.empty(ENCODER + n + (n >> 2) + (n >> 3) + 256, np.uint8)
    work, codes, out = address(memory), address(all_codes), address(target)
    at += ZERO
    begin, listed, table = at, work + LISTED_CODES, work + HASH
    others, starts, symbols = work + OTHERS, work + STARTS, work + ENCODER
    quads = symbols + ((n + 31) & -8)
    levels = quads + ((n >> 2) & -8) + 32
    space = levels + ((n >> 4) & -8) + 64
    all_tokens, list_size = tokens.survey(codes, n, table, listed)
    bit = 8 * (at + HEAD)
    put_byte(out, at + HEAD, 0)
    if list_size:
        bit = tokens.put_list(listed, list_size, out, bit)
    top = level_starts(n, starts)
    count = quad_count = ZERO
    for start in range(0, n, CHUNK):
        size = min(CHUNK, n - start)
        source, more = codes + 4 * start, size
        if not all_tokens:
            source, blocks = others, size >> 5
            level = levels + (start >> 5)
            some, more = put_quads(codes + 4 * start, blocks, quads + quad_count, level, others)
            quad_count += some
            if size & (BLOCK - 1):
                tail, done = work + TAIL, start + BLOCK * blocks
                clear(tail, 4 * BLOCK)
                copy(codes + 4 * done, 4 * (n - done), tail)
                to = quads + quad_count
                some, few = put_quads(tail, ONE, to, level + blocks, others + 4 * more)
                quad_count += some
                more += few
        if list_size:
            far = tokens.listed_tokens(source, more, symbols + count, others, table)
        else:
            far = tokens.plain_tokens(source, more, symbols + count, others, work + TAIL)
        bit = tokens.put_further(others, far, list_size, out, bit)
        count += more
    further = ((bit + 7) >> 3) - at - HEAD
    kind = (TOKENS if all_tokens else QUADS) + (LISTED if list_size else 0)
    tokens.put_thresholds(symbols, count, work, huffman.LISTS)
    put_long(out, at, kind | long_at(work, huffman.LISTS) << 8)
    for i in range(4):
        put_byte(out, at + 8 + i, further >> (8 * i))
    classes = work + TOKEN_CLASSES
    tokens.put_classes(out, at + 1, classes)
    at += HEAD + further
    if not all_tokens:
        put_quad_classes(work + FOUR_CLASSES)
        clear(work + ONE_CLASS, 2 * SYMBOLS)
        raise_levels(levels, starts, top)
        begin_top, end_top = item_at(starts, top), item_at(starts, top + 1)
        copy(levels + begin_top, end_top - begin_top, out + at)
        at += end_top - begin_top
        for k in range(top - 1, -1, -1):
            packed = pack_level(levels, item_at(starts, k), item_at(starts, k + 1), space)
            at = huffman.put_stream(space, packed, work + ONE_CLASS, ONE, out, at, work)
        four = work + FOUR_CLASSES
        at = huffman.put_stream(quads, quad_count, four, QUAD_CLASSES, out, at, work)
    at = huffman.put_stream(symbols, count, classes, tokens.CLASSES, out, at, work)
    put_long(out, at, 0)
    at += PAD
    if at - begin > 1 + 4 * n:
        put_byte(out, begin, STORED)
        copy(codes, 4 * n, out + begin + 1)
        at = begin + 1 + 4 * n
    # Until here the memory is in use, though numba only sees addresses.
    memory[0] = 0
    return at


# ---- decoding ------------------------------------------------------------------------------------


@compiled
def bytes_below(levels, begin, above, stop):
    """How many bytes of a level are not 0, by the level above; −1 if that counts one too far."""
    count, size = 0, above - begin
    if size & 7 and byte_at(levels, stop - 1) >> (size & 7):
        return -1
    for i in range(above, stop):
        count += ones(byte_at(levels, i))
    return count


@compiled
def unpack_level(levels, begin, above, space):
    """The reverse of `pack_level`."""
    count, size = 0, above - begin
    for i in range(0, size, 8):
        some = byte_at(levels, above + (i >> 3))
        word = spread_bytes(space, count, some)
        for j in range(min(8, size - i)):
            put_byte(levels, begin + i + j, word >> (8 * j))
        count += ones(some)


@compiled
def get_blocks(level, quads, others, codes, blocks):
    """So many blocks of 32 codes; how many quads and others they took."""
    at = rest = 0
    for block in range(blocks):
        byte = byte_at(level, block)
        quad = spread_bytes(quads, at, byte)
        plus, minus = gathered(quad), gathered(quad >> 4)
        spell(codes, BLOCK * block, plus, minus, others, rest)
        at += ones(byte)
        rest += ones(plus & minus)
    return at, rest


@njit(nogil=True)
def decode(stream, at, n, target):
    """The n codes of a slab at stream[at:], to target; the new place, or −1 for no such slab."""
    end = stream.size
    if n == 0:
        return at
    if n < 0 or n > target.size or at < 0 or at >= end:
        return -1
    data, codes = address(stream), address(target)
    kind = byte_at(data, at)
    if kind == STORED:
        if at + 1 + 4 * n > end:
            return -1
        copy(data + at + 1, 4 * n, codes)
        return at + 1 + 4 * n
    all_tokens, is_listed = kind & 3 == TOKENS, kind & LISTED
    if (kind & ~LISTED != QUADS and not all_tokens) or at + HEAD + PAD > end:
        return -1
    memory = np.empty(OTHERS + 5 * n + (n >> 1) + 512, np.uint8)
    work = address(memory)
    shapes, starts, listed = work + SHAPES, work + STARTS, work + LISTED_CODES
    symbols = work + OTHERS
    quads = symbols + ((n + 31) & -8)
    levels = quads + ((n >> 2) & -8) + 32
    space = levels + ((n >> 4) & -8) + 64
    others = space + ((n >> 4) & -8) + 64
    tokens.put_classes(data, at + 1, work + TOKEN_CLASSES)
    begin = at + HEAD
    stop = begin + (long_at(data, at + 8) & 0xFFFFFFFF)
    bit, last, at, count = 8 * begin, 8 * (end - PAD) + 7, stop, n
    if is_listed:
        size, bit = tokens.get_list(data, bit, last, listed)
        tokens.listed_shapes(listed, size, shapes)
    else:
        tokens.plain_shapes(shapes)
    if not all_tokens:
        put_quad_classes(work + FOUR_CLASSES)
        clear(work + ONE_CLASS, 2 * SYMBOLS)
        top, four, quad_count = level_starts(n, starts), work + FOUR_CLASSES, ZERO
        begin_top, end_top = item_at(starts, top), item_at(starts, top + 1)
        fits = at + end_top - begin_top <= end - PAD
        if fits:
            copy(data + at, end_top - begin_top, levels + begin_top)
        at = at + end_top - begin_top if fits else -1
        for k in range(top - 1, -1, -1):
            low, high = item_at(starts, k), item_at(starts, k + 1)
            packed = bytes_below(levels, low, high, item_at(starts, k + 2)) if at >= 0 else -1
            if packed >= 0:
                at = huffman.get_stream(data, at, end, packed, work + ONE_CLASS, ONE, space, work)
                unpack_level(levels, low, high, space)
            else:
                at = -1
        if at >= 0:
            for i in range((n + BLOCK - 1) >> 5):
                quad_count += ones(byte_at(levels, i))
            at = huffman.get_stream(data, at, end, quad_count, four, QUAD_CLASSES, quads, work)
        count = 0
        for i in range(quad_count):
            quad = byte_at(quads, i)
            count += ones(quad & quad >> 4 & 15)
    fits = at >= 0 and count <= n
    if fits:
        at = huffman.get_stream(
            data, at, end, count, work + TOKEN_CLASSES, tokens.CLASSES, symbols, work
        )
        fits = at >= 0 and at + PAD <= end
    if fits:
        to = codes if all_tokens else others
        bit = tokens.get_codes(symbols, count, is_listed, shapes, data, bit, last, to)
        fits = (bit + 7) >> 3 == stop
    if fits and not all_tokens:
        blocks = n >> 5
        done, rest = get_blocks(levels, quads, others, codes, blocks)
        if n & (BLOCK - 1):
            tail = work + TAIL
            get_blocks(levels + blocks, quads + done, others + 4 * rest, tail, ONE)
            copy(tail, 4 * (n & (BLOCK - 1)), codes + 4 * BLOCK * blocks)
    # Until here the memory is in use, though numba only sees addresses.
    memory[0] = 0
    return at + PAD if fits else -1
