"""`compact`: blocks of varying length, moved together into one array."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernels.records import Arg, Array
from kernels.streams.quantiser import quantise
from kernels.tasks.base import Inputs, StageCase, StageTask
from kernels.tasks.lorenzo import difference

Words = npt.NDArray[np.uint32]

BLOCK = 16
"""Values per slot of as many words on fields: a slot is then one cache line."""

PAGE = """\
# compact

Every block of an encoder has written a different number of words into a slot of fixed size. Move
the words together, and say where each block begins.

| | |
|---|---|
| call | `run(slots, sizes) -> offsets, packed` |
| `slots` | uint32[B, cap], C-contiguous: block b is `slots[b, :sizes[b]]`, then garbage |
| `sizes` | uint32[B], each 0 to cap |
| `offsets` | uint32[B + 1]: `offsets[0] = 0`, `offsets[b+1] = offsets[b] + sizes[b]` |
| `packed` | uint32[offsets[B]]: block b is `packed[offsets[b]:offsets[b+1]]` |
| B = 0 | offsets is `[0]`, packed is empty |
| cap = 0 | offsets is B + 1 zeros, packed is empty |

Return a tuple of the two arrays. `packed` has exactly the total number of words; a slice of a
larger array will do.

## Where it sits

The last step of a parallel encoder (cuSZ's chunks of Huffman code, the blocks of cuSZp, szp and
FZ-GPU): threads encode blocks side by side without knowing where they will end up. An exclusive
prefix sum of the sizes says where, and it is the only dependency: with the offsets, all blocks move
independently. Blocks are short, so the cost is in starting each copy, not in the bytes.

On fields there is one slot of 16 words per 16 values, and the sizes are those of a fixed-length
encoder: 0 if all 1-D differences of the 16 values are 0, else what 16 of them take at the bits of
the largest, sign included: half as many words as it has bits, rounded up.

## Example

| array | value |
|---|---|
| `slots` | `[[1, 2, 9], [9, 9, 9], [3, 4, 5], [6, 9, 9]]` |
| `sizes` | `[2, 0, 3, 1]` |
| `offsets` | `[0, 2, 2, 5, 6]` |
| `packed` | `[1, 2, 3, 4, 5, 6]` |

## Score

Rung 1. Every element of both outputs must equal the golden answer: on the edge cases (sizes all 0,
all cap, mixed; B and cap 0 and 1; words that are 0; numbers of blocks around 32, 128 and 4096) and
on fields. Ranked by speed in bytes of the original field per second.

Usual mistakes: offsets with B instead of B + 1 elements, or an inclusive sum; offsets of int64
(NumPy's `cumsum` of uint32 gives uint64: pass `dtype`); telling words from garbage by their value;
copying more than a block's words over the start of the next one, or beyond the end of the array.
"""


def compacted(slots: Words, sizes: Words) -> tuple[Array, ...]:
    """Golden answer."""
    offsets = np.zeros(sizes.size + 1, np.uint32)
    np.cumsum(sizes, dtype=np.uint32, out=offsets[1:])
    used = np.arange(slots.shape[1], dtype=np.uint32) < sizes[:, np.newaxis]
    return offsets, slots[used]


def _inputs(data: Array, abs_bound: float) -> tuple[Arg, ...]:
    """Slots as full as of a fixed-length encoder, with differences in place of packed bits."""
    (differences,) = difference(quantise(data, abs_bound).reshape(-1))
    slots = np.zeros((-(-differences.size // BLOCK), BLOCK), np.uint32)
    zigzag = (differences << 1) ^ (differences >> 31)
    slots.reshape(-1)[: differences.size] = zigzag.view(np.uint32)
    largest = slots.max(axis=1, initial=0).astype(np.float64)
    bits = np.frexp(largest)[1]
    return slots, ((bits + 1) // 2).astype(np.uint32)


def _bytes_read(inputs: Inputs) -> int:
    """The sizes and the words that are used."""
    _, sizes = inputs
    if not isinstance(sizes, np.ndarray):
        raise TypeError("sizes is an array")
    return sizes.nbytes + 4 * int(sizes.sum(dtype=np.int64))


def _edge_cases() -> tuple[StageCase, ...]:
    random = np.random.default_rng(20263)
    top = np.iinfo(np.uint32).max

    def words(blocks: int, cap: int) -> Words:
        return random.integers(0, top, (blocks, cap), np.uint32, endpoint=True)

    def mixed(blocks: int, cap: int) -> tuple[Words, Words]:
        return words(blocks, cap), random.integers(0, cap, blocks, np.uint32, endpoint=True)

    def same(blocks: int, cap: int, size: int) -> tuple[Words, Words]:
        return words(blocks, cap), np.full(blocks, size, np.uint32)

    ends = np.where(random.random(2003) < 0.5, 0, 33).astype(np.uint32)
    ramp = np.arange(66, dtype=np.uint32) % 34
    last = np.zeros(500, np.uint32)
    last[-1] = 33
    cases: dict[str, tuple[Words, Words]] = {
        "no_blocks": same(0, 33, 0),
        "no_blocks_no_room": same(0, 0, 0),
        "no_room": same(7, 0, 0),
        "one_word": same(1, 1, 1),
        "one_word_unused": same(1, 1, 0),
        "one_block": same(1, 33, 20),
        "one_word_slots": mixed(1000, 1),
        "two_word_slots": mixed(1001, 2),
        "all_empty": same(1000, 33, 0),
        "all_full": same(1000, 33, 33),
        "all_one": same(999, 33, 1),
        "all_equal": same(999, 33, 6),
        "almost_full": same(257, 32, 31),
        "empty_or_full": (words(2003, 33), ends),
        "ramp": (words(66, 33), ramp),
        "only_the_last": (words(500, 33), last),
        "only_the_first": (words(500, 33), last[::-1].copy()),
        "words_are_zero": (np.zeros((300, 33), np.uint32), mixed(300, 33)[1]),
        "words_are_top": (np.full((300, 33), top, np.uint32), mixed(300, 33)[1]),
        "wide": mixed(13, 1031),
        "one_wide": same(1, 4097, 4096),
        "prime": mixed(1009, 17),
    }
    for blocks in (2, 31, 32, 33, 127, 128, 129, 4095, 4096, 4097):
        cases[f"blocks_{blocks}"] = mixed(blocks, 5)
    sparse, sizes = mixed(300, 33)
    cases["some_words_are_zero"] = (sparse * random.integers(0, 2, sparse.shape, np.uint32), sizes)
    return tuple(StageCase(name, inputs) for name, inputs in cases.items())


TASK = StageTask(
    name="compact",
    summary="blocks of varying length moved together, and where each begins",
    page=PAGE,
    rung=1,
    arguments="(slots: uint32[B, cap], sizes: uint32[B]) -> offsets: uint32[B + 1], "
    "packed: uint32[total]",
    outputs=("offsets", "packed"),
    inputs=_inputs,
    golden=compacted,
    edge_cases=_edge_cases,
    bytes_read=_bytes_read,
)
