"""`lorenzo-1d` and its inverse: the difference from the previous value, and the prefix sum."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernels.records import Arg, Array
from kernels.streams.quantiser import quantise
from kernels.tasks.base import StageCase, StageTask

Integers = npt.NDArray[np.int32]

FORWARD_PAGE = """\
# lorenzo-1d

Replace every integer by its difference from the one before it. This is the 1-D Lorenzo predictor
of the SZ family: neighbours of a smooth field are nearly equal, so the differences are small, and
what follows (fixed-length planes, Huffman) stores small numbers in few bits.

| | |
|---|---|
| call | `run(q) -> codes` |
| `q` | int32, 1-D, C-contiguous: a field quantised at the bound that was asked |
| `codes` | int32, same shape: `codes[0] = q[0]`, `codes[i] = q[i] - q[i-1]` |
| arithmetic | modulo 2^32: a difference that does not fit wraps around |
| empty in | empty out |

Scored by speed among submissions whose every output equals the golden answer, on fields and on
edge cases (extremes of int32, length 0 and 1, lengths around multiples of 32). Rung 1: the place to
start.
"""

INVERSE_PAGE = """\
# lorenzo-1d-inverse

Undo `lorenzo-1d`: an inclusive prefix sum. It is the part of decompression with a serial
dependency.

| | |
|---|---|
| call | `run(codes) -> q` |
| `codes` | int32, 1-D, C-contiguous: what `lorenzo-1d` makes of a quantised field |
| `q` | int32, same shape: `q[i] = codes[0] + ... + codes[i]` |
| arithmetic | modulo 2^32: a sum that does not fit wraps around |
| empty in | empty out |

Scored by speed among submissions whose every output equals the golden answer, on fields and on
edge cases (sums that wrap, length 0 and 1, lengths around multiples of 32). Rung 1.
"""


def difference(q: Integers) -> tuple[Array, ...]:
    """Golden answer of `lorenzo-1d`."""
    return (np.diff(q, prepend=np.int32(0)),)


def prefix_sum(codes: Integers) -> tuple[Array, ...]:
    """Golden answer of `lorenzo-1d-inverse`."""
    return (np.cumsum(codes, dtype=np.int32),)


def _forward_inputs(data: Array, abs_bound: float) -> tuple[Arg, ...]:
    return (quantise(data, abs_bound).reshape(-1),)


def _inverse_inputs(data: Array, abs_bound: float) -> tuple[Arg, ...]:
    return difference(quantise(data, abs_bound).reshape(-1))


def _edge_cases() -> tuple[StageCase, ...]:
    """For either direction: any integers are legal inputs of both."""
    ends = np.iinfo(np.int32)
    random = np.random.default_rng(20261)
    whole_range = random.integers(ends.min, ends.max, 5000, np.int32, endpoint=True)
    arrays: dict[str, Integers] = {
        "empty": np.zeros(0, np.int32),
        "one": np.array([-7], np.int32),
        "extremes": np.tile(np.array([ends.min, ends.max, -1, 0], np.int32), 40),
        "constant": np.full(1000, 123456, np.int32),
        "ramp": np.arange(-3000, 3001, dtype=np.int32),
        "whole_range": whole_range,
    }
    for length in (2, 31, 32, 33, 127, 128, 129, 4095, 4096, 4097):
        arrays[f"length_{length}"] = random.integers(-50, 50, length, np.int32)
    return tuple(StageCase(name, (array,)) for name, array in arrays.items())


FORWARD = StageTask(
    name="lorenzo-1d",
    summary="difference of each int32 from the one before it",
    page=FORWARD_PAGE,
    rung=1,
    arguments="(q: int32[n]) -> int32[n]",
    inputs=_forward_inputs,
    golden=difference,
    edge_cases=_edge_cases,
)

INVERSE = StageTask(
    name="lorenzo-1d-inverse",
    summary="inclusive prefix sum of int32, which undoes lorenzo-1d",
    page=INVERSE_PAGE,
    rung=1,
    arguments="(codes: int32[n]) -> int32[n]",
    inputs=_inverse_inputs,
    golden=prefix_sum,
    edge_cases=_edge_cases,
)
