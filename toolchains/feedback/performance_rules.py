"""What a profile means: shares of time, bandwidth and memory, and loops → what to change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernels.records import Guidance, KeptCall, Loop
from toolchains.vectorisation import (
    CALL_SHARE,
    CARRYING,
    REASONS,
    Reason,
    left_scalar,
    matters,
    reason_of,
)

SHOWN = 4
"""Rules that are told of at most; the table goes from the weighty to the fine."""


@dataclass(frozen=True)
class Facts:
    """What the rules look at: of the slowest function."""

    interpreted: float = 0.0
    """Part of the time in functions that ran as Python."""
    largest: float = 0.0
    """Part of the time in the submission's largest function."""
    helped: float = 0.0
    """Part of the time that szstream took."""
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
    """May name the {place} of the loop it is about, what it has {carried}, and the {call} in it."""
    suggestion: str
    of: Callable[[Facts], Loop | None] = lambda _: None
    """The loop it is about."""

    def guidance(self, facts: Facts) -> Guidance:
        """What it says."""
        loop = self.of(facts)
        words = _words(loop) if loop is not None else {}
        return Guidance(self.name, self.explanation.format(**words), self.suggestion)


def _words(loop: Loop) -> dict[str, str]:
    calls = (call.text for call in _hot_calls(loop))
    carried = ", ".join(f"`{name}`" for name in loop.carried)
    return {
        "place": f"{loop.file}:{loop.line}",
        "carried": f" ({carried})" if carried else "",
        "call": "; ".join(calls),
    }


def _scalar(facts: Facts) -> Loop | None:
    """The hottest loop that was not vectorised, where that matters."""
    if facts.of_copy_peak > 0.5:
        return None
    hot = (one for one in facts.loops if left_scalar(one) and matters(one))
    return next(hot, None)


def _calling(facts: Facts) -> Loop | None:
    """The hottest loop with calls that were not inlined."""
    return next((one for one in facts.loops if _hot_calls(one) and matters(one)), None)


def _hot_calls(loop: Loop) -> list[KeptCall]:
    return [call for call in loop.calls if call.share is None or call.share >= CALL_SHARE]


def _counting(facts: Facts) -> Loop | None:
    return next((one for one in facts.loops if one.counts_references and matters(one)), None)


def _loop_rule(reason: Reason) -> PerformanceRule:
    def holds(facts: Facts) -> bool:
        loop = _scalar(facts)
        # Of a loop that calls functions, another rule tells which.
        told = reason.name == "calls" and _calling(facts) is loop
        return loop is not None and reason_of(loop) is reason and not told

    carries = "{carried}" if reason.name in CARRYING else ""
    explanation = f"The hottest loop, {{place}}, {reason.meaning}{carries}."
    return PerformanceRule(f"loop-{reason.name}", holds, explanation, reason.remedy, _scalar)


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
    PerformanceRule(
        "kept-call",
        lambda f: _calling(f) is not None,
        "In the loop {place} functions are called that were not inlined: {call}. Each call passes "
        "its arguments one by one, an array as seven or more.",
        "Write them out in the loop, or @njit(inline='always'); pass fewer arguments.",
        _calling,
    ),
    PerformanceRule(
        "reference-counts",
        lambda f: _counting(f) is not None,
        "In the loop {place} references to arrays are counted, an atomic operation each.",
        "Don't slice, rebind or pass arrays inside it: index those made before the loop.",
        _counting,
    ),
    *(_loop_rule(reason) for reason in REASONS if reason.remedy),
    PerformanceRule(
        "one-function",
        lambda f: (
            f.interpreted <= 0.5
            and f.largest > 0.6
            and f.of_copy_peak < 0.1
            and not any(find(f) for find in (_scalar, _calling, _counting))
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
        "stream-check",
        lambda f: f.helped > 0.25,
        "Much of the time goes to szstream, which reads the whole body once more for its check.",
        "Add the check up in the loop that reads or writes the body: szstream.header(..., "
        "body=check), and szstream.parse(..., verify_check=False) with a look at `.check`.",
    ),
    PerformanceRule(
        "new-memory",
        lambda f: f.new_memory > 0.25,
        "Every call, not only the first, touches pages that it did not have before: it writes over "
        "an input, whose pages are then copied, or keeps memory from call to call. A new page "
        "costs several times what writing it does.",
        "Write results into one array allocated per call, not over an input; keep nothing between "
        "calls (lists, globals, caches).",
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
    return tuple(rule.guidance(facts) for rule in RULES if rule.holds(facts))[:SHOWN]
