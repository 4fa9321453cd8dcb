"""What violations of a bound, or of a format, mean. From the particular to the general."""

from __future__ import annotations

from kernels.records import FailureKind

from .rules import Rule

_BOUND = frozenset({FailureKind.BOUND})
_FORMAT = frozenset({FailureKind.FORMAT})

RULES: tuple[Rule, ...] = (
    Rule(
        "stage-differs",
        _BOUND,
        r"golden answer|equality is asked",
        "Stages are integer arithmetic modulo 2^32 and must equal the golden answer bit for bit.",
        "Work on int32 or uint32 throughout, and check the first element and array borders.",
    ),
    Rule(
        "non-finite-lost",
        _BOUND,
        r": (nan|-?inf) came back as",
        "NaN and ±Inf must come back as they were; quantising them gives garbage.",
        "Test isfinite before converting to an integer; store such elements, or their block, raw.",
    ),
    Rule(
        "non-finite-made",
        _BOUND,
        r"came back as (nan|-?inf)",
        "A finite value came back as NaN or Inf: overflow, or a neighbour that is not finite.",
        "Keep non-finite values out of the prediction; check the range before casting.",
    ),
    Rule(
        "overflow",
        _BOUND,
        r"an error of \d(\.\d+)?e\+(0[6-9]|[1-9]\d)",
        "The error is enormous: the quantised integer overflowed its type.",
        "Check |x / step| against the integer range and store what does not fit raw.",
    ),
    Rule(
        "rounding",
        _BOUND,
        "",
        "The bound is checked exactly. An error just above it is rounding: the reconstruction, or "
        "the cast to the data type, lands on the wrong side.",
        "Reconstruct while compressing exactly as the decoder will, compare with the original, and "
        "store what fails raw; or shrink the step by a few units in the last place.",
    ),
    Rule(
        "golden-refuses",
        _FORMAT,
        r"refuses",
        "The stream is not the specified format; the golden decoder says why.",
        "Build the header with szstream.header and compare the layout with the task's page.",
    ),
    Rule(
        "golden-misread",
        _FORMAT,
        "",
        "Kernel and golden codec understand the same bytes differently.",
        "Check bit order, sign words, running q over raw and masked elements, and the tail.",
    ),
)
