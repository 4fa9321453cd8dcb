"""szp, first attempt: a kernel per step, and CuPy's own functions for sums over a whole array."""

import math
from pathlib import Path

import cupy as cp
import numpy as np
import szstream

MAGIC = b"SZP1"
HEAD = szstream.HEADER_BYTES
BLOCK, CHUNK, THREADS = 32, 4096, 128
SOURCE = Path(__file__).with_name("szp.hip").read_text()
# A fused multiply-add would break the bound.
OPTIONS = ("-std=c++17", "-ffp-contract=off")
MODULES = {
    np.dtype(np.float32): cp.RawModule(code=SOURCE, options=OPTIONS),
    np.dtype(np.float64): cp.RawModule(code=SOURCE, options=(*OPTIONS, "-DDOUBLE")),
}


def launch(dtype, name, count, *args):
    """One thread each for `count` values, blocks or chunks."""
    kernel = MODULES[dtype].get_function(name)
    kernel((-(-count // THREADS),), (THREADS,), args)


def tolerance_within(bound, dtype):
    """Largest T in the data type whose rounded comparison proves the bound; 0 means lossless."""
    if dtype == np.float64:
        t = math.nextafter(min(bound, 2.0**901), -math.inf)
        return 0.0 if t < 2.0**-900 else min(t, 2.0**900)
    t = np.float32(min(bound, 2.0**101))
    above = np.nextafter(t, np.float32(np.inf))
    while t > 0 and float(t) + (float(above) - float(t)) / 2 > bound:
        t, above = np.nextafter(t, np.float32(-np.inf)), t
    return 0.0 if t < 2.0**-100 else min(float(t), 2.0**100)


def step_and_fill(x, tolerance):
    """The widest step at which no |x| within reach fails for rounding alone; bits of the first x
    that is not within reach, or None."""
    single = x.dtype == np.float32
    if tolerance == 0:
        return 0.0, None
    size = cp.abs(x)
    within = size < x.dtype.type(tolerance * (2.0**21 if single else 2.0**29))
    largest = float(cp.max(cp.where(within, size, x.dtype.type(0))))
    unit = 2.0**-24 if single else 2.0**-53
    step = 2.0 * (tolerance - 3.001 * unit * largest) * (1.0 - 8.0 * unit)
    if single and float(np.float32(step)) > step:
        step = float(np.nextafter(np.float32(step), np.float32(0)))
    first = int(cp.argmin(within))
    fill = None if bool(within[first]) else int(x.view(np.uint32 if single else np.uint64)[first])
    return float(x.dtype.type(step)), fill


def check_sum(body):
    weights = cp.arange(1, 2 * body.size, 2, dtype=cp.uint64)
    return int(cp.sum(weights * body.astype(cp.uint64)))


def compress(data, abs_bound):
    dtype, x, n = data.dtype, data.reshape(-1), np.uint32(data.size)
    if dtype not in MODULES:
        raise NotImplementedError(f"dtype {dtype}: only float32 and float64 are supported")
    if x.size == 0:
        header = szstream.header(MAGIC, data.shape, dtype, step=0.0, fill_bits=None, body=0)
        return cp.asarray(header)
    tolerance = tolerance_within(float(abs_bound), dtype)
    step, fill = step_and_fill(x, tolerance)
    blocks, chunks = -(-x.size // BLOCK), -(-x.size // CHUNK)

    q, kinds = cp.empty(x.size, cp.int32), cp.empty(x.size, cp.uint8)
    real = dtype.type
    given = real(step), real(tolerance), np.uint64(fill or 0), np.int32(fill is not None)
    launch(dtype, "quantise", x.size, x, n, *given, q, kinds)
    classes, bases = cp.empty(blocks, cp.uint8), cp.empty(chunks, cp.int32)
    launch(dtype, "classify", blocks, kinds, n, classes)
    launch(dtype, "find_bases", chunks, q, kinds, classes, n, bases)
    differences, sizes = cp.empty(x.size, cp.int32), cp.empty(blocks, cp.uint32)
    codes = cp.zeros(-(-blocks // 4) * 4, cp.uint8)
    launch(dtype, "difference", blocks, q, kinds, classes, bases, n, differences, codes, sizes)
    ends = cp.cumsum(sizes, dtype=cp.uint64)
    front = chunks + codes.size // 4
    stream = cp.empty(HEAD + 4 * (front + int(ends[-1])), cp.uint8)
    body = stream[HEAD:].view(cp.uint32)
    body[:chunks] = bases.view(cp.uint32)
    body[chunks:front] = codes.view(cp.uint32)
    launch(dtype, "pack", blocks, x, kinds, differences, codes, sizes, ends, n, body[front:])
    header = szstream.header(
        MAGIC, data.shape, dtype, step=step, fill_bits=fill, body=check_sum(body)
    )
    stream[:HEAD] = cp.asarray(header)
    return stream


def decompress(stream, shape, dtype):
    dtype, count = np.dtype(dtype), math.prod(shape)
    n, x = np.uint32(count), cp.empty(shape, dtype)
    head = szstream.parse(stream[:HEAD].get(), MAGIC, shape, dtype, verify_check=False)
    blocks, chunks = -(-count // BLOCK), -(-count // CHUNK)
    front = chunks + -(-blocks // 4)
    if stream.size % 4 or stream.size < HEAD + 4 * front:
        raise ValueError(f"{stream.size} bytes are no stream of {count} values")
    body = stream[HEAD:].view(cp.uint32)
    if head.check is not None:
        szstream.require_check(check_sum(body), head.check)
    if count == 0:
        if body.size:
            raise ValueError("an empty field has an empty body")
        return x

    codes, payload = body[chunks:front].view(cp.uint8), body[front:]
    sizes, bad = cp.empty(blocks, cp.uint32), cp.zeros(1, cp.int32)
    given = np.int32(head.step == 0), np.int32(head.fill_bits is not None)
    launch(dtype, "find_sizes", blocks, codes, n, *given, sizes, bad)
    ends = cp.cumsum(sizes, dtype=cp.uint64)
    if int(bad[0]) or bool(cp.any(codes[blocks:])):
        raise ValueError("a block code, or what pads the codes, is refused")
    if int(ends[-1]) != payload.size:
        raise ValueError(f"{payload.size} words of payload, but the codes need {int(ends[-1])}")
    totals = cp.empty(blocks, cp.uint32)
    launch(dtype, "add_up", blocks, payload, codes, sizes, ends, n, totals)
    given = n, dtype.type(head.step), np.uint64(head.fill_bits or 0)
    launch(dtype, "restore", blocks, payload, codes, sizes, ends, totals, body, *given, x)
    return x
