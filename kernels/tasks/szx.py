"""`szx`: the second codec whose stream is specified to the byte."""

from __future__ import annotations

from kernels.streams import szx
from kernels.tasks.base import CodecTask, StreamFormat

PAGE = """\
# szx

An error-bounded codec with a specified stream. A block of 128 values becomes one value where that
is close enough, else bit patterns without the low bits that the bound can spare, in byte planes.
Decoding is integer only, and no block depends on another.

```python
compress(data, abs_bound) -> uint8[:]          # 1-D
decompress(stream, shape, dtype) -> array      # of that shape and dtype
```

`data` is float32 or float64, 0-D to 4-D, C-contiguous, a private copy. `abs_bound` is a float; 0
asks for a lossless stream. Raise `NotImplementedError` for what you do not support (float64, 0-D,
4-D). Every element must come back within `abs_bound`, exactly; NaN as NaN, infinities as
themselves; the sign of zero is free. Little-endian throughout.

## Header, 72 bytes

`szstream.header(b"SZX1", shape, dtype, step=0.0, fill_bits=..., body=...)` returns it as a uint8
array, to be concatenated with the body (`body`: that uint8 array, or its check as an int;
`fill_bits`: an int, or None). `szstream.parse(stream, b"SZX1", shape, dtype)` checks a stream and
returns an object with the attributes `fill_bits` (int or None) and `body` (uint8 array); it raises
ValueError if the header is bad.

| offset | field |
|---|---|
| 0 | `SZX1` |
| 4 | u32 CRC-32 (zlib) of bytes 8 to 71 |
| 8 | u8 dtype (1 f32, 2 f64), u8 ndim, u8 flags, 5 zero bytes |
| 16 | u64 dims[4], C order, unused = 1 |
| 48 | f64 step, always 0 |
| 56 | u64 bit pattern of the fill value (0 if absent) |
| 64 | u64 check (0 if flag 1 is clear) |

flags: 1 check present, 2 fill present. check = sum of (2i + 1)·w[i] modulo 2^64 over the u32 words
of the body.

## Body

u8 code per block of 128 values, then u8 drop per block (each array zero-padded to a multiple of 4
bytes), then the payloads in block order. The last block may be short: m is the number of values in
a block, itemsize is 4 or 8.

| code | payload |
|---|---|
| 0 | constant: one item, the bits of every value |
| L = 1…itemsize − 1 | one item, the base; then L byte planes, least significant first |
| 32 + (0 or L) | a mask of 4 words, then as above |
| 254 | nothing: all of the block is fill |
| 255 | raw: the elements as stored |

A plane has m bytes, zero-padded to a multiple of 4; byte i is element i. In a mask, element i is
bit i mod 32 of word i div 32; masked elements are the fill value, and 0 in the planes. drop is at
most 23 (52 for f64), and 0 unless the block has planes. Payload sizes follow from the codes alone:
there is no offset table. Empty field: an empty body.

Decoding planes, modulo 2^32 (2^64): delta is an element's plane bytes together, `top` the sign bit,
`y = (base + delta) << drop`, and the value's bits are `y ^ top` if y has the top bit, else `~y`.
Refuse other codes and drops, code 254 or a mask without fill, non-zero pad bytes, and a body whose
length is not what the codes say. Mask bits of absent elements are ignored.

## Encoding

T = the largest f32 with T + (succ(T) − T)/2 ≤ bound, at most 2^100; f64: the predecessor of bound,
at most 2^900. T < 2^−100 (2^−900): no fill, and only equal bits in step 2.

1. Fill: the bits of the first element that is non-finite or has |x| ≥ T·2^21 (2^29 for f64).
   Elements with these bits are masked; the rest is about a block's other elements.
2. Constant if all bits are equal, or if all are finite and with mid = min/2 + max/2 in the data
   type max − mid ≤ T and mid − min ≤ T: the item is mid (a zero mid is +0).
3. Otherwise map bits b to integers that order as the values do: `~b` if the sign bit is set, else
   `b | top`. With E the largest exponent (1 ≤ |x| < 2 has 0; subnormals count as −126, f64 −1022)
   d = floor(log2 bound) − E + 24 (53 for f64), clamped to 0…23 (52). d = 0 if bound is 0, and if
   an element is non-finite or E is 127 (1023): rounding could reach infinity.
   `y = (map(b) + ((1 << d) >> 1)) >> d`, base = min y, L = bytes of max y − base.
   The error, at most 2^(d − 1) units in the last place, is within the bound: no check is needed.
4. L = 0: constant, the item is what base << d stands for, drop 0.
5. L > 0: raw, drop 0, if mask, item and planes are not shorter than the block as stored. A
   constant never is raw.

Mapping and rounding keep the order: a block's smallest and largest value decide all of this. Yours
may choose otherwise, if it keeps the bound.

Examples, f32. [1, 1.25, 1.5, 2, −3, 1, 1, 1], bound 0.1: L = 2, drop 19, base 0x7f8, body
`02000000 13000000 f8070000 f8fc0008 00f8f8f8 0f0f1010 000f0f0f`.
[100, 1e20, 101, 104, 96, 110, 99, 90], bound 0.5: fill 0x60ad78ec, mask 2, L = 1, drop 17, body
`21000000 11000000 02000000 00000000 00000000 00000000 5a610000 0a000b0e 06140900`.

## Score

Your decoder must read the golden stream and the golden decoder yours. Ranked by speed in both
directions, only if your stream is at most 1.02 × the golden one + 64 bytes on that field. Rung 4.
"""

TASK = CodecTask(
    name="szx",
    summary="constant blocks or truncated bit patterns in byte planes: a specified stream",
    page=PAGE,
    rung=4,
    stream_format=StreamFormat("szx", szx.encode, szx.decode),
)
