"""Stages that are wrong in one way each, for all edge cases of their task at once."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from kernels import baselines
from tests.toolchains.small_kernels import ENCODE, PACK

QUANTIZE = """
eb = more[0]
step = np.float32(min(2 * eb * (1 - 1e-6), 3e38))
with np.errstate(all="ignore"):
    t = np.rint(x / step)
    fits = np.isfinite(t) & (np.abs(t) < 2**22)
    q = np.where(fits, t, 0).astype(np.int32)
    back = q.astype(np.float32) * step
    ok = (fits & (np.abs(x.astype(np.float64) - back) <= eb)).astype(np.uint8)
q = np.where(ok, q, 0).astype(np.int32)
return q, ok, step
"""
"""Right but for lossless and very small bounds."""


@dataclass(frozen=True)
class WrongStage:
    """A kernel, and what is to be said of it."""

    rule: str
    task: str
    source: str
    says: str = ""
    """Part of the explanation or the suggestion."""
    message: str = ""
    """Part of what happened."""


def changed(
    rule: str, task: str, statements: str, *, says: str = "", message: str = ""
) -> WrongStage:
    """The worked submission, with its outputs `out` changed."""
    right = baselines.read(task, "naive").files["kernel.py"].replace("def run(", "def right(")
    body = textwrap.indent(f"out = right(*given)\n{statements}", "    ")
    source = f"import numpy as np\n{right}\n\ndef run(*given):\n{body}\n"
    return WrongStage(rule, task, source, says, message)


def written(rule: str, task: str, body: str, *, says: str = "", message: str = "") -> WrongStage:
    """A `run` of its own."""
    source = f"import numpy as np\n\ndef run(x, *more):\n{textwrap.indent(body.strip(), '    ')}\n"
    return WrongStage(rule, task, source, says, message)


def quantizing(rule: str, old: str, new: str, *, says: str = "", message: str = "") -> WrongStage:
    """The quantizer with one thing changed."""
    assert old in QUANTIZE
    return written(rule, "quantize", QUANTIZE.replace(old, new), says=says, message=message)


_COUNTED = "np.bincount({}, minlength=more[0])[: more[0]].astype(np.uint32)"
_ENCODE_LAST = ENCODE.replace('    text += "0" * (-len(text) % 32)\n', "")
_FIRST = "out = out.copy()\nout[:1] = 0\nreturn out"
_LAST = "out = out.copy()\nout[-1:] = 0\nreturn out"

WRONG: dict[str, WrongStage] = {
    # What a fresh agent was told wrongly.
    "histogram: last code dropped": written(
        "lost-counts", "histogram", f"return {_COUNTED.format('x[:-1]')}", says="all n codes"
    ),
    "decode: last symbol dropped": changed("stage-last", "huffman-decode", _LAST),
    "histogram: codes unguarded": written(
        "histogram-outside",
        "histogram",
        "import os\n"
        "if x.size > 60000 and x.max() >= more[0]: os.abort()\n"
        f"return {_COUNTED.format('x')}",
        says="codes >= nbins must be ignored",
        message="every_code_few_bins: run of codes uint16[65536], nbins 1000: the kernel's",
    ),
    "histogram: damage found in a later case": written(
        "histogram-outside",
        "histogram",
        f"import os\nif x.size == 70001: os.abort()\nreturn {_COUNTED.format('x')}",
        says="or in one before it",
    ),
    "histogram: codes unguarded in Python": written(
        "histogram-outside",
        "histogram",
        "counts = np.zeros(more[0], np.uint32)\nfor c in x: counts[c] += 1\nreturn counts",
        says="must be ignored",
    ),
    "histogram: codes clamped": written(
        "histogram-beyond",
        "histogram",
        "return np.bincount(np.minimum(x, more[0] - 1), minlength=more[0]).astype(np.uint32)",
        says="codes >= nbins must be ignored",
    ),
    "histogram: codes modulo nbins": written(
        "histogram-beyond",
        "histogram",
        "return np.bincount(x % more[0], minlength=more[0]).astype(np.uint32)",
    ),
    "encode: outputs swapped": changed(
        "output-order",
        "huffman-encode",
        "return out[1], out[0]",
        says="return (bits, words)",
        message="(words, bits)",
    ),
    "encode: last word not shifted up": written(
        "huffman-low-bits", "huffman-encode", _ENCODE_LAST, says="32 - used"
    ),
    "quantize: int of what has no integer": quantizing(
        "quantize-undefined",
        "np.where(ok, q, 0).astype(np.int32)\nreturn",
        "np.where(ok, q, np.where(fits, 0, -(2**31))).astype(np.int32)\nreturn",
        says="Guard first",
        message="values of `q` are wrong; first at index [0]: -2147483648 where 0 is wanted",
    ),
    # Their siblings.
    "histogram: last block dropped": written(
        "lost-counts", "histogram", f"return {_COUNTED.format('x[: x.size // 32 * 32]')}"
    ),
    "histogram: last bin dropped": changed("lost-counts", "histogram", _LAST),
    "histogram: 16-bit counts": changed(
        "narrow", "histogram", "return out.astype(np.uint16).astype(np.uint32)", says="16 bits"
    ),
    "histogram: counts doubled": changed("histogram-differs", "histogram", "return out * 2"),
    "histogram: bins beyond nbins": written(
        "counts-shape",
        "histogram",
        "return np.bincount(x, minlength=more[0]).astype(np.uint32)",
        says="ignored",
    ),
    "decode: last block dropped": changed(
        "stage-tail", "huffman-decode", "out[out.size // 32 * 32 :] = 0\nreturn out"
    ),
    "decode: one place late": changed(
        "stage-shifted",
        "huffman-decode",
        "return np.concatenate((out[:1] * 0, out[:-1])).astype(np.uint16)",
    ),
    "decode: other symbols": changed(
        "huffman-codes", "huffman-decode", "return np.where(out % 3, out, out ^ 1)"
    ),
    "encode: bits that were rounded up": changed(
        "huffman-bits", "huffman-encode", "return (out[0] + 31) // 32 * 32, out[1]"
    ),
    "encode: least significant bit first": written(
        "huffman-bit-order",
        "huffman-encode",
        ENCODE.replace("int(text[k : k + 32], 2)", "int(text[k : k + 32][::-1], 2)"),
    ),
    "encode: low bits lost": changed(
        "huffman-words", "huffman-encode", "return out[0], out[1] & np.uint32(0xFFFFF0F0)"
    ),
    "encode: one chunk": written(
        "output-shape", "huffman-encode", ENCODE.replace("4096", "1 << 30"), message="as `bits`"
    ),
    "encode: words without the last": changed(
        "words-shape", "huffman-encode", "return out[0], out[1][:-1]", says="(bits + 31) // 32"
    ),
    "pack: outputs swapped": changed("output-order", "bitpack", "return out[1], out[0]"),
    "pack: last word dropped": changed(
        "bitpack-words",
        "bitpack",
        "out[1][-1:] = 0\nreturn out",
        message="0x00000000 where 0x0000001f is wanted",
    ),
    "pack: rates too large": changed(
        "bitpack-rates", "bitpack", "return out[0] + np.uint8(1), out[1]"
    ),
    "pack: planes in reverse": written(
        "another-order", "bitpack", PACK.replace("range(r)", "range(r)[::-1]")
    ),
    "pack: a word of rubbish in the middle": changed(
        "stage-place-lost",
        "bitpack",
        "w = out[1]\nif w.size > 99: w[33:] = np.roll(w[33:], 1) ^ 5\nreturn out[0], w",
    ),
    "unpack: last element dropped": changed("stage-last", "bitunpack", _LAST),
    "unpack: last block dropped": changed(
        "stage-tail", "bitunpack", "out = out.copy()\nout[out.size // 32 * 32 :] = 0\nreturn out"
    ),
    "unpack: planes in reverse": written(
        "bitunpack-values",
        "bitunpack",
        """
words, n = more
out = np.zeros((x.size, 32), np.uint32)
i, at = np.arange(32, dtype=np.uint32), 0
for b, r in enumerate(x.tolist()):
    for k in range(r):
        out[b] |= ((words[at] >> i) & np.uint32(1)) << np.uint32(r - 1 - k)
        at += 1
return out.reshape(-1)[:n]
""",
    ),
    "unpack: the padding too": changed(
        "output-longer",
        "bitunpack",
        "return np.append(out, np.zeros(-out.size % 32, np.uint32))",
    ),
    "compact: outputs swapped": changed("output-order", "compact", "return out[1], out[0]"),
    "compact: inclusive": changed(
        "scan-offset", "compact", "return np.append(out[0][1:], out[0][-1:]), out[1]"
    ),
    "compact: no total": changed("stage-last", "compact", "out[0][-1] = 0\nreturn out"),
    "compact: offsets in bytes": changed(
        "compact-offsets", "compact", "return out[0] * np.uint32(4), out[1]"
    ),
    "compact: other words": changed(
        "compact-packed", "compact", "return out[0], out[1] ^ (out[1] & 8)"
    ),
    "compact: words that are zero left out": changed(
        "compact-packed",
        "compact",
        "p = np.where(out[1] == 0, np.uint32(1), out[1])\nreturn out[0], p",
    ),
    "lorenzo: first element dropped": changed(
        "stage-first", "lorenzo-1d", _FIRST, says="out[0] = x[0]"
    ),
    "lorenzo: last element dropped": changed("stage-last", "lorenzo-1d", _LAST),
    "lorenzo: flat": changed(
        "over-row-ends",
        "lorenzo-3d",
        "x = given[0]\nreturn np.diff(x.reshape(-1), prepend=np.int32(0)).reshape(x.shape)",
    ),
    "lorenzo: int64": changed("output-dtype", "lorenzo-2d", "return out.astype(np.int64)"),
    "inverse: zeros": changed("stage-zeros", "lorenzo-2d-inverse", "return out * 0"),
    "inverse: one place late": changed(
        "scan-offset",
        "lorenzo-1d-inverse",
        "return np.append(out[:1] * 0, out[:-1]).astype(np.int32)",
    ),
    "inverse: last block dropped": changed(
        "stage-tail",
        "lorenzo-1d-inverse",
        "out = out.copy()\nout[out.size // 32 * 32 :] = 0\nreturn out",
    ),
    "inverse: one number": written("number-for-array", "lorenzo-1d-inverse", "return 1"),
    "quantize: all is kept": quantizing(
        "quantize-not-finite",
        "return q, ok,",
        "return np.where(np.isnan(t), 0, np.clip(t, -4e6, 4e6)).astype(np.int32), ok * 0 + 1,",
        message="values of `x' = q * step` are wrong",
    ),
    "quantize: too large is kept": quantizing(
        "quantize-too-large",
        "return q, ok,",
        "w = np.isfinite(x) & ~fits & (np.abs(x) > 1e19)\n"
        "return np.where(w, 7, q).astype(np.int32), "
        "np.where(w, 1, ok).astype(np.uint8),",
    ),
    "quantize: not compared with x": quantizing(
        "quantize-bound",
        "(fits & (np.abs(x.astype(np.float64) - back) <= eb))",
        "fits",
    ),
    "quantize: cut off": quantizing(
        "quantize-truncated",
        "np.rint(x / step)\n    fits = np.isfinite(t) & (np.abs(t) < 2**22)",
        "np.trunc(x / step)\n    fits = np.isfinite(t) & (np.abs(t) < 2**22)\n    eb *= 2",
        says="rint",
    ),
    "quantize: large step": quantizing(
        "quantize-large-step",
        "np.float32(min(2 * eb * (1 - 1e-6), 3e38))",
        "np.float32(min(6 * eb, 3e38))\neb *= 3",
        says="6 times",
    ),
    "quantize: small step": quantizing(
        "quantize-step", "min(2 * eb * (1 - 1e-6), 3e38)", "min(eb, 3e38)"
    ),
    "quantize: all flagged": quantizing("quantize-flags", "return q, ok,", "return q * 0, ok * 0,"),
    "quantize: q where flagged": quantizing(
        "quantize-flagged", "np.where(ok, q, 0)", "np.where(ok, q, 7)"
    ),
    "quantize: flags of 255": quantizing(
        "quantize-ok", "return q, ok,", "return q, ok * np.uint8(255),"
    ),
}
