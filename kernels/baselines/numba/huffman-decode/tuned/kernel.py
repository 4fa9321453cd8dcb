"""huffman-decode for one core: up to three symbols from one look-up, four chunks in turn.

A table says of every string of 12 bits which whole code words it begins with. 64 bits that are
loaded at a time hold at least 33 from where a word starts, which is two look-ups. Where the next
look-up is depends on this one; four chunks are read in turn to fill that wait.

A string that begins with a longer word gives no symbol and moves nothing: then one symbol is read
by its next 16 bits.

The loop has addresses, not arrays: numba counts references to arrays around a branch.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

CHUNK = 4096
LONGEST, INDEX = 16, 12
LANES = 4
MOST = np.uint64(6)
"""Symbols of two look-ups at most."""
SLACK = np.uint64(7)
"""Symbols that must be left: each look-up stores four, however many it gives."""
# Unsigned throughout: with a signed operand, numba would go on in float64.
_0, _1, _5, _31, _48, _52, _56 = (np.uint64(i) for i in (0, 1, 5, 31, 48, 52, 56))
_BYTE = np.uint64(0xFF)
_I16, _I32, _I64 = (ir.IntType(width) for width in (16, 32, 64))


def _place(builder, address, index, kind):
    return builder.gep(builder.inttoptr(address, kind.as_pointer()), [index])


@intrinsic
def two_words(_typing, _address, _index):
    """64 bits from word `index` on, the first bit on top."""

    def codegen(_context, builder, _sig, args):
        place = builder.bitcast(_place(builder, *args, _I32), _I64.as_pointer())
        both, half = builder.load(place, align=4), _I64(32)
        return builder.or_(builder.shl(both, half), builder.lshr(both, half))

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def entry_at(_typing, _address, _index):
    def codegen(_context, builder, _sig, args):
        return builder.load(_place(builder, *args, _I64))

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def put_four(_typing, _address, _index, _symbols):
    """Four 16-bit numbers from place `index` on, lowest first."""

    def codegen(context, builder, _sig, args):
        place = builder.bitcast(_place(builder, *args[:2], _I16), _I64.as_pointer())
        builder.store(args[2], place, align=2)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.uint64), codegen


@njit
def by_next_bits(lens):
    """For each string of 16 bits: the symbol whose word it begins with, and its bits (byte 7)."""
    longest = np.zeros(1 << LONGEST, np.uint64)
    at = 0
    for length in range(1, LONGEST + 1):
        for symbol in range(lens.size):
            if lens[symbol] == length:
                end = at + (1 << (LONGEST - length))
                longest[at:end] = np.uint64(symbol) | np.uint64(length) << _56
                at = end
    return longest


@njit
def several(longest):
    """For each string of 12 bits: three symbols, their number (byte 6), their bits (byte 7)."""
    table = np.zeros(1 << INDEX, np.uint64)
    for string in range(table.size):
        entry, count, used = _0, 0, 0
        while count < 3:
            one = longest[(string << (LONGEST - INDEX + used)) & 0xFFFF]
            length = np.int64(one >> _56)
            if length == 0 or used + length > INDEX:
                break
            entry |= (one & np.uint64(0xFFFF)) << np.uint64(16 * count)
            count += 1
            used += length
        table[string] = entry | np.uint64(count) << _48 | np.uint64(used) << _56
    return table


@njit(forceinline=True)
def window_at(words, at):
    return two_words(words, at >> _5) << (at & _31)


@njit(forceinline=True)
def look_up(table, window, codes, out):
    entry = entry_at(table, window >> _52)
    put_four(codes, out, entry)
    return window << (entry >> _56), out + ((entry >> _48) & _BYTE), entry >> _56


@njit(forceinline=True)
def two_look_ups(words, table, longest, at, codes, out):
    window = window_at(words, at)
    window, out, first = look_up(table, window, codes, out)
    window, out, second = look_up(table, window, codes, out)
    at += first + second
    if second == _0:
        one = entry_at(longest, window_at(words, at) >> _48)
        put_four(codes, out, one)
        at += one >> _56
        out += _1
    return at, out


@njit
def alone(words, table, longest, at, codes, out, end):
    """One chunk, or the rest of one."""
    base, to = words.ctypes.data, codes.ctypes.data
    short, long = table.ctypes.data, longest.ctypes.data
    while out + SLACK <= end:
        at, out = two_look_ups(base, short, long, at, to, out)
    while out < end:
        one = longest[window_at(base, at) >> _48]
        codes[out] = one
        at += one >> _56
        out += _1


@njit
def together(words, table, longest, at, codes, out, steps):
    """So many times two look-ups in every lane."""
    base, to = words.ctypes.data, codes.ctypes.data
    short, long = table.ctypes.data, longest.ctypes.data
    for _ in range(steps):
        for lane in range(LANES):
            at[lane], out[lane] = two_look_ups(base, short, long, at[lane], to, out[lane])


@njit
def shortest(out, end):
    """The lane with the fewest symbols to go."""
    best = 0
    for lane in range(1, LANES):
        if end[lane] - out[lane] < end[best] - out[best]:
            best = lane
    return best


@njit
def decode(table, longest, starts, words, codes):
    """All chunks, which are full. A lane that is through with one begins the next."""
    chunks = starts.size
    begun = LANES if chunks >= LANES else 0
    state = np.zeros((3, LANES), np.uint64)
    at, out, end = state[0], state[1], state[2]
    for lane in range(begun):
        at[lane], out[lane], end[lane] = starts[lane] * 32, lane * CHUNK, (lane + 1) * CHUNK
    while begun:
        lane = shortest(out, end)
        left = end[lane] - out[lane]
        if left >= SLACK:
            together(words, table, longest, at, codes, out, (left - _1) // MOST)
            continue
        if begun == chunks:
            break
        alone(words, table, longest, at[lane], codes, out[lane], end[lane])
        at[lane], out[lane], end[lane] = starts[begun] * 32, begun * CHUNK, (begun + 1) * CHUNK
        begun += 1
    for lane in range(min(begun, LANES)):
        alone(words, table, longest, at[lane], codes, out[lane], end[lane])
    for chunk in range(begun, chunks):
        start, first = np.uint64(starts[chunk] * 32), np.uint64(chunk * CHUNK)
        alone(words, table, longest, start, codes, first, first + np.uint64(CHUNK))


def run(lens, bits, words, n):
    codes = np.empty(n, np.uint16)
    if n == 0:
        return codes
    sizes = (bits.astype(np.int64) + 31) // 32
    starts = np.cumsum(sizes) - sizes
    longest = by_next_bits(lens)
    table = several(longest)
    decode(table, longest, starts[:-1], words, codes)
    # After the last word of all others another follows; here one is put there.
    rest = np.append(words[starts[-1] :], np.uint32(0))
    last = codes[(starts.size - 1) * CHUNK :]
    alone(rest, table, longest, _0, last, _0, np.uint64(last.size))
    return codes
