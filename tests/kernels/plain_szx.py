"""The szx format once more, one block and one element at a time: the oracle of the tests.

Written from the specification alone; shares no code with the codec it judges. Values are compared
as Python floats (exact), exponents come from `math.frexp`, and all integers are unbounded.
"""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass

import numpy as np

from kernels.records import Array

SINGLE = np.dtype(np.float32)


@dataclass(frozen=True)
class Kind:
    """What the format says about one data type."""

    width: int
    mantissa: int
    largest_exponent: int
    smallest_exponent: int
    reach: float
    floor: float
    ceiling: float
    letter: str
    """Of `struct`."""

    @property
    def top(self) -> int:
        return 1 << (8 * self.width - 1)

    def value(self, bits: int) -> float:
        (x,) = struct.unpack("<" + self.letter, bits.to_bytes(self.width, "little"))
        return float(x)

    def rounded(self, x: float) -> float:
        """To the nearest value of the type."""
        return x if self.width == 8 else float(np.float32(x))

    def mapped(self, bits: int) -> int:
        return bits ^ (2 * self.top - 1) if bits & self.top else bits | self.top

    def unmapped(self, y: int) -> int:
        return y ^ self.top if y & self.top else y ^ (2 * self.top - 1)


KINDS = {
    SINGLE: Kind(4, 23, 127, -126, 2.0**21, 2.0**-100, 2.0**100, "f"),
    np.dtype(np.float64): Kind(8, 52, 1023, -1022, 2.0**29, 2.0**-900, 2.0**900, "d"),
}


def tolerance(bound: float, kind: Kind) -> float:
    """T; 0.0 below the threshold."""
    if kind.width == 8:
        below = math.nextafter(bound, 0.0)
        return min(below, kind.ceiling) if below >= kind.floor else 0.0
    # Candidates from above: the first whose upper midpoint is within the bound is the largest.
    candidate = np.nextafter(np.float32(min(bound, 2.0**110)), np.float32(np.inf))
    while candidate >= kind.floor:
        above = float(np.nextafter(candidate, np.float32(np.inf)))
        if float(candidate) + (above - float(candidate)) / 2 <= bound:
            return min(float(candidate), kind.ceiling)
        candidate = np.nextafter(candidate, np.float32(-np.inf))
    return 0.0


def encode(data: Array, bound: float) -> bytes:
    """The canonical stream."""
    kind, flat = KINDS[data.dtype], data.reshape(-1)
    patterns = [int(b) for b in flat.view(np.uint32 if data.dtype == SINGLE else np.uint64)]
    tol = tolerance(bound, kind)
    fill = None
    if tol > 0.0:
        far = (b for b in patterns if not abs(kind.value(b)) < tol * kind.reach)
        fill = next(far, None)
    codes, drops, payload = b"", b"", b""
    for start in range(0, len(patterns), 128):
        code, drop, stored = _block(patterns[start : start + 128], fill, bound, tol, kind)
        codes, drops, payload = codes + bytes([code]), drops + bytes([drop]), payload + stored
    body = _padded(codes) + _padded(drops) + payload
    return _header(data.shape, data.dtype, fill, body)


def _padded(raw: bytes) -> bytes:
    return raw + bytes(-len(raw) % 4)


def _block(
    patterns: list[int], fill: int | None, bound: float, tol: float, kind: Kind
) -> tuple[int, int, bytes]:
    """(code, drop, payload)."""
    kept = [b for b in patterns if b != fill]
    if not kept:
        return 254, 0, b""
    mask, extra = b"", 0
    if len(kept) < len(patterns):
        mask = sum(1 << i for i, b in enumerate(patterns) if b == fill).to_bytes(16, "little")
        extra = 32
    constant = _constant(kept, tol, kind)
    if constant is not None:
        return extra, 0, mask + constant.to_bytes(kind.width, "little")
    drop = _drop(kept, bound, kind)
    half = (1 << drop) >> 1
    smallest = min((kind.mapped(b) + half) >> drop for b in kept)
    deltas = [0 if b == fill else ((kind.mapped(b) + half) >> drop) - smallest for b in patterns]
    planes = -(-max(deltas).bit_length() // 8)
    if planes == 0:
        item = kind.unmapped(smallest << drop)
        return extra, 0, mask + item.to_bytes(kind.width, "little")
    payload = mask + smallest.to_bytes(kind.width, "little")
    for k in range(planes):
        payload += _padded(bytes(delta >> 8 * k & 0xFF for delta in deltas))
    raw = b"".join(b.to_bytes(kind.width, "little") for b in patterns)
    if len(payload) >= len(raw):
        return 255, 0, raw
    return planes + extra, drop, payload


def _constant(kept: list[int], tol: float, kind: Kind) -> int | None:
    """The bits that stand for all of them, by the first test."""
    if len(set(kept)) == 1:
        return kept[0]
    values = [kind.value(b) for b in kept]
    if tol == 0.0 or not all(map(math.isfinite, values)):
        return None
    least, most = min(values), max(values)
    middle = kind.rounded(kind.rounded(least / 2) + kind.rounded(most / 2))
    if kind.rounded(most - middle) > tol or kind.rounded(middle - least) > tol:
        return None
    return int.from_bytes(struct.pack("<" + kind.letter, middle), "little") if middle else 0


def _drop(kept: list[int], bound: float, kind: Kind) -> int:
    values = [kind.value(b) for b in kept]
    if bound == 0.0 or not all(map(math.isfinite, values)):
        return 0
    largest = max(map(abs, values))
    exponent = kind.smallest_exponent
    if largest > 0.0:
        exponent = max(exponent, math.frexp(largest)[1] - 1)
    if exponent == kind.largest_exponent:
        return 0
    floor_log2 = math.frexp(bound)[1] - 1
    return min(max(floor_log2 - exponent + kind.mantissa + 1, 0), kind.mantissa)


def _header(
    shape: tuple[int, ...], dtype: np.dtype[np.generic], fill: int | None, body: bytes
) -> bytes:
    words = struct.unpack(f"<{len(body) // 4}I", body)
    check = sum((2 * i + 1) * w for i, w in enumerate(words)) % 2**64
    rest = bytes([1 if dtype == SINGLE else 2, len(shape), 1 if fill is None else 3]) + bytes(5)
    rest += struct.pack("<4Q", *shape, *[1] * (4 - len(shape)))
    rest += struct.pack("<dQQ", 0.0, fill or 0, check)
    return b"SZX1" + struct.pack("<I", zlib.crc32(rest)) + rest + body


def decode(stream: bytes, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Array:
    """The values of a stream taken to be legal."""
    n, kind = math.prod(shape), KINDS[dtype]
    (fill,) = struct.unpack_from("<Q", stream, 56)
    blocks = -(-n // 128)
    codes = stream[72:][:blocks]
    drops = stream[72 + blocks + -blocks % 4 :][:blocks]
    at = 72 + 2 * (blocks + -blocks % 4)
    out = bytearray()
    for block, (code, drop) in enumerate(zip(codes, drops, strict=True)):
        count = min(128, n - 128 * block)
        if code == 255:
            out += stream[at : at + count * kind.width]
            at += count * kind.width
            continue
        mask = 2**128 - 1 if code == 254 else 0
        item, planes = 0, []
        if 32 <= code < 64:
            mask = int.from_bytes(stream[at : at + 16], "little")
            at += 16
        if code < 64:
            item = int.from_bytes(stream[at : at + kind.width], "little")
            at += kind.width
            size = count + -count % 4
            planes = [stream[at + k * size :][:size] for k in range(code % 32)]
            at += size * len(planes)
        for i in range(count):
            bits = item
            if planes:
                delta = sum(plane[i] << 8 * k for k, plane in enumerate(planes))
                bits = kind.unmapped(((item + delta) << drop) % (2 * kind.top))
            out += (fill if mask >> i & 1 else bits).to_bytes(kind.width, "little")
    return np.frombuffer(bytes(out), dtype).reshape(shape)
