"""huffman-encode, first attempt: the code words as in DEFLATE, written bit by bit."""

import numpy as np
from numba import njit

CHUNK = 4096


@njit
def _canonical(lens):
    words = np.zeros(lens.size, np.uint32)
    word = 0
    for length in range(1, 17):
        word <<= 1
        for symbol in range(lens.size):
            if lens[symbol] == length:
                words[symbol] = word
                word += 1
    return words


@njit
def _encode(codes, lens, bits, out):
    words = _canonical(lens)
    at = 0
    for chunk in range(bits.size):
        start = at
        for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, codes.size)):
            symbol = codes[i]
            for k in range(lens[symbol] - 1, -1, -1):
                out[at // 32] |= ((words[symbol] >> k) & 1) << (31 - at % 32)
                at += 1
        bits[chunk] = at - start
        at = (at + 31) // 32 * 32
    return at // 32


def run(codes, lens):
    chunks = (codes.size + CHUNK - 1) // CHUNK
    bits = np.zeros(chunks, np.uint32)
    out = np.zeros(codes.size // 2 + chunks, np.uint32)  # no code word is longer than 16 bits
    end = _encode(codes, lens, bits, out)
    return bits, out[:end]
