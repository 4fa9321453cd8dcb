"""Judging one candidate of a search: compile, run, and verify what leads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sz_mcp.bench.agents.desk import Caller, Desk, score_of
from sz_mcp.errors import StepFailed
from sz_mcp.scripted import STOPPED


@dataclass(frozen=True)
class Trial:
    """What came of a candidate."""

    status: str
    score: float | None
    """Larger is better; None if it failed."""
    kernel_id: str | None = None


async def judge(caller: Caller, desk: Desk, files: Mapping[str, str], best: Trial | None) -> Trial:
    """Try a candidate; whatever scores more than `best` has to pass the suite too.

    A call that is refused is a failure of the candidate. Raises CellStopped.
    """
    cell = desk.cell
    parent = None if best is None else best.kernel_id
    told = {"task": cell.task, "target": cell.target, "files": dict(files), "parent": parent}
    try:
        built = (await caller.call("compile_kernel", told)).structured
        kernel_id = str(built["kernel_id"])
        if built["status"] in STOPPED:
            return Trial(str(built["status"]), None, kernel_id)
        named = {"kernel_id": kernel_id}
        ran = await _run(caller, {**named, **desk.at_field()})
        if ran["status"] in STOPPED:
            return Trial(str(ran["status"]), None, kernel_id)
        score = score_of(ran)
        if best is None or best.score is None or score > best.score:
            held = await caller.call("verify_bounds", {**named, **desk.at_suite()})
            if not held.structured.get("holds"):
                return Trial(str(held.structured["status"]), None, kernel_id)
        return Trial(str(ran["status"]), score, kernel_id)
    except StepFailed:
        return Trial("refused", None)


async def _run(caller: Caller, arguments: Mapping[str, object]) -> Mapping[str, Any]:
    """The reply of run_compress, of a second one if other work on the machine hid the first."""
    first = (await caller.call("run_compress", arguments)).structured
    if first["status"] != "inconclusive":
        return first
    return (await caller.call("run_compress", arguments)).structured
