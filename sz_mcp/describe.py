"""What `describe_arch` and the resources say of targets, tasks and fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kernels.records import Metric
from sz_mcp.answers import finite, metrics_reply
from sz_mcp.host import isolation_note
from sz_mcp.pages import task_page
from sz_mcp.replies import DescribeReply, FieldReply, TargetReply, TaskReply
from toolchains.base import TargetInfo

if TYPE_CHECKING:
    from kernels.fields import Catalogue
    from kernels.tasks.base import Task
    from sz_mcp.engine import Engine


def describe_all(engine: Engine, feedback: str, agent: str = "") -> DescribeReply:
    """Every target in brief, and every task and field; `agent` is who is calling."""
    return DescribeReply(
        targets=[_target(info) for info in engine.targets.values() if info.listed],
        tasks=_tasks(engine.tasks),
        fields=all_fields(engine.catalogue, _LISTED),
        notes=[_COMPUTED, *_others(engine), *_caller(agent, feedback)],
        feedback=feedback,
    )


def _others(engine: Engine) -> list[str]:
    """Targets that are not listed, for they are much like others."""
    names = [info.target for info in engine.targets.values() if not info.listed]
    # The part before the colon is the same as of those that are listed.
    return [f"further targets: {', '.join(n.partition(':')[2] for n in names)}"] if names else []


def _caller(agent: str, feedback: str) -> list[str]:
    return [f"you are recorded as {agent}, feedback level {feedback}"] if agent else []


def describe_task(engine: Engine, task: str, feedback: str, *, detailed: bool) -> DescribeReply:
    """The page of one task; in detail with a complete submission per family of targets."""
    found = engine.tasks[task]
    page = task_page(found) if detailed else found.page
    return DescribeReply(task=task, page=page, feedback=feedback)


def describe_one(
    engine: Engine, info: TargetInfo, feedback: str, *, detailed: bool
) -> DescribeReply:
    """One target in full; tasks and fields again if asked for detail."""
    return DescribeReply(
        target=info.target,
        execution=info.execution,
        available=info.available,
        reason=info.reason,
        limits=metrics_reply(info.limits),
        hardware=metrics_reply(info.hardware if detailed else _first_of(info.hardware)),
        peaks=metrics_reply(info.peaks if detailed else _typical(info.peaks)),
        notes=[*info.notes, isolation_note(engine.pipeline.layers())],
        contract=info.contract,
        example=dict(info.example),
        example_task=info.example_task,
        advice=list(info.advice),
        tasks=_tasks(engine.tasks) if detailed else [],
        fields=all_fields(engine.catalogue, _LISTED) if detailed else [],
        feedback=feedback,
    )


_COMPUTED = "other DIMS (1 to 4 axes, up to 1 GiB), seeds, :f64 and :fill of synthetic: work too"
_LISTED = 24
"""Fields that a reply lists: a user may have registered hundreds."""
_TYPICAL = tuple(f"_at_{kib}_KiB" for kib in (16, 8192, 131072))
"""Sizes of a concise reply: about what the levels of a processor's memory hold."""


def _typical(peaks: Sequence[Metric]) -> list[Metric]:
    """Those of one thread at a few sizes; all of them if none is at these."""
    return [peak for peak in peaks if peak.name.endswith(_TYPICAL)] or list(peaks)


_FIRST = frozenset(
    {
        "memory_bandwidth", "fp32", "multiprocessors", "compute_units",
        "shared_memory_per_block", "lds_per_block", "warp", "wavefront",
    }
)  # fmt: skip
"""Of a GPU, what a concise reply tells."""


def _first_of(hardware: Sequence[Metric]) -> list[Metric]:
    """Those of a GPU that matter first; all of anything else."""
    return [metric for metric in hardware if metric.name in _FIRST] or list(hardware)


def _target(info: TargetInfo) -> TargetReply:
    return TargetReply(
        target=info.target,
        execution=info.execution,
        available=info.available,
        reason=info.reason,
        limits=metrics_reply(info.limits),
    )


def _tasks(tasks: Mapping[str, Task]) -> list[TaskReply]:
    return [
        TaskReply(
            name=task.name,
            summary=task.summary,
            rung=task.rung,
            signature=task.signature,
            page=f"sz-mcp://tasks/{task.name}",
        )
        for task in sorted(tasks.values(), key=lambda task: task.rung)
    ]


def all_fields(catalogue: Catalogue, most: int | None = None) -> list[FieldReply]:
    """What is told of the fields that are listed to an agent, or of the first ones."""
    return [
        FieldReply(
            name=info.name,
            shape=list(info.shape),
            dtype=info.dtype,
            unit=info.unit,
            character=info.character,
            fill_value=finite(info.fill_value),
        )
        for info in catalogue.listed()[:most]
    ]
