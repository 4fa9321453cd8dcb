"""szx, first attempt: a thread per block, and CuPy's own functions for sums over a whole array."""

import math
from pathlib import Path

import cupy as cp
import numpy as np
import szstream

MAGIC = b"SZX1"
HEAD = szstream.HEADER_BYTES
BLOCK, THREADS = 128, 64
SOURCE = Path(__file__).with_name("szx.hip").read_text()
# A fused multiply-add would break the bound of constant blocks.
OPTIONS = ("-std=c++17", "-ffp-contract=off")
MODULES = {
    np.dtype(np.float32): cp.RawModule(code=SOURCE, options=OPTIONS),
    np.dtype(np.float64): cp.RawModule(code=SOURCE, options=(*OPTIONS, "-DDOUBLE")),
}
NO_BOUND = -(2**20)
"""In place of log2 of a bound of 0: no bit may be dropped."""


def launch(dtype, name, blocks, *args):
    kernel = MODULES[dtype].get_function(name)
    kernel((-(-blocks // THREADS),), (THREADS,), args)


def tolerance_within(bound, dtype):
    """Largest T in the data type whose rounded comparison proves the bound; 0: too small for it."""
    if dtype == np.float64:
        t = math.nextafter(min(bound, 2.0**901), -math.inf)
        return 0.0 if t < 2.0**-900 else min(t, 2.0**900)
    t = np.float32(min(bound, 2.0**101))
    above = np.nextafter(t, np.float32(np.inf))
    while t > 0 and float(t) + (float(above) - float(t)) / 2 > bound:
        t, above = np.nextafter(t, np.float32(-np.inf)), t
    return 0.0 if t < 2.0**-100 else min(float(t), 2.0**100)


def fill_of(x, bits, tolerance):
    """Bits of the first value that is not finite or far beyond the tolerance; None if none is."""
    if tolerance == 0:
        return None
    reach = tolerance * (2.0**21 if x.dtype == np.float32 else 2.0**29)
    within = cp.abs(x) < x.dtype.type(reach)
    first = int(cp.argmin(within))
    return None if bool(within[first]) else int(bits[first])


def check_sum(body):
    weights = cp.arange(1, 2 * body.size, 2, dtype=cp.uint64)
    return int(cp.sum(weights * body.astype(cp.uint64)))


def compress(data, abs_bound):
    dtype, x, bound = data.dtype, data.reshape(-1), float(abs_bound)
    if dtype not in MODULES:
        raise NotImplementedError(f"dtype {dtype}: only float32 and float64 are supported")
    if x.size == 0:
        header = szstream.header(MAGIC, data.shape, dtype, step=0.0, fill_bits=None, body=0)
        return cp.asarray(header)
    bits = x.view(np.uint32 if dtype == np.float32 else np.uint64)
    tolerance = tolerance_within(bound, dtype)
    log2_bound = math.frexp(bound)[1] - 1 if bound > 0 else NO_BOUND
    fill = fill_of(x, bits, tolerance)
    n, blocks = np.uint32(x.size), -(-x.size // BLOCK)
    side = -(-blocks // 4) * 4

    codes, drops = cp.zeros(side, cp.uint8), cp.zeros(side, cp.uint8)
    items, sizes = cp.empty(blocks, bits.dtype), cp.empty(blocks, cp.uint32)
    fill_bits, has_fill = np.uint64(fill or 0), np.int32(fill is not None)
    given = dtype.type(tolerance), np.int32(log2_bound), fill_bits, has_fill
    launch(dtype, "plan", blocks, bits, n, *given, codes, drops, items, sizes)
    ends = cp.cumsum(sizes, dtype=cp.uint64)
    stream = cp.empty(HEAD + 2 * side + 4 * int(ends[-1]), cp.uint8)
    body = stream[HEAD:].view(cp.uint32)
    stream[HEAD : HEAD + side] = codes
    stream[HEAD + side : HEAD + 2 * side] = drops
    payload = body[side // 2 :]
    launch(dtype, "pack", blocks, bits, n, fill_bits, codes, drops, items, sizes, ends, payload)
    header = szstream.header(
        MAGIC, data.shape, dtype, step=0.0, fill_bits=fill, body=check_sum(body)
    )
    stream[:HEAD] = cp.asarray(header)
    return stream


def decompress(stream, shape, dtype):
    dtype, count = np.dtype(dtype), math.prod(shape)
    n, x = np.uint32(count), cp.empty(shape, dtype)
    head = szstream.parse(stream[:HEAD].get(), MAGIC, shape, dtype, verify_check=False)
    blocks = -(-count // BLOCK)
    side = -(-blocks // 4) * 4
    if stream.size % 4 or stream.size < HEAD + 2 * side:
        raise ValueError(f"{stream.size} bytes are no stream of {count} values")
    body = stream[HEAD:].view(cp.uint32)
    if head.check is not None:
        szstream.require_check(check_sum(body), head.check)
    if count == 0:
        if body.size:
            raise ValueError("an empty field has an empty body")
        return x

    codes, drops = stream[HEAD : HEAD + side], stream[HEAD + side : HEAD + 2 * side]
    sizes, bad = cp.empty(blocks, cp.uint32), cp.zeros(1, cp.int32)
    has_fill = np.int32(head.fill_bits is not None)
    launch(dtype, "find_sizes", blocks, codes, drops, n, has_fill, sizes, bad)
    ends = cp.cumsum(sizes, dtype=cp.uint64)
    padded = bool(cp.any(codes[blocks:])) or bool(cp.any(drops[blocks:]))
    if int(bad[0]) or padded:
        raise ValueError("a block code, a drop, or what pads them, is refused")
    payload = body[side // 2 :]
    if int(ends[-1]) != payload.size:
        raise ValueError(f"{payload.size} words of payload, but the codes need {int(ends[-1])}")
    fill = np.uint64(head.fill_bits or 0)
    launch(dtype, "unpack", blocks, payload, codes, drops, sizes, ends, n, fill, x, bad)
    if int(bad[0]):
        raise ValueError("a byte that pads a plane is not zero")
    return x
