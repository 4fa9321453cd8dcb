"""Prediction by planes: of each block of a tile, what a plane fitted to it leaves.

As for Lorenzo, values are rounded to whole steps first (dual quantisation). To the numbers of each
block a plane b₀ + b₁·X + b₂·Y + b₃·Z is fitted by least squares; X, Y and Z are twice the distance
from the block's centre, hence whole numbers, and orthogonal to each other. The coefficients are
rounded to fractions of a step, and all that follows is integer arithmetic modulo 2³²: encoder and
decoder have the same plane, whatever the coefficients are, and the codes are exact differences.
Noise, which neighbours would add to a prediction, is averaged out: planes are for values that
follow a trend and have noise of half a step or more, and take up to 13% fewer bits there. Where
values are smooth they take far more than the better of interpolation and Lorenzo: a sixth at least,
and often twice as many, on seven real fields at REL 1e-2, 1e-3 and 1e-4. So that they are a choice
for a whole tile: SZ2's choice block by block between planes and Lorenzo saved nothing on these.

A value that can't be coded is given its place in the plane, code 0, and is NaN in the tile. For the
first fit it is as the value before it.
"""

import lanes
import numpy as np
from numba import njit

LANES = lanes.LANES
EIGHTH = 3
"""Bits of b₀'s fraction: it counts eighths of a step."""
HIGHEST = (1 << 31) - 1
STEEPEST = 1 << 26
"""Slopes beyond it would wrap around within 16 values."""
LARGEST = 512
"""Values of a block at most."""
ROUNDS = 3
"""Fits of a block with holes; what they are given gets nearer to a plane each time."""

inner = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def blocks(shape):
    """Planes, rows and columns of a block; bits of the slopes' fraction.

    At a block's border a rounded slope is then off by a sixth of a step at most.
    """
    if shape[0] > 1:
        return 8, 8, 8, 5
    return (1, 12, 12, 5) if shape[1] > 1 else (1, 1, 128, 9)


def grid(shape):
    """Blocks of a tile along its axes."""
    return tuple(-(-n // size) for n, size in zip(shape, blocks(shape)[:3], strict=True))


def differenced(coefficients, shape):
    """Coefficients as they are coded: what a block has more than those before it."""
    every = coefficients.reshape(4, *grid(shape)).copy()
    every[1:] = np.diff(every[1:], axis=3, prepend=np.int32(0))
    for axis in range(3):
        every[0] = np.diff(every[0], axis=axis, prepend=np.int32(0))
    return every.reshape(-1)


def summed(codes, shape):
    """The reverse of `differenced`."""
    every = codes.reshape(4, *grid(shape)).copy()
    every[1:] = np.cumsum(every[1:], axis=3, dtype=np.int32)
    for axis in range(3):
        every[0] = np.cumsum(every[0], axis=axis, dtype=np.int32)
    return every.reshape(4, -1)


@inner
def squares(n):
    """Σ X² over n values, X being twice the distance from their centre."""
    return n * (n * n - 1) // 3


@inner
def block(shape, sizes, number):
    """Where a block begins, and how many planes, rows and columns it has."""
    columns, rows = -(-shape[2] // sizes[2]), -(-shape[1] // sizes[1])
    z, rest = divmod(number, rows * columns)
    y, x = divmod(rest, columns)
    z, y, x = z * sizes[0], y * sizes[1], x * sizes[2]
    at = (z * shape[1] + y) * shape[2] + x
    return at, min(sizes[0], shape[0] - z), min(sizes[1], shape[1] - y), min(sizes[2], shape[2] - x)


@inner
def level(coefficients, number, spot, place, bits):
    """The plane at the start of a row of 16 in a block, in 2⁻ᵇⁱᵗˢ steps, so that >> rounds."""
    _, planes, rows, columns = spot
    z, y, x = place
    base = np.int64(coefficients[0, number]) << (bits - EIGHTH)
    base += np.int64(coefficients[1, number]) * (2 * x - columns + 1)
    base += np.int64(coefficients[2, number]) * (2 * y - rows + 1)
    base += np.int64(coefficients[3, number]) * (2 * z - planes + 1)
    return base + (np.int64(1) << (bits - 1))


@inner
def rounded(value, limit):
    return np.int32(min(max(np.rint(value), -limit), limit))


@inner
def fit(q, shape, spot, bits, coefficients, number):
    """Least squares; sums are exact."""
    at, planes, rows, columns = spot
    total = along_x = along_y = along_z = np.int64(0)
    for z in range(planes):
        for y in range(rows):
            start = at + (z * shape[1] + y) * shape[2]
            row = np.int64(0)
            for x in range(0, columns, LANES):
                more, moment = lanes.moments(q, start + x, columns - x)
                row += more
                along_x += (2 * x - columns + 1) * more + 2 * moment
            total += row
            along_y += (2 * y - rows + 1) * row
            along_z += (2 * z - planes + 1) * row
    unit = np.float64(np.int64(1) << bits)
    count = planes * rows * columns
    coefficients[0, number] = rounded(total * 8.0 / count, HIGHEST)
    # Along an axis of one value a sum is 0.
    wide, high = max(squares(columns), 1) * planes * rows, max(squares(rows), 1) * planes * columns
    deep = max(squares(planes), 1) * rows * columns
    coefficients[1, number] = rounded(along_x * unit / wide, STEEPEST)
    coefficients[2, number] = rounded(along_y * unit / high, STEEPEST)
    coefficients[3, number] = rounded(along_z * unit / deep, STEEPEST)


@inner
def bridge(work, shape, spot, q, coefficients, number, bits):
    """Give holes of a block their places in its plane; how many there are."""
    at, planes, rows, columns = spot
    found = 0
    for z in range(planes):
        for y in range(rows):
            start = at + (z * shape[1] + y) * shape[2]
            base = level(coefficients, number, spot, (z, y, 0), bits)
            for x in range(columns):
                if np.isnan(work[start + x]):
                    along = base + 2 * x * np.int64(coefficients[1, number])
                    q[start + x] = np.int32(along >> bits)
                    found += 1
    return found


@inner
def quantise(work, q, scale):
    """Round all values to whole steps; those that can't be become NaN, and as the one before."""
    previous, missed = np.int32(0), 0
    for i in range(0, work.size, LANES):
        bad = np.int64(lanes.quantise(work, i, work.size - i, q, i, scale))
        if bad:
            missed = 1
            for k in range(i, min(i + LANES, work.size)):
                if (bad >> (k - i)) & 1:
                    work[k], q[k] = np.nan, previous
                previous = q[k]
        else:
            previous = q[min(i + LANES, work.size) - 1]
    return missed


@njit(nogil=True)
def encode(work, shape, sizes, q, codes, coefficients, scale):
    """Codes of a tile and its planes; not 0 if some can't be coded. scale: as for interpolation."""
    missed = quantise(work, q, scale)
    bits = sizes[3]
    for number in range(coefficients.shape[1]):
        spot = block(shape, sizes, number)
        at, planes, rows, columns = spot
        fit(q, shape, spot, bits, coefficients, number)
        for _ in range(ROUNDS * missed):
            if not bridge(work, shape, spot, q, coefficients, number, bits):
                break
            fit(q, shape, spot, bits, coefficients, number)
        if missed:
            bridge(work, shape, spot, q, coefficients, number, bits)
        for z in range(planes):
            for y in range(rows):
                start = at + (z * shape[1] + y) * shape[2]
                for x in range(0, columns, LANES):
                    base = level(coefficients, number, spot, (z, y, x), bits)
                    plane = base, np.int64(coefficients[1, number]), bits
                    lanes.flatten(q, start + x, columns - x, plane, codes)
    return missed


@njit(nogil=True)
def decode(work, shape, sizes, codes, coefficients, step):
    """The tile, at the start of `work`, from its codes and planes."""
    bits = sizes[3]
    for number in range(coefficients.shape[1]):
        spot = block(shape, sizes, number)
        at, planes, rows, columns = spot
        for z in range(planes):
            for y in range(rows):
                start = at + (z * shape[1] + y) * shape[2]
                for x in range(0, columns, LANES):
                    base = level(coefficients, number, spot, (z, y, x), bits)
                    plane = base, np.int64(coefficients[1, number]), bits
                    lanes.raise_plane(codes, start + x, columns - x, plane, work, step)
