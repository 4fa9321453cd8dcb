"""`sz-open`: a codec whose stream may be anything."""

from __future__ import annotations

from kernels.tasks.base import CodecTask

PAGE = """\
# sz-open

An error-bounded codec with any stream you like: better prediction, entropy coding, dictionaries.

```python
compress(data, abs_bound) -> uint8[:]          # 1-D
decompress(stream, shape, dtype) -> array      # of that shape and dtype
```

| | |
|---|---|
| `data` | float32 or float64, 0-D to 4-D, C-contiguous, a private copy that you may overwrite |
| `abs_bound` | float ≥ 0; 0 asks for a lossless stream |
| `stream` | exactly the bytes that compress returned; their number is the size that counts |
| result | every element within `abs_bound`, exactly: there is no tolerance |

NaN must come back as NaN, ±Inf as itself; the sign of zero is free. The decompressor runs in
another process and gets the stream, the shape and the dtype, nothing else. Raise
`NotImplementedError` for what you do not support; float32, 1-D to 3-D, finite or not, is required.

What breaks bounds: rounding of the reconstructed value to float32 costs up to half an ulp, so
check |x − x'| after reconstruction and store what fails as it is (the page of szp shows how, with
float32 alone); predict from reconstructed values; keep fill values (1e20, 1e35) and NaN out of the
predictor; q may overflow int32.

## Score

How much faster data arrives than sent raw, in bits: the mean, over link bandwidths B spaced evenly
in log from memcpy/1000 to memcpy (this machine's copy bandwidth at the field's size), of
log2 max(1, (1/B) / (1/C + 1/(ratio·B) + 1/D)), with C and D the speeds of compress and decompress.
Raw at memcpy speed scores 0. run_compress reports it; scores of different fields do not compare.
The view `rate_distortion` has ratio and speed per bound. Rung 4.
"""

TASK = CodecTask(
    name="sz-open",
    summary="an error-bounded codec with any stream, scored by ratio and speed together",
    page=PAGE,
    rung=4,
    stream_format=None,
)
