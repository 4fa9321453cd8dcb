"""What a profile means: shares of time, bandwidth and memory, and loops → what to change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernels.records import Guidance, Loop
from toolchains.vectorisation import REASONS, Reason, left_scalar, reason_of

SHOWN = 4
"""Rules that are told of at most; the table goes from the weighty to the fine."""
_HOT = 0.3
"""Share of the time from which on a loop's function is worth a word."""


@dataclass(frozen=True)
class Facts:
    """What the rules look at: of the slowest function."""

    interpreted: float = 0.0
    """Part of the time in functions that ran as Python."""
    largest: float = 0.0
    """Part of the time in the submission's largest function."""
    of_copy_peak: float = 0.0
    """Time to copy as many bytes as it moves, over its time."""
    overhead: float = 0.0
    """Part of the time that an empty request takes too."""
    disturbed: float = 0.0
    """Part of the timed requests that other work disturbed."""
    new_memory: float = 0.0
    """Memory touched for the first time in a call that is not the first, over the bytes moved."""
    peak_memory: float = 0.0
    """Memory a call takes at its peak, over the bytes moved."""
    threads: int = 1
    threads_used: int = 1
    parallel: bool = False
    """Whether the source asks numba for parallel loops."""
    loops: tuple[Loop, ...] = ()
    """Hottest first."""


@dataclass(frozen=True)
class PerformanceRule:
    """One entry of the table."""

    name: str
    holds: Callable[[Facts], bool]
    explanation: str
    suggestion: str

    def guidance(self) -> Guidance:
        """What it says."""
        return Guidance(self.name, self.explanation, self.suggestion)


def _scalar(facts: Facts) -> Loop | None:
    """The hottest loop that was not vectorised, where that matters."""
    if facts.of_copy_peak > 0.5:
        return None
    hot = (one for one in facts.loops if left_scalar(one) and (one.share or 0.0) >= _HOT)
    return next(hot, None)


def _loop_rule(reason: Reason) -> PerformanceRule:
    def holds(facts: Facts) -> bool:
        loop = _scalar(facts)
        return loop is not None and reason_of(loop) is reason

    explanation = f"The hottest loop takes one value at a time, because it {reason.meaning}."
    return PerformanceRule(f"loop-{reason.name}", holds, explanation, reason.remedy)


RULES: tuple[PerformanceRule, ...] = (
    PerformanceRule(
        "disturbed",
        lambda f: f.disturbed >= 0.5,
        "Other work on this machine disturbed half of the timed requests or more: the times here "
        "are too long, their order is likely right.",
        "Profile again when less is going on before comparing versions.",
    ),
    PerformanceRule(
        "overhead",
        lambda f: f.overhead > 0.25,
        "The call is so short that reaching the kernel takes a good part of the time.",
        "Profile on a larger field: what is seen here is mostly not the kernel.",
    ),
    PerformanceRule(
        "python-phase",
        lambda f: f.interpreted > 0.5,
        "More than half of the time is spent in functions that run as Python: NumPy passes and "
        "temporary arrays, or loops that were never compiled.",
        "Move the work into one @njit function that passes over the data once.",
    ),
    *(_loop_rule(reason) for reason in REASONS if reason.remedy),
    PerformanceRule(
        "one-function",
        lambda f: (
            f.interpreted <= 0.5 and f.largest > 0.6 and f.of_copy_peak < 0.1 and _scalar(f) is None
        ),
        "One compiled function takes most of the time, far below what memory allows, and no loop "
        "in it is known to be left as it is: it does much work per value.",
        "Count operations per value; use smaller types (int32, float32), so that more values fit "
        "into a vector; pack whole words instead of single bits.",
    ),
    PerformanceRule(
        "many-passes",
        lambda f: f.interpreted <= 0.5 and f.largest <= 0.6 and f.of_copy_peak < 0.1,
        "The time is spread over several passes, each far below what memory allows.",
        "Fuse the passes per block, so that the data stays in cache between them.",
    ),
    PerformanceRule(
        "peak-memory",
        lambda f: f.peak_memory > 4.0,
        "At its peak a call holds several times the memory of its input and output: temporary "
        "arrays as large as the field, or wider types than the data.",
        "Work through the data in blocks; reuse one buffer (out=...); keep the type of the data.",
    ),
    PerformanceRule(
        "new-memory",
        lambda f: f.new_memory > 0.5,
        "Every call, not only the first, touches memory it never had before: something is kept "
        "from call to call, or mapped anew. Each new page costs about as much as writing it.",
        "Keep nothing between calls (lists, globals, caches); allocate once per call.",
    ),
    PerformanceRule(
        "parallel-one-thread",
        lambda f: f.parallel and f.threads == 1,
        "The source asks for parallel loops, but this run has one thread, as runs have unless "
        "told otherwise: the loops run one after the other and cost more to start.",
        "Ask for threads (threads=N), which is ranked apart; or drop parallel=True.",
    ),
    PerformanceRule(
        "idle-threads",
        lambda f: f.threads > 1 and f.threads_used == 1,
        "The run may use several threads, but only one worked in the slowest function.",
        "Use @njit(parallel=True) with prange over blocks, each writing to its own place.",
    ),
    PerformanceRule(
        "near-memory",
        lambda f: f.of_copy_peak > 0.5,
        "The kernel takes less than twice as long as copying the bytes it moves.",
        "Fewer bytes are the only way left: write smaller streams, touch the input once.",
    ),
)


def performance_guidance(facts: Facts) -> tuple[Guidance, ...]:
    """What the table says of a profile's slowest function."""
    return tuple(rule.guidance() for rule in RULES if rule.holds(facts))[:SHOWN]
