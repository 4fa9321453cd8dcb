"""`bitpack` and `bitunpack`: blocks of 32 unsigned integers as bit planes, as many as they need."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from kernels.records import Arg, Array
from kernels.streams.quantiser import quantise
from kernels.tasks.base import StageCase, StageTask

BLOCK = 32

Words = npt.NDArray[np.uint32]
Rates = npt.NDArray[np.uint8]

_RULES = """\
## Layout

Values are taken in blocks of 32; a last, shorter block counts as if zeros filled it. A block's rate
is the bit length of its largest value (0 for 0, 3 for 7, 32 from 2^31 on). The block becomes `rate`
words in `words`, right after those of the block before it: word k holds bit k of every value, and
bit i of that word belongs to value i of the block. A block of rate 0 has no words. With n = 4:

| values | rates | words | |
|---|---|---|---|
| 5, 0, 3, 4 | 3 | 0b0101, 0b0100, 0b1001 | bits 0, then bits 1, then bits 2 of the values |
"""

PACK_PAGE = f"""\
# bitpack

Store blocks of 32 integers in as many bit planes as the largest needs. cuSZp and FZ-GPU end so, and
so does `szp`: after prediction most values are small, a block costs 4 · rate bytes instead of 128,
and no table of code words is needed.

| | |
|---|---|
| call | `run(values) -> (rates, words)` |
| `values` | uint32[n], 1-D |
| `rates` | uint8[ceil(n / 32)], 0…32 |
| `words` | uint32[sum of rates] |
| empty in | `rates` and `words` empty |

{_RULES}
## Score

Speed on a field, among submissions whose both outputs equal the golden answer on every case. A
field gives differences d of neighbouring quantised values, folded to (d << 1) ^ (d >> 31), so that
small ones of either sign are small: rates are mostly below 12. Other cases: rates of 0 and 32, all
ones, a single bit in the last block, n around multiples of 32. Rung 1.

Usual mistakes: a signed comparison for the maximum, a shift by 32, most significant plane first,
storing planes of the absent values in the last block, `words` returned longer than needed. A loop
over bits costs 32 steps per value: transpose 8 × 8 bits in a uint64, or take one bit of 32 values
at once, in a loop over a fixed 32 that compiles to vector instructions. Each block's place depends
only on the rates before it.
"""

UNPACK_PAGE = f"""\
# bitunpack

Turn bit planes back into integers: what `bitpack` does, undone. It is the first step of
decompression in cuSZp, FZ-GPU and `szp`.

| | |
|---|---|
| call | `run(rates, words, n) -> values` |
| `rates` | uint8[ceil(n / 32)], 0…32: number of words of each block |
| `words` | uint32[sum of rates]: what `bitpack` made |
| `n` | int: number of values |
| `values` | uint32[n] |
| empty in | empty out |

{_RULES}
## Score

Speed on a field, among submissions whose output equals the golden answer on every case. Inputs are
always well formed. A field gives rates mostly below 12. Other cases: rates of 0 and 32, all ones, a
single bit in the last block, n around multiples of 32. Rung 1.

Usual mistakes: values of a block of rate 0 left unset, reading past the end of `words`, writing the
last block past n, a shift by 32, planes in reverse. A loop over bits costs 32 steps per value:
transpose 8 × 8 bits in a uint64, or spread one word over 32 values at once, in a loop over a fixed
32 that compiles to vector instructions. Each block's place depends only on the rates before it.
"""


def pack(values: Words) -> tuple[Array, ...]:
    """Golden answer of `bitpack`."""
    blocks = _whole_blocks(values)
    rates = np.zeros(len(blocks), np.uint8)
    _measure(blocks, rates)
    words = np.empty(int(rates.sum(dtype=np.int64)), np.uint32)
    _gather(blocks, rates, words)
    return rates, words


def unpack(rates: Rates, words: Words, n: int) -> tuple[Array, ...]:
    """Golden answer of `bitunpack`."""
    blocks = np.empty((rates.size, BLOCK), np.uint32)
    _spread(rates, words, blocks)
    return (blocks.reshape(-1)[:n],)


def _whole_blocks(values: Words) -> Words:
    if values.size % BLOCK == 0:
        return values.reshape(-1, BLOCK)
    blocks = np.zeros((values.size // BLOCK + 1, BLOCK), np.uint32)
    blocks.reshape(-1)[: values.size] = values
    return blocks


@njit(nogil=True, cache=True)
def _measure(blocks: Words, rates: Rates) -> None:
    for b in range(rates.size):
        largest = np.uint32(0)
        for i in range(BLOCK):
            largest = max(largest, blocks[b, i])
        while np.uint64(largest) >> np.uint64(rates[b]):
            rates[b] += 1


@njit(nogil=True, cache=True)
def _gather(blocks: Words, rates: Rates, words: Words) -> None:
    at = 0
    for b in range(rates.size):
        for k in range(rates[b]):
            word = np.uint32(0)
            for i in range(BLOCK):
                bit = (blocks[b, i] >> np.uint32(k)) & np.uint32(1)
                word |= bit << np.uint32(i)
            words[at] = word
            at += 1


@njit(nogil=True, cache=True)
def _spread(rates: Rates, words: Words, blocks: Words) -> None:
    at = 0
    for b in range(rates.size):
        blocks[b, :] = 0
        for k in range(rates[b]):
            for i in range(BLOCK):
                bit = (words[at] >> np.uint32(i)) & np.uint32(1)
                blocks[b, i] |= bit << np.uint32(k)
            at += 1


def folded(data: Array, abs_bound: float) -> Words:
    """A field's differences of neighbours: even numbers for 0 and above, odd for those below."""
    q = quantise(data, abs_bound).reshape(-1)
    values = np.empty(q.size, np.uint32)
    _fold(q, values)
    return values


@njit(nogil=True, cache=True)
def _fold(q: npt.NDArray[np.int32], values: Words) -> None:
    previous = np.int32(0)
    for i in range(q.size):
        difference = np.int32(q[i] - previous)
        previous = q[i]
        values[i] = np.uint32(difference << 1) ^ np.uint32(difference >> 31)


def _pack_inputs(data: Array, abs_bound: float) -> tuple[Arg, ...]:
    return (folded(data, abs_bound),)


def _unpack_inputs(data: Array, abs_bound: float) -> tuple[Arg, ...]:
    return _packed(folded(data, abs_bound))


def _packed(values: Words) -> tuple[Arg, ...]:
    """What `bitunpack` is given for these values."""
    return *pack(values), values.size


def _values_by_case() -> dict[str, Words]:
    """For either direction."""
    random = np.random.default_rng(20264)

    def below(bits: int, n: int) -> Words:
        return random.integers(0, 1 << bits, n, np.uint32)

    one_each = np.zeros((33, BLOCK), np.uint32)
    for rate in range(1, 33):
        one_each[rate, random.integers(0, BLOCK)] = 1 << (rate - 1)
    mixed = np.concatenate([below(bits, BLOCK) for bits in random.permutation(33)])
    cases = {
        "empty": np.zeros(0, np.uint32),
        "one_zero": np.zeros(1, np.uint32),
        "one": np.array([5], np.uint32),
        "worked_example": np.array([5, 0, 3, 4], np.uint32),
        "zeros": np.zeros(1000, np.uint32),
        "all_ones": np.full(101, 0xFFFFFFFF, np.uint32),
        "top_bit": np.full(64, 1 << 31, np.uint32),
        "one_value_per_rate": one_each.reshape(-1),
        "every_rate": mixed,
        "every_rate_and_a_tail": np.append(mixed, below(13, 7)),
        "zeros_between": np.where(np.arange(4000) // BLOCK % 3, 0, below(9, 4000)).astype(
            np.uint32
        ),
        "zeros_at_the_end": np.concatenate([below(3, 64), np.zeros(967, np.uint32)]),
        "bit_in_the_tail": np.repeat(np.array([0, 1], np.uint32), [1024, 1]),
        "high_bit_in_the_tail": np.repeat(np.array([0, 1 << 31], np.uint32), [1054, 1]),
        "bytes": below(8, 4096),
        "whole_range": below(32, 5003),
        "around_bytes": below(9, 2048) >> random.integers(0, 3, 2048, np.uint32),
        "ramp": np.arange(7919, dtype=np.uint32),
    }
    for length in (2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 997, 4095, 4096, 4097, 20011):
        cases[f"length_{length}"] = below(int(random.integers(1, 20)), length)
    return cases


def _pack_cases() -> tuple[StageCase, ...]:
    return tuple(StageCase(name, (values,)) for name, values in _values_by_case().items())


def _unpack_cases() -> tuple[StageCase, ...]:
    return tuple(StageCase(name, _packed(values)) for name, values in _values_by_case().items())


PACK = StageTask(
    name="bitpack",
    summary="blocks of 32 uint32 as bit planes, as many as the largest needs",
    page=PACK_PAGE,
    rung=1,
    arguments="(values: uint32[n]) -> (rates: uint8[blocks], words: uint32[])",
    outputs=("rates", "words"),
    inputs=_pack_inputs,
    golden=pack,
    edge_cases=_pack_cases,
    bit_fields=frozenset({"words"}),
)

UNPACK = StageTask(
    name="bitunpack",
    summary="uint32 from blocks of bit planes, which undoes bitpack",
    page=UNPACK_PAGE,
    rung=1,
    arguments="(rates: uint8[blocks], words: uint32[], n: int) -> uint32[n]",
    outputs=("values",),
    inputs=_unpack_inputs,
    golden=unpack,
    edge_cases=_unpack_cases,
)
