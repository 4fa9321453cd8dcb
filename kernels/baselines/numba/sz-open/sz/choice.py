"""Which prediction a tile gets: the cheapest on a sample, as its codes' entropy estimates it.

Lorenzo over every set of axes, and interpolation along every axis, linear and cubic, are tried on
a few short runs of values. Interpolation is tried on the two finest grids, from neighbours rounded
to whole steps; what its codes cost there is extrapolated to the coarser grids.
"""

import numpy as np
from numba import njit

RUNS, RUN = 64, 16
BINS = 512
LORENZO, LINEAR, CUBIC = 1, 2, 3
X, Y, Z = 1, 2, 4
FIRST_LINEAR, FIRST_CUBIC, COARSER, KINDS = 8, 11, 6, 20
"""Of the tried predictions: eight sets of axes, then linear along x, y, z and cubic, then the same
six on the next coarser grid."""
SHORT = 5
"""Axes with fewer values are not interpolated."""
SURE = 7.0
"""Bits: a sample of this size can't tell more, so that the mean size of a code has to."""
RARE = 0.2
"""Bits that a sample this small can't tell from none. Where all is predicted well, interpolation
is the better guess: it has no corners at which whole steps change."""
BARE = 0.5
"""The same if nothing is predicted: the entropy stage favours codes near 0, which differences of
almost constant values are."""
GROWTH = 0.4
"""Bits that a code costs more on the next coarser grid, at least."""

inner = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


class Sample:
    """Memory for the counts."""

    def __init__(self):
        self.counts = np.zeros((KINDS, BINS), np.int32)
        self.sizes, self.codes, self.bits = np.zeros(KINDS), np.zeros(KINDS), np.zeros(KINDS)


def choose(work, shape, inverse, sample):
    """The prediction (LORENZO, LINEAR, CUBIC) and the set of axes that it uses."""
    if not measure(work, shape, inverse, sample.counts, sample.sizes, sample.codes, sample.bits):
        return LORENZO, X
    bits = sample.bits.tolist()
    costs = {(LORENZO, 0): bits[0] + BARE}
    z, y, x = shape
    for axes in range(1, 8):
        shortest = min(x if axes & X else SHORT, y if axes & Y else SHORT, z if axes & Z else SHORT)
        if shortest > 1:
            costs[LORENZO, axes] = bits[axes] + RARE
        if shortest >= SHORT:
            costs[LINEAR, axes] = interpolated(bits, FIRST_LINEAR, axes)
            costs[CUBIC, axes] = interpolated(bits, FIRST_CUBIC, axes)
    return min(costs, key=costs.__getitem__)


def interpolated(bits, first, axes):
    """Bits a code: half of a grid's are along its last axis, a quarter along the next."""
    fine = coarse = 0.0
    left = 1.0
    for axis in (2, 1, 0):
        if (axes >> axis) & 1:
            left /= 2
            fine += left * bits[first + axis]
            coarse += left * bits[first + axis + COARSER]
    fine, coarse = fine / (1 - left), coarse / (1 - left)
    # Of all codes, (1 − left)·leftˡ are of level l. Growth itself grows: it begins in the noise.
    return fine + max(coarse - fine, GROWTH) * left / (1 - left) ** 2


@inner
def rounded(work, at, steps, i, n, distance, inverse):
    """The value so many places on along an axis, or the last one there is, in whole steps."""
    other = min(max(i + steps, 0), n - 1)
    return np.rint(work[at + (other - i) * distance] * inverse)


@inner
def residuals(work, shape, place, inverse, codes):
    """Codes of one value by every prediction; False if one of them is not a number."""
    dy, dz = shape[2], shape[1] * shape[2]
    at = place[0] * dz + place[1] * dy + place[2]
    here = work[at] * inverse
    for axes in range(8):
        back = (dz if axes & Z else 0) + (dy if axes & Y else 0) + (axes & X)
        codes[axes] = np.rint(work[max(at - back, 0)] * inverse)
    for bit in range(3):
        for axes in range(7, -1, -1):
            if (axes >> bit) & 1:
                codes[axes] = codes[axes ^ (1 << bit)] - codes[axes]
    distance = np.int64(1)
    for axis in range(3):
        i, n = place[2 - axis], shape[2 - axis]
        for level in range(2):
            near = far = 0.0
            for side in (-1 - level, 1 + level):
                near += rounded(work, at, side, i, n, distance, inverse)
                far += rounded(work, at, 3 * side, i, n, distance, inverse)
            kind = axis + COARSER * level
            codes[FIRST_LINEAR + kind] = np.rint(here - near * 0.5)
            codes[FIRST_CUBIC + kind] = np.rint(here - near * 0.5625 + far * 0.0625)
        distance *= n
    total = 0.0
    for kind in range(KINDS):
        total += abs(codes[kind])
    return total < 1e15


@njit(nogil=True)
def measure(work, shape, inverse, counts, sizes, codes, bits):
    """Bits a code by every prediction, as a sample has it; how many values that has."""
    samples, seed = 0, np.uint32(1)
    corner = np.empty(3, np.int64)
    for kind in range(KINDS):
        sizes[kind] = 0.0
        for i in range(BINS):
            counts[kind, i] = 0
    for _ in range(RUNS):
        for axis in range(3):
            seed = np.uint32(seed * np.uint32(1664525) + np.uint32(1013904223))
            corner[axis] = min(1 + np.int64(seed >> 8) % shape[axis], shape[axis] - 1)
        for x in range(corner[2], min(corner[2] + RUN, shape[2])):
            place = corner[0], corner[1], x
            if residuals(work, shape, place, inverse, codes):
                samples += 1
                for kind in range(KINDS):
                    sizes[kind] += abs(codes[kind])
                    counts[kind, np.int64(codes[kind]) & (BINS - 1)] += 1
    for kind in range(KINDS):
        total, bins = 0.0, -1
        for i in range(BINS):
            if counts[kind, i] > 0:
                total -= counts[kind, i] * np.log2(counts[kind, i] / samples)
                bins += 1
        # Miller's correction: a sample shows fewer values than there are.
        total = (total + bins * 0.72) / max(samples, 1)
        if total >= SURE:
            total = max(total, np.log2(sizes[kind] / samples + 1) + 1.4)
        bits[kind] = total
    return samples
