"""The 72-byte header of an `szp` or `szx` stream: build it, and check it on the way back.

A submission imports this module in its child process, so that a kernel only writes the body.
In goes what the kernel knows (shape, dtype, step, fill pattern, body), out comes the header;
`parse` goes the other way and raises `ValueError` for every header that the format refuses.
"""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

HEADER_BYTES: Final = 72
MAGICS: Final = (b"SZP1", b"SZX1")
MAX_DIMS: Final = 4

_DTYPE_CODES: Final = {np.dtype(np.float32): 1, np.dtype(np.float64): 2}
_FLAG_CHECK: Final = 1
_FLAG_FILL: Final = 2
_CRC_START: Final = 8
_WORD_BYTES: Final = 4
_MASK_64: Final = (1 << 64) - 1
_CHECK_BLOCK: Final = 1 << 16
"""Words summed at a time: the temporaries of a block stay in cache."""
_FIELDS: Final = struct.Struct("<4sIBBB5s4QdQQ")
"""Magic, CRC, dtype, ndim, flags, reserved, dims, step, fill pattern, check."""


@dataclass(frozen=True)
class Header:
    """What a header says beyond the shape and dtype that the decoder was given."""

    step: float
    """0 asks for lossless decoding; always 0 in szx."""
    fill_bits: int | None
    """Bit pattern of the fill value in the data's own type, or None."""
    body: Bytes
    """The stream after the header, without a copy."""
    check: int | None
    """The check sum that the body must have, or None if the encoder left it out."""


def check_sum(body: Bytes) -> int:
    """Sum of (2i + 1)·wᵢ modulo 2⁶⁴ over the body's little-endian u32 words."""
    if body.size % _WORD_BYTES:
        raise ValueError(
            f"the body has {body.size} bytes, which is not a multiple of 4: pad it with zero bytes"
        )
    words = np.ascontiguousarray(body).view("<u4")
    weights = np.arange(1, 2 * min(words.size, _CHECK_BLOCK), 2, dtype=np.uint64)
    total = 0
    for start in range(0, words.size, _CHECK_BLOCK):
        block = words[start : start + _CHECK_BLOCK].astype(np.uint64)
        local = int(np.dot(weights[: block.size], block))
        total += local + 2 * start * int(block.sum())
    return total & _MASK_64


def header(
    magic: bytes,
    shape: tuple[int, ...],
    dtype: npt.DTypeLike,
    *,
    step: float,
    fill_bits: int | None,
    body: Bytes | int,
) -> Bytes:
    """The header that goes before `body`.

    Args:
        magic: b"SZP1" or b"SZX1".
        shape: of the data, 0-D to 4-D.
        dtype: float32 or float64.
        step: the quantisation step; 0 for a lossless stream and always in szx.
        fill_bits: bit pattern of the fill value as an integer, or None.
        body: everything after the header, or its check sum if the kernel has it already.

    Raises:
        ValueError: for what no decoder would accept.
    """
    code = _dtype_code(dtype)
    _require_known_magic(magic)
    dims = _padded(shape)
    _require_valid_step(step, magic, code)
    _require_valid_fill(fill_bits, code)
    flags = _FLAG_CHECK | (0 if fill_bits is None else _FLAG_FILL)
    check = body & _MASK_64 if isinstance(body, int) else check_sum(body)
    fill = 0 if fill_bits is None else fill_bits
    packed = bytearray(
        _FIELDS.pack(magic, 0, code, len(shape), flags, bytes(5), *dims, step, fill, check)
    )
    struct.pack_into("<I", packed, 4, zlib.crc32(packed[_CRC_START:]))
    return np.frombuffer(packed, dtype=np.uint8)


def parse(
    stream: Bytes,
    magic: bytes,
    shape: tuple[int, ...],
    dtype: npt.DTypeLike,
    *,
    verify_check: bool = True,
) -> Header:
    """The header of `stream`, after every check that needs no knowledge of the body's layout.

    With `verify_check=False` the body is not read, and the kernel compares `Header.check` itself.

    Raises:
        ValueError: for whatever the format refuses, or if shape or dtype are not the stream's.
    """
    _require_bytes(stream)
    head = bytes(stream[:HEADER_BYTES])
    found, crc, code, ndim, flags, reserved, *rest = _FIELDS.unpack(head)
    dims, (step, fill, check) = tuple(rest[:4]), rest[4:]
    _require_intact(head, found, magic, crc)
    _require_layout(ndim, flags, reserved, dims)
    _require_same_array(code, dims[:ndim], dtype, shape)
    _require_valid_step(step, magic, code)
    fill_bits = _fill_bits(fill, flags, code)
    expected = _expected_check(check, flags)
    body = stream[HEADER_BYTES:]
    if body.size % _WORD_BYTES:
        raise ValueError(f"the body has {body.size} bytes, not a multiple of 4: the stream is cut")
    if verify_check and expected is not None:
        require_check(check_sum(body), expected)
    return Header(step=step, fill_bits=fill_bits, body=body, check=expected)


def require_check(actual: int, expected: int) -> None:
    """Raise `ValueError` unless the body's check sum is the one its header promises."""
    if actual != expected:
        raise ValueError(
            f"the body's check is {actual:#018x} but the header says {expected:#018x}: "
            "the body was changed"
        )


def _dtype_code(dtype: npt.DTypeLike) -> int:
    code = _DTYPE_CODES.get(np.dtype(dtype))
    if code is None:
        raise ValueError(f"dtype {np.dtype(dtype)} has no code: use float32 or float64")
    return code


def _require_known_magic(magic: bytes) -> None:
    if magic not in MAGICS:
        raise ValueError(f"magic {magic!r} is unknown: use b'SZP1' or b'SZX1'")


def _padded(shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) > MAX_DIMS:
        raise ValueError(f"shape {shape} has {len(shape)} axes: a stream holds at most {MAX_DIMS}")
    return (*shape, *([1] * (MAX_DIMS - len(shape))))


def _require_valid_step(step: float, magic: bytes, code: int) -> None:
    # -0.0 is refused too: its sign bit says negative, and no encoder has a reason to write it.
    if not math.isfinite(step) or math.copysign(1.0, step) < 0:
        raise ValueError(f"step {step!r} is refused: it must be finite and not negative")
    if magic == b"SZX1" and step != 0:
        raise ValueError(f"step {step!r} is refused: it must be 0 in an szx stream")
    if code == 1 and not _is_float32(step):
        raise ValueError(
            f"step {step!r} is refused: for float32 data it must be a float32 value, "
            "as float(numpy.float32(step)) is"
        )


def _is_float32(value: float) -> bool:
    try:
        (narrowed,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return False
    return bool(narrowed == value)


def _require_valid_fill(fill_bits: int | None, code: int) -> None:
    width = 32 * code
    if fill_bits is not None and not 0 <= fill_bits < 1 << width:
        raise ValueError(f"fill pattern {fill_bits:#x} does not fit the data's {width} bits")


def _require_bytes(stream: Bytes) -> None:
    if stream.dtype != np.uint8 or stream.ndim != 1:
        raise ValueError(
            f"a stream is a 1-D uint8 array, not {stream.ndim}-D {stream.dtype}: "
            "pass what compress returned"
        )
    if stream.size < HEADER_BYTES:
        raise ValueError(
            f"the stream has {stream.size} bytes, less than the {HEADER_BYTES} of a header: "
            "it is cut"
        )


def _require_intact(head: bytes, found: bytes, magic: bytes, crc: int) -> None:
    _require_known_magic(magic)
    if found != magic:
        raise ValueError(f"the stream starts with {found!r}, not {magic!r}: wrong format")
    actual = zlib.crc32(head[_CRC_START:])
    if crc != actual:
        raise ValueError(
            f"the header's CRC is {crc:#010x} but its bytes give {actual:#010x}: it was changed"
        )


def _require_layout(ndim: int, flags: int, reserved: bytes, dims: tuple[int, ...]) -> None:
    if ndim > MAX_DIMS:
        raise ValueError(f"ndim {ndim} is refused: it must be 0 to {MAX_DIMS}")
    if flags & ~(_FLAG_CHECK | _FLAG_FILL):
        raise ValueError(f"flags {flags:#04x} are refused: only 1 (check) and 2 (fill) are known")
    if any(reserved):
        raise ValueError(f"reserved bytes {reserved.hex()} are refused: they must be zero")
    if any(dim != 1 for dim in dims[ndim:]):
        raise ValueError(f"dims {dims} are refused: those after the first {ndim} must be 1")


def _require_same_array(
    code: int, dims: tuple[int, ...], dtype: npt.DTypeLike, shape: tuple[int, ...]
) -> None:
    if code not in _DTYPE_CODES.values():
        raise ValueError(f"dtype code {code} is refused: it must be 1 (float32) or 2 (float64)")
    if code != _dtype_code(dtype):
        name = "float32" if code == 1 else "float64"
        raise ValueError(f"the stream holds {name}, not {np.dtype(dtype)}: pass its own dtype")
    if dims != tuple(shape):
        raise ValueError(f"the stream holds shape {dims}, not {tuple(shape)}: pass its own shape")


def _fill_bits(fill: int, flags: int, code: int) -> int | None:
    if flags & _FLAG_FILL:
        _require_valid_fill(fill, code)
        return fill
    if fill:
        raise ValueError(f"fill pattern {fill:#x} is refused: flag 2 (fill) is not set")
    return None


def _expected_check(check: int, flags: int) -> int | None:
    if flags & _FLAG_CHECK:
        return check
    if check:
        raise ValueError(f"check {check:#x} is refused: flag 1 (check) is not set")
    return None
