"""What violations of a bound, or of a format, mean. From the particular to the general."""

from __future__ import annotations

from kernels.records import FailureKind

from .rules import Rule

_BOUND = frozenset({FailureKind.BOUND})
_FORMAT = frozenset({FailureKind.FORMAT})

RULES: tuple[Rule, ...] = (
    Rule(
        "fresh-content",
        _BOUND,
        r"^on fresh content made from the field",
        "The kernel is right on the field but not on other content of the same shape: it remembers "
        "a stream or a result, depends on something that it was not given, or has a branch that "
        "the field never takes.",
        "Compute everything from the arguments of each call: no caches, no globals that change, no "
        "uninitialised memory (np.empty); then verify_bounds on the suite, which takes more "
        "branches.",
    ),
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
        r"e\+(0[3-9]|[1-9]\d+) times the bound",
        "The error is a thousand bounds or more, which no rounding explains: the quantised integer "
        "overflowed its type, or a block was read at the wrong place.",
        "Check |x / step| against the integer range and store what does not fit raw; compare what "
        "is written with what is read, block by block.",
    ),
    Rule(
        "beyond-rounding",
        _BOUND,
        r"\((1\.0[1-9]|1\.[1-9]|[2-9]|\d{2,})[\d.e+]* times the bound",
        "The error is clearly above the bound, more than rounding explains: a step that is too "
        "large, a correction that is lost, or elements that are skipped.",
        "Compare the positions in the counterexample and in other cases: the same index points at "
        "block borders or tails; then check step <= 2 x bound and what is stored raw.",
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
