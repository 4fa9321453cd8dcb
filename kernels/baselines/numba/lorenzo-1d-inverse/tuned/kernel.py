"""lorenzo-1d-inverse in place, eight values at a time.

The sums within a group of eight do not wait for the running total, which then enters once a group:
the serial chain is one addition per eight values. int32 stores are the modulo.
"""

from numba import njit


@njit
def _sums(codes):
    total = 0
    whole = codes.size // 8 * 8
    for at in range(0, whole, 8):
        a, b, c, d = codes[at], codes[at + 1], codes[at + 2], codes[at + 3]
        e, f, g, h = codes[at + 4], codes[at + 5], codes[at + 6], codes[at + 7]
        ab, cd, ef, gh = a + b, c + d, e + f, g + h
        abcd, efgh = ab + cd, ef + gh
        codes[at] = total + a
        codes[at + 1] = total + ab
        codes[at + 2] = total + ab + c
        codes[at + 3] = total + abcd
        codes[at + 4] = total + abcd + e
        codes[at + 5] = total + abcd + ef
        codes[at + 6] = total + abcd + ef + g
        total += abcd + efgh
        codes[at + 7] = total
    for i in range(whole, codes.size):
        total += codes[i]
        codes[i] = total


def run(codes):
    _sums(codes)
    return codes
