"""What limits a function: bytes it moves against what this machine's memory can do at that size.

Measurements flow in, metrics and a verdict with its numbers flow out. Nothing is measured here.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kernels.records import Loop, Metric
from toolchains.base import Phase, Usage
from toolchains.vectorisation import left_scalar, matters, waits

MEMORY_BOUND = 0.5
"""Share of the time that copying as many bytes takes, from which on memory decides."""
OVERHEAD_BOUND = 0.25
"""Share of a call that an empty one takes, from which on the kernel hardly matters."""
INTERPRETED = 0.5
_HELP = "szstream.py"
FAULTED = 0.25
"""Part of the bytes moved that lay in pages which had to be made, from which on that decides: a
fault takes about as long as copying its page several times."""
LATENCY = 0.05
"""Share of the time that copying takes, below which a loop whose steps wait for each other is what
decides it."""


class Limit(StrEnum):
    """What a function spends its time on."""

    MEMORY = "memory-bound"
    COMPUTE = "compute-bound"
    LATENCY = "a latency-bound chain"
    OVERHEAD = "overhead-bound"
    PAGES = "bound by page faults"
    INTERPRETED = "interpreted"


@dataclass(frozen=True)
class Measured:
    """One function of the task."""

    function: str
    seconds: float
    """Median time of one call."""
    elements: int
    """Of the field."""
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
    """In parts of `seconds`."""
    usage: Usage | None
    memory: Usage | None
    """Of a call that found no memory kept from an earlier one."""

    @property
    def interpreted(self) -> float:
        """Part of the time in its functions that the submission's own ones ran as Python."""
        return self._part(lambda p: not p.compiled and p.file != _HELP)

    @property
    def helped(self) -> float:
        """Part of the time in its functions that `szstream` took."""
        return self._part(lambda p: p.file == _HELP)

    def _part(self, chosen: Callable[[Phase], bool]) -> float:
        total = sum(p.seconds for p in self.phases)
        return sum(p.seconds for p in self.phases if chosen(p)) / total if total else 0.0

    @property
    def of_copy_peak(self) -> float:
        """Time that copying as many bytes would take, over the time taken."""
        return self.moved_bytes / 2 / self.copy_gbps / 1e9 / self.seconds

    @property
    def faults(self) -> float:
        """Page faults of one call; 0 if they were not counted."""
        return self.usage.counters.get("page_faults", 0.0) if self.usage else 0.0

    @property
    def faulted(self) -> float:
        """Memory that a call touched for the first time, or copied on writing, over its bytes."""
        return self.faults * mmap.PAGESIZE / max(1, self.moved_bytes)

    @property
    def overhead(self) -> float:
        """Part of the time that an empty request takes too."""
        return min(1.0, self.empty_seconds / self.seconds)

    def limit(self, loops: Sequence[Loop] = ()) -> Limit:
        """What decides its time; loops: that it spends its time in."""
        if self.interpreted > INTERPRETED:
            return Limit.INTERPRETED
        if self.overhead > OVERHEAD_BOUND:
            return Limit.OVERHEAD
        if self.of_copy_peak >= MEMORY_BOUND:
            return Limit.MEMORY
        if self.faulted >= FAULTED:
            return Limit.PAGES
        chained = any(waits(loop) and matters(loop) for loop in loops)
        return Limit.LATENCY if chained and self.of_copy_peak < LATENCY else Limit.COMPUTE


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
        if event == "task_clock_ns":
            yield Metric(
                f"{name}.cpu_time", value / 1e6, "ms in a watched, slower call", "measured"
            )
        else:
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
    limit = slow.limit(loops)
    told = f"{slow.function} takes {slow.seconds * 1e3:.4g} ms and is {limit}: "
    told += _why(slow, limit, loops)
    if not slow.phases:
        return f"{told}; none of it was seen in functions of the submission"
    total = sum(p.seconds for p in slow.phases)
    top = max(slow.phases, key=lambda p: p.seconds)
    how = "machine code" if top.compiled else "interpreted Python"
    told += f"; {top.seconds / total:.0%} is in `{top.name}` ({top.file}:{top.line}, {how})"
    return told + (_evidence(slow, loops) if top.compiled else "")


def _why(slow: Measured, limit: Limit, loops: Sequence[Loop]) -> str:
    moved, gbps = slow.moved_bytes / 1e6, slow.moved_bytes / slow.seconds / 1e9
    copying = (
        f"it moves {moved:.3g} MB at {gbps:.3g} GB/s, {percent(slow.of_copy_peak)} of what a copy "
        "of that size does"
    )
    per_element = f"{slow.seconds / max(1, slow.elements) * 1e9:.3g} ns per element of the field"
    match limit:
        case Limit.INTERPRETED:
            return f"{slow.interpreted:.0%} of the time it runs as Python; {copying}"
        case Limit.PAGES:
            return (
                f"{slow.faults:.3g} page faults per call: pages of new memory, or of an input that "
                f"is written over; {copying}"
            )
        case Limit.OVERHEAD:
            return f"an empty request takes {slow.overhead:.0%} of that"
        case Limit.LATENCY:
            loop = next(loop for loop in loops if waits(loop) and matters(loop))
            carried = f" ({', '.join(loop.carried)})" if loop.carried else ""
            return (
                f"{per_element}; in the loop {loop.file}:{loop.line} each step waits for the one "
                f"before{carried}"
            )
        case Limit.COMPUTE:
            return f"{per_element}, {percent(slow.of_copy_peak)} of the speed of a copy"
    return copying


def _evidence(slow: Measured, loops: Sequence[Loop]) -> str:
    """What of the machine code bears the verdict out."""
    limit = slow.limit(loops)
    if limit not in (Limit.COMPUTE, Limit.LATENCY):
        return ""
    told = ""
    counted = slow.usage.counters if slow.usage else {}
    if counted.get("cycles"):
        told = f"; {counted['instructions'] / counted['cycles']:.2g} instructions per cycle"
    hot = [loop for loop in loops if matters(loop)]
    scalar = sum(left_scalar(loop) or bool(loop.calls) for loop in hot)
    if limit is Limit.LATENCY or not hot:
        return told
    if len(hot) == 1 and scalar:
        return f"{told}; the loop that takes its time was left scalar"
    if not scalar:
        return f"{told}; none of the loops that take its time was left scalar"
    return f"{told}; of the {len(hot)} loops that take its time, {scalar} left scalar"


def percent(share: float) -> str:
    """Two digits that mean something, also of small shares."""
    return f"{100 * share:.2g}%" if share < 0.095 else f"{share:.0%}"


def _phase_name(one: Measured, phase: Phase) -> str:
    twice = sum(p.name == phase.name for p in one.phases) > 1
    return f"{phase.name}@{phase.file}:{phase.line}" if twice else phase.name
