"""A counterexample from its record to a reply, and from the reply to lines of text."""

from __future__ import annotations

from collections.abc import Iterable

from kernels.records import Counterexample, Point, ValueRun
from sz_mcp.replies import CounterexampleReply, PointReply, ValueRunReply
from sz_mcp.values import listed, runs_listed

_FEW = 8
"""Values that are told one by one, too, where `runs` has them all."""


def counterexample_reply(shown: Counterexample, rule: str) -> CounterexampleReply:
    """rule: name of the guidance that speaks of it, if the caller is told."""
    short = not shown.runs or len(shown.values) <= _FEW
    return CounterexampleReply(
        case=shown.case,
        shape=list(shown.shape),
        dtype=shown.dtype,
        abs_bound=shown.abs_bound,
        start=shown.start,
        values=list(shown.values) if short else [],
        decoded=list(shown.decoded) if short else [],
        point=point_reply(shown.point),
        inputs=list(shown.inputs),
        name=shown.name,
        given=shown.given,
        input_name=shown.input_name,
        shrunk_from=list(shown.shrunk_from),
        runs=[_run(run) for run in shown.runs],
        rule=rule if shown.runs else "",
    )


def point_reply(point: Point) -> PointReply:
    """One element."""
    return PointReply(
        flat=point.flat,
        index=list(point.index),
        original=point.original,
        decoded=point.decoded,
        error=point.error,
    )


def _run(run: ValueRun) -> ValueRunReply:
    return ValueRunReply(
        count=run.count, original=run.original, decoded=run.decoded, error=run.error
    )


def counterexample_lines(shown: CounterexampleReply) -> Iterable[str]:
    """Of a codec: original and decoded. Of a stage: input, golden answer and output."""
    values, decoded = (listed(each, shown.dtype) for each in (shown.values, shown.decoded))
    if shown.given:
        output = f"`{shown.name}` wanted from flat {shown.start}"
        yield f"case {shown.case} ({shown.given}), {output}: {values}"
        yield f"got: {decoded}"
        if shown.inputs and shown.inputs != shown.values:
            dtype = shown.given.split()[1].partition("[")[0]
            yield f"input `{shown.input_name}`: {listed(shown.inputs, dtype)}"
        return
    if shown.runs:
        yield from _shrunk(shown)
        return
    yield (
        f"case {shown.case}, {shown.dtype}{shown.shape}, abs_bound {shown.abs_bound!r}, "
        f"values from flat {shown.start}: {values}"
    )
    yield f"decoded: {decoded}"


def _shrunk(shown: CounterexampleReply) -> Iterable[str]:
    """All of a small array, equal neighbours together."""
    columns = {
        "original": [(run.original, run.count) for run in shown.runs],
        "decoded": [(run.decoded, run.count) for run in shown.runs],
    }
    errors = runs_listed([(run.error, run.count) for run in shown.runs], "float64")
    rule = f" (rule {shown.rule})" if shown.rule else ""
    yield (
        f"smallest array that breaks it{rule}, from case {shown.case}: "
        f"{shown.dtype}{shown.shape}, abs_bound {shown.abs_bound!r}"
    )
    for name, runs in columns.items():
        yield f"{name}: {runs_listed(runs, shown.dtype)}"
    yield f"errors: {errors}; the worst at {shown.point.index} (flat {shown.point.flat})"
