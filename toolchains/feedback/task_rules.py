"""What is said of one stage alone: of quantize, and where no pattern singles a cause out."""

from __future__ import annotations

from kernels.error_pattern import ErrorPattern
from kernels.records import FailureKind

from .rules import Rule

_TOO_LARGE = 2.0**21
"""Bounds."""
_BOUND = frozenset({FailureKind.BOUND})


def _many(pattern: ErrorPattern) -> bool:
    """More than what rounding spoils."""
    return pattern.abs_bound > 0.0 and pattern.violations > 0.1 * pattern.checked


def _of(task: str, name: str, texts: tuple[str, str], output: str = "") -> Rule:
    def about(pattern: ErrorPattern) -> bool:
        return output in ("", pattern.output_name)

    return Rule(name, _BOUND, "", *texts, "", about, tasks=(task,))


def _quantize(name: str, pattern: str, explanation: str, suggestion: str) -> Rule:
    return Rule(name, _BOUND, pattern, explanation, suggestion, tasks=("quantize",))


QUANTIZE: tuple[Rule, ...] = (
    _quantize(
        "quantize-undefined",
        r": (-2147483648|2147483647) where 0 is wanted",
        "q holds what int() made of NaN, an infinity or a value far too large, which is undefined; "
        "0 is wanted where ok is 0.",
        "Guard first: t = x / step; if it is not finite, or abs(t) >= 2**22, then ok = 0 and "
        "q = 0; convert to an integer only else.",
    ),
    Rule(
        "quantize-not-finite",
        _BOUND,
        "",
        "NaN or an infinity is marked ok: no q can stand for it.",
        "ok = 0 and q = 0 where x is not finite, tested before int(); comparisons with NaN are "
        "false, so write ok = abs(x - xr) <= eb, and not the negation of >. No fastmath.",
        "",
        lambda p: p.special > 0.0,
        tasks=("quantize",),
    ),
    Rule(
        "quantize-too-large",
        _BOUND,
        "",
        "Values of more than 2**21 bounds are marked ok, and did not come back: float32 has no "
        "digits left for q * step, or int() of them is undefined.",
        "Guard before int(): where abs(x / step) >= 2**22, or what comes back misses the bound, "
        "ok = 0 and q = 0.",
        "",
        lambda p: p.least_times >= _TOO_LARGE,
        tasks=("quantize",),
    ),
    Rule(
        "quantize-truncated",
        _BOUND,
        "",
        "Errors point one way ({direction}) and reach twice the bound: quotients are cut off "
        "instead of rounded.",
        "Round before the cast: np.rint(x / step); int() and astype cut.",
        "",
        lambda p: bool(p.direction) and 1.5 < p.times_bound < 2.05 and _many(p),
        tasks=("quantize",),
    ),
    Rule(
        "quantize-large-step",
        _BOUND,
        "",
        "Errors reach {times} times the bound in both directions: the step is about {step} times "
        "the bound, and may be 2 times.",
        "step = 2 * eb at most, and q = rint(x / step) with that step.",
        "",
        lambda p: 1.02 < p.times_bound <= 64.0 and _many(p) and not p.direction,
        tasks=("quantize",),
    ),
    Rule(
        "quantize-bound",
        _BOUND,
        r"with absolute bound",
        "An element is marked ok, but f32(f32(q) * step) is farther from x than eb.",
        "Check with the arithmetic of decoding: xr = np.float32(np.float32(q) * step); ok only if "
        "abs(np.float64(x) - np.float64(xr)) <= eb; else ok = 0 and q = 0.",
        tasks=("quantize",),
    ),
    Rule(
        "quantize-flagged",
        _BOUND,
        "",
        "An element is flagged, ok = 0, and its q is not 0.",
        "Where ok is 0, store q = 0.",
        "",
        lambda p: p.output_name == "q",
        tasks=("quantize",),
    ),
    Rule(
        "quantize-ok",
        _BOUND,
        "",
        "`ok` holds something other than 0 and 1.",
        "ok = 1 where x is kept, else 0, as uint8.",
        "",
        lambda p: p.output_name == "ok",
        tasks=("quantize",),
    ),
    Rule(
        "quantize-step",
        _BOUND,
        r"the step is ",
        "Every element that is marked ok keeps the bound, but the step is not as it should be.",
        "step as a float32 just below 2 * eb, at least 0.98 of the golden one, finite, and 0 only "
        "where everything is flagged.",
    ),
    Rule(
        "quantize-flags",
        _BOUND,
        r"elements are flagged",
        "Every element that is marked ok keeps the bound, but too many are flagged.",
        "Flag only what can't be kept: NaN, infinities, abs(x / step) >= 2**22, and what misses eb "
        "after rounding to the nearest q.",
    ),
)

FALLBACKS: tuple[Rule, ...] = (
    _of(
        "histogram",
        "histogram-differs",
        (
            "`counts` differs from the golden answer.",
            "counts[b] is the number of codes equal to b; codes >= nbins are ignored; begin with "
            "zeros; in prange no two iterations may add to the same array.",
        ),
    ),
    _of(
        "huffman-encode",
        "huffman-bits",
        (
            "`bits` is the sum of lens[code] over each chunk of 4096 codes.",
            "Count bits, not words, without the zeros that fill a chunk's last word; the last "
            "chunk may be shorter.",
        ),
        "bits",
    ),
    _of(
        "huffman-encode",
        "huffman-words",
        (
            "`bits` is right and `words` is not: the code words, or where their bits go.",
            "Canonical words: by length, then by symbol, counting up. Bits fill each uint32 from "
            "bit 31 down, a word's most significant bit first; a chunk of 4096 codes begins a new "
            "uint32, and zeros fill its last.",
        ),
        "words",
    ),
    _of(
        "huffman-decode",
        "huffman-codes",
        (
            "`codes` differs from the golden answer.",
            "Canonical words: by length, then by symbol, counting up. Bits are read from bit 31 of "
            "each uint32 down; chunk c of 4096 codes begins at the next whole uint32 after the "
            "bits[c - 1] bits of the chunk before.",
        ),
    ),
    _of(
        "bitpack",
        "bitpack-rates",
        (
            "`rates` is the bit length of the largest value of each block of 32.",
            "0 for 0, 1 for 1, 32 from 2**31 on: compare as unsigned; the last block may be "
            "shorter.",
        ),
        "rates",
    ),
    _of(
        "bitpack",
        "bitpack-words",
        (
            "`rates` is right and `words` is not.",
            "Word k of a block holds bit k of its 32 values, bit i of the word belongs to value "
            "i; a block of rate 0 has no words; values beyond n count as 0.",
        ),
        "words",
    ),
    _of(
        "bitunpack",
        "bitunpack-values",
        (
            "`values` differs from the golden answer.",
            "Word k of a block holds bit k of its 32 values, bit i of the word belongs to value "
            "i; a block of rate 0 has no words, and its values are 0; shift uint32 only.",
        ),
    ),
    _of(
        "compact",
        "compact-offsets",
        (
            "`offsets` is an exclusive sum of sizes with one more element than sizes.",
            "offsets[0] = 0, offsets[b + 1] = offsets[b] + sizes[b], in uint32.",
        ),
        "offsets",
    ),
    _of(
        "compact",
        "compact-packed",
        (
            "`offsets` is right and `packed` is not.",
            "packed[offsets[b]:offsets[b + 1]] = slots[b, :sizes[b]]: sizes alone say what is "
            "used, a word of 0 may be one; slots has rows of any length.",
        ),
        "packed",
    ),
)
