"""What violations of a bound, or of a format, mean. From the particular to the general."""

from __future__ import annotations

import math
from collections.abc import Callable

from kernels.error_pattern import ErrorPattern
from kernels.records import FailureKind

from . import cause_rules
from .rules import Rule

_FORMAT = frozenset({FailureKind.FORMAT})
_MOST = 0.9

When = Callable[[ErrorPattern], bool]


def _bound(
    name: str, explanation: str, suggestion: str, when: When | None = None, pattern: str = ""
) -> Rule:
    kinds = frozenset({FailureKind.BOUND})
    return Rule(name, kinds, pattern, explanation, suggestion, "", when)


def _format(name: str, pattern: str, explanation: str, suggestion: str) -> Rule:
    return Rule(name, _FORMAT, pattern, explanation, suggestion)


def _proves_border(pattern: ErrorPattern) -> bool:
    return pattern.smallest is not None and cause_rules.at_border(pattern.smallest)


def _in_tail(pattern: ErrorPattern) -> bool:
    """Not by chance: the last values of an array may be its largest."""
    smallest = pattern.smallest
    if smallest is not None and smallest.alone:
        return smallest.in_tail > 0
    return pattern.tail > 0


_FIRST: tuple[Rule, ...] = (
    _bound(
        "fresh-content",
        "The kernel is right on the field but not on other content of the same shape: it remembers "
        "a stream or a result, depends on something that it was not given, or has a branch that "
        "the field never takes.",
        "Compute everything from the arguments of each call: no caches, no globals that change, no "
        "uninitialised memory (np.empty); then verify_bounds on the suite, which takes more "
        "branches.",
        pattern=r"^on fresh content made from the field",
    ),
    _bound(
        "narrowed",
        "float64 values came back as float32 holds them: somewhere they are cast to float32 "
        "without a word, by astype, by a typed array or by a constant.",
        "Work in the type of the data (x.dtype.type(…), np.empty(n, dtype)), or refuse float64 "
        "by raising NotImplementedError.",
        lambda p: p.narrowed,
    ),
    _bound(
        "flushed",
        "Subnormal values came back as 0: they are flushed, by fastmath, by a threshold such as "
        "the smallest normal number, or by 1 / step that overflowed; this bound is smaller than "
        "they are.",
        "If abs_bound is below the smallest normal number, store the values as they are.",
        lambda p: p.flushed,
    ),
    _bound(
        "tail",
        cause_rules.TAIL,
        cause_rules.TAIL_MENDED,
        _in_tail,
    ),
)

_WHOLE: tuple[Rule, ...] = (
    _bound(
        "values-in-order",
        "What came back is {resembles}: the right numbers at the wrong places.",
        "data is in C order, the last axis fastest: reshape(shape) without order=, and loops in "
        "that order in compress and in decompress.",
        lambda p: "order" in p.resembles and "bytes" not in p.resembles,
    ),
    _bound(
        "values-shifted",
        "What came back is {resembles}: the decoder is one element off.",
        "Check the index at which a block begins, and whether the first value is stored apart.",
        lambda p: "one place" in p.resembles,
    ),
    _bound(
        "sum-missing",
        "What came back is {resembles}: the decoder does not undo the prediction.",
        "Add each decoded difference to the value before it: q[i] += q[i - 1].",
        lambda p: "differences" in p.resembles,
    ),
    _bound(
        "bytes-swapped",
        "What came back is {resembles}.",
        "View bytes as the type that wrote them, in native order: stream[a:b].view(np.float32).",
        lambda p: "bytes" in p.resembles,
    ),
    _bound(
        "sign-lost",
        "What came back is the original times -1.",
        "Check the subtraction, x - prediction against prediction - x, and the sign bit.",
        lambda p: abs(p.factor + 1.0) < 0.02,
    ),
    _bound(
        "scaled",
        "What came back is the original times {multiple}: a scale is applied once too often, or "
        "not at all.",
        "q = rint(x / step), and x' = q * step with the same step, which the stream must carry; "
        "step is 2 x abs_bound, not abs_bound.",
        lambda p: p.factor != 0.0,
    ),
)

_FROM_BORDERS = (
    "The error changes only where a block of {border} begins{border_along}, and is carried on "
    "from there: at the border compress and decompress take another neighbour, base or "
    "previous value."
)
_AT_BORDERS = (
    "All wrong values are at place {phase} of blocks of {period}: what is carried from block "
    "to block (previous value, base, bit position) differs between compress and decompress."
)

_LARGEST: tuple[Rule, ...] = (
    _bound(
        "rounding-large",
        "Only the largest values are wrong, and by little: at their size float32 has too few "
        "digits for this bound, and the reconstruction rounds.",
        "Reconstruct in compress exactly as decompress will, in the data type; store what misses "
        "the bound raw.",
        lambda p: p.above_all and p.excess_ulps <= 4.0 and p.violations > 2,
    ),
)

_BORDERS: tuple[Rule, ...] = (
    _bound(
        "block-border",
        _AT_BORDERS,
        cause_rules.CARRY_MENDED,
        lambda p: p.period > 0 and _proves_border(p),
    ),
    _bound(
        "block-border",
        _FROM_BORDERS,
        cause_rules.CARRY_MENDED,
        lambda p: p.border > 0 and _proves_border(p),
    ),
)

_KNOWN: tuple[Rule, ...] = (
    _bound(
        "sampled",
        cause_rules.SAMPLED,
        cause_rules.SAMPLED_MENDED,
        lambda p: p.smallest is not None and p.smallest.from_on and not p.onward,
    ),
    _bound(
        "wraps",
        "Errors are one step times 2**{wrapped_bits}: an integer of {wrapped_bits} bits wrapped "
        "around.",
        cause_rules.WIDER_MENDED,
        lambda p: p.wrapped_bits > 0,
    ),
)

_SPECIAL: tuple[Rule, ...] = (
    _bound(
        "zeros",
        "What came back is all zeros: the output was allocated but not filled, or every value "
        "rounded to the quantised 0.",
        "Check that the loop over blocks runs (its count is often 0), and that q = x / step is "
        "rounded, not x itself.",
        lambda p: p.resembles == "zeros",
    ),
    _bound(
        "non-finite-lost",
        "NaN and ±Inf must come back as they were; quantising them gives garbage.",
        "Test isfinite before converting to an integer; store such elements, or their block, raw. "
        "fastmath=True compiles isnan and isfinite away.",
        lambda p: p.special > 0.0,
    ),
    _bound(
        "beside-non-finite",
        "The wrong values are finite ones beside a NaN or Inf, or after it in the same block: it "
        "entered the prediction or the block's range.",
        cause_rules.WITHOUT_SPECIAL,
        lambda p: p.beside_special > _MOST,
    ),
    _bound(
        "fill-value",
        "Values that are far larger than the rest came back wrong: fill values, which do not fit "
        "the quantised integer and spoil what is predicted from them, or were taken for another.",
        "Store values with |x / step| >= 2**21 (float32) as they are: raw, or as a fill value with "
        "a mask, if all of them are that value.",
        lambda p: p.fill > _MOST or (p.fill > 0.0 and p.times_bound > 1e4),
    ),
    _bound(
        "beside-fill",
        "The wrong values are beside one that is far larger than the rest, or in its block: a fill "
        "value entered the prediction or the block's scale.",
        cause_rules.WITHOUT_FILL,
        lambda p: p.beside_fill > _MOST,
    ),
    _bound(
        "lossless",
        "abs_bound is 0 here, which asks for a lossless stream: every value must come back as it "
        "was.",
        "Branch first: if abs_bound == 0, store the bytes as they are.",
        lambda p: p.abs_bound == 0.0,
    ),
)

_SIZES: tuple[Rule, ...] = (
    _bound(
        "too-large",
        "Every wrong value is larger in magnitude than every right one: beyond some limit values "
        "are clipped, or overflow the quantised integer.",
        cause_rules.LIMIT_MENDED,
        lambda p: p.above_all and p.times_bound > 1.5,
    ),
    _bound(
        "rounding",
        cause_rules.ROUNDING,
        cause_rules.ROUNDING_MENDED,
        lambda p: p.times_bound > 0.9 and (p.excess_ulps <= 4.0 or p.times_bound < 1.0001),
    ),
    _bound(
        "negative-only",
        "Only negative values are wrong: a sign is lost in a shift, a mask or an unsigned type.",
        cause_rules.SIGN_MENDED,
        lambda p: p.negative_only,
    ),
)

_PLACES: tuple[Rule, ...] = (
    _bound(
        "edges",
        "All wrong values lie at index 0 of axis {axes}: the prediction there reads a neighbour "
        "that does not exist, or the last of the row before.",
        "Outside the array the neighbours count as 0, in compress and in decompress alike.",
        lambda p: bool(p.edges),
    ),
    _bound(
        "block-border",
        _FROM_BORDERS,
        cause_rules.CARRY_MENDED,
        lambda p: p.border > 0,
    ),
    _bound(
        "block-border",
        _AT_BORDERS,
        cause_rules.CARRY_MENDED,
        lambda p: p.period > 0,
    ),
    _bound(
        "adds-up",
        cause_rules.ADDS_UP,
        cause_rules.ADDS_UP_MENDED,
        lambda p: p.accumulates,
    ),
    _bound(
        "onward",
        "From index {first} on (block {block} of 32, {block128} of 128) nearly all is wrong: the "
        "decoder has lost its place in the stream, or its running sum.",
        "Compare, for the block before, the bytes that compress writes with those that decompress "
        "reads: its code, its size for width 0 and 32, its raw form.",
        lambda p: p.onward and p.times_bound > 2.5,
    ),
    _bound(
        "truncated",
        "All errors point one way ({direction}) and reach twice the bound: quotients are cut off "
        "instead of rounded.",
        "Round before the cast: np.rint(x / step), or floor(x / step + 0.5); int() and astype cut.",
        lambda p: bool(p.direction) and p.times_bound <= 2.05 and p.violations < 0.8 * p.checked,
    ),
    _bound(
        "tolerance",
        "Errors exceed the bound by up to {above}, which is more than rounding explains and not "
        "more than a careless margin: the check allows a tolerance, or the step is so much larger "
        "than 2 x abs_bound.",
        "Compare with abs_bound itself, not with a multiple of it or with a small number added; "
        "step <= 2 x abs_bound.",
        lambda p: 1.0001 <= p.times_bound <= 1.5,
    ),
    _bound(
        "offset",
        "All wrong values differ in one direction ({direction}): something constant is added or "
        "left out, such as half a step or the block's minimum.",
        "x' = base + q * step, with the base that compress subtracted, in the data type.",
        lambda p: bool(p.direction),
    ),
    _bound(
        "large-step",
        "Errors reach {times} times the bound in both directions: the step is about {step} times "
        "the bound, and may be 2 times.",
        "step = 2 * abs_bound, and q = rint(x / step); abs_bound is absolute already, do not "
        "multiply it by a range.",
        lambda p: 1.0 < p.times_bound <= 64.0 and p.violations > 0.2 * p.checked,
    ),
)

_GENERAL: tuple[Rule, ...] = (
    _bound(
        "range-overflow",
        cause_rules.RANGE_OVERFLOW,
        cause_rules.RANGE_OVERFLOW_MENDED,
        lambda p: p.wide and p.special == 0.0 and math.isinf(p.excess_ulps),
    ),
    _bound(
        "non-finite-made",
        "A finite value came back as NaN or Inf: overflow, a division by 0, or memory that was "
        "never written.",
        "Check ranges before casting and dividing; fill what np.empty gave.",
        lambda p: p.abs_bound > 0.0 and math.isinf(p.excess_ulps),
    ),
    _bound(
        "overflow",
        "The error is a thousand bounds or more, which no rounding explains: an integer "
        "overflowed, or a block was read at the wrong place.",
        "Check |x / step| against the integer range and store what does not fit raw; compare what "
        "is written with what is read, block by block.",
        lambda p: p.times_bound >= 1000.0,
    ),
    _bound(
        "beyond-rounding",
        "Some errors are clearly above the bound: a step that is too large for some blocks, a "
        "correction that is lost, or elements that are skipped.",
        "Compare the positions in the counterexample and in other cases; check step <= 2 x bound "
        "and what is stored raw.",
        pattern=r"values (are wrong|exceed)",
    ),
)

_FORMATS: tuple[Rule, ...] = (
    _format(
        "golden-refuses-header",
        r"refuses.*(magic|CRC|header|dtype|ndim|dims|flag|shape|step|fill)",
        "The header of the stream is not what the format says; the golden decoder tells where.",
        "Build it with szstream.header(magic, shape, dtype, step=…, fill_bits=…, body=…), which "
        "fills in CRC and check.",
    ),
    _format(
        "golden-refuses",
        r"refuses",
        "The body of the stream is not the specified format; the golden decoder says why.",
        "Compare sizes: base words, one code per block padded to 4 bytes, payloads in block order; "
        "the example on the task's page shows every byte.",
    ),
    _format(
        "golden-reads-other",
        r"breaks the bound",
        "The golden decoder can read the stream, but gets other values than your own decoder: both "
        "of yours share a mistake.",
        "Check bit order (least significant plane first, bit i of a word is element i), sign "
        "words, the base of each chunk, and the step in the header.",
    ),
    _format(
        "golden-misread",
        r"misreads",
        "decompress reads the kernel's own streams, but the golden one wrongly: it holds forms "
        "that your compress never writes (masked, raw, fill blocks, other bases).",
        "Decode from the specification, not from your encoder: running q over raw and masked "
        "elements, code 254, and the shorter tail.",
    ),
    _format(
        "golden-unread",
        "",
        "decompress fails on the golden stream, though it reads the kernel's own.",
        "It holds forms that your compress never writes: masks (32 + r), code 254, raw blocks, "
        "step 0 with all blocks raw.",
    ),
)

RULES: tuple[Rule, ...] = (
    *_FIRST,
    *_WHOLE,
    *_LARGEST,
    *_BORDERS,
    *cause_rules.PROVED,
    *_KNOWN,
    *cause_rules.LIMITS,
    *_SPECIAL,
    *_SIZES,
    *_PLACES,
    *_GENERAL,
    *_FORMATS,
)
