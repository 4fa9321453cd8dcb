"""The Lorenzo predictor on integers in 1-D, 2-D and 3-D, and its inverse, a running sum."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from kernels.records import Arg, Array
from kernels.streams.quantiser import quantise
from kernels.tasks.base import StageCase, StageTask

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class _Texts:
    """What the pages say of one number of dimensions."""

    dims: str
    forward: str
    inverse: str
    formula: str
    inverse_formula: str
    q: str
    codes: str
    chain: str
    cases: str
    fold: str
    mistake: str


_EVERY_AXIS = """\
Along each axis in turn, subtract the value before: the order of the axes does not matter."""
_EVERY_SUM = """\
Sum along one axis, then the result along the next: the order of the axes does not matter."""
_ROWS_ADD = """\
Only along the last axis is there such a chain: along the others whole rows add up."""
_THIN = """\
dimensions of 0 and 1, odd and prime ones"""
_FIRST_ROW = """\
special code for the first row that fails when it is the only one"""

_TEXTS = (
    _Texts(
        dims="n",
        forward="From every value, subtract the one before it.",
        inverse="Every value becomes the sum of all up to it.",
        formula="codes[x] = q[x] - q[x-1]",
        inverse_formula="q[x] = q[x-1] + codes[x]",
        q="[5, 7, 7, -1]",
        codes="[5, 2, 0, -8]",
        chain="A long array can also be summed in parts, whose totals are then summed.",
        cases="lengths of 0 and 1",
        fold="A field of more dimensions is read as one line in C order.",
        mistake="a loop that needs at least one element",
    ),
    _Texts(
        dims="ny, nx",
        forward=_EVERY_AXIS,
        inverse=_EVERY_SUM,
        formula="codes[y,x] = q[y,x] - q[y,x-1] - q[y-1,x] + q[y-1,x-1]",
        inverse_formula="q[y,x] = codes[y,x] + q[y,x-1] + q[y-1,x] - q[y-1,x-1]",
        q="[[4, 5, 7], [5, 6, 9]]",
        codes="[[4, 1, 2], [1, 0, 1]]",
        chain=_ROWS_ADD,
        cases=_THIN,
        fold="A field of more dimensions is read with its leading axes merged, a 1-D one as rows.",
        mistake=_FIRST_ROW,
    ),
    _Texts(
        dims="nz, ny, nx",
        forward=_EVERY_AXIS,
        inverse=_EVERY_SUM,
        formula="""\
codes[z,y,x] = q[z,y,x] - q[z,y,x-1] - q[z,y-1,x] - q[z-1,y,x]
             + q[z,y-1,x-1] + q[z-1,y,x-1] + q[z-1,y-1,x] - q[z-1,y-1,x-1]""",
        inverse_formula="""\
q[z,y,x] = codes[z,y,x] + q[z,y,x-1] + q[z,y-1,x] + q[z-1,y,x]
         - q[z,y-1,x-1] - q[z-1,y,x-1] - q[z-1,y-1,x] + q[z-1,y-1,x-1]""",
        q="[[[4, 5], [5, 7]], [[6, 7], [7, 8]]]",
        codes="[[[4, 1], [1, 1]], [[2, 0], [0, -1]]]",
        chain=_ROWS_ADD,
        cases=_THIN,
        fold="A 4-D field is read with its leading axes merged, a 2-D one as a plane, a 1-D one as "
        "a cube.",
        mistake=_FIRST_ROW,
    ),
)

_FORWARD_PAGE = """\
# lorenzo-{k}d

Replace every integer by what the {k}-D Lorenzo predictor gets wrong: its value minus what the
neighbours already seen predict.
{t.forward}

| | |
|---|---|
| call | `run(q) -> codes` |
| `q` | int32[{t.dims}], C-contiguous: a field quantised at the bound that was asked |
| `codes` | int32[{t.dims}]: `q` minus what is predicted |
| arithmetic | modulo 2^32: what does not fit wraps around |
| empty in | empty out, same shape |

```
{t.formula}
```

Outside the array every q is 0, so the first element stays as it is. The whole array is one piece:
nothing starts again at tiles, blocks or rows.

## Where it sits

Second step of SZ-family codecs, after quantisation ("dual quantisation" in cuSZ and FZ-GPU; cuSZp
in 1-D). Neighbours of a smooth field are nearly equal, so codes are near 0 and the encoder behind
(Huffman, bit planes) needs few bits. Because q are integers and all known, the codes do not depend
on each other.

## Example

| array | value |
|---|---|
| `q` | `{t.q}` |
| `codes` | `{t.codes}` |

## Score

Rung {k}. Every element must equal the golden answer, on fields and on edge cases: extremes of
int32, differences that wrap, lengths around 32, 128 and 4096,
{t.cases}.
Ranked by speed in bytes of the original field per second.
{t.fold}

Usual mistakes: widening to int64 and returning it; reading what an in-place loop has already
overwritten (go from the last element to the first); `q[-1]`, which in Python is the last element,
not 0; {t.mistake}.
"""

_INVERSE_PAGE = """\
# lorenzo-{k}d-inverse

Undo `lorenzo-{k}d`: an inclusive running sum in {k}-D.
{t.inverse}

| | |
|---|---|
| call | `run(codes) -> q` |
| `codes` | int32[{t.dims}], C-contiguous: what `lorenzo-{k}d` makes of a quantised field |
| `q` | int32[{t.dims}]: the sum of all codes at indices no larger in any dimension |
| arithmetic | modulo 2^32: a sum that does not fit wraps around |
| empty in | empty out, same shape |

The same thing element by element, with q = 0 outside the array:

```
{t.inverse_formula}
```

The whole array is one piece: no sum starts again at tiles, blocks or rows.

## Where it sits

In decompression of SZ-family codecs, between the decoder and the multiplication of q by the step.
It is the part with a serial dependency, so it tends to decide a decoder's speed. Sums within a
group of values, then one addition of all that came before the group, shorten the chain.
{t.chain}

## Example

| array | value |
|---|---|
| `codes` | `{t.codes}` |
| `q` | `{t.q}` |

## Score

Rung {k}. Every element must equal the golden answer, on fields and on edge cases: sums that wrap,
lengths around 32, 128 and 4096,
{t.cases}.
Ranked by speed in bytes of the original field per second.
{t.fold}

Usual mistakes: summing in int64 or float and returning that dtype; an error at one element, which
spoils everything after it, not just its neighbours; losing what one group, thread or tile carries
over to the next; {t.mistake}.
"""


def difference(q: Integers) -> tuple[Array, ...]:
    """Golden answer of `lorenzo-*d`: the product over all axes of (1 − shift)."""
    codes = q
    for axis in range(q.ndim):
        codes = np.diff(codes, axis=axis, prepend=np.int32(0))
    return (codes,)


def running_sum(codes: Integers) -> tuple[Array, ...]:
    """Golden answer of `lorenzo-*d-inverse`: inclusive prefix sum along every axis."""
    q = codes.copy()
    for axis, length in enumerate(q.shape):
        outer, inner = math.prod(q.shape[:axis]), math.prod(q.shape[axis + 1 :])
        _add_up(q.reshape(outer, length, inner))
    return (q,)


@njit(nogil=True, cache=True)
def _add_up(lines: Integers) -> None:
    """Along the middle axis, in place; storing as int32 is the modulo."""
    for outer in range(lines.shape[0]):
        for i in range(1, lines.shape[1]):
            for inner in range(lines.shape[2]):
                lines[outer, i, inner] += lines[outer, i - 1, inner]


def folded(q: Integers, ndim: int) -> Integers:
    """The same integers in C order as an array of `ndim` dimensions.

    Leading axes are merged, or added if there are too few. One line becomes a square or a cube,
    with zeros after its end to fill the last row.
    """
    if ndim == 1:
        return q.reshape(-1)
    if q.ndim > 1:
        shape = (1,) * (ndim - q.ndim) + q.shape
        lead, rest = shape[: 1 - ndim], shape[1 - ndim :]
        return q.reshape(math.prod(lead), *rest)
    if q.size == 0:
        return np.zeros((0,) * ndim, np.int32)
    side = math.ceil(q.size ** (1 / ndim))
    rest = (side,) * (ndim - 1)
    first = -(-q.size // math.prod(rest))
    out = np.zeros((first, *rest), np.int32)
    out.reshape(-1)[: q.size] = q.reshape(-1)
    return out


def _forward(ndim: int) -> StageTask:
    def inputs(data: Array, abs_bound: float) -> tuple[Arg, ...]:
        return (folded(quantise(data, abs_bound), ndim),)

    dims = _TEXTS[ndim - 1].dims
    return StageTask(
        name=f"lorenzo-{ndim}d",
        summary=f"what the {ndim}-D Lorenzo predictor gets wrong, of int32",
        page=_FORWARD_PAGE.format(k=ndim, t=_TEXTS[ndim - 1]),
        rung=ndim,
        arguments=f"(q: int32[{dims}]) -> int32[{dims}]",
        outputs=("codes",),
        inputs=inputs,
        golden=difference,
        edge_cases=lambda: _edge_cases(ndim),
        elementwise=True,
    )


def _inverse(ndim: int) -> StageTask:
    def inputs(data: Array, abs_bound: float) -> tuple[Arg, ...]:
        return difference(folded(quantise(data, abs_bound), ndim))

    dims = _TEXTS[ndim - 1].dims
    return StageTask(
        name=f"lorenzo-{ndim}d-inverse",
        summary=f"the prefix sum of int32 along every axis that undoes lorenzo-{ndim}d",
        page=_INVERSE_PAGE.format(k=ndim, t=_TEXTS[ndim - 1]),
        rung=ndim,
        arguments=f"(codes: int32[{dims}]) -> int32[{dims}]",
        outputs=("q",),
        inputs=inputs,
        golden=running_sum,
        edge_cases=lambda: _edge_cases(ndim),
        elementwise=True,
    )


_LENGTHS = (1, 2, 31, 32, 33, 127, 128, 129, 4095, 4096, 4097)
_GRIDS: tuple[tuple[tuple[int, ...], ...], ...] = (
    (),
    (
        (2, 2), (3, 31), (5, 32), (7, 33), (33, 3), (3, 129), (53, 61), (2, 4097), (16, 16),
        (64, 48),
    ),
    (
        (2, 2, 2), (2, 3, 31), (3, 2, 33), (5, 7, 11), (33, 3, 2), (3, 1, 129), (1, 5, 67),
        (16, 8, 16), (3, 5, 4), (23, 29, 13),
    ),
)  # fmt: skip
_EMPTY: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((0,),),
    ((0, 0), (0, 5), (3, 0)),
    ((0, 4, 5), (3, 0, 5), (3, 4, 0)),
)
_BIG = ((5000,), (50, 100), (10, 20, 25))


def _edge_cases(ndim: int) -> tuple[StageCase, ...]:
    """For either direction: any integers are legal inputs of both."""
    ends = np.iinfo(np.int32)
    random = np.random.default_rng(20261)
    big = _BIG[ndim - 1]
    extremes = np.tile(np.array([ends.min, ends.max, -1, 0], np.int32), 1250)
    arrays: dict[str, Integers] = {}
    for shape in _EMPTY[ndim - 1]:
        arrays[_named("empty", shape)] = np.zeros(shape, np.int32)
    arrays["one"] = np.full((1,) * ndim, -7, np.int32)
    arrays["extremes"] = extremes.reshape(big)
    arrays["constant"] = np.full(big, 123456, np.int32)
    arrays["ramp"] = np.arange(-2500, 2500, dtype=np.int32).reshape(big)
    arrays["whole_range"] = random.integers(ends.min, ends.max, big, np.int32, endpoint=True)
    for length in _LENGTHS:
        for axis in range(ndim):
            shape = tuple(length if i == axis else 1 for i in range(ndim))
            name = _named("length", shape)
            arrays[name] = random.integers(-50, 50, shape, np.int32)
    for shape in _GRIDS[ndim - 1]:
        wide = random.integers(ends.min, ends.max, shape, np.int32, endpoint=True)
        arrays[_named("grid", shape)] = wide
    return tuple(StageCase(name, (array,)) for name, array in arrays.items())


def _named(kind: str, shape: tuple[int, ...]) -> str:
    return f"{kind}_{'x'.join(map(str, shape))}"


TASKS = tuple(make(ndim) for ndim in (1, 2, 3) for make in (_forward, _inverse))
