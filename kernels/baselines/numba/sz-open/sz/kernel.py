"""sz: prediction by Lorenzo, interpolation or planes, and entropy-coded residuals.

The array is cut into tiles of at most 2²⁰ values, which are coded by themselves: this bounds the
memory, lets threads share the work, and lets each tile have the prediction that a sample of it asks
for. Lorenzo works on values rounded to whole steps (dual quantisation), along any set of axes, and
so do planes fitted to blocks; interpolation, linear or cubic, rounds the distance from a prediction
by decoded values. Whichever it is, every value is decoded and compared while it is encoded; one
that misses its bound is stored.

Stream: header ‖ for each tile u32 bytes, u32 CRC-32 of them ‖ tiles.

| offset | field |
|---|---|
| 0 | `SZO1` |
| 4 | u32 CRC-32 of all that follows, but for the tiles |
| 8 | u8 dtype (1 f32, 2 f64), u8 ndim, 6 zero bytes |
| 16 | u64 dims[4], unused = 1 |

A tile is described in `tiles`, its slabs of codes in `entropy`. The number of threads changes
nothing in the stream.
"""

import struct
import zlib
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import tiles
from bounds import tolerance_within

MAGIC = b"SZO1"
HEADER = struct.Struct("<4sIBB6s4Q")
ENTRY = np.dtype([("size", "<u4"), ("check", "<u4")])
DTYPES = {np.dtype(np.float32): 1, np.dtype(np.float64): 2}
CHECKED_FROM = 8

_pools = {}
"""Threads that wait for work, by their number."""
_spaces = []
"""Memory for tiles that no call is using."""


def _each(work, items, dtype):
    """Yield work(item, space) of every item, in order; on numba's threads if there are several."""

    def one(item):
        space = _borrow(dtype)
        try:
            return work(item, space)
        finally:
            _spaces.append(space)

    threads = numba.get_num_threads() if len(items) > 1 else 1
    if threads < 2:
        yield from map(one, items)
        return
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads)
    yield from _pools[threads].map(one, items)


def _borrow(dtype):
    while _spaces:
        space = _spaces.pop()
        if space.dtype == dtype:
            return space
    return tiles.Space(dtype)


def compress(data, abs_bound):
    dtype = data.dtype
    if dtype not in DTYPES:
        raise NotImplementedError(f"dtype {dtype}: only float32 and float64 are supported")
    if data.ndim > 4:
        raise NotImplementedError(f"{data.ndim} dimensions: at most 4 are supported")
    tolerance = tolerance_within(float(abs_bound), dtype)
    shape = tiles.flattened(data.shape)
    values, cuts = data.reshape(shape), tiles.cuts(shape)
    entries = np.zeros(len(cuts), ENTRY)
    at = HEADER.size + entries.nbytes
    stream = np.empty(at + data.nbytes + 2 * len(cuts), np.uint8)

    def work(cut, space):
        return tiles.encode(values[cut], tolerance, space)

    for k, piece in enumerate(_each(work, cuts, dtype)):
        entries[k] = piece.size, zlib.crc32(piece)
        stream[at : at + piece.size] = piece
        at += piece.size
    dims = *data.shape, *[1] * (4 - data.ndim)
    front = HEADER.pack(MAGIC, 0, DTYPES[dtype], data.ndim, bytes(6), *dims) + entries.tobytes()
    check = zlib.crc32(front[CHECKED_FROM:]).to_bytes(4, "little")
    front = front[:4] + check + front[CHECKED_FROM:]
    stream[: len(front)] = np.frombuffer(front, np.uint8)
    return stream[:at]


def decompress(stream, shape, dtype):
    dtype = np.dtype(dtype)
    flat = tiles.flattened(shape)
    cuts = tiles.cuts(flat)
    entries = _parse(stream, shape, dtype, len(cuts))
    ends = HEADER.size + entries.nbytes + np.cumsum(entries["size"], dtype=np.int64)
    out = np.empty(flat, dtype)

    def work(k, space):
        end = int(ends[k])
        piece = stream[end - int(entries["size"][k]) : end].copy()
        if zlib.crc32(piece) != entries["check"][k]:
            raise ValueError(f"tile {k} is damaged: its check sum differs")
        tiles.decode(piece, out[cuts[k]], space)

    for _ in _each(work, range(len(cuts)), dtype):
        pass
    return out.reshape(shape)


def _parse(stream, shape, dtype, count):
    """The sizes and check sums of a stream's tiles, if it is one of such an array."""
    if dtype not in DTYPES:
        raise NotImplementedError(f"dtype {dtype}: only float32 and float64 are supported")
    front = HEADER.size + ENTRY.itemsize * count
    if stream.size < front:
        raise ValueError(f"the stream has {stream.size} bytes: header and table need {front}")
    head = stream[:front].tobytes()
    magic, check, kind, ndim, reserved, *dims = HEADER.unpack_from(head)
    if magic != MAGIC or check != zlib.crc32(head[CHECKED_FROM:]) or reserved != bytes(6):
        raise ValueError("the header is damaged, or of another format or array")
    if (kind, ndim, dims) != (DTYPES[dtype], len(shape), [*shape, *[1] * (4 - len(shape))]):
        raise ValueError(
            f"the stream holds {ndim}-D values of type {kind}, {dims[:ndim]}: "
            f"not {dtype}{list(shape)}"
        )
    entries = np.frombuffer(head, ENTRY, count, HEADER.size)
    expected = front + int(entries["size"].sum(dtype=np.int64))
    if stream.size != expected:
        raise ValueError(f"the stream has {stream.size} bytes: its tiles should end at {expected}")
    return entries
