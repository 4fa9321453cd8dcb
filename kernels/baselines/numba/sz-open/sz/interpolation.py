"""Prediction by interpolation, from coarse grids to fine ones, of values as they will be decoded.

A tile is halved along some axes (every other value) again and again until it is small. The
coarsest grid is differenced. A finer grid is the coarser one plus what lies between: first along x,
then between rows, then between planes; a value between two is predicted as their mean or, where
that is better, from four by a cubic. What is kept is the rounded distance from the prediction in
steps, so that no rounding adds up, and whole rows are independent.

`work` holds the grids one behind the other, the tile first, then the scratch of a row. A hole is
NaN in the tile: its code is 0, and to its neighbours it is what was predicted for it.
"""

import math
from functools import lru_cache

import lanes
import numpy as np
from numba import njit

LANES = lanes.LANES
LEVELS = 8
SMALL = 4
"""Values along an axis that are not halved again."""
X, Y, Z = 1, 2, 4
"""Bits of a set of axes."""
ONE = np.int64(1)
"""A plain one is a type of its own to numba, which then compiles a function for it."""

inner = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@lru_cache(maxsize=64)
def grids(shape, axes):
    """Of every grid, the tile first: where it is in `work`, its planes, rows and columns."""
    used = [bool(axes & bit) for bit in (Z, Y, X)]
    found, at = [], 0
    for _ in range(LEVELS + 1):
        found.append((at, *shape))
        at += math.prod(shape)
        if max([n for n, halved in zip(shape, used, strict=True) if halved], default=0) <= SMALL:
            break
        shape = tuple((n + 1) // 2 if halved else n for n, halved in zip(shape, used, strict=True))
    return np.array(found, np.int64)


def room(plan):
    """Values that `work` needs for all grids and the scratch of a row."""
    at, *shape = plan[-1].tolist()
    return at + math.prod(shape) + (int(plan[0, 3]) + 1) // 2


@inner
def entry(plan, level):
    return plan[level, 0], plan[level, 1], plan[level, 2], plan[level, 3]


@inner
def prediction(j, coarse, cubic, left, distance, like):
    """How the value between coarse neighbours j and j + 1 is predicted: a, b, c, d, near, far.

    As near·(a + b) + far·(c + d), where a, b, c, d are places: as the left neighbour alone if it is
    the only one; straight on from two; the mean of both; or by the cubic through four.
    """
    kind = type(like)
    right = left + distance
    if j + 1 >= coarse:
        if j == 0:
            return left, left, left, left, kind(0.5), kind(0)
        before = left - distance
        return left, left, before, before, kind(0.75), kind(-0.25)
    if cubic and j > 0 and j + 2 < coarse:
        return left, right, left - distance, right + distance, kind(0.5625), kind(-0.0625)
    return left, right, left, right, kind(0.5), kind(0)


@inner
def alike(j, coarse, cubic):
    """How many values of a row, from that between j and j + 1, are predicted in one way."""
    if cubic:
        return coarse - 3 if j == 1 and coarse > 3 else 1
    return coarse - 1 if j == 0 and coarse > 1 else 1


@inner
def gather(work, source, target, n):
    """Take every other value."""
    for i in range(0, n, LANES):
        lanes.gather(work, source + 2 * i, target + i, n - i)


@inner
def spread(work, even, odd, target, n):
    """Put n values together of the even and the odd ones."""
    for i in range(0, n, 2 * LANES):
        lanes.spread(work, even + i // 2, odd + i // 2, target + i, n - i)


@inner
def copy(work, source, target, n):
    for i in range(n):
        work[target + i] = work[source + i]


def refinement(line):
    """What makes finer grids of coarser ones, by a function that codes a line or decodes it."""

    @inner
    def row(work, fine, columns, coarse, cubic, codes, k, scale):
        """Every other value of a row, from its coarser row."""
        odds, evens, scratch = columns // 2, (columns + 1) // 2, work.size - (columns + 1) // 2
        gather(work, fine + 1, scratch, odds)
        bad, j = 0 * ONE, 0 * ONE
        while j < odds:
            guide = prediction(j, evens, cubic, coarse + j, ONE, scale[0])
            m = alike(j, evens, cubic)
            bad |= line(work, scratch + j, guide, m, codes, k + j, scale)
            j += m
        spread(work, coarse, scratch, fine, columns)
        return bad

    @inner
    def refine(work, plan, axes, cubic, codes, k, scale):
        """From the second coarsest grid to the tile; the or of what the lines gave."""
        bad = 0 * ONE
        sz, sy = 1 + (axes >> 2 & 1), 1 + (axes >> 1 & 1)
        for level in range(plan.shape[0] - 2, -1, -1):
            at, planes, rows, columns = entry(plan, level)
            coarse, half, fewer, width = entry(plan, level + 1)
            plane = rows * columns
            for number in range(half * fewer):
                z, y = divmod(number, fewer)
                fine = at + z * sz * plane + y * sy * columns
                if axes & X:
                    bad |= row(work, fine, columns, coarse, cubic, codes, k, scale)
                    k += columns // 2
                else:
                    copy(work, coarse, fine, columns)
                coarse += width
            lines = half * (rows // 2) if axes & Y else 0
            for number in range(lines + (planes // 2 if axes & Z else 0)):
                if number < lines:
                    z, j = divmod(number, rows // 2)
                    left, n, evens = at + z * sz * plane + 2 * j * columns, columns, fewer
                else:
                    j = number - lines
                    left, n, evens = at + 2 * j * plane, plane, half
                guide = prediction(j, evens, cubic, left, 2 * n, scale[0])
                bad |= line(work, left + n, guide, n, codes, k, scale)
                k += n
        return bad

    return refine


@inner
def encode_line(work, at, guide, n, codes, k, scale):
    """Code n values that follow one another; not 0 if some can't be."""
    bad = np.int64(0)
    for i in range(0, n, LANES):
        bad |= np.int64(lanes.code(work, at + i, guide, i, n - i, codes, k + i, scale))
    return bad


@inner
def decode_line(work, at, guide, n, codes, k, scale):
    for i in range(0, n, LANES):
        lanes.restore(work, at + i, guide, i, n - i, codes, k + i, scale[0])
    return np.int64(0)


encode_finer, decode_finer = refinement(encode_line), refinement(decode_line)


@inner
def halve(work, plan, axes):
    """Copy every other value of each grid to the next."""
    dz, dy = 1 + (axes >> 2 & 1), 1 + (axes >> 1 & 1)
    for level in range(plan.shape[0] - 1):
        at, _, rows, columns = entry(plan, level)
        below, planes, fewer, half = entry(plan, level + 1)
        for line in range(planes * fewer):
            z, y = divmod(line, fewer)
            fine = at + (z * dz * rows + y * dy) * columns
            if axes & X:
                gather(work, fine, below, half)
            else:
                copy(work, fine, below, half)
            below += half


@njit(nogil=True)
def encode(work, plan, axes, cubic, codes, scale):
    """Codes of a tile, coarsest grid first, and the tile as decoded; not 0 if some can't be coded.

    scale: step, its inverse, allowed error, limit of a code, and the number whose addition rounds.
    """
    step, inverse, allowed, limit, magic = scale
    halve(work, plan, axes)
    previous, bad = np.int32(0), 0
    at, planes, rows, columns = entry(plan, plan.shape[0] - 1)
    count = planes * rows * columns
    for i in range(count):
        x = work[at + i]
        whole = x * inverse + magic - magic
        q = previous
        if (abs(whole) < limit) & (abs(x - whole * step) <= allowed):
            q = np.int32(whole)
        else:
            bad = 1
        codes[i] = np.int32(q - previous)
        work[at + i] = work.dtype.type(q) * step
        previous = q
    return bad | encode_finer(work, plan, axes, cubic, codes, count, scale)


@njit(nogil=True)
def decode(work, plan, axes, cubic, codes, scale):
    """The tile, at the start of `work`, from its codes; of the scale, only the step matters."""
    q = np.int32(0)
    at, planes, rows, columns = entry(plan, plan.shape[0] - 1)
    count = planes * rows * columns
    for i in range(count):
        q = np.int32(q + codes[i])
        work[at + i] = work.dtype.type(q) * scale[0]
    decode_finer(work, plan, axes, cubic, codes, count, scale)
