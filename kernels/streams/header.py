"""The 72-byte header that `szp` and `szx` share: written for a finished body, or parsed.

A stream is a header and a body of little-endian u32 words (the host is little-endian too). Parsing
refuses whatever the format does not allow, so that the codecs behind it only judge the structure of
the body.
"""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels.streams.errors import StreamError

HEADER_BYTES = 72
MAX_DIMS = 4
FLAG_CHECK = 1
FLAG_FILL = 2

DTYPE_CODES: dict[np.dtype[np.generic], int] = {
    np.dtype(np.float32): 1,
    np.dtype(np.float64): 2,
}

_FRONT = struct.Struct("<4sI")
"""Magic, CRC-32 of the rest."""
_REST = struct.Struct("<BBB5s4QdQQ")
"""Dtype, ndim, flags, reserved, dims, step, fill bits, check."""

_CHECK_BATCH = 1 << 18
"""Words summed at a time."""

Stream = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Header:
    """What a parsed header says, and the body behind it."""

    step: float
    """0.0 is lossless."""
    fill_bits: int | None
    body: npt.NDArray[np.uint32]


def body_check(words: npt.NDArray[np.uint32]) -> int:
    """Σ (2i + 1)·wᵢ mod 2⁶⁴: changes with any one word and with any two flipped bits."""
    weights = np.arange(1, 2 * _CHECK_BATCH, 2, dtype=np.uint64)
    total = 0
    for at in range(0, words.size, _CHECK_BATCH):
        part = words[at : at + _CHECK_BATCH].astype(np.uint64)
        local = int(np.dot(part, weights[: part.size]))
        total += local + 2 * at * int(part.sum())
    return total % 2**64


def write(
    stream: Stream,
    magic: bytes,
    shape: tuple[int, ...],
    dtype: np.dtype[np.generic],
    step: float,
    fill_bits: int | None,
) -> None:
    """Fill in the first 72 bytes of a stream whose body is complete."""
    dims = shape + (1,) * (MAX_DIMS - len(shape))
    flags = FLAG_CHECK | (0 if fill_bits is None else FLAG_FILL)
    check = body_check(stream[HEADER_BYTES:].view(np.uint32))
    rest = _REST.pack(
        DTYPE_CODES[dtype], len(shape), flags, bytes(5), *dims, step, fill_bits or 0, check
    )
    front = _FRONT.pack(magic, zlib.crc32(rest))
    stream[:HEADER_BYTES] = np.frombuffer(front + rest, np.uint8)


def parse(
    stream: Stream, magic: bytes, shape: tuple[int, ...], dtype: np.dtype[np.generic]
) -> Header:
    """Check all 72 bytes and the body's check sum against what the caller expects.

    Raises StreamError naming the first thing that is wrong.
    """
    if stream.ndim != 1 or stream.dtype != np.uint8:
        raise StreamError(
            f"a stream is a 1-D uint8 array; this one is {stream.ndim}-D {stream.dtype}"
        )
    if stream.size < HEADER_BYTES or stream.size % 4:
        raise StreamError(
            f"{stream.size} bytes: a stream is a {HEADER_BYTES}-byte header and whole 4-byte words"
        )
    raw = np.ascontiguousarray(stream)
    front = raw[: _FRONT.size].tobytes()
    rest = raw[_FRONT.size : HEADER_BYTES].tobytes()
    found_magic, crc = _FRONT.unpack(front)
    if found_magic != magic:
        raise StreamError(f"magic {found_magic!r}, expected {magic!r}")
    if crc != zlib.crc32(rest):
        raise StreamError(
            f"header CRC {crc:#010x}, but bytes 8 to 71 have {zlib.crc32(rest):#010x}"
        )
    code, ndim, flags, reserved, *tail = _REST.unpack(rest)
    step, fill, check = tail[MAX_DIMS:]
    _check_shape(code, ndim, tuple(tail[:MAX_DIMS]), shape, dtype)
    if flags & ~(FLAG_CHECK | FLAG_FILL) or any(reserved):
        raise StreamError(f"flags {flags:#04x}, reserved bytes {reserved.hex()}: unknown bits set")
    _check_step(step, dtype)
    fill_bits = _fill_bits(fill, flags, dtype)
    body = raw[HEADER_BYTES:].view(np.uint32)
    expected = body_check(body) if flags & FLAG_CHECK else 0
    if check != expected:
        raise StreamError(f"body check {check:#018x}, expected {expected:#018x}")
    return Header(step, fill_bits, body)


def _check_shape(
    code: int,
    ndim: int,
    dims: tuple[int, ...],
    shape: tuple[int, ...],
    dtype: np.dtype[np.generic],
) -> None:
    if dtype not in DTYPE_CODES or len(shape) > MAX_DIMS:
        raise StreamError(
            f"no stream holds {dtype} data of shape {shape}: float32 or float64, 0-D to 4-D"
        )
    if code != DTYPE_CODES[dtype]:
        raise StreamError(f"dtype code {code}, expected {DTYPE_CODES[dtype]} ({dtype})")
    wanted = tuple(shape) + (1,) * (MAX_DIMS - len(shape))
    if ndim != len(shape) or dims != wanted:
        raise StreamError(f"{ndim} dimensions of {dims}, expected {len(shape)} of {wanted}")


def _check_step(step: float, dtype: np.dtype[np.generic]) -> None:
    if not math.isfinite(step) or math.copysign(1.0, step) < 0.0:
        raise StreamError(f"step {step!r}: it must be finite and not negative")
    if dtype == np.float32:
        with np.errstate(over="ignore"):
            narrow = float(np.float32(step))
        if narrow != step:
            raise StreamError(f"step {step!r} is not a float32 value, though the data is float32")


def _fill_bits(fill: int, flags: int, dtype: np.dtype[np.generic]) -> int | None:
    if not flags & FLAG_FILL:
        if fill:
            raise StreamError(f"fill pattern {fill:#x} without the fill flag")
        return None
    if fill >> (8 * dtype.itemsize):
        raise StreamError(f"fill pattern {fill:#x} is wider than {dtype}")
    return fill
