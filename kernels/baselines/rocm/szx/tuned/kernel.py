"""szx in one pass over memory each way, plus one that looks for the fill value first.

The host waits twice per call: for the header or the size, without which it can't go on, and for
what the kernels found.
"""

import math
from pathlib import Path

import cupy as cp
import numpy as np
import szstream
from tolerance import tolerance_within

HERE = Path(__file__)
# Contraction would break the bound of constant blocks; a pragma rules it out as well.
OPTIONS = ("-std=c++17", "-ffp-contract=off")
ENCODER = cp.RawModule(code=HERE.with_name("encode.hip").read_text(), options=OPTIONS)
DECODER = cp.RawModule(code=HERE.with_name("decode.hip").read_text(), options=OPTIONS)
MAGIC = b"SZX1"
HEAD = szstream.HEADER_BYTES
SUFFIX = {np.dtype(np.float32): "f32", np.dtype(np.float64): "f64"}
BLOCK, TILE, THREADS = 128, 4096, 256
MOST_MEASURING = 1056
"""Blocks that look for the fill value: more would only add to the atomics at their ends."""
FILL, HAS_FILL, END, BAD, CHECKS, CONTROL = 2, 3, 4, 5, 6, 38
"""Of the words that kernels share, as in `struct Control`; a state per tile follows."""
NO_BOUND = -(2**20)
"""In place of log2 of a bound of 0: no bit may be dropped."""


def compress(data, abs_bound):
    dtype, x, n, bound = data.dtype, data.reshape(-1), data.size, float(abs_bound)
    if dtype not in SUFFIX:
        raise NotImplementedError(f"dtype {dtype}: only float32 and float64 are supported")
    blocks = -(-n // BLOCK)
    side = -(-blocks // 4)
    stream = cp.empty(HEAD + 8 * side + n * dtype.itemsize + 24, cp.uint8)
    control = cp.zeros(CONTROL + -(-n // TILE), cp.uint64)
    if n > 0:
        _encode(x, bound, stream[HEAD:], control)
    found = control[:CONTROL].get()
    fill = int(found[FILL]) if found[HAS_FILL] else None
    check = int(found[CHECKS:].sum(dtype=np.uint64))
    header = szstream.header(MAGIC, data.shape, dtype, step=0.0, fill_bits=fill, body=check)
    stream[:HEAD] = cp.asarray(header)
    return stream[: HEAD + 8 * side + 4 * int(found[END])]


def _encode(x, bound, body, control):
    real, suffix, n = x.dtype.type, SUFFIX[x.dtype], np.uint32(x.size)
    tiles = -(-x.size // TILE)
    tolerance = tolerance_within(bound, x.dtype)
    if tolerance > 0:
        reach = real(tolerance * (2.0**21 if real == np.float32 else 2.0**29))
        find_fill = ENCODER.get_function(f"find_fill_{suffix}")
        find_fill((min(tiles, MOST_MEASURING),), (THREADS,), (x, n, control, reach))
    log2_bound = np.int32(math.frexp(bound)[1] - 1 if bound > 0 else NO_BOUND)
    encode = ENCODER.get_function(f"encode_{suffix}")
    args = x, n, body, control[CONTROL:], control, real(tolerance), log2_bound
    encode((tiles,), (THREADS,), args)


def decompress(stream, shape, dtype):
    dtype, n = np.dtype(dtype), math.prod(shape)
    if dtype not in SUFFIX:
        raise NotImplementedError(f"dtype {dtype}: only float32 and float64 are supported")
    head = szstream.parse(stream[:HEAD].get(), MAGIC, shape, dtype, verify_check=False)
    words, left = divmod(stream.size - HEAD, 4)
    blocks = -(-n // BLOCK)
    side = -(-blocks // 4)
    if left or words < 2 * side or (n == 0 and words > 0):
        raise ValueError(f"{stream.size} bytes of stream do not fit {n} values")
    tiles = -(-n // TILE)
    control = cp.zeros(CONTROL + tiles, cp.uint64)
    given = np.array([head.fill_bits or 0, head.fill_bits is not None], np.uint64)
    control[FILL : HAS_FILL + 1] = cp.asarray(given)
    out = cp.empty(shape, dtype)
    if n > 0:
        decode = DECODER.get_function(f"decode_{SUFFIX[dtype]}")
        # Words are read whole, so that a stream at an odd address is copied.
        body = stream[HEAD:] if stream.data.ptr % 4 == 0 else stream[HEAD:].copy()
        args = body, np.uint64(words), out, np.uint32(n), control[CONTROL:], control
        decode((tiles,), (THREADS,), args)
    found = control[:CONTROL].get()
    if found[BAD]:
        raise ValueError("a code, a drop, what pads them or a plane, or the length is refused")
    if head.check is not None:
        szstream.require_check(int(found[CHECKS:].sum(dtype=np.uint64)), head.check)
    return out
