"""The szp format once more, one element and one bit at a time: the oracle of the tests.

Written from the specification alone; shares no code with the codec it judges.
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
class Element:
    """One value: its bits, its q, and whether q·step is close enough."""

    bits: int
    q: int
    ok: bool


def tolerance(bound: float, dtype: np.dtype[np.generic]) -> float:
    """T; 0.0 is lossless."""
    if bound == 0.0:
        return 0.0
    if dtype != SINGLE:
        below = math.nextafter(bound, 0.0)
        return 0.0 if below < 2.0**-900 else min(below, 2.0**900)
    # Candidates from above: the first whose upper midpoint is within the bound is the largest.
    candidate = float(np.nextafter(np.float32(min(bound, 2.0**110)), np.float32(np.inf)))
    while True:
        above = float(np.nextafter(np.float32(candidate), np.float32(np.inf)))
        if candidate + (above - candidate) / 2 <= bound:
            break
        candidate = float(np.nextafter(np.float32(candidate), np.float32(-np.inf)))
        if candidate < 2.0**-100:
            return 0.0
    return 0.0 if candidate < 2.0**-100 else min(candidate, 2.0**100)


def step_of(values: list[float], tol: float, dtype: np.dtype[np.generic]) -> float:
    """s, as an exact double."""
    single = dtype == SINGLE
    unit, reach = (2.0**-24, 2.0**21) if single else (2.0**-53, 2.0**29)
    small = [abs(x) for x in values if abs(x) < tol * reach]
    ideal = 2.0 * (tol - 3.001 * unit * max(small, default=0.0)) * (1.0 - 8.0 * unit)
    if not single:
        return ideal
    narrow = struct.unpack("<f", struct.pack("<f", ideal))[0]
    if narrow > ideal:
        narrow = float(np.nextafter(np.float32(narrow), np.float32(0)))
    return float(narrow)


def quantise(x: float, tol: float, step: float, dtype: np.dtype[np.generic]) -> tuple[int, bool]:
    """(q, ok), by round-half-even of the scaled value instead of the magic constant."""
    real = np.float32 if dtype == SINGLE else np.float64
    with np.errstate(all="ignore"):
        scaled = real(x) * (real(1) / real(step))
        if not math.isfinite(scaled) or abs(scaled) >= 2.0**31:
            return 0, False
        q = round(float(scaled))
        close = bool(abs(real(x) - real(q) * real(step)) <= tol)
    if dtype == SINGLE:
        return q, close and abs(float(scaled)) < 2.0**22 and abs(q) < 2**22
    return q, close and abs(q) < 2**30


def encode(data: Array, bound: float) -> bytes:
    """The canonical stream."""
    dtype, flat = data.dtype, data.reshape(-1)
    patterns = [int(b) for b in flat.view(np.uint32 if dtype == SINGLE else np.uint64)]
    values = [float(x) for x in flat]
    tol = tolerance(bound, dtype)
    step, fill = 0.0, None
    elements = [Element(bits, 0, False) for bits in patterns]
    if tol > 0.0 and values:
        step = step_of(values, tol, dtype)
        reach = 2.0**21 if dtype == SINGLE else 2.0**29
        far = [i for i, x in enumerate(values) if not abs(x) < tol * reach]
        fill = patterns[far[0]] if far else None
        elements = [
            Element(bits, *quantise(x, tol, step, dtype))
            for bits, x in zip(patterns, values, strict=True)
        ]
    bases, codes, payload = b"", b"", b""
    for start in range(0, len(elements), 4096):
        chunk = _chunk(elements[start : start + 4096], fill, dtype.itemsize)
        bases, codes, payload = bases + chunk[0], codes + chunk[1], payload + chunk[2]
    codes += bytes(-len(codes) % 4)
    return _header(data.shape, dtype, step, fill, bases + codes + payload)


def _chunk(elements: list[Element], fill: int | None, itemsize: int) -> tuple[bytes, bytes, bytes]:
    blocks = [elements[i : i + 32] for i in range(0, len(elements), 32)]
    raw = [any(not e.ok and e.bits != fill for e in block) for block in blocks]
    coded = [e.q for block, r in zip(blocks, raw, strict=True) if not r for e in block]
    unmasked = [
        e.bits != fill for block, r in zip(blocks, raw, strict=True) if not r for e in block
    ]
    base = next((q for q, counts in zip(coded, unmasked, strict=True) if counts), 0)
    codes, payload, running = b"", b"", base
    for block, stored in zip(blocks, raw, strict=True):
        mask = [e.bits == fill for e in block]
        if stored:
            codes += b"\xff"
            payload += b"".join(e.bits.to_bytes(itemsize, "little") for e in block)
            continue
        if all(mask):
            codes += b"\xfe"
            continue
        differences = []
        for e, hidden in zip(block, mask, strict=True):
            differences.append(0 if hidden else e.q - running)
            running = running if hidden else e.q
        rate = max(abs(d) for d in differences).bit_length()
        codes += bytes([rate + 32 * any(mask)])
        words = [mask] if any(mask) else []
        if rate:
            words.append([d < 0 for d in differences])
            words += [[bool(abs(d) >> k & 1) for d in differences] for k in range(rate)]
        payload += b"".join(_word(bits) for bits in words)
    return struct.pack("<i", base), codes, payload


def _word(bits: list[bool]) -> bytes:
    return sum(1 << i for i, bit in enumerate(bits) if bit).to_bytes(4, "little")


def _header(
    shape: tuple[int, ...], dtype: np.dtype[np.generic], step: float, fill: int | None, body: bytes
) -> bytes:
    words = struct.unpack(f"<{len(body) // 4}I", body)
    check = sum((2 * i + 1) * w for i, w in enumerate(words)) % 2**64
    rest = bytes([1 if dtype == SINGLE else 2, len(shape), 1 if fill is None else 3]) + bytes(5)
    rest += struct.pack("<4Q", *shape, *[1] * (4 - len(shape)))
    rest += struct.pack("<dQQ", step, fill or 0, check)
    return b"SZP1" + struct.pack("<I", zlib.crc32(rest)) + rest + body


def decode(stream: bytes, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Array:
    """The values of a stream taken to be legal."""
    n, width = math.prod(shape), dtype.itemsize
    real = np.float32 if dtype == SINGLE else np.float64
    step, fill = struct.unpack_from("<dQ", stream, 48)
    blocks, chunks = -(-n // 32), -(-n // 4096)
    codes = stream[72 + 4 * chunks :][:blocks]
    at = 72 + 4 * chunks + blocks + -blocks % 4
    out = bytearray()
    running = 0
    for block, code in enumerate(codes):
        if block % 128 == 0:
            (running,) = struct.unpack_from("<i", stream, 72 + block // 128 * 4)
        count = min(32, n - 32 * block)
        if code == 255:
            out += stream[at : at + count * width]
            at += count * width
            continue
        mask = 2**32 - 1 if code == 254 else 0
        if 32 <= code < 64:
            (mask,) = struct.unpack_from("<I", stream, at)
            at += 4
        rate = 0 if code == 254 else code % 32
        words = struct.unpack_from(f"<{rate + 1}I", stream, at) if rate else (0,)
        at += 4 * len(words) if rate else 0
        for i in range(count):
            if mask >> i & 1:
                out += fill.to_bytes(8, "little")[:width]
                continue
            size = sum((words[1 + k] >> i & 1) << k for k in range(rate))
            running += -size if words[0] >> i & 1 else size
            signed = (running + 2**31) % 2**32 - 2**31
            with np.errstate(all="ignore"):
                out += (real(signed) * real(step)).tobytes()
    return np.frombuffer(bytes(out), dtype).reshape(shape)
