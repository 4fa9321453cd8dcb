"""What limits a function: bytes it moves against what this machine's memory can do at that size.

Measurements flow in, metrics and a verdict with its numbers flow out. Nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kernels.records import Loop, Metric
from toolchains.base import Phase, Usage
from toolchains.vectorisation import left_scalar

MEMORY_BOUND = 0.5
"""Share of the time that copying as many bytes takes, from which on memory decides."""
OVERHEAD_BOUND = 0.25
"""Share of a call that an empty one takes, from which on the kernel hardly matters."""
INTERPRETED = 0.5


class Limit(StrEnum):
    """What a function spends its time on."""

    MEMORY = "memory-bound"
    COMPUTE = "compute-bound"
    OVERHEAD = "overhead-bound"
    INTERPRETED = "interpreted"


@dataclass(frozen=True)
class Measured:
    """One function of the task."""

    function: str
    seconds: float
    """Median time of one call."""
    original_bytes: int
    """Of the field: what speeds count."""
    moved_bytes: int
    """Of the arrays it is given and those it returns."""
    copy_gbps: float
    """Of the same threads, for arrays of half as many bytes: a copy then moves as much."""
    empty_seconds: float
    """Part of `seconds` that a request takes which does nothing."""
    threads: int
    """That it may use."""
    phases: tuple[Phase, ...]
    usage: Usage | None
    memory: Usage | None
    """Of a call that found no memory kept from an earlier one."""

    @property
    def interpreted(self) -> float:
        """Part of the time in the submission's functions that ran as Python."""
        total = sum(p.seconds for p in self.phases)
        return sum(p.seconds for p in self.phases if not p.compiled) / total if total else 0.0

    @property
    def of_copy_peak(self) -> float:
        """Time that copying as many bytes would take, over the time taken."""
        return self.moved_bytes / 2 / self.copy_gbps / 1e9 / self.seconds

    @property
    def overhead(self) -> float:
        """Part of the time that an empty request takes too."""
        return min(1.0, self.empty_seconds / self.seconds)

    @property
    def limit(self) -> Limit:
        """What decides its time."""
        if self.interpreted > INTERPRETED:
            return Limit.INTERPRETED
        if self.overhead > OVERHEAD_BOUND:
            return Limit.OVERHEAD
        return Limit.MEMORY if self.of_copy_peak >= MEMORY_BOUND else Limit.COMPUTE


def metrics(one: Measured) -> Iterator[Metric]:
    """Of one function, the general before the particular."""
    name, seconds = one.function, one.seconds
    yield Metric(f"{name}.seconds", seconds, "s", "measured")
    yield Metric(f"{name}.bandwidth", one.original_bytes / seconds / 1e9, "GB/s", "measured")
    yield Metric(f"{name}.share_of_copy_peak", one.of_copy_peak, "", "derived")
    yield Metric(f"{name}.moved_bytes", float(one.moved_bytes), "bytes", "measured")
    yield Metric(f"{name}.moved_bandwidth", one.moved_bytes / seconds / 1e9, "GB/s", "measured")
    yield Metric(f"{name}.overhead_share", one.overhead, "", "derived")
    if one.memory is not None:
        yield Metric(f"{name}.peak_memory", one.memory.peak_bytes / 1e6, "MB", "measured")
    if one.usage is not None:
        yield Metric(f"{name}.threads", float(one.usage.threads), "", "measured")
        yield from _counters(name, one.usage)
    for phase in one.phases:
        yield Metric(f"phase.{name}.{_phase_name(one, phase)}", phase.seconds, "s", "reported")


def _counters(name: str, usage: Usage) -> Iterator[Metric]:
    counted = usage.counters
    for event, value in counted.items():
        yield Metric(f"{name}.{event}", value, "per call", "measured")
    for ratio, above, below in (
        ("instructions_per_cycle", "instructions", "cycles"),
        ("cache_miss_share", "cache_misses", "cache_references"),
        ("branch_miss_share", "branch_misses", "branches"),
    ):
        if counted.get(below) and above in counted:
            yield Metric(f"{name}.{ratio}", counted[above] / counted[below], "", "derived")


def sentence(slow: Measured, loops: Sequence[Loop]) -> str:
    """What limits the slowest function, with the numbers behind it."""
    told = f"{slow.function} takes {slow.seconds * 1e3:.2f} ms and is {slow.limit}: {_why(slow)}"
    if not slow.phases:
        return f"{told}; none of it was seen in functions of the submission"
    total = sum(p.seconds for p in slow.phases)
    top = max(slow.phases, key=lambda p: p.seconds)
    how = "machine code" if top.compiled else "interpreted Python"
    told += f"; {top.seconds / total:.0%} is in `{top.name}` ({top.file}:{top.line}, {how})"
    return told + _evidence(slow, top, loops)


def _why(slow: Measured) -> str:
    moved, gbps = slow.moved_bytes / 1e6, slow.moved_bytes / slow.seconds / 1e9
    copying = (
        f"it moves {moved:.3g} MB at {gbps:.3g} GB/s, {percent(slow.of_copy_peak)} of what a copy "
        "of that size does"
    )
    match slow.limit:
        case Limit.INTERPRETED:
            return f"{slow.interpreted:.0%} of the time it runs as Python; {copying}"
        case Limit.OVERHEAD:
            return f"an empty request takes {slow.overhead:.0%} of that"
    return copying


def _evidence(slow: Measured, top: Phase, loops: Sequence[Loop]) -> str:
    """What of the machine code bears the verdict out."""
    if slow.limit is not Limit.COMPUTE or not top.compiled:
        return ""
    told = ""
    counted = slow.usage.counters if slow.usage else {}
    if counted.get("cycles"):
        told = f"; {counted['instructions'] / counted['cycles']:.2g} instructions per cycle"
    inside = [loop for loop in loops if loop.share]
    scalar = sum(left_scalar(loop) for loop in inside)
    if scalar:
        told += f"; {scalar} of the {len(inside)} loops in compiled code are not vectorised"
    elif inside:
        told += f"; none of the {len(inside)} loops in compiled code was left scalar"
    return told


def percent(share: float) -> str:
    """Two digits that mean something, also of small shares."""
    return f"{100 * share:.2g}%" if share < 0.095 else f"{share:.0%}"


def _phase_name(one: Measured, phase: Phase) -> str:
    twice = sum(p.name == phase.name for p in one.phases) > 1
    return f"{phase.name}@{phase.file}:{phase.line}" if twice else phase.name
