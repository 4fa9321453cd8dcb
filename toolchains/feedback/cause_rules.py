"""What the smallest array on which a bound breaks proves: all that is left in it is needed.

These rules come before those that read the pattern of a larger array, which may have several
causes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from kernels.error_pattern import ErrorPattern, Smallest
from kernels.statuses import FailureKind

from .rules import Rule

ADDS_UP = (
    "From one value to the next the error changes by one rounding only, but it adds up: "
    "predictions are made from originals, while the decoder has only what it decoded."
)
ADDS_UP_MENDED = (
    "Quantise first, q = rint(x / step), then take differences of the integers q, which are "
    "exact; or predict from the reconstructed values in compress too."
)
ROUNDING = (
    "No error exceeds the bound by more than the last digits of the values: the rounding of "
    "the reconstruction, or of the cast to the data type, lands on the wrong side. Either "
    "nothing is checked after reconstructing, or the check rounds otherwise than the decoder: "
    "a multiplication and a subtraction contracted into one fused operation (fastmath, fma), "
    "another precision, or a comparison rounded to float32."
)
ROUNDING_MENDED = (
    "Reconstruct while compressing exactly as the decoder will, without fastmath, compare "
    "|x - x'| <= abs_bound in float64, and store what fails raw; or make the step smaller by a "
    "few units in the last place."
)
SAMPLED = (
    "The same value comes back right at {spared_where} and wrong at the others: only a sample "
    "of the elements is checked against the bound, or the check of one decides for its "
    "neighbours."
)
SAMPLED_MENDED = (
    "Check every element in compress, |x - x'| <= abs_bound with x' as decompress will make "
    "it, and store each one that fails."
)
TAIL = (
    "All wrong values lie in the last, shorter block{of_tail}: it is skipped, or padded in "
    "compress and not in decompress."
)
TAIL_MENDED = "m = min(block, n - start); loop to m, and pad with the last value or difference 0."
WITHOUT_SPECIAL = (
    "Leave values that are not finite out of the prediction (keep the last good one), of "
    "minimum and maximum, and of the bits that the block needs."
)
WITHOUT_FILL = (
    "Leave fill values out of the prediction and of the block's range, as if they were not there."
)
CARRY_MENDED = (
    "Reset or carry it in both alike, at the start of each block and of each row, plane or tile of "
    "blocks."
)
LIMIT_MENDED = (
    "Test |x / step| against the limit of the integer before the cast, and store what does not "
    "fit raw."
)
WIDER_MENDED = (
    "Store the block with more bits, or raw, if a difference does not fit; compute differences and "
    "sums in int32 or wider."
)
RANGE_OVERFLOW = (
    "The maximum minus the minimum of this data is beyond the largest number of its type: a range, "
    "a difference, a sum of two values or twice the bound overflowed."
)
RANGE_OVERFLOW_MENDED = (
    "Take differences in float64, or of halves (max / 2 - min / 2); store a block whose range is "
    "not finite as it is."
)
SIGN_MENDED = (
    "Zigzag is (q << 1) ^ (q >> 31) on int32, back (u >> 1) ^ -(u & 1); or store sign and "
    "magnitude; casts of negative floats to unsigned are undefined."
)
VAGUE = frozenset(
    {
        "zeros",
        "lossless",
        "scaled",
        "values-shifted",
        "offset",
        "onward",
        "large-step",
        "overflow",
        "beyond-rounding",
        "non-finite-made",
    }
)
"""Rules that one case may call for where another tells the cause."""


def at_border(smallest: Smallest) -> bool:
    """A few values break the bound only behind so many others, which are all alike."""
    s = smallest
    elsewhere = s.alone or s.from_on or s.in_place
    return 4 <= s.at < s.size <= s.at + 4 and s.runs <= 3 and not elsewhere


def _proved(name: str, explanation: str, suggestion: str, when: Callable[[Smallest], bool]) -> Rule:
    kinds = frozenset({FailureKind.BOUND})

    def sees(pattern: ErrorPattern) -> bool:
        # Where equality is asked, other rules know more.
        return pattern.smallest is not None and pattern.abs_bound > 0 and when(pattern.smallest)

    return Rule(name, kinds, "", explanation, suggestion, "", sees)


PROVED: tuple[Rule, ...] = (
    _proved(
        "sampled",
        SAMPLED,
        SAMPLED_MENDED,
        lambda s: s.spared > 0.0,
    ),
    _proved(
        "block-border",
        "The shortest array that is wrong has its wrong value at index {smallest_at}, where a "
        "block begins: there compress and decompress take another neighbour, base or previous "
        "value.",
        CARRY_MENDED,
        at_border,
    ),
    _proved(
        "beside-non-finite",
        "A finite value is wrong only because of the NaN or Inf beside it: that entered the "
        "prediction or the block's range.",
        WITHOUT_SPECIAL,
        lambda s: s.beside_special,
    ),
    _proved(
        "beside-fill",
        "A value is wrong only because of one beside it that is far larger: a fill value entered "
        "the prediction or the block's scale.",
        WITHOUT_FILL,
        lambda s: s.beside_fill,
    ),
    _proved(
        "range-overflow",
        RANGE_OVERFLOW,
        RANGE_OVERFLOW_MENDED,
        lambda s: s.too_wide and not s.alone,
    ),
    _proved(
        "adds-up",
        ADDS_UP,
        ADDS_UP_MENDED,
        lambda s: s.grows and s.excess_ulps > 4.0,
    ),
    _proved(
        "rounding",
        ROUNDING,
        ROUNDING_MENDED,
        lambda s: s.excess_ulps <= 4.0,
    ),
    _proved(
        "negative-only",
        "A negative value came back as its magnitude: its sign is lost.",
        SIGN_MENDED,
        lambda s: s.mirrored,
    ),
)
"""Of any size."""

LIMITS: tuple[Rule, ...] = (
    _proved(
        "too-large",
        "A value by itself is right up to about 2**{value_limit} steps (of twice the bound), and "
        "wrong from there on: the quantised integer overflows (31: int32, 15: int16, 7: int8), or "
        "it is clipped.",
        LIMIT_MENDED,
        lambda s: s.alone and s.value_limit > 0 and math.isfinite(s.excess_ulps),
    ),
    _proved(
        "wraps",
        "A jump between neighbours is right up to about 2**{jump_limit} steps (of twice the "
        "bound), and wrong from there on: the integer that holds a difference is too narrow (31: "
        "int32, 15: int16, 7: int8) and wraps around, or is clipped.",
        WIDER_MENDED,
        lambda s: not s.alone and s.jump_limit > 0 and math.isfinite(s.excess_ulps),
    ),
)
"""Of where it begins to be wrong."""
