"""What a profile means: shares of time and of bandwidth → what to change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernels.records import Guidance
from toolchains.base import Phase


@dataclass(frozen=True)
class Shares:
    """What the rules look at."""

    interpreted: float
    """Part of the time in functions that ran as Python."""
    largest: float
    """Part of the time in the largest function."""
    of_copy_peak: float
    """Original bytes per second over the copy bandwidth at that size."""


@dataclass(frozen=True)
class PerformanceRule:
    """One entry of the table."""

    name: str
    holds: Callable[[Shares], bool]
    explanation: str
    suggestion: str

    def guidance(self) -> Guidance:
        """What it says."""
        return Guidance(self.name, self.explanation, self.suggestion)


RULES: tuple[PerformanceRule, ...] = (
    PerformanceRule(
        "python-phase",
        lambda s: s.interpreted > 0.5,
        "More than half of the time is spent in functions that run as Python: NumPy passes and "
        "temporary arrays, or loops that were never compiled.",
        "Move the work into one @njit function that passes over the data once.",
    ),
    PerformanceRule(
        "one-function",
        lambda s: s.largest > 0.6 and s.of_copy_peak < 0.1,
        "One compiled function takes most of the time, far below what memory allows: it computes "
        "element by element or bit by bit.",
        "Work on blocks of a fixed size without branches per element, so that LLVM vectorises; "
        "pack whole words instead of single bits.",
    ),
    PerformanceRule(
        "many-passes",
        lambda s: s.largest <= 0.6 and s.of_copy_peak < 0.1,
        "The time is spread over several passes, each far below what memory allows.",
        "Fuse the passes per block, so that the data stays in cache between them.",
    ),
    PerformanceRule(
        "near-memory",
        lambda s: s.of_copy_peak > 0.5,
        "The kernel runs at more than half the speed of copying its input.",
        "Fewer bytes are the only way left: write smaller streams, touch the input once.",
    ),
)


def performance_guidance(
    phases: Sequence[Phase], share_of_copy_peak: float
) -> tuple[Guidance, ...]:
    """What the table says of a profile's slowest function."""
    total = sum(p.seconds for p in phases)
    if total <= 0:
        return ()
    shares = Shares(
        interpreted=sum(p.seconds for p in phases if not p.compiled) / total,
        largest=max(p.seconds for p in phases) / total,
        of_copy_peak=share_of_copy_peak,
    )
    return tuple(rule.guidance() for rule in RULES if rule.holds(shares))
