"""`huffman-encode` and `huffman-decode`: canonical Huffman words, in chunks of 4096 symbols."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from kernels.records import Arg, Array
from kernels.streams.huffman_lengths import LONGEST, code_lengths
from kernels.streams.quantiser import quantise
from kernels.tasks.base import StageCase, StageTask

CHUNK = 4096
"""Symbols that are coded together, from a new word on."""
WORD = 32
NBINS = 1024
"""Symbols of the codes that are made from a field."""
RADIUS = NBINS // 2

Codes = npt.NDArray[np.uint16]
Lengths = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint32]

_RULES = """\
## Code words

Symbols with `lens > 0`, in increasing order of (length, symbol), get consecutive code words: the
first is 0, each next is (previous + 1) << (difference of the two lengths), as in DEFLATE. With
`lens = [2, 0, 1, 3, 3]`:

| symbol | 2 | 0 | 3 | 4 |
|---|---|---|---|---|
| length | 1 | 2 | 3 | 3 |
| word | 0 | 10 | 110 | 111 |

A code may be incomplete (Kraft sum below 1, as with a single symbol of length 1), and symbols may
have a length and not occur.

## Layout

Symbols are coded in chunks of 4096 (the last may be shorter). In a chunk, code words follow each
other without gaps, each with its most significant bit first, filling every u32 from bit 31 down to
bit 0.
`bits[c]` counts the bits of chunk c; the next chunk starts at a new u32, so chunk c takes
`ceil(bits[c] / 32)` of them, and unused low bits of its last are 0. With those `lens`,
`codes = [2, 3, 0, 2, 4]` is 0 110 10 0 111: `bits = [10]`, `words = [0x69C00000]`.
"""

ENCODE_PAGE = f"""\
# huffman-encode

Replace symbols by Huffman code words of given lengths. SZ3 and cuSZ code their quantised prediction
errors so: near 0 they are frequent and get short words. Chunks make it parallel: each can be
written, and later read, on its own.

| | |
|---|---|
| call | `run(codes, lens) -> (bits, words)` |
| `codes` | uint16[n], 1-D: symbols below nbins; each has a length in `lens` |
| `lens` | uint8[nbins], nbins 1…65536: length of each symbol's code word, 1…16, or 0: none |
| `bits` | uint32[ceil(n / 4096)]: number of code bits in each chunk |
| `words` | uint32[sum of ceil(bits / 32)] |
| empty in | `bits` and `words` empty |

{_RULES}
## Score

Speed on a field, among submissions whose both outputs equal the golden answer on every case. A
field gives nbins = 1024: codes are differences of neighbouring quantised values, plus 512 (0 where
that leaves 1…1023), and `lens` fit their histogram. Other cases: 65536 symbols, all code words of
16 bits, a single symbol, skewed and uniform counts, n around multiples of 4096, chunks whose bits
are a multiple of 32. Rung 1.

Usual mistakes: code words that run on across chunks, low bit first, one u32 too many after a chunk
whose bits are a multiple of 32, a 32-bit buffer that overflows, code words in order of symbol
alone, `words` returned longer than needed. What costs time is the serial dependence on the write
position: join the code words of several symbols first, then append once.
"""

DECODE_PAGE = f"""\
# huffman-decode

Turn Huffman code words back into symbols: the slowest step of decompression in SZ3 and cuSZ, since
where a word starts is known only when the one before it is read. Chunks start at known places, so
several can be read at once.

| | |
|---|---|
| call | `run(lens, bits, words, n) -> codes` |
| `lens` | uint8[nbins], nbins 1…65536: length of each symbol's code word, 1…16, or 0: none |
| `bits` | uint32[ceil(n / 4096)]: number of code bits in each chunk |
| `words` | uint32[sum of ceil(bits / 32)]: what `huffman-encode` made |
| `n` | int: number of symbols |
| `codes` | uint16[n] |
| empty in | empty out |

{_RULES}
## Score

Speed on a field, among submissions whose output equals the golden answer on every case. Inputs are
always well formed. A field gives nbins = 1024 and mostly code words of few bits. Other cases: 65536
symbols, all code words of 16 bits, a single symbol, incomplete codes, n around multiples of 4096,
chunks whose bits are a multiple of 32. Rung 1.

Usual mistakes: reading on into the next chunk's first u32 without starting at its top bit, reading
past the end of `words`, symbol 65535 where a table uses it as a mark, a table that misses code
words longer than its index. What costs time is the chain from one look-up to the next: read several
chunks in turn, and let one look-up give several symbols.
"""


def canonical_order(lens: Lengths) -> npt.NDArray[np.intp]:
    """The symbols that have a word, by (length, symbol)."""
    order = np.argsort(lens, kind="stable")
    return order[np.count_nonzero(lens == 0) :]


def canonical_words(lens: Lengths) -> Words:
    """Every symbol's word in its low bits; 0 for those that have none.

    A word of length l stands for 2^(16 − l) of the 2^16 strings of 16 bits, and the words in order
    stand for consecutive ones: a word begins the first string that those before it left.
    """
    words = np.zeros(lens.size, np.uint32)
    order = canonical_order(lens)
    free = LONGEST - lens[order].astype(np.int64)
    strings = 1 << free
    words[order] = (np.cumsum(strings) - strings) >> free
    return words


def encode(codes: Codes, lens: Lengths) -> tuple[Array, ...]:
    """Golden answer of `huffman-encode`."""
    bits = np.zeros(-(-codes.size // CHUNK), np.uint32)
    _count_bits(codes, lens, bits)
    ends = np.cumsum(-(-bits.astype(np.int64) // WORD))
    words = np.zeros(int(ends[-1]) + 1 if bits.size else 1, np.uint32)
    _write(codes, lens, canonical_words(lens), ends, words)
    return bits, words[:-1]


def decode(lens: Lengths, bits: Words, words: Words, n: int) -> tuple[Array, ...]:
    """Golden answer of `huffman-decode`."""
    codes = np.empty(n, np.uint16)
    order = canonical_order(lens)
    begins_with = np.repeat(order, 1 << (LONGEST - lens[order].astype(np.int64)))
    ends = np.cumsum(-(-bits.astype(np.int64) // WORD))
    _read(np.append(words, np.uint32(0)), ends, begins_with.astype(np.uint16), lens, codes)
    return (codes,)


@njit(nogil=True, cache=True)
def _count_bits(codes: Codes, lens: Lengths, bits: Words) -> None:
    for chunk in range(bits.size):
        total = 0
        for code in codes[chunk * CHUNK : (chunk + 1) * CHUNK]:
            total += lens[code]
        bits[chunk] = total


@njit(nogil=True, cache=True)
def _write(
    codes: Codes, lens: Lengths, word_of: Words, ends: npt.NDArray[np.int64], words: Words
) -> None:
    """Set each code word's bits, in the one or two u32 that it lies in."""
    first = 0
    for chunk in range(ends.size):
        at = first * WORD
        for code in codes[chunk * CHUNK : (chunk + 1) * CHUNK]:
            index, used = at // WORD, at % WORD
            pair = np.uint64(word_of[code]) << np.uint64(2 * WORD - used - lens[code])
            words[index] |= np.uint32(pair >> np.uint64(WORD))
            words[index + 1] |= np.uint32(pair & np.uint64(0xFFFFFFFF))
            at += lens[code]
        first = ends[chunk]


@njit(nogil=True, cache=True)
def _read(
    words: Words, ends: npt.NDArray[np.int64], begins_with: Codes, lens: Lengths, codes: Codes
) -> None:
    """Look up what the next 16 bits begin with, and go on after its word."""
    first = 0
    for chunk in range(ends.size):
        at = first * WORD
        for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, codes.size)):
            index, used = at // WORD, at % WORD
            pair = (np.uint64(words[index]) << np.uint64(WORD)) | np.uint64(words[index + 1])
            next_bits = (pair >> np.uint64(2 * WORD - LONGEST - used)) & np.uint64(0xFFFF)
            codes[i] = begins_with[next_bits]
            at += lens[codes[i]]
        first = ends[chunk]


@njit(nogil=True, cache=True)
def _centre(q: npt.NDArray[np.int32], codes: Codes, counts: npt.NDArray[np.int64]) -> None:
    """Differences of neighbours plus RADIUS, or 0 if that is not in 1…NBINS − 1; their counts."""
    previous = 0
    for i in range(q.size):
        centred = q[i] - previous + RADIUS
        previous = q[i]
        code = centred if 0 < centred < NBINS else 0
        codes[i] = code
        counts[code] += 1


def codes_of(data: Array, abs_bound: float) -> tuple[Codes, Lengths]:
    """A field's symbols, and the lengths that suit them best."""
    q = quantise(data, abs_bound).reshape(-1)
    codes, counts = np.empty(q.size, np.uint16), np.zeros(NBINS, np.int64)
    _centre(q, codes, counts)
    return codes, code_lengths(counts)


def _encode_inputs(data: Array, abs_bound: float) -> tuple[Arg, ...]:
    return codes_of(data, abs_bound)


def _decode_inputs(data: Array, abs_bound: float) -> tuple[Arg, ...]:
    return _coded(*codes_of(data, abs_bound))


def _coded(codes: Codes, lens: Lengths) -> tuple[Arg, ...]:
    """What `huffman-decode` is given for these symbols."""
    return lens, *encode(codes, lens), codes.size


def _with_best_lengths(codes: Codes, nbins: int) -> tuple[Codes, Lengths]:
    return codes, code_lengths(np.bincount(codes, minlength=nbins))


def _symbols_and_lengths() -> dict[str, tuple[Codes, Lengths]]:
    """For either direction."""
    random = np.random.default_rng(20263)

    def drawn(n: int, lens: list[int]) -> tuple[Codes, Lengths]:
        """Symbols at random among those that have a word."""
        lengths = np.array(lens, np.uint8)
        return random.choice(np.flatnonzero(lengths), n).astype(np.uint16), lengths

    every = random.permutation(65536).astype(np.uint16)
    fibonacci = [1, 1]
    while len(fibonacci) < 19:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    steep = random.permutation(np.repeat(np.arange(19), fibonacci)).astype(np.uint16)
    peaked = np.clip(np.rint(random.normal(512, 5, 12289)), 0, 1023).astype(np.uint16)
    ladder = [*range(1, 17), 16]
    cases = {
        "empty": (np.zeros(0, np.uint16), np.array([1, 1], np.uint8)),
        "empty_no_words": (np.zeros(0, np.uint16), np.zeros(3, np.uint8)),
        "one_symbol": (np.zeros(1, np.uint16), np.ones(1, np.uint8)),
        "one_bin": drawn(9000, [1]),
        "only_one_occurs": _with_best_lengths(np.full(5000, 3, np.uint16), 8),
        "one_with_16_bits": drawn(4099, [0, 0, 16, 0]),
        "two_symbols": drawn(4096 * 2, [0, 1, 0, 0, 1]),
        "worked_example": (
            np.array([2, 3, 0, 2, 4], np.uint16),
            np.array([2, 0, 1, 3, 3], np.uint8),
        ),
        "every_length": drawn(5000, ladder),
        "every_length_backwards": drawn(5000, ladder[::-1]),
        "longest_only": drawn(4200, [0, 16, 16, 0, 0, 16] * 50),
        "65536_symbols": _with_best_lengths(every, 65536),
        "last_symbol": (
            np.full(300, 65535, np.uint16),
            np.repeat([0, 1], [65535, 1]).astype(np.uint8),
        ),
        "steepest_counts": _with_best_lengths(steep, 64),
        "peaked": _with_best_lengths(peaked, 1024),
        "uniform": drawn(12000, [8] * 256),
        "uniform_not_a_power_of_two": _with_best_lengths(drawn(7001, [1] * 300)[0], 300),
        "incomplete": drawn(6000, [3, 0, 5, 5, 0, 9, 16]),
        "short_and_long": (
            np.tile(np.array([0, 2], np.uint16), 3000),
            np.array([1, 0, 16], np.uint8),
        ),
        "words_for_symbols_that_do_not_occur": (
            np.full(100, 7, np.uint16),
            np.full(16, 4, np.uint8),
        ),
        "chunks_end_with_their_word": drawn(3 * 4096, [2, 2, 2, 2]),
        "last_chunk_ends_with_its_word": drawn(4096 + 32, [1, 1]),
        "one_bit_past_a_word": drawn(4096 + 33, [1, 1]),
    }
    for length in (1, 2, 3, 31, 32, 33, 127, 128, 129, 4095, 4096, 4097, 8191, 8192, 20011):
        cases[f"length_{length}"] = drawn(length, [0, 7, 5, 3, 1, 2, 4, 6, 7, 0])
    return cases


def _encode_cases() -> tuple[StageCase, ...]:
    return tuple(StageCase(name, given) for name, given in _symbols_and_lengths().items())


def _decode_cases() -> tuple[StageCase, ...]:
    return tuple(StageCase(name, _coded(*given)) for name, given in _symbols_and_lengths().items())


ENCODE = StageTask(
    name="huffman-encode",
    summary="canonical Huffman words of uint16 symbols, in chunks of 4096",
    page=ENCODE_PAGE,
    rung=1,
    arguments="(codes: uint16[n], lens: uint8[nbins]) -> (bits: uint32[chunks], words: uint32[])",
    outputs=("bits", "words"),
    inputs=_encode_inputs,
    golden=encode,
    edge_cases=_encode_cases,
    bit_fields=frozenset({"words"}),
)

DECODE = StageTask(
    name="huffman-decode",
    summary="the uint16 symbols of canonical Huffman words, in chunks of 4096",
    page=DECODE_PAGE,
    rung=1,
    arguments=("(lens: uint8[nbins], bits: uint32[chunks], words: uint32[], n: int) -> uint16[n]"),
    outputs=("codes",),
    inputs=_decode_inputs,
    golden=decode,
    edge_cases=_decode_cases,
)
