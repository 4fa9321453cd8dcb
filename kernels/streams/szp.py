"""The golden `szp` codec: quantise, 1-D differences carried through a chunk, bit planes.

Body: i32 base per chunk of 128 blocks ‖ u8 code per block of 32 values, zero-padded to 4 ‖ payloads
in block order. The encoder is canonical: its bytes are the reference. The decoder reads every legal
stream. Both work batch by batch, on rows of one block.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels.records import Array
from kernels.streams import header
from kernels.streams.errors import StreamError
from kernels.streams.header import HEADER_BYTES, Stream
from kernels.streams.quantiser import PRECISIONS, Quantiser, batches

MAGIC = b"SZP1"
BLOCK = 32
"""Values that share a code; bits of a plane word."""
CHUNK = 4096
"""Values that share a base."""
MAX_VALUES = 2**31
MASKED = 32
"""Added to the code of a block that has a mask word."""
WHOLE_FILL = 254
RAW = 255

Words = npt.NDArray[np.uint32]
Bits = npt.NDArray[np.bool_]


def max_stream_bytes(n: int, itemsize: int) -> int:
    """Largest canonical stream of n values."""
    tail = n % BLOCK
    tail_bytes = max(tail * itemsize, 132) if tail else 0
    return HEADER_BYTES + _front_bytes(n) + itemsize * (n - tail) + tail_bytes


def _blocks(n: int) -> int:
    return -(-n // BLOCK)


def _chunks(n: int) -> int:
    return -(-n // CHUNK)


def _front_bytes(n: int) -> int:
    """Bytes of bases and padded codes."""
    return 4 * _chunks(n) + -(-_blocks(n) // 4) * 4


def _payload_words(codes: npt.NDArray[np.uint8], n: int, itemsize: int) -> npt.NDArray[np.int64]:
    """Words of each block's payload; −1 for a code that does not exist."""
    rates = np.arange(MASKED)
    planes = np.where(rates > 0, rates + 1, 0)
    table = np.full(256, -1, np.int64)
    table[:MASKED] = planes
    table[MASKED : 2 * MASKED] = planes + 1
    table[WHOLE_FILL] = 0
    table[RAW] = BLOCK * itemsize // 4
    words = table[codes]
    if n % BLOCK and codes[-1] == RAW:
        words[-1] = n % BLOCK * itemsize // 4
    return words


def encode(data: Array, abs_bound: float) -> Stream:
    """The canonical stream of `data` at an absolute bound ≥ 0 (0: lossless)."""
    if data.dtype not in PRECISIONS or data.ndim > header.MAX_DIMS:
        raise StreamError(f"szp holds float32 or float64, 0-D to 4-D, not {data.dtype}{data.shape}")
    if data.size >= MAX_VALUES:
        raise StreamError(f"{data.size} values: a stream holds fewer than 2^31")
    if not (math.isfinite(abs_bound) and abs_bound >= 0.0):
        raise StreamError(f"abs_bound {abs_bound!r}: it must be finite and ≥ 0")
    flat = np.ascontiguousarray(data).reshape(-1)
    quantiser = Quantiser.of(flat, abs_bound)
    fill_bits = _canonical_fill(flat, quantiser)
    parts = [_encode_batch(flat[part], quantiser, fill_bits) for part in batches(flat)]
    front = _front_bytes(flat.size)
    payload = sum(part.payload.size for part in parts)
    stream = np.zeros(HEADER_BYTES + front + 4 * payload, np.uint8)
    words = stream[HEADER_BYTES + front :].view(np.uint32)
    if parts:
        bases = np.concatenate([part.bases for part in parts])
        codes = np.concatenate([part.codes for part in parts])
        stream[HEADER_BYTES:][: 4 * bases.size] = bases.view(np.uint8)
        stream[HEADER_BYTES + 4 * bases.size :][: codes.size] = codes
        np.concatenate([part.payload for part in parts], out=words)
    header.write(stream, MAGIC, data.shape, data.dtype, quantiser.step, fill_bits)
    return stream


def _canonical_fill(flat: Array, quantiser: Quantiser) -> int | None:
    """Bits of the first element that no quantisation can keep; None if lossless."""
    if quantiser.tol == 0.0:
        return None
    limit = quantiser.tol * quantiser.precision.reach
    for part in batches(flat):
        outside = ~(np.abs(flat[part]) < limit)
        if outside.any():
            return int(flat[part].view(quantiser.precision.bits)[outside.argmax()])
    return None


@dataclass(frozen=True)
class _EncodedBatch:
    bases: npt.NDArray[np.int32]
    codes: npt.NDArray[np.uint8]
    payload: Words


def _encode_batch(part: Array, quantiser: Quantiser, fill_bits: int | None) -> _EncodedBatch:
    """Encode whole chunks (the last one may be short); rows below are blocks."""
    n = part.size
    values = _padded(part).reshape(-1, BLOCK)
    bits = values.view(quantiser.precision.bits)
    quantised = quantiser.apply(values)
    filled = np.zeros(values.shape, np.bool_) if fill_bits is None else bits == fill_bits
    filled.reshape(-1)[n:] = False
    exempt = filled.copy()
    exempt.reshape(-1)[n:] = True
    raw = np.logical_not((quantised.ok | exempt).all(axis=1))
    has_fill = filled.any(axis=1)
    whole = has_fill & exempt.all(axis=1)
    masked = has_fill & ~raw & ~whole

    active = ~(exempt | raw[:, None])
    differences = _differences(quantised.q.reshape(-1, CHUNK), active.reshape(-1, CHUNK))
    rows = differences.rows.reshape(-1, BLOCK)
    magnitudes = np.abs(rows).view(np.uint32)
    rates = np.frexp(magnitudes.max(axis=1).astype(np.float64))[1]
    codes = (rates + MASKED * masked).astype(np.uint8)
    codes[whole] = WHOLE_FILL
    codes[raw] = RAW

    codes = codes[: _blocks(n)]
    sizes = _payload_words(codes, n, part.itemsize)
    starts = np.cumsum(sizes) - sizes
    payload = np.empty(int(sizes.sum()), np.uint32)
    _put_masks(payload, starts, codes, filled)
    _put_planes(payload, starts, codes, rows < 0, magnitudes)
    _put_raw(payload, starts, codes, part)
    return _EncodedBatch(differences.bases, codes, payload)


def _padded(part: Array) -> Array:
    """Zero-padded to whole chunks; the same memory if it is already."""
    if part.size % CHUNK == 0:
        return part
    padded = np.zeros(_chunks(part.size) * CHUNK, part.dtype)
    padded[: part.size] = part
    return padded


@dataclass(frozen=True)
class _Differences:
    bases: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]
    """One row per chunk; 0 where not active."""


def _differences(q: npt.NDArray[np.int32], active: Bits) -> _Differences:
    """Base and differences of each chunk; what is not active leaves the running value alone."""
    running = q
    bases = q[:, 0]
    if not active.all():
        first = active.argmax(axis=1)
        at_first = q[np.arange(len(q)), first]
        bases = np.where(active.any(axis=1), at_first, np.int32(0))
        last = np.maximum.accumulate(np.where(active, np.arange(CHUNK, dtype=np.int32), -1), axis=1)
        carried = np.take_along_axis(q, np.maximum(last, 0), axis=1)
        running = np.where(last >= 0, carried, bases[:, None])
    return _Differences(bases, np.diff(running, axis=1, prepend=bases[:, None]))


def _pack(bits: Bits | npt.NDArray[np.uint8]) -> Words:
    """Words along the last axis of 32 booleans; bit i is element i."""
    packed = np.packbits(bits.reshape(-1), bitorder="little").view(np.uint32)
    return packed.reshape(bits.shape[:-1])


def _unpack(words: Words) -> npt.NDArray[np.uint8]:
    """The inverse of `_pack`, as zeros and ones."""
    little = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(little.reshape(-1), bitorder="little").reshape(*words.shape, BLOCK)


def _put_masks(
    payload: Words, starts: npt.NDArray[np.int64], codes: npt.NDArray[np.uint8], filled: Bits
) -> None:
    masked = np.flatnonzero((codes >= MASKED) & (codes < 2 * MASKED))
    payload[starts[masked]] = _pack(filled[masked])


def _put_planes(
    payload: Words,
    starts: npt.NDArray[np.int64],
    codes: npt.NDArray[np.uint8],
    negative: Bits,
    magnitudes: Words,
) -> None:
    """Sign word and plane words, for all blocks of one rate at a time."""
    for group in _rate_groups(starts, codes):
        planes = np.empty((group.rows.size, group.rate + 1, BLOCK), np.uint8)
        planes[:, 0] = negative[group.rows]
        chosen = magnitudes[group.rows]
        for k in range(group.rate):
            planes[:, k + 1] = (chosen >> np.uint32(k)) & np.uint32(1)
        payload[group.places] = _pack(planes)


@dataclass(frozen=True)
class _RateGroup:
    rate: int
    rows: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]
    """Where each row's sign word and planes are in the payload: one row of rate + 1."""


def _rate_groups(starts: npt.NDArray[np.int64], codes: npt.NDArray[np.uint8]) -> list[_RateGroup]:
    """Blocks that have planes, by rate."""
    coded = codes < 2 * MASKED
    rates = np.where(coded, codes % MASKED, 0)
    groups = []
    for rate in np.flatnonzero(np.bincount(rates, minlength=1)):
        rows = np.flatnonzero(rates == rate)
        places = (starts + (codes >= MASKED))[rows, None] + np.arange(rate + 1)
        if rate > 0:
            groups.append(_RateGroup(int(rate), rows, places))
    return groups


def _put_raw(
    payload: Words, starts: npt.NDArray[np.int64], codes: npt.NDArray[np.uint8], part: Array
) -> None:
    words = part.view(np.uint32)
    for piece in _raw_pieces(starts, codes, part.size, part.itemsize):
        payload[piece.stored] = words[piece.data]


@dataclass(frozen=True)
class _RawPiece:
    stored: npt.NDArray[np.int64]
    """Word indices in the payload."""
    data: npt.NDArray[np.int64]
    """Word indices in the batch's values."""


def _raw_pieces(
    starts: npt.NDArray[np.int64], codes: npt.NDArray[np.uint8], n: int, itemsize: int
) -> list[_RawPiece]:
    """Raw blocks: the whole ones together, then a short tail."""
    width = BLOCK * itemsize // 4
    raw = np.flatnonzero(codes == RAW)
    whole = raw[raw < n // BLOCK]
    lanes = np.arange(width)
    pieces = [_RawPiece(starts[whole, None] + lanes, whole[:, None] * width + lanes)]
    if raw.size > whole.size:
        lanes = np.arange(n % BLOCK * itemsize // 4)
        pieces.append(_RawPiece(starts[-1] + lanes, (n // BLOCK) * width + lanes))
    return pieces


@dataclass(frozen=True)
class _Body:
    """The parts of a checked body."""

    bases: npt.NDArray[np.int32]
    codes: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    payload: Words


def decode(stream: Stream, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Array:
    """The values of any legal stream. Raises StreamError for whatever the format does not allow."""
    dtype = np.dtype(dtype)
    head = header.parse(stream, MAGIC, shape, dtype)
    n = math.prod(shape)
    body = _parse_body(head, n, dtype.itemsize)
    out = np.empty(n, dtype)
    for part in batches(out):
        _decode_batch(out[part], body, part.start, head)
    return out.reshape(shape)


def _parse_body(head: header.Header, n: int, itemsize: int) -> _Body:
    chunks, blocks, front = _chunks(n), _blocks(n), _front_bytes(n) // 4
    if head.body.size < front:
        raise StreamError(f"{4 * head.body.size} bytes of body, too few for {blocks} block codes")
    padded = head.body[chunks:front].view(np.uint8)
    codes = padded[:blocks]
    if padded[blocks:].any():
        raise StreamError("the bytes that pad the block codes must be 0")
    sizes = _payload_words(codes, n, itemsize)
    if (sizes < 0).any():
        at = int((sizes < 0).argmax())
        raise StreamError(f"block {at} has code {codes[at]}: legal are 0 to 63, 254 and 255")
    if head.fill_bits is None and ((codes >= MASKED) & (codes != RAW)).any():
        raise StreamError("a block uses the fill value, but the header has none")
    if head.step == 0.0 and (codes != RAW).any():
        raise StreamError("step 0 is lossless, but not every block is raw")
    expected = front + int(sizes.sum())
    if head.body.size != expected:
        raise StreamError(
            f"{4 * head.body.size} bytes of body, but its block codes need {4 * expected}"
        )
    return _Body(
        bases=head.body[:chunks].view(np.int32),
        codes=codes,
        starts=np.cumsum(sizes) - sizes,
        payload=head.body[front:],
    )


def _decode_batch(out: Array, body: _Body, at: int, head: header.Header) -> None:
    """Decode whole chunks (the last one may be short) from flat index `at` into `out`."""
    n = out.size
    rows = slice(at // BLOCK, at // BLOCK + _blocks(n))
    codes, starts = body.codes[rows], body.starts[rows]
    differences = np.zeros((_chunks(n) * CHUNK // BLOCK, BLOCK), np.uint32)
    for group in _rate_groups(starts, codes):
        planes = _unpack(body.payload[group.places])
        magnitudes = np.zeros((group.rows.size, BLOCK), np.uint32)
        for k in range(group.rate):
            magnitudes |= planes[:, k + 1].astype(np.uint32) << np.uint32(k)
        differences[group.rows] = np.where(planes[:, 0] != 0, -magnitudes, magnitudes)
    filled = _filled(codes, starts, body.payload)
    if filled is not None:
        differences[: len(codes)][filled] = 0
    bases = body.bases[at // CHUNK : at // CHUNK + _chunks(n), None].view(np.uint32)
    running = np.cumsum(differences.reshape(-1, CHUNK), axis=1, dtype=np.uint32) + bases
    real = out.dtype.type
    with np.errstate(over="ignore"):
        np.multiply(running.view(np.int32).reshape(-1)[:n].astype(real), real(head.step), out=out)
    bits = out.view(PRECISIONS[out.dtype].bits)
    if filled is not None and head.fill_bits is not None:
        bits[filled.reshape(-1)[:n]] = head.fill_bits
    words = out.view(np.uint32)
    for piece in _raw_pieces(starts, codes, n, out.itemsize):
        words[piece.data] = body.payload[piece.stored]


def _filled(
    codes: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], payload: Words
) -> Bits | None:
    """Which elements of each block are the fill value; None if there are none at all."""
    masked = np.flatnonzero((codes >= MASKED) & (codes < 2 * MASKED))
    whole = codes == WHOLE_FILL
    if masked.size == 0 and not whole.any():
        return None
    filled = np.zeros((codes.size, BLOCK), np.bool_)
    filled[whole] = True
    filled[masked] = _unpack(payload[starts[masked]])
    return filled
