"""huffman-encode for one core: the words of four symbols are joined, then appended at once.

What waits for the symbols before is only where the joined word goes: a few operations per four
symbols, with which looking up and joining overlap. Four words have at most 64 bits. A buffer of 64
is stored every time, at the same place until it is full, without a branch on that.
"""

import numpy as np
from numba import njit

CHUNK = 4096
LONGEST = 16
# Unsigned throughout: with a signed operand, numba would go on in float64.
_0, _1, _6, _31, _32, _63, _64 = (np.uint64(i) for i in (0, 1, 6, 31, 32, 63, 64))


@njit
def canonical(lens):
    """Per symbol: its code word, above the six bits of its length."""
    table = np.zeros(lens.size, np.uint32)
    counts = np.zeros(LONGEST + 1, np.int64)
    for length in lens:
        counts[length] += 1
    word = np.zeros(LONGEST + 1, np.int64)
    for length in range(2, LONGEST + 1):
        word[length] = (word[length - 1] + counts[length - 1]) << 1
    for symbol in range(lens.size):
        length = lens[symbol]
        if length:
            table[symbol] = word[length] << 6 | length
            word[length] += 1
    return table


@njit(forceinline=True)
def joined(a, b):
    """Two entries of the table, or a symbol's and none (0), as (word, length)."""
    a, b = np.uint64(a), np.uint64(b)
    return (a >> _6) << (b & _63) | b >> _6, (a & _63) + (b & _63)


@njit(forceinline=True)
def append(out, at, buffer, used, word, length):
    """Append 1 to 64 bits to a buffer of 64 that holds less than 64, from the top down."""
    word <<= _64 - length
    buffer |= word >> used
    out[at] = buffer >> _32
    out[at + _1] = buffer
    used += length
    # What did not fit; the shift in two steps, since it can be by 64.
    rest = word << _1 << ((length - used - _1) & _63)
    full = used >> _6
    return at + full + full, rest if full else buffer, used & _63


@njit
def encode(codes, table, bits, out):
    at = _0
    for chunk in range(bits.size):
        part = codes[chunk * CHUNK : (chunk + 1) * CHUNK]
        start, buffer, used = at, _0, _0
        whole = part.size // 4 * 4
        for i in range(0, whole, 4):
            first, first_bits = joined(table[part[i]], table[part[i + 1]])
            second, second_bits = joined(table[part[i + 2]], table[part[i + 3]])
            word, length = first << second_bits | second, first_bits + second_bits
            at, buffer, used = append(out, at, buffer, used, word, length)
        for i in range(whole, part.size):
            word, length = joined(_0, table[part[i]])
            at, buffer, used = append(out, at, buffer, used, word, length)
        out[at] = buffer >> _32
        out[at + _1] = buffer
        bits[chunk] = (at - start) * _32 + used
        at += (used + _31) // _32
    return at


def run(codes, lens):
    bits = np.empty(-(-codes.size // CHUNK), np.uint32)
    out = np.empty(codes.size * LONGEST // 32 + bits.size + 4, np.uint32)
    end = encode(codes, canonical(lens), bits, out)
    return bits, out[: int(end)]
