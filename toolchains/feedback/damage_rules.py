"""What a decoder that can't take a damaged stream means, whatever the target."""

from __future__ import annotations

from kernels.records import FailureKind

from .rules import Rule

_ENDED = frozenset({FailureKind.CRASH, FailureKind.MEMORY, FailureKind.INTEGRITY})

RULES: tuple[Rule, ...] = (
    Rule(
        "reads-beyond-a-damaged-stream",
        _ENDED,
        r"bytes, damaged \((?P<harm>.*?)\):",
        "The decoder believed what a damaged stream says ({harm}) and went outside the stream or "
        "its output: compiled code checks no index.",
        "Validate lengths before reading: compare the stream's size with a header's, compute where "
        "each part ends from checked numbers, and raise ValueError if one does not fit. A checksum "
        "over the body finds the rest.",
    ),
    Rule(
        "hangs-on-a-damaged-stream",
        frozenset({FailureKind.TIMEOUT}),
        r"bytes, damaged \((?P<harm>.*?)\):",
        "The decoder went on for good, or far too long, on a damaged stream ({harm}): a count or a "
        "step that it read was 0 or huge.",
        "Validate lengths before reading, bound every loop by the size of the stream or of the "
        "output, and raise ValueError for a step of 0.",
    ),
    Rule(
        "reads-beyond-its-stream",
        _ENDED,
        r"where no memory follows its own stream",
        "The decoder reads beyond the end of a stream that is whole; what lies there is its own "
        "by chance only.",
        "End every loop where the stream does, or let the encoder pad it to the width of a read.",
    ),
)
