"""What a measurement means that was not made, or that is too good to count unseen."""

from __future__ import annotations

from kernels.records import FailureKind

from .rules import Rule

RULES: tuple[Rule, ...] = (
    Rule(
        "lock-held",
        frozenset({FailureKind.BUSY}),
        r"timing lock was not to be had",
        "One kernel is timed at a time on a machine, and another server did not finish; nothing is "
        "wrong with the kernel.",
        "Tell whoever runs the machine which process it is; meanwhile verify_bounds works.",
    ),
    Rule(
        "too-small",
        frozenset({FailureKind.INTEGRITY}),
        r"times smaller than that of the best reference",
        "No reference codec comes near this size, so the result is kept, marked and ranked nowhere "
        "until somebody has read the kernel. Honest kernels meet this on fields that a formula "
        "describes.",
        "If the decoder holds anything of the field, take it out. If not, say in a comment what "
        "makes the stream so small: that is what a reviewer reads first.",
    ),
    Rule(
        "remembered",
        frozenset({FailureKind.INTEGRITY}),
        r"had not seen the field before",
        "The kernel was loaded once more and given content that it could not know; there its "
        "streams are larger, or a call costs more than twice the processor time.",
        "Keep nothing of one call's data for the next: no streams, outputs or statistics. Tables "
        "that depend on shape, type or bound alone are fine.",
    ),
    Rule(
        "too-fast",
        frozenset({FailureKind.INTEGRITY}),
        r"faster than this machine's memory can move its data",
        "compress must read every value and decompress must write every one; no memory here is as "
        "fast as this result.",
        "Look at all of the input in every call, and do all of the work inside it: nothing that an "
        "earlier call left behind is valid for the next, whose content is new.",
    ),
)
