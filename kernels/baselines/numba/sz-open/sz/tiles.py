"""How an array is cut into tiles, each of which is coded by itself, and one tile both ways.

| byte of a tile | |
|---|---|
| 0 | 0 stored, 1 Lorenzo, 2 linear and 3 cubic interpolation, 4 byte planes, 5 regression; bit 7: \
has holes |
| 1 | 1, 2, 3: bits 0…2 the set of axes (x, y, z); 1, 2, 3, 5: bits 3…4 the scheme of the holes |

Stored: the values. Byte planes: u32 distance of the neighbour, then a slab of codes for each byte,
lowest first. Else the step in the data's type ‖ if there are holes, their fill pattern ‖ for
regression, a slab of coefficients ‖ a slab of codes ‖ if there are holes, a slab of their kinds and
the values that are stored.
"""

import math

import entropy
import holes
import interpolation
import lorenzo
import numpy as np
import planes
import regression
from bounds import step_within
from choice import CUBIC, LINEAR, LORENZO, REGRESSION, Sample, choose

TILE, SMALL_TILE = 1 << 20, 1 << 17
"""Values of a tile at most: more cost memory and gain little. And of one that is small enough, so
that there are a few for threads to share."""
LONG = 8
"""Rows are cut as if they were so much shorter: long ones are coded faster."""
STORED, PLANES = 0, 4
HOLES = 128


def flattened(shape):
    """Planes, rows, columns: without axes of length 1; the first of four is part of the second."""
    long = [n for n in shape if n != 1]
    if len(long) == 4:
        long = [long[0] * long[1], *long[2:]]
    return (*[1] * (3 - len(long)), *long)


def cuts(shape):
    """Slices of a 3-D array, tile by tile."""
    sizes = list(shape)
    most = min(TILE, max(SMALL_TILE, math.prod(shape) // 4))
    while math.prod(sizes) > most:
        weights = sizes[0], sizes[1], sizes[2] / LONG
        axis = max(range(3), key=lambda k: weights[k])
        sizes[axis] = -(-sizes[axis] // 2)
    if 0 in shape:
        return []
    return [
        tuple(slice(at, at + size) for at, size in zip(corner, sizes, strict=True))
        for corner in np.ndindex(*[-(-n // size) for n, size in zip(shape, sizes, strict=True)])
        for corner in [tuple(c * size for c, size in zip(corner, sizes, strict=True))]
    ]


class Space:
    """The memory that coding one tile needs."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.integer = np.dtype(f"u{dtype.itemsize}")
        # The grids of a tile are at most 2.04 times as large as it, when only rows are halved.
        self.work = np.empty(3 * TILE + 64, dtype)
        self.codes = np.empty(TILE, np.int32)
        self.q = np.empty(2 * TILE + 4, np.int32)
        self.kinds = np.empty(TILE, np.uint8)
        self.sample = Sample()
        most = 2 * entropy.bound.py_func(TILE) + entropy.bound.py_func(TILE // 4)
        self.out = np.empty(most + (TILE + 8) * dtype.itemsize, np.uint8)


def constants(dtype):
    """Limit of whole numbers of steps, the number whose addition rounds, largest hole-free size."""
    if dtype == np.float32:
        return 2.0**22, 1.5 * 2.0**23, 2.0**21
    return 2.0**30, 1.5 * 2.0**52, 2.0**29


def put(out, at, values):
    """Bytes of values of one type; the new place."""
    data = np.atleast_1d(values).view(np.uint8)
    out[at : at + data.size] = data
    return at + data.size


def encode(tile, tolerance, space):
    """The bytes of a tile: a copy."""
    end = encode_planes(tile, space) if tolerance == 0.0 else encode_lossy(tile, tolerance, space)
    if end > tile.nbytes:
        space.out[0] = STORED
        end = put(space.out, 1, tile.flatten())
    return space.out[:end].copy()


def encode_lossy(tile, tolerance, space):
    dtype, integer, shape, n = space.dtype, space.integer.type, tile.shape, tile.size
    limit, magic, largest = constants(dtype)
    no_sign = integer(np.iinfo(integer).max >> 1)
    huge = dtype.type(tolerance * largest).view(integer)
    hole = dtype.type(np.nan).view(integer)
    work, codes = space.work[:n], space.codes[:n]
    work.reshape(shape)[...] = tile
    peak = holes.scan(work.view(integer), no_sign, huge, hole)
    step = step_within(tolerance, float(integer(peak).view(dtype)), dtype)
    scale = tuple(
        dtype.type(v) for v in (step, dtype.type(1) / dtype.type(step), tolerance, limit, magic)
    )
    mode, axes = choose(work, shape, scale, space.sample)
    missed, numbers = predict(mode, axes, shape, space, scale)
    space.out[:2] = mode, axes
    at = put(space.out, 2, scale[0])
    if not missed:
        return entropy.encode(codes, space.out, entropy.encode(numbers, space.out, at))
    source, kinds = tile.flatten(), space.kinds[:n]
    bits = source.view(integer)
    fill = holes.classify(source, work, scale[2], bits, no_sign, huge, kinds)
    at = entropy.encode(numbers, space.out, put(space.out, at, integer(fill)))
    at = entropy.encode(codes, space.out, at)
    scheme, stored = holes.combine(kinds, shape[2], codes)
    space.out[:2] = mode | HOLES, axes | scheme << 3
    at = entropy.encode(codes, space.out, at)
    return put(space.out, at, source[kinds == holes.STORED]) if stored else at


def predict(mode, axes, shape, space, scale):
    """Codes of the values in the space's memory: not 0 if some can't be coded; coefficients."""
    n = math.prod(shape)
    codes, none = space.codes[:n], np.empty(0, np.int32)
    if mode == REGRESSION:
        coefficients = np.empty((4, math.prod(regression.grid(shape))), np.int32)
        given = space.work[:n], shape, regression.blocks(shape), space.q[:n], codes
        missed = regression.encode(*given, coefficients, scale)
        return missed, regression.differenced(coefficients, shape)
    if mode == LORENZO:
        q = space.q[: lorenzo.room(shape)]
        return lorenzo.encode(space.work[:n], shape, axes, q, codes, scale), none
    plan = interpolation.grids(shape, axes)
    room = space.work[: interpolation.room(plan)]
    return interpolation.encode(room, plan, axes, int(mode == CUBIC), codes, scale), none


def encode_planes(tile, space):
    integer, n = space.integer.type, tile.size
    top = integer(1) << integer(8 * space.dtype.itemsize - 1)
    source = tile.flatten().view(integer)
    bits = space.work[:n].view(integer)
    back = planes.best_distance(source, distances(tile.shape), top)
    planes.difference(source, back, top, bits)
    space.out[:2] = PLANES, 0
    at = put(space.out, 2, np.uint32(back))
    every = bits.view(np.uint8).reshape(n, -1)
    for k in range(space.dtype.itemsize):
        codes = space.codes[:n]
        codes[:] = every[:, k]
        at = entropy.encode(codes, space.out, at)
        if at > tile.nbytes:
            break
    return at


def distances(shape):
    """Of a value's neighbours, and 0 for none."""
    return 0, 1, shape[2], shape[1] * shape[2]


class Damage(ValueError):
    """A stream that no encoder wrote."""


def take(data, at, dtype, count):
    """So many values at a place of a stream, and the next place."""
    end = at + count * dtype.itemsize
    if end > data.size:
        raise Damage(f"a tile of {data.size} bytes ends too early")
    return np.frombuffer(data[at:end].tobytes(), dtype), end


def slab(data, at, codes):
    """Codes from a place of a stream; the next place."""
    end = entropy.decode(data, at, codes.size, codes)
    if not at < end <= data.size:
        raise Damage("a slab of codes is damaged")
    return end


def decode(data, out, space):
    """A tile from its bytes, to its place in the array."""
    mode = int(data[0]) & ~HOLES if data.size else -1
    n = out.size
    if mode == STORED and data[0] == STORED:
        values, end = take(data, 1, space.dtype, n)
    elif mode == PLANES and data[0] == PLANES:
        values, end = decode_planes(data, out.shape, space)
    elif mode in (LORENZO, LINEAR, CUBIC, REGRESSION):
        values, end = decode_lossy(data, out.shape, space)
    else:
        raise Damage(f"a tile begins with {data[:1]}: no mode has this number")
    if end != data.size:
        raise Damage(f"a tile of {data.size} bytes should end after {end}")
    out[...] = values.reshape(out.shape)


def decode_lossy(data, shape, space):
    dtype, integer, n = space.dtype, space.integer, shape[0] * shape[1] * shape[2]
    work, codes = space.work[:n], space.codes[:n]
    steps, at = take(data, 2, dtype, 1)
    mode, missing = int(data[0]) & ~HOLES, int(data[0]) & HOLES
    axes, scheme = int(data[1]) & 7, int(data[1]) >> 3
    if scheme > 3 or (scheme and not missing):
        raise Damage(f"scheme {scheme} of holes is none")
    if mode == REGRESSION and axes:
        raise Damage(f"a tile of planes has no set of axes: {axes}")
    fills = np.zeros(1, integer)
    if missing:
        fills, at = take(data, at, integer, 1)
    numbers = np.empty(0, np.int32)
    if mode == REGRESSION:
        numbers = np.empty(4 * math.prod(regression.grid(shape)), np.int32)
        at = slab(data, at, numbers)
    at = slab(data, at, codes)
    restore(mode, axes, shape, space, steps[0], numbers)
    if missing:
        at = slab(data, at, codes)
        kinds = space.kinds[:n]
        stored = holes.separate(codes, shape[2], scheme, kinds)
        if stored < 0:
            raise Damage("a kind of hole is none")
        values, at = take(data, at, integer, stored)
        holes.patch(work.view(integer), kinds, fills[0], values)
    return work, at


def restore(mode, axes, shape, space, step, numbers):
    """The values, in the space's memory, from its codes and the coefficients."""
    n = math.prod(shape)
    codes = space.codes[:n]
    if mode == REGRESSION:
        coefficients, sizes = regression.summed(numbers, shape), regression.blocks(shape)
        regression.decode(space.work[:n], shape, sizes, codes, coefficients, step)
    elif mode == LORENZO:
        q = space.q[: lorenzo.room(shape)]
        lorenzo.decode(space.work[:n], shape, axes, q, codes, step)
    else:
        plan, scale = interpolation.grids(shape, axes), (step,) * 5
        room = space.work[: interpolation.room(plan)]
        interpolation.decode(room, plan, axes, int(mode == CUBIC), codes, scale)


def decode_planes(data, shape, space):
    integer, n = space.integer, shape[0] * shape[1] * shape[2]
    top = integer.type(1) << integer.type(8 * integer.itemsize - 1)
    backs, at = take(data, 2, np.dtype(np.uint32), 1)
    if int(backs[0]) not in distances(shape):
        raise Damage(f"no neighbour is {backs[0]} values away")
    bits = space.work[:n].view(integer)
    every = bits.view(np.uint8).reshape(n, -1)
    codes = space.codes[:n]
    for k in range(integer.itemsize):
        at = slab(data, at, codes)
        every[:, k] = codes
    planes.integrate(bits, int(backs[0]), top)
    return space.work[:n], at
