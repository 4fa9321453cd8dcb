"""Which prediction a tile gets: the cheapest on a sample, as its codes' entropy estimates it.

Lorenzo over every set of axes, and interpolation along every axis, linear and cubic, are tried on
a few short runs of values. Interpolation is tried on the two finest grids, from neighbours rounded
to whole steps; what its codes cost there is extrapolated to the coarser grids. Planes are fitted to
a few blocks.
"""

import numpy as np
import regression
from numba import njit

RUNS, RUN = 64, 16
BINS = 512
LORENZO, LINEAR, CUBIC, REGRESSION = 1, 2, 3, 5
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
BLOCKS, WORTHWHILE = 12, 1.0
"""Blocks that planes are tried on, and the bits of a code from which on they are: what is
predicted better than that has no noise for them to average out."""
NOISE_GROWTH = 0.05
"""GROWTH for the comparison with planes: noise is almost the same on every grid."""
AMPLIFIED, UNSURE = 0.5, 0.1
"""Bits that noise costs more for each axis of Lorenzo: it is √2 times as large. And less."""
PRIMES = 2654435761, 2246822519, 3266489917
"""Their multiples spread the blocks."""
COEFFICIENT, SLAB = 3.0, 400.0
"""Bits that a coefficient takes more than a code, and that a slab of its own takes."""

inner = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


class Sample:
    """Memory for the counts."""

    def __init__(self):
        self.counts = np.zeros((KINDS, BINS), np.int32)
        self.sizes, self.codes, self.bits = np.zeros(KINDS), np.zeros(KINDS), np.zeros(KINDS)
        self.q, self.left = np.empty((2, BLOCKS * regression.LARGEST), np.int32)
        self.coefficients = np.empty((4, BLOCKS), np.int32)
        self.blocks = np.outer(1 + np.arange(BLOCKS), PRIMES) >> 8


def choose(work, shape, scale, sample):
    """The prediction (LORENZO, LINEAR, CUBIC, REGRESSION) and the set of axes that it uses."""
    inverse = scale[1]
    if not measure(work, shape, inverse, sample.counts, sample.sizes, sample.codes, sample.bits):
        return LORENZO, X
    bits = sample.bits.tolist()
    costs = priced(bits, shape, GROWTH) | {(LORENZO, 0): bits[0] + BARE}
    best = min(costs, key=costs.__getitem__)
    least = min(priced(bits, shape, NOISE_GROWTH).values(), default=0.0)
    if noisy(bits, shape, least):
        left = fitted(work, shape, scale, sample) if least > WORTHWHILE else np.inf
        if left < min(least, bits[0]):
            return REGRESSION, 0
        if bits[0] < min(least - RARE, left):
            return LORENZO, 0
    return best


def noisy(bits, shape, least):
    """Whether Lorenzo along all axes is as bad as where neighbours have nothing but their noise."""
    axes = [axis for axis in range(3) if shape[2 - axis] > 1]
    if least > SURE:
        return True
    return bits[sum(1 << axis for axis in axes)] > least + AMPLIFIED * (len(axes) - 1) - UNSURE


def priced(bits, shape, growth):
    """Bits a code by Lorenzo and interpolation, for every set of axes that a tile has."""
    costs = {}
    z, y, x = shape
    for axes in range(1, 8):
        shortest = min(x if axes & X else SHORT, y if axes & Y else SHORT, z if axes & Z else SHORT)
        if shortest > 1:
            costs[LORENZO, axes] = bits[axes] + RARE
        if shortest >= SHORT:
            costs[LINEAR, axes] = interpolated(bits, FIRST_LINEAR, axes, growth)
            costs[CUBIC, axes] = interpolated(bits, FIRST_CUBIC, axes, growth)
    return costs


def fitted(work, shape, scale, sample):
    """Bits a code by regression on a few blocks, the coefficients included."""
    *sizes, fraction = regression.blocks(shape)
    d, h, w = (min(pair) for pair in zip(sizes, shape, strict=True))
    z, y, x = shape[0] // d, shape[1] // h, shape[2] // w
    whole = work.reshape(shape)[: z * d, : y * h, : x * w].reshape(z, d, y, h, x, w)
    k = sample.blocks[:, 0] % z, sample.blocks[:, 1] % y, sample.blocks[:, 2] % x
    picked = whole[k[0], :, k[1], :, k[2]].reshape(-1)
    n = picked.size
    q, codes = sample.q[:n], sample.left[:n]
    at, coefficients = (BLOCKS * d, h, w), sample.coefficients
    regression.encode(picked, at, (d, h, w, fraction), q, codes, coefficients, scale)
    bits = measure_codes(picked, codes, sample.counts[0])
    used = 1 + (d > 1) + (h > 1) + (w > 1)
    return bits + (bits + COEFFICIENT) * used * BLOCKS / n + SLAB / work.size


def interpolated(bits, first, axes, growth):
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
    return fine + max(coarse - fine, growth) * left / (1 - left) ** 2


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


@inner
def entropy(counts, size, samples):
    """Bits a code, of so many that have these low bits; size: the sum of their magnitudes."""
    total, bins = 0.0, -1
    for i in range(BINS):
        if counts[i] > 0:
            total -= counts[i] * np.log2(counts[i] / samples)
            bins += 1
    # Miller's correction: a sample shows fewer values than there are.
    total = (total + bins * 0.72) / max(samples, 1)
    if total >= SURE:
        total = max(total, np.log2(size / samples + 1) + 1.4)
    return total


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
        bits[kind] = entropy(counts[kind], sizes[kind], samples)
    return samples


@njit(nogil=True)
def measure_codes(work, codes, counts):
    """Bits a code, where there is a value; of about as many codes as `measure` has."""
    samples, size = 0, 0.0
    for i in range(BINS):
        counts[i] = 0
    for i in range(0, codes.size, max(1, codes.size // (RUNS * RUN))):
        if not np.isnan(work[i]):
            samples += 1
            size += abs(np.float64(codes[i]))
            counts[codes[i] & (BINS - 1)] += 1
    return entropy(counts, size, samples) if samples >= RUNS else np.inf
