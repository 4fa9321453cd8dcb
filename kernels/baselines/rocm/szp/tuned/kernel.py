"""szp in one pass over memory each way, plus one that measures the field before it is compressed.

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
# Contraction would break the bound; the pragma in the source rules it out as well.
OPTIONS = ("-std=c++17", "-ffp-contract=off")
ENCODER = cp.RawModule(code=HERE.with_name("encode.hip").read_text(), options=OPTIONS)
DECODER = cp.RawModule(code=HERE.with_name("decode.hip").read_text(), options=OPTIONS)
MAGIC = b"SZP1"
HEAD = szstream.HEADER_BYTES
SUFFIX = {np.dtype(np.float32): "f32", np.dtype(np.float64): "f64"}
BLOCK, CHUNK, THREADS = 32, 4096, 256
MOST_MEASURING = 1056
"""Blocks that measure: more would only add to the atomics at their ends."""
STEP, FILL, HAS_FILL, END, BAD, CHECKS, CONTROL = 3, 4, 5, 6, 7, 8, 40
"""Of the words that kernels share, as in `struct Control`; a state per chunk follows."""


def compress(data, abs_bound):
    dtype, x, n = data.dtype, data.reshape(-1), data.size
    if dtype not in SUFFIX:
        raise NotImplementedError(f"dtype {dtype}: only float32 and float64 are supported")
    tolerance = tolerance_within(float(abs_bound), dtype)
    chunks, blocks = -(-n // CHUNK), -(-n // BLOCK)
    front = chunks + -(-blocks // 4)
    room = front + blocks * BLOCK * dtype.itemsize // 4 + BLOCK + 1
    stream = cp.empty(HEAD + 4 * room, cp.uint8)
    control = cp.zeros(CONTROL + chunks, cp.uint64)
    if n > 0:
        _encode(x, tolerance, stream[HEAD:].view(cp.uint32), control)
    found = control[:CONTROL].get()
    step = float(found[STEP : STEP + 1].view(np.float64)[0])
    fill = int(found[FILL]) if found[HAS_FILL] else None
    check = int(found[CHECKS:].sum(dtype=np.uint64))
    header = szstream.header(MAGIC, data.shape, dtype, step=step, fill_bits=fill, body=check)
    stream[:HEAD] = cp.asarray(header)
    return stream[: HEAD + 4 * (front + int(found[END]))]


def _encode(x, tolerance, body, control):
    real, suffix, n = x.dtype.type, SUFFIX[x.dtype], np.uint32(x.size)
    chunks = -(-x.size // CHUNK)
    if tolerance > 0:
        reach = real(tolerance * (2.0**21 if real == np.float32 else 2.0**29))
        measure = ENCODER.get_function(f"measure_{suffix}")
        args = (x, n, control, reach, np.float64(tolerance))
        measure((min(chunks, MOST_MEASURING),), (THREADS,), args)
    # Without it the step stays 0, at which nothing can be kept but raw.
    encode = ENCODER.get_function(f"encode_{suffix}")
    args = (x, n, body, control[CONTROL:], control, real(tolerance))
    encode((chunks,), (THREADS,), args)


def decompress(stream, shape, dtype):
    dtype, n = np.dtype(dtype), math.prod(shape)
    if dtype not in SUFFIX:
        raise NotImplementedError(f"dtype {dtype}: only float32 and float64 are supported")
    head = szstream.parse(stream[:HEAD].get(), MAGIC, shape, dtype, verify_check=False)
    words, left = divmod(stream.size - HEAD, 4)
    chunks, blocks = -(-n // CHUNK), -(-n // BLOCK)
    front = chunks + -(-blocks // 4)
    if left or words < front or (n == 0 and words > 0):
        raise ValueError(f"{stream.size} bytes of stream, but {n} values need {front} words first")
    control = cp.zeros(CONTROL + chunks, cp.uint64)
    given = np.zeros(3, np.uint64)
    given[:1].view(np.float64)[0] = head.step
    given[1:] = head.fill_bits or 0, head.fill_bits is not None
    control[STEP : HAS_FILL + 1] = cp.asarray(given)
    out = cp.empty(shape, dtype)
    if n > 0:
        decode = DECODER.get_function(f"decode_{SUFFIX[dtype]}")
        # Words are read whole, so that a stream at an odd address is copied.
        body = stream[HEAD:] if stream.data.ptr % 4 == 0 else stream[HEAD:].copy()
        args = (body, np.uint64(words), out, np.uint32(n), control[CONTROL:], control)
        decode((chunks,), (THREADS,), args)
    found = control[:CONTROL].get()
    if found[BAD]:
        raise ValueError("a block code, its padding, or the length of the body is refused")
    if head.check is not None:
        szstream.require_check(int(found[CHECKS:].sum(dtype=np.uint64)), head.check)
    return out
