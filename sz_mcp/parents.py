"""How a run compares with the parent's: told only as a difference where it is more than noise.

Both were timed at different moments, so a speed counts as another one only if it is that in seconds
as well as in units of the copy that each run made beside its repetitions: what slows a machine
between two runs shows in one of them. Whoever wants to know exactly has both timed side by side.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from kernels.records import Guidance, Kernel, RunResult, Status
from results_db.statistics import Interval, unpaired_ratio
from results_db.summary import BASELINE
from sz_mcp.asked import Asked

RULE = "beside-parent"
_REMEMBERED = 512
_Key = tuple[str, str, str, str, float, int]


class Parents:
    """The last timed run of each kernel where it ran, by agent. Thread-safe."""

    def __init__(self) -> None:
        self._runs: OrderedDict[_Key, RunResult] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, kernel: Kernel, asked: Asked, run: RunResult) -> tuple[Guidance, ...]:
        """Remember the run, and say what it is beside its parent's; nothing without one."""
        if run.status is not Status.TIMED:
            return ()
        parent = kernel.submission.parent
        with self._lock:
            self._runs[_key(kernel.agent, kernel.kernel_id, asked)] = run
            before = self._runs.get(_key(kernel.agent, parent or "", asked))
            while len(self._runs) > _REMEMBERED:
                self._runs.popitem(last=False)
        if before is None:
            return ()
        told = [
            f"{direction} {_text(found)}"
            for direction in ("compress", "decompress", "run")
            if (found := beside(run, before, direction)) is not None
        ]
        if not told:
            return ()
        return (
            Guidance(
                RULE,
                f"Speed over that of the last run of its parent {parent} here: {'; '.join(told)}.",
                f'To time both side by side: run_compress(…, against="{parent}").',
            ),
        )


def beside(run: RunResult, before: RunResult, direction: str) -> Interval | None:
    """Ratio of speeds, with an interval that holds it in seconds and in copies."""
    found = [
        unpaired_ratio(_times(before, direction, unit), _times(run, direction, unit))
        for unit in (None, BASELINE)
        if _times(before, direction, unit) and _times(run, direction, unit)
    ]
    if len(found) < 2:
        return None
    return Interval(found[0].ratio, min(i.low for i in found), max(i.high for i in found))


def _times(run: RunResult, direction: str, unit: str | None) -> Sequence[float]:
    """Per byte, of undisturbed repetitions; unit: metric with the speed they are counted in."""
    scale = 1.0 if unit is None else next((m.value for m in run.metrics if m.name == unit), 0.0)
    return [
        scale * one.seconds / one.nbytes
        for one in run.samples
        if one.direction == direction and not one.disturbed and one.seconds * one.nbytes * scale > 0
    ]


def _key(agent: str, kernel_id: str, asked: Asked) -> _Key:
    return agent, kernel_id, asked.field, asked.mode, asked.bound, asked.threads


def _text(found: Interval) -> str:
    within = f"{found.low:.3g} to {found.high:.3g}"
    return f"{found.ratio:.3g} (95% interval {within}: {found.verdict})"
