"""Results that are wrong in one way each, and the rule that should speak of them."""

from __future__ import annotations

import numpy as np

from tests.toolchains.small_kernels import (
    CODEC,
    CUBES,
    ENCODE,
    GRID,
    JUMPS,
    LONG,
    NOISE,
    PACK,
    RAW,
    RAW_SZP,
    STEEP,
    WIDE,
    Wrong,
    changing,
    decoding,
    encoding,
    filled,
    holes,
    running,
)

WRONG: dict[str, tuple[Wrong, ...]] = {
    # Bounds: the whole.
    "zeros": (
        decoding("np.zeros(q.size)"),
        encoding("(flat * 0).astype(np.int32)"),
    ),
    "values-in-order": (
        decoding("(q * step).reshape(shape, order='F').copy()", GRID, "Fortran"),
        decoding("(q * step)[::-1]", GRID, "reverse"),
    ),
    "values-shifted": (decoding("np.roll(q, -1) * step", NOISE, "one place early"),),
    "sum-missing": (
        decoding("np.diff(q, prepend=np.int32(0)) * step", NOISE),
        encoding(
            "np.diff(np.rint(flat / step), prepend=0).astype(np.int32)",
            data=NOISE,
        ),
    ),
    "bytes-swapped": (changing("x = x.byteswap()", NOISE),),
    "sign-lost": (decoding("-q * step"),),
    "scaled": (
        decoding("q * step / 2", says="0.5"),
        decoding("q", says="4"),
    ),
    # Values that are special.
    "non-finite-lost": (
        changing("x = np.nan_to_num(x)", holes()),
        decoding("q * step", holes()),
        encoding("(flat / step).astype(np.int32)", data=holes()),
    ),
    "beside-non-finite": (
        changing("x[1:][~np.isfinite(x[:-1]) & np.isfinite(x[1:])] += np.float32(9)", holes()),
        changing("x[np.isnan(np.convolve(x, np.ones(3), 'same')) & np.isfinite(x)] = 0", holes()),
    ),
    "fill-value": (encoding("(flat / step).astype(np.int32)", data=filled()),),
    "beside-fill": (changing("x[1:][(x[:-1] > 1e9) & (x[1:] < 1e9)] += np.float32(9)", filled()),),
    "lossless": (
        Wrong(
            CODEC.replace("2 * abs_bound * (1 - 1e-6)", "max(abs_bound, 1e-3)"),
            data=np.full((30, 40), 1.23456, np.float32),
            mode="rel",
        ),
    ),
    # Sizes of the errors.
    "wraps": (
        encoding(
            "np.diff(np.rint(flat / step).astype(np.int32), "
            "prepend=0).astype(np.int8).astype(np.int32)",
            "np.cumsum(q) * step",
            np.where(np.arange(2000) < 900, 0.0, 40.0).astype(np.float32)
            + CUBES.reshape(-1)[:2000] * 0.5,
            "8 bits",
        ),
    ),
    "too-large": (
        decoding("q * step", filled(), "2**31 steps"),
        encoding(
            "np.rint(np.diff(flat.astype(np.float64), prepend=0) / step).astype(np.int32)",
            "np.cumsum(q) * step",
            filled(),
            "2**31 steps",
        ),
        encoding("np.clip(np.rint(flat / step), -100, 100).astype(np.int32)", data=NOISE),
        encoding("np.rint(flat / step).astype(np.int16).astype(np.int32)", data=STEEP),
    ),
    "rounding-large": (changing("x[x > 1e6] += np.float32(0.2)", (STEEP / 2).astype(np.float32)),),
    "rounding": (
        Wrong(
            CODEC.replace(" * (1 - 1e-6)", "").replace(
                "q * step", "q.astype(np.float32) * np.float32(step)"
            ),
            data=WIDE,
            bound=0.1,
        ),
        changing("x += np.float32(0.125001)", NOISE / 100),
    ),
    "negative-only": (
        encoding("np.abs(np.rint(flat / step).astype(np.int32))", data=NOISE),
        encoding(
            "np.where(flat < 0, 1 - 2 * np.rint(flat / step), 2 * np.rint(flat "
            "/ step)).astype(np.int32)",
            "np.where(q % 2, -((q - 1) // 2) + 3, q // 2) * step",
            NOISE,
        ),
    ),
    # Places.
    "edges": (
        decoding(
            "np.where(np.arange(q.size).reshape(shape) % shape[-1] > 0, (q * "
            "step).reshape(shape), 99)",
            says="axis 1",
        ),
        decoding("np.concatenate((q[: shape[1]] * 0 + 40, q[shape[1] :])) * step", says="axis 0"),
    ),
    "tail": (
        decoding(
            "np.concatenate((q[: q.size // 32 * 32], np.zeros(q.size % 32))) * step", NOISE, "32"
        ),
        decoding(
            "np.concatenate((q[: q.size // 128 * 128], np.zeros(q.size % 128))) * step",
            NOISE,
            "128",
        ),
    ),
    "block-border": (
        decoding(
            "np.where(np.arange(q.size) % 32, q, np.roll(q, 1)) * step", NOISE, "blocks of 32"
        ),
        decoding(
            "np.where(np.arange(q.size) % 128 == 127, 0, q) * step",
            NOISE,
            "place 127 of blocks of 128",
        ),
    ),
    "adds-up": (
        encoding(
            "np.rint(np.diff(flat.astype(np.float64), prepend=0) / step).astype(np.int32)",
            "np.cumsum(q) * step",
            LONG,
        ),
        encoding(
            "np.rint(np.diff(np.diff(flat.reshape(40, 53).astype(np.float64), "
            "axis=0, prepend=0), axis=1, prepend=0) / "
            "step).astype(np.int32).reshape(-1)",
            "np.cumsum(np.cumsum(q.reshape(shape), axis=0), axis=1) * step",
        ),
    ),
    "onward": (
        decoding("np.concatenate((q[:2240], q[2208:-32])) * step", NOISE, "block 70 of 32"),
    ),
    "truncated": (
        encoding("(flat / step).astype(np.int32)", data=NOISE, says="toward zero"),
        encoding("np.floor(flat / step).astype(np.int32)", data=NOISE, says="down"),
    ),
    "offset": (decoding("(q + 1) * step", NOISE, "up"),),
    "large-step": (Wrong(CODEC.replace("2 * abs_bound", "6 * abs_bound"), data=NOISE, says="6"),),
    "non-finite-made": (changing("x = x / np.float32(0)"),),
    "overflow": (
        decoding(
            "np.where((np.arange(q.size) > 900) & (np.arange(q.size) < 970), q "
            "^ 0x55555, q) * step",
            NOISE,
        ),
    ),
    "beyond-rounding": (changing("x[[5, 70, 133]] += np.float32(0.3)", NOISE),),
    # Formats.
    "golden-refuses-header": (Wrong(RAW, "szp"), Wrong(RAW, "szx")),
    "golden-refuses": (
        Wrong(RAW_SZP.replace("codes[:blocks] = 255", "codes[:blocks] = 99"), "szp"),
    ),
    "golden-reads-other": (
        Wrong(
            RAW_SZP.replace("data.reshape(-1).view", "(-data).reshape(-1).view").replace(
                "return stream", "return -stream"
            ),
            "szp",
        ),
    ),
    "golden-misread": (Wrong(RAW_SZP.replace("FAIL", "return np.zeros(shape, dtype)"), "szp"),),
    "golden-unread": (Wrong(RAW_SZP.replace("FAIL", "raise ValueError('code')"), "szp"),),
    # Stages: what the output is instead.
    "stage-zeros": (running("lorenzo-1d", "return np.zeros_like(x)"),),
    "stage-negative": (
        running("lorenzo-1d", "return -np.diff(x, prepend=np.int32(0))", says="negative"),
    ),
    "scan-offset": (
        running(
            "lorenzo-1d-inverse", "return np.cumsum(x, dtype=np.int32) - x", says="one place late"
        ),
    ),
    "stage-shifted": (
        running(
            "lorenzo-1d",
            "y = np.diff(x, prepend=np.int32(0))\nreturn np.concatenate((y[1:], y[-1:]))",
        ),
    ),
    "bit-order": (running("bitpack", PACK.replace("<< i,", "<< (31 - i),"), says="bits reversed"),),
    "huffman-bit-order": (
        running(
            "huffman-encode",
            ENCODE.replace("int(text[k : k + 32], 2)", "int(text[k : k + 32][::-1], 2)"),
        ),
    ),
    "byte-order": (
        running(
            "huffman-encode",
            ENCODE.replace("np.array(words, np.uint32)", "np.array(words, np.uint32).byteswap()"),
        ),
    ),
    "some-axes": (
        running(
            "lorenzo-2d", "return np.diff(x, axis=1, prepend=np.int32(0))", says="axis 1 alone"
        ),
        running(
            "lorenzo-3d",
            "for a in (1, 2): x = np.diff(x, axis=a, prepend=np.int32(0))\nreturn x",
            CUBES,
            "axes 1, 2 alone",
        ),
        running(
            "lorenzo-2d-inverse",
            "return np.cumsum(x, axis=0, dtype=np.int32)",
            says="sums along axis 0",
        ),
    ),
    "over-row-ends": (
        running(
            "lorenzo-2d", "return np.diff(x.reshape(-1), prepend=np.int32(0)).reshape(x.shape)"
        ),
    ),
    "corners": (
        running("lorenzo-2d", "y = x.copy()\ny[1:] -= x[:-1]\ny[:, 1:] -= x[:, :-1]\nreturn y"),
    ),
    "copied": (running("lorenzo-1d", "y = x.copy()\nnp.diff(x, prepend=np.int32(0))\nreturn y"),),
    "another-order": (
        running("bitpack", PACK.replace("range(r)", "range(r)[::-1]"), says="another order"),
    ),
    "histogram-bins": (
        running(
            "histogram",
            "return np.bincount(x, minlength=more[0])[: more[0]][::-1].astype(np.uint32)",
        ),
    ),
    # Stages: where it is wrong.
    "stage-first": (
        running("lorenzo-1d", "y = np.diff(x, prepend=np.int32(0))\ny[0] = 7777\nreturn y"),
    ),
    "stage-last": (
        running(
            "compact",
            "o = np.zeros(x.shape[0] + 1, np.uint32)\n"
            "o[1:-1] = np.cumsum(more[0])[:-1]\n"
            "return o, np.concatenate([r[:n] for r, n in zip(x, more[0])])",
        ),
    ),
    "padding": (
        running(
            "bitpack", PACK.replace("words = ", "planes[-1] |= np.uint32(0xFFFFFF00)\nwords = ")
        ),
    ),
    "stage-tail": (
        running(
            "lorenzo-1d",
            "y = np.diff(x, prepend=np.int32(0))\ny[x.size // 32 * 32 :] = -99\nreturn y",
            says="32",
        ),
    ),
    "stage-edges": (
        running(
            "lorenzo-2d",
            "y = np.diff(np.diff(x, axis=0, prepend=np.int32(0)), axis=1, prepend=np.int32(0))\n"
            "y[:, 0] += 5\n"
            "return y",
            says="axis 1",
        ),
    ),
    "stage-period": (
        running(
            "lorenzo-1d",
            "y = np.diff(x, prepend=np.int32(0))\ny[::128] = x[::128]\nreturn y",
            says="blocks of 128",
        ),
    ),
    "lost-counts": (
        running("histogram", "h = np.zeros(more[0], np.uint32)\nh[x] += 1\nreturn h"),
        running(
            "histogram",
            "return np.bincount(x[: x.size // 32 * 32], minlength=more[0])[: "
            "more[0]].astype(np.uint32)",
        ),
    ),
    "narrow": (
        running(
            "lorenzo-1d",
            "return np.diff(x, prepend=np.int32(0)).astype(np.int8).astype(np.int32)",
            JUMPS * 10,
            "8 bits",
        ),
    ),
    "extra-bits": (
        running(
            "bitpack",
            PACK.replace(
                "words = np.array(planes, np.uint32)",
                "words = np.array(planes, np.uint32)\nwords[::3] |= np.uint32(1 << 7)",
            ),
        ),
    ),
    "stage-onward": (
        running(
            "lorenzo-1d-inverse",
            "y = np.cumsum(x, dtype=np.int32)\ny[4096:] -= y[4095]\nreturn y",
            LONG,
            "chunk 1 of 4096",
        ),
    ),
    "stage-differs": (
        running(
            "lorenzo-1d", "y = np.diff(x, prepend=np.int32(0))\ny[[3, 40, 333, 901]] += 1\nreturn y"
        ),
    ),
    "quantize-bound": (
        running(
            "quantize",
            "s = np.float32(2.2 * more[0])\n"
            "return np.rint(x / s).astype(np.int32), np.ones(x.size, np.uint8), s",
            WIDE,
        ),
    ),
    "quantize-step": (
        running(
            "quantize",
            "return np.zeros(x.size, np.int32), np.zeros(x.size, np.uint8), np.float32(0.1)",
        ),
    ),
    # What was returned.
    "stream-count": (
        Wrong(
            RAW.replace(
                "np.frombuffer(changed(data.copy()).tobytes(), np.uint8)",
                "data.view(np.uint8).reshape(-1), data.view(np.uint8).reshape(-1)",
            )
        ),
    ),
    "decoded-dtype": (Wrong(CODEC.replace(".astype(dtype)", ""), says="float64"),),
    "decoded-shape": (Wrong(CODEC.replace(".reshape(shape)", ""), says="(40, 53)"),),
    "output-count": (running("quantize", "return np.zeros(x.size, np.int32)", says="3"),),
    "output-dtype": (
        running("lorenzo-1d", "return np.diff(x.astype(np.int64), prepend=0)", says="int64"),
        running(
            "compact",
            "return np.append(0, np.cumsum(more[0])), np.concatenate([r[:n] "
            "for r, n in zip(x, more[0])])",
            says="as `offsets`",
        ),
    ),
    "output-longer": (
        running(
            "bitpack",
            PACK.replace("rates, words", "rates, np.append(words, np.uint32(0))"),
            says="1 element",
        ),
    ),
    "output-reshaped": (
        running(
            "lorenzo-2d", "return np.diff(x.reshape(-1), prepend=np.int32(0))", says="(40, 53)"
        ),
    ),
    "offsets-shape": (
        running(
            "compact",
            "return np.cumsum(more[0], dtype=np.uint32), np.concatenate([r[:n] "
            "for r, n in zip(x, more[0])])",
        ),
    ),
    "result-form": (running("lorenzo-1d", "return np.zeros((2, 2))"),),
    # What was raised, with what only a check of results shows.
    "bound-zero": (
        Wrong(
            CODEC.replace("(encoded(flat", "(encoded(flat // step").replace(
                "np.concatenate((np.array([step])",
                "np.concatenate((np.array([1 // step, step][1:])",
            ),
            data=np.ones((3, 4), np.float32),
            mode="rel",
        ),
    ),
    "refused-core": (
        Wrong(
            RAW.replace(
                "    return np.frombuffer",
                "    raise NotImplementedError\n    return np.frombuffer",
            )
        ),
    ),
}
