"""`histogram`: how often each code occurs, which is what a Huffman code is built from."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernels.records import Arg, Array
from kernels.streams.quantiser import quantise
from kernels.tasks.base import StageCase, StageTask
from kernels.tasks.lorenzo import difference

Codes = npt.NDArray[np.uint16]

BINS = 1024
"""As many as cuSZ's quantisation codes by default: differences from −511 to 511, and 0."""

PAGE = """\
# histogram

Count how often each code occurs.

| | |
|---|---|
| call | `run(codes, nbins) -> counts` |
| `codes` | uint16[n], 1-D, C-contiguous |
| `nbins` | Python int, 1 to 65536 |
| `counts` | uint32[nbins]: `counts[b]` = number of codes equal to b |
| codes >= nbins | are ignored: counted nowhere |
| empty codes | nbins zeros |

## Where it sits

Between prediction and Huffman coding in SZ, SZ3 and cuSZ: the counts decide the code lengths. The
codes of a smooth field are concentrated: half of them may fall into one bin. So the counter that
was just written is often needed by the next code, and on a GPU many threads meet at one address.
Several private histograms, added up at the end, are the usual answer; reading a code costs little.

On fields, nbins is 1024 and the codes are an SZ code stream: quantised, Lorenzo differences d over
all dimensions, code = d + 512 where that is 1 to 1023, else 0 (an outlier).

## Example

| array | value |
|---|---|
| `codes` | `[2, 0, 2, 5, 2]` |
| `nbins` | `4` |
| `counts` | `[1, 0, 3, 0]` |

## Score

Rung 1. Every count must equal the golden answer: on the edge cases (nbins 1 and 65536, codes at and
beyond nbins, all codes equal, all different, lengths around 32, 128 and 4096, empty) and on fields.
Ranked by speed in bytes of the original field per second.

Usual mistakes: writing beyond `counts` for a code >= nbins (in numba nothing checks it); returning
int64 counts; 16-bit partial counts that overflow after 65535; 65536 bins do not fit a uint16 index
loop; forgetting the last codes when reading several at once.
"""


def counts(codes: Codes, nbins: int) -> tuple[Array, ...]:
    """Golden answer."""
    return (np.bincount(codes, minlength=nbins)[:nbins].astype(np.uint32),)


def centred(differences: npt.NDArray[np.int32], nbins: int) -> Codes:
    """Differences as codes around nbins // 2; 0 stands for those that don't fit."""
    radius = nbins // 2
    fits = (differences > -radius) & (differences < nbins - radius)
    return np.where(fits, differences + np.int32(radius), np.int32(0)).astype(np.uint16)


def _inputs(data: Array, abs_bound: float) -> tuple[Arg, ...]:
    (differences,) = difference(quantise(data, abs_bound))
    return centred(differences.reshape(-1), BINS), BINS


def _edge_cases() -> tuple[StageCase, ...]:
    random = np.random.default_rng(20262)
    peaked = np.clip(random.normal(512, 3, 5003), 0, 1023).astype(np.uint16)
    every = np.arange(65536, dtype=np.uint16)
    anything = random.integers(0, 65536, 4999, np.uint16)
    cases: dict[str, tuple[Codes, int]] = {
        "empty": (np.zeros(0, np.uint16), 16),
        "empty_one_bin": (np.zeros(0, np.uint16), 1),
        "one": (np.array([3], np.uint16), 4),
        "one_beyond": (np.array([4], np.uint16), 4),
        "one_bin": (np.array([0, 1, 0, 65535, 0], np.uint16), 1),
        "two_bins": (random.integers(0, 3, 1009, np.uint16), 2),
        "peaked": (peaked, 1024),
        "peaked_few_bins": (peaked, 513),
        "all_equal": (np.full(70001, 512, np.uint16), 1024),
        "all_ignored": (np.full(1000, 1024, np.uint16), 1024),
        "last_bin": (np.full(1000, 1023, np.uint16), 1024),
        "alternating": (np.tile(np.array([7, 8], np.uint16), 600), 256),
        "runs": (np.repeat(np.arange(130, dtype=np.uint16), 37), 131),
        "every_code": (every, 65536),
        "every_code_twice": (np.concatenate([every, every[::-1]]), 65536),
        "every_code_few_bins": (every, 1000),
        "most_bins": (anything, 65536),
        "one_less": (anything, 65535),
        "odd_bins": (anything, 4097),
        "largest_code": (np.full(333, 65535, np.uint16), 65536),
    }
    for length in (2, 3, 7, 31, 32, 33, 127, 128, 129, 4095, 4096, 4097):
        cases[f"length_{length}"] = (random.integers(0, 40, length, np.uint16), 37)
    return tuple(StageCase(name, inputs) for name, inputs in cases.items())


TASK = StageTask(
    name="histogram",
    summary="how often each uint16 code occurs",
    page=PAGE,
    rung=1,
    arguments="(codes: uint16[n], nbins: int) -> uint32[nbins]",
    outputs=("counts",),
    inputs=_inputs,
    golden=counts,
    edge_cases=_edge_cases,
)
