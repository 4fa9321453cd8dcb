"""The golden `szx` codec: constant blocks, and truncated bit patterns in byte planes.

Body: u8 code per block of 128 values ‖ u8 drop per block (each zero-padded to 4) ‖ payloads in
block order. Bit patterns are mapped to integers that order as the values do; a block keeps what is
left of them after its low bits are dropped, as distances from the smallest. The encoder is
canonical: its bytes are the reference. The decoder reads every legal stream. Both work on rows of
one block, batch by batch; a short last block is a batch of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels.records import Array
from kernels.streams import header
from kernels.streams.errors import StreamError
from kernels.streams.header import HEADER_BYTES, Stream
from kernels.streams.quantiser import PRECISIONS, Precision, batches, tolerance

MAGIC = b"SZX1"
BLOCK = 128
"""Values that share a code."""
MAX_VALUES = 2**31
MASKED = 32
"""Added to the code of a block that has a mask."""
MASK_WORDS = BLOCK // 32
WHOLE_FILL = 254
RAW = 255

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint32]
Places = npt.NDArray[np.int64]
Bits = npt.NDArray[np.bool_]
Patterns = npt.NDArray[np.unsignedinteger]
"""Bit patterns of values, or what they are mapped to: as wide as the data."""


def max_stream_bytes(n: int, itemsize: int) -> int:
    """No canonical stream of n values is larger."""
    return HEADER_BYTES + 2 * _pad4(_blocks(n)) + n * itemsize + 24


def _blocks(n: int) -> int:
    return -(-n // BLOCK)


def _pad4(count: int) -> int:
    return -(-count // 4) * 4


@dataclass(frozen=True)
class _Layout:
    """The integers that stand for floats of one type: how they map, what their fields are."""

    unsigned: type[np.unsignedinteger]
    signed: type[np.signedinteger]
    mantissa: int
    """Stored bits of it; no block drops more."""
    top: int
    """The sign bit."""
    bias: int
    """Exponent fields count from it; the largest field, 2·bias + 1, is not finite."""

    @property
    def itemsize(self) -> int:
        return np.dtype(self.unsigned).itemsize

    def ordered(self, bits: Patterns) -> Patterns:
        """Integers that order as the values do."""
        negative = (bits.view(self.signed) >> (8 * self.itemsize - 1)).view(self.unsigned)
        mapped: Patterns = bits ^ (negative | self.unsigned(self.top))
        return mapped

    def pattern(self, ordered: Patterns) -> Patterns:
        """The inverse of `ordered`."""
        positive = (ordered.view(self.signed) >> (8 * self.itemsize - 1)).view(self.unsigned)
        bits: Patterns = ordered ^ (~positive | self.unsigned(self.top))
        return bits

    def exponent(self, bits: Patterns) -> npt.NDArray[np.int64]:
        """The exponent fields."""
        magnitudes: Patterns = bits & ~self.unsigned(self.top)
        return (magnitudes >> self.unsigned(self.mantissa)).astype(np.int64)


_LAYOUTS: dict[np.dtype[np.generic], _Layout] = {
    np.dtype(np.float32): _Layout(np.uint32, np.int32, 23, 1 << 31, 127),
    np.dtype(np.float64): _Layout(np.uint64, np.int64, 52, 1 << 63, 1023),
}


def _payload_words(count: int, itemsize: int) -> npt.NDArray[np.int64]:
    """Words of the payload of a block of `count` values, by code; −1 for a code that is illegal."""
    table = np.full(256, -1, np.int64)
    coded = (itemsize + np.arange(itemsize) * _pad4(count)) // 4
    table[:itemsize] = coded
    table[MASKED : MASKED + itemsize] = MASK_WORDS + coded
    table[WHOLE_FILL] = 0
    table[RAW] = count * itemsize // 4
    return table


def _row_batches(flat: Array) -> Iterator[Array]:
    """Views of `flat` as rows of one block; the last batch may be a single short row."""
    whole = flat.size // BLOCK * BLOCK
    for part in batches(flat[:whole]):
        yield flat[part].reshape(-1, BLOCK)
    if whole < flat.size:
        yield flat[whole:].reshape(1, -1)


@dataclass(frozen=True)
class _Bound:
    """What the encoder is asked to keep."""

    precision: Precision
    layout: _Layout
    tol: float
    """0.0: no fill, and no block is constant for being nearly so."""
    log2: int | None
    """⌊log₂⌋ of the bound itself; None if that is 0."""

    @classmethod
    def of(cls, dtype: np.dtype[np.generic], abs_bound: float) -> _Bound:
        precision = PRECISIONS[dtype]
        log2 = math.frexp(abs_bound)[1] - 1 if abs_bound > 0.0 else None
        return cls(precision, _LAYOUTS[dtype], tolerance(abs_bound, precision), log2)


def encode(data: Array, abs_bound: float) -> Stream:
    """The canonical stream of `data` at an absolute bound ≥ 0 (0: lossless)."""
    if data.dtype not in PRECISIONS or data.ndim > header.MAX_DIMS:
        raise StreamError(f"szx holds float32 or float64, 0-D to 4-D, not {data.dtype}{data.shape}")
    if data.size >= MAX_VALUES:
        raise StreamError(f"{data.size} values: a stream holds fewer than 2^31")
    if not (math.isfinite(abs_bound) and abs_bound >= 0.0):
        raise StreamError(f"abs_bound {abs_bound!r}: it must be finite and ≥ 0")
    flat = np.ascontiguousarray(data).reshape(-1)
    bound = _Bound.of(data.dtype, abs_bound)
    fill_bits = _canonical_fill(flat, bound)
    parts = [_encode_rows(rows, bound, fill_bits) for rows in _row_batches(flat)]
    side = _pad4(_blocks(flat.size))
    payload = sum(part.payload.size for part in parts)
    stream = np.zeros(HEADER_BYTES + 2 * side + 4 * payload, np.uint8)
    body = stream[HEADER_BYTES:]
    if parts:
        np.concatenate([part.codes for part in parts], out=body[: _blocks(flat.size)])
        np.concatenate([part.drops for part in parts], out=body[side:][: _blocks(flat.size)])
        np.concatenate([part.payload for part in parts], out=body[2 * side :].view(np.uint32))
    header.write(stream, MAGIC, data.shape, data.dtype, 0.0, fill_bits)
    return stream


def _canonical_fill(flat: Array, bound: _Bound) -> int | None:
    """Bits of the first element that is not finite or far beyond the bound; None if lossless."""
    if bound.tol == 0.0:
        return None
    limit = bound.tol * bound.precision.reach
    for part in batches(flat):
        outside = ~(np.abs(flat[part]) < limit)
        if outside.any():
            return int(flat[part].view(bound.layout.unsigned)[outside.argmax()])
    return None


@dataclass(frozen=True)
class _EncodedRows:
    codes: Bytes
    drops: Bytes
    payload: Words


def _encode_rows(rows: Array, bound: _Bound, fill_bits: int | None) -> _EncodedRows:
    """Encode blocks of one size."""
    count, layout = rows.shape[1], bound.layout
    bits = rows.view(layout.unsigned)
    ordered = layout.ordered(bits)
    filled = None if fill_bits is None else bits == layout.unsigned(fill_bits)
    if filled is not None and not filled.any():
        filled = None
    plan = _plan(_extremes(ordered, filled), bound)

    whole = np.zeros(len(rows), np.bool_) if filled is None else filled.all(axis=1)
    masked = np.zeros(len(rows), np.bool_) if filled is None else filled.any(axis=1)
    sizes = _payload_words(count, rows.itemsize)
    codes = (plan.planes + MASKED * masked).astype(np.uint8)
    raw = (plan.planes == layout.itemsize) | (sizes[codes] >= sizes[RAW])
    codes[raw & (plan.planes > 0)] = RAW
    codes[whole] = WHOLE_FILL
    drops = np.where(_plane_counts(codes) > 0, plan.drops, 0).astype(np.uint8)

    words = sizes[codes]
    starts = np.cumsum(words) - words
    payload = np.zeros(int(words.sum()), np.uint32)
    if filled is not None:
        _put_masks(payload, starts, codes, filled)
    for group in _groups(starts, codes):
        items = plan.items[group.rows, None].view(np.uint32)
        payload[group.places(layout.itemsize // 4)] = items
        if group.planes > 0:
            drop = drops[group.rows].astype(layout.unsigned)[:, None]
            kept = (ordered[group.rows] + _half(drop)) >> drop
            kept -= plan.items[group.rows, None]
            if filled is not None:
                kept[filled[group.rows]] = 0
            _put_planes(payload, group, kept)
    stored = np.flatnonzero(codes == RAW)
    payload[starts[stored, None] + np.arange(sizes[RAW])] = rows[stored].view(np.uint32)
    return _EncodedRows(codes, drops, payload)


@dataclass(frozen=True)
class _Extremes:
    """Smallest and largest unmasked integer of each block; meaningless where there is none."""

    low: Patterns
    high: Patterns


def _extremes(ordered: Patterns, filled: Bits | None) -> _Extremes:
    if filled is None:
        return _Extremes(ordered.min(axis=1), ordered.max(axis=1))
    none, all_ones = ordered.dtype.type(0), ~ordered.dtype.type(0)
    low = np.where(filled, all_ones, ordered).min(axis=1)
    return _Extremes(low, np.where(filled, none, ordered).max(axis=1))


@dataclass(frozen=True)
class _Plan:
    """How each block would be coded if neither raw nor all fill."""

    planes: npt.NDArray[np.int64]
    """0: constant. As many as an item has bytes: only raw will do."""
    drops: npt.NDArray[np.int64]
    items: Patterns
    """The bits of a constant, or the base of the planes."""


def _plan(extremes: _Extremes, bound: _Bound) -> _Plan:
    """All of it follows from a block's extremes, since both mapping and rounding keep the order."""
    layout, low, high = bound.layout, extremes.low, extremes.high
    exponents = np.maximum(
        layout.exponent(layout.pattern(low)), layout.exponent(layout.pattern(high))
    )
    drops = np.zeros(low.shape, np.int64)
    if bound.log2 is not None:
        exponent = np.maximum(exponents, 1) - layout.bias
        drops = np.clip(bound.log2 - exponent + layout.mantissa + 1, 0, layout.mantissa)
        # Rounding the top finite exponent could reach infinity.
        drops[exponents >= 2 * layout.bias] = 0
    shift = drops.astype(layout.unsigned)
    base = (low + _half(shift)) >> shift
    spread = ((high + _half(shift)) >> shift) - base
    planes = np.zeros(low.shape, np.int64)
    for k in range(layout.itemsize):
        planes += spread >= layout.unsigned(1 << 8 * k)

    items = np.where(planes == 0, layout.pattern(base << shift), base)
    middle = _middles(layout.pattern(low), layout.pattern(high), bound)
    flat = middle.close & (exponents <= 2 * layout.bias)
    items[flat] = middle.bits[flat]
    same = low == high
    items[same] = layout.pattern(low[same])
    planes[flat | same] = 0
    return _Plan(planes, drops, items)


@dataclass(frozen=True)
class _Middles:
    bits: Patterns
    close: Bits
    """Both extremes are within the tolerance; meaningless where one is not finite."""


def _middles(low: Patterns, high: Patterns, bound: _Bound) -> _Middles:
    """The middle between the smallest and the largest value of each block, in the data type."""
    real, unsigned = bound.precision.real, bound.layout.unsigned
    if bound.tol == 0.0:
        return _Middles(low, np.zeros(low.shape, np.bool_))
    smallest: npt.NDArray[np.floating] = low.view(real)
    largest: npt.NDArray[np.floating] = high.view(real)
    with np.errstate(over="ignore", invalid="ignore"):
        middle = smallest * real(0.5) + largest * real(0.5)
        close = (largest - middle <= bound.tol) & (middle - smallest <= bound.tol)
    # Adding zero makes −0 a +0 and changes nothing else.
    return _Middles((middle + real(0.0)).view(unsigned), close)


def _half(shift: Patterns) -> Patterns:
    """Half of the unit that `shift` bits to the right leaves; 0 for no shift."""
    one = shift.dtype.type(1)
    return (one << shift) >> one


@dataclass(frozen=True)
class _Group:
    """The blocks that have an item and equally many planes."""

    planes: int
    rows: Places
    starts: Places
    """Where each row's item is in the payload."""

    def places(self, words: int, after: int = 0) -> Places:
        """Of `words` words each, `after` so many from the item's start."""
        return self.starts[:, None] + np.arange(after, after + words)


def _plane_counts(codes: Bytes) -> Bytes:
    """Planes of each block: none if it has no item."""
    return np.where(codes < WHOLE_FILL, codes % np.uint8(MASKED), np.uint8(0))


def _groups(starts: Places, codes: Bytes) -> Iterator[_Group]:
    planes = np.where(codes < WHOLE_FILL, _plane_counts(codes), WHOLE_FILL)
    items = starts + MASK_WORDS * (codes >= MASKED)
    for count in np.unique(planes[planes != WHOLE_FILL]):
        rows = np.flatnonzero(planes == count)
        yield _Group(int(count), rows, items[rows])


def _masked(codes: Bytes) -> Places:
    return np.flatnonzero((codes >= MASKED) & (codes < WHOLE_FILL))


def _put_masks(payload: Words, starts: Places, codes: Bytes, filled: Bits) -> None:
    rows = _masked(codes)
    marks = np.zeros((rows.size, BLOCK), np.bool_)
    marks[:, : filled.shape[1]] = filled[rows]
    words = np.packbits(marks, axis=1, bitorder="little").view(np.uint32)
    payload[starts[rows, None] + np.arange(MASK_WORDS)] = words


def _put_planes(payload: Words, group: _Group, kept: Patterns) -> None:
    """Byte k of every element is plane k."""
    rows, count = kept.shape
    planes = np.zeros((rows, group.planes, _pad4(count)), np.uint8)
    for k in range(group.planes):
        planes[:, k, :count] = kept >> kept.dtype.type(8 * k)
    places = group.places(group.planes * _pad4(count) // 4, after=kept.itemsize // 4)
    payload[places] = planes.reshape(rows, -1).view(np.uint32)


@dataclass(frozen=True)
class _Body:
    """The parts of a checked body."""

    codes: Bytes
    drops: Bytes
    starts: Places
    payload: Words


def decode(stream: Stream, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Array:
    """The values of any legal stream. Raises StreamError for whatever the format does not allow."""
    dtype = np.dtype(dtype)
    head = header.parse(stream, MAGIC, shape, dtype)
    if head.step != 0.0:
        raise StreamError(f"step {head.step!r}: it must be 0 in szx")
    n = math.prod(shape)
    body = _parse_body(head, n, dtype)
    out = np.empty(n, dtype)
    at = 0
    for rows in _row_batches(out):
        _decode_rows(rows, body, slice(at, at + len(rows)), head.fill_bits)
        at += len(rows)
    return out.reshape(shape)


def _parse_body(head: header.Header, n: int, dtype: np.dtype[np.generic]) -> _Body:
    blocks, tail = _blocks(n), n % BLOCK
    side = _pad4(blocks) // 4
    if head.body.size < 2 * side:
        raise StreamError(
            f"{4 * head.body.size} bytes of body, too few for the codes and drops of {blocks} "
            "blocks"
        )
    codes, drops = (head.body[start : start + side].view(np.uint8)[:blocks] for start in (0, side))
    for padded in (head.body[:side], head.body[side : 2 * side]):
        if padded.view(np.uint8)[blocks:].any():
            raise StreamError("the bytes that pad the block codes and the drops must be 0")
    sizes = _payload_words(BLOCK, dtype.itemsize)[codes]
    if tail:
        sizes[-1] = _payload_words(tail, dtype.itemsize)[codes[-1]]
    _check_codes(codes, drops, sizes, _LAYOUTS[dtype])
    if head.fill_bits is None and ((codes >= MASKED) & (codes != RAW)).any():
        raise StreamError("a block uses the fill value, but the header has none")
    expected = 2 * side + int(sizes.sum())
    if head.body.size != expected:
        raise StreamError(
            f"{4 * head.body.size} bytes of body, but its block codes need {4 * expected}"
        )
    return _Body(codes, drops, np.cumsum(sizes) - sizes, head.body[2 * side :])


def _check_codes(codes: Bytes, drops: Bytes, sizes: Places, layout: _Layout) -> None:
    if (sizes < 0).any():
        at = int((sizes < 0).argmax())
        last = layout.itemsize - 1
        raise StreamError(
            f"block {at} has code {codes[at]}: legal are 0 to {last}, {MASKED} to {MASKED + last}, "
            "254 and 255"
        )
    limits = np.where(_plane_counts(codes) > 0, layout.mantissa, 0)
    if (drops > limits).any():
        at = int((drops > limits).argmax())
        raise StreamError(
            f"block {at} with code {codes[at]} has drop {drops[at]}: at most {limits[at]} is legal"
        )


def _decode_rows(out: Array, body: _Body, blocks: slice, fill_bits: int | None) -> None:
    """Decode blocks of one size into `out`."""
    codes, drops, starts = body.codes[blocks], body.drops[blocks], body.starts[blocks]
    layout = _LAYOUTS[out.dtype]
    bits = out.view(layout.unsigned)
    item_words = out.itemsize // 4
    for group in _groups(starts, codes):
        items = body.payload[group.places(item_words)].view(layout.unsigned)
        if group.planes == 0:
            bits[group.rows] = items
            continue
        kept = _planes(body.payload, group, out.shape[1], layout)
        kept += items
        kept <<= drops[group.rows].astype(layout.unsigned)[:, None]
        bits[group.rows] = layout.pattern(kept)
    if fill_bits is not None:
        bits[codes == WHOLE_FILL] = fill_bits
        rows = _masked(codes)
        masks = body.payload[starts[rows, None] + np.arange(MASK_WORDS)]
        marks = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little")
        bits[rows] = np.where(marks[:, : out.shape[1]], layout.unsigned(fill_bits), bits[rows])
    raw = np.flatnonzero(codes == RAW)
    words = np.arange(out.shape[1] * item_words)
    bits.view(np.uint32)[raw] = body.payload[starts[raw, None] + words]


def _planes(payload: Words, group: _Group, count: int, layout: _Layout) -> Patterns:
    """The distances from the base that a group's byte planes hold."""
    places = group.places(group.planes * _pad4(count) // 4, after=layout.itemsize // 4)
    planes = payload[places].view(np.uint8).reshape(-1, group.planes, _pad4(count))
    if planes[:, :, count:].any():
        raise StreamError("the bytes that pad the planes of the last block must be 0")
    kept: Patterns = planes[:, 0, :count].astype(layout.unsigned)
    for k in range(1, group.planes):
        kept |= planes[:, k, :count].astype(layout.unsigned) << layout.unsigned(8 * k)
    return kept
