"""`szp`: a codec whose stream is specified to the byte."""

from __future__ import annotations

from kernels.streams import szp
from kernels.tasks.base import CodecTask, StreamFormat

PAGE = """\
# szp

An error-bounded codec with a specified stream: quantise, difference in 1-D, store each block of 32
values in as many bit planes as its largest difference needs. Simple enough for memory speed.

```python
compress(data, abs_bound) -> uint8[:]          # 1-D
decompress(stream, shape, dtype) -> array      # of that shape and dtype
```

`data` is float32 or float64, 0-D to 4-D, C-contiguous, a private copy. `abs_bound` is a float; 0
asks for a lossless stream. Raise `NotImplementedError` for what you do not support (float64, 0-D,
4-D). Every element must come back within `abs_bound`, exactly; NaN as NaN, infinities as
themselves; the sign of zero is free. Little-endian throughout.

## Header, 72 bytes

`szstream.header(b"SZP1", shape, dtype, step=..., fill_bits=..., body=...)` returns it as a uint8
array, to be concatenated with the body (`body`: that uint8 array, or its check as an int;
`fill_bits`: an int, or None). `szstream.parse(stream, b"SZP1", shape, dtype)` checks a stream and
returns an object with the attributes `step` (float), `fill_bits` (int or None) and `body` (uint8
array); it raises ValueError if the header is bad.

| offset | field |
|---|---|
| 0 | `SZP1` |
| 4 | u32 CRC-32 (zlib) of bytes 8 to 71 |
| 8 | u8 dtype (1 f32, 2 f64), u8 ndim, u8 flags, 5 zero bytes |
| 16 | u64 dims[4], C order, unused = 1 |
| 48 | f64 step (an f32 value for f32 data; 0 = lossless) |
| 56 | u64 bit pattern of the fill value (0 if absent) |
| 64 | u64 check (0 if flag 1 is clear) |

flags: 1 check present, 2 fill present. check = sum of (2i + 1)·w[i] modulo 2^64 over the u32 words
of the body.

## Body

i32 base per chunk of 128 blocks, then u8 code per block of 32 values (zero-padded to a multiple of
4 bytes), then the payloads in block order:

| code | payload |
|---|---|
| 0 | nothing: all differences are 0 |
| r = 1…31 | a sign word, then r plane words, least significant first; bit i is element i |
| 32 + r, r = 0…31 | a mask word, then as for r; masked elements are the fill value |
| 254 | nothing: the whole block, short or not, is the fill value |
| 255 | raw: the block's elements as stored |

The running q (modulo 2^32) starts at the chunk's base; each difference (sign and magnitude, sign
bit 1 = negative) is added to it; raw blocks and masked elements leave it. The value is
`q (as int32, converted to dtype) * step`, one multiplication in the data type. Absent elements of
the last block have difference 0 and mask 0, and a raw one stores only those present. The base of a
chunk without coded elements is free. Payload sizes follow from the codes alone: there is no offset
table; refuse other codes, and a body whose length is not what the codes say. Lossless: step 0, no
fill, all blocks raw. Empty field: an empty body, step 0.

Examples, f32, bound 0.5. [0, 1, 2, 3.5, −1]: q = 0 1 2 4 −1, body
`00000000 03000000 10000000 16000000 08000000 10000000`. [250, 1e20, 1e20, 251]: fill 0x60ad78ec and
body `fa000000 21000000 06000000 00000000 08000000`.

## Keeping the bound without float64

T = the largest f32 with T + (succ(T) − T)/2 ≤ bound, at most 2^100; below 2^−100: lossless. In f32:
p = x·r; t = p + 12582912; f = t − 12582912; require |p| < 2^22 and |f| < 2^22; x' = f·s; accept iff
|x − x'| ≤ T; q = bits(t) − 0x4B400000. If the rounded difference is at most T, the exact one is at
most the bound, whatever r and s are. With M = max |x| among |x| < T·2^21, u = 2^−24,
s = 2·(T − 3.001·u·M)·(1 − 8u) evaluated in double and rounded down to f32, and r = 1/s, every
|x| ≤ M is accepted.

f64 data: u = 2^−53, T = the predecessor of bound (at most 2^900, lossless below 2^−900), magic
1.5·2^52 (bits 0x4338000000000000), |f| < 2^30 alone is tested, M among |x| < T·2^29, s as
evaluated.
No fused multiply-add, no fastmath.

The golden encoder takes as fill the first element that is non-finite or has |x| ≥ T·2^21 (2^29 for
f64), stores a block raw iff an unmasked element is not accepted, and starts each chunk at the q of
its first coded element, so that its difference is 0. Yours may choose freely.

## Score

Your decoder must read the golden stream and the golden decoder yours. Ranked by speed in both
directions, only if your stream is at most 1.02 × the golden one + 64 bytes on that field. Rung 4.
"""

TASK = CodecTask(
    name="szp",
    summary="quantise, 1-D difference, bit planes per block of 32: a specified stream",
    page=PAGE,
    rung=4,
    stream_format=StreamFormat("szp", szp.encode, szp.decode),
)
