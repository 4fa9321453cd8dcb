"""The cases of a stage: inputs whose outputs must equal the golden answer, or satisfy an oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kernels.bounds import derive
from kernels.error_pattern import ErrorPattern
from kernels.patterns import stage_pattern, stage_task
from kernels.records import (
    Arg,
    Comparison,
    Counterexample,
    Failure,
    FailureKind,
    Field,
    Status,
)
from kernels.tasks.base import Ruling, StageTask
from kernels.verify import compare, counterexample, in_hexadecimal
from toolchains.base import Session

from .cases import Case, Outcome, violation
from .requests import Request
from .rounds import oracle_failure
from .roundtrip import reordered, run_stage, swapped


def stage_cases(task: StageTask, request: Request, field: Field | None) -> list[Case]:
    """The task's edge cases, or inputs made from the one field."""
    if field is not None:
        bound = derive(field.data, field.info.fill_value, request.mode, request.bound).absolute
        return [_stage_case(task, field.info.name, (task.inputs(field.data, bound),))]
    edges = task.edge_cases()
    tried = [case.inputs for case in edges]
    return [_stage_case(task, case.name, tried[: i + 1]) for i, case in enumerate(edges)]


def _given(task: StageTask, inputs: tuple[Arg, ...]) -> str:
    """The inputs of a case as a person tells them apart."""
    forms = (
        f"{value.dtype.name}[{', '.join(map(str, value.shape))}]"
        if isinstance(value, np.ndarray)
        else repr(value)
        for value in inputs
    )
    return ", ".join(f"{name} {form}" for name, form in zip(task.input_names, forms, strict=True))


def _stage_case(task: StageTask, name: str, tried: Sequence[tuple[Arg, ...]]) -> Case:
    """tried: the inputs of the cases before it, which may have done harm, and its own."""
    inputs = tried[-1]

    def run(session: Session) -> Outcome:
        answer = task.golden(*inputs)
        reply = run_stage(session, (inputs,), (answer,), task.outputs)
        if isinstance(reply, Failure):
            about = stage_task(task.name, tried)
            return Outcome(replace(reply, pattern=about), function="run")
        if task.judge is None:
            order = reordered(reply.outputs[0], answer, np.array_equal)
            if order is not None:
                return Outcome(swapped(order, task.outputs), function="run")
        rulings = task.rulings(inputs, answer, reply.outputs[0])
        comparisons = [compare(r.wanted, r.got, r.abs_bound) for r in rulings]
        total = _added(comparisons)
        for i, (ruling, comparison) in enumerate(zip(rulings, comparisons, strict=True)):
            if not comparison.holds:
                shown = _shown(task, name, inputs, ruling, comparison)
                pair = (ruling.wanted, ruling.got)
                pattern = stage_pattern(task.name, inputs, i, pair, comparison, ruling.name)
                return Outcome(_unequal(comparison, pattern, shown), total, shown)
        broken = next((r.problem for r in rulings if r.problem), "")
        if not broken:
            return Outcome(None, total)
        about = stage_task(task.name, tried)
        return Outcome(replace(oracle_failure(broken), pattern=about), total)

    data = next(value for value in inputs if isinstance(value, np.ndarray))
    return Case(name, True, data, 0.0, run, task, _given(task, inputs))


def _shown(
    task: StageTask,
    case: str,
    inputs: tuple[Arg, ...],
    ruling: Ruling,
    comparison: Comparison,
) -> Counterexample:
    """Around the first wrong element where equality is asked: what follows may come of it."""
    if not ruling.abs_bound:
        comparison = replace(comparison, worst=comparison.first)
    given = inputs[0] if task.elementwise and inputs[0] is not ruling.wanted else None
    beside = given if isinstance(given, np.ndarray) else None
    shown = counterexample(case, ruling.wanted, ruling.got, comparison, beside)
    shown = replace(
        shown,
        name=ruling.name,
        given=_given(task, inputs),
        input_name=task.input_names[0] if shown.inputs else "",
    )
    return in_hexadecimal(shown) if ruling.name in task.bit_fields else shown


def _added(comparisons: list[Comparison]) -> Comparison:
    """The outputs of one stage call as one comparison: counts add up, the worst is the worst."""
    worst = max(comparisons, key=lambda c: c.max_abs_error)
    return replace(
        worst,
        checked=sum(c.checked for c in comparisons),
        violations=sum(c.violations for c in comparisons),
    )


def _unequal(comparison: Comparison, pattern: ErrorPattern, shown: Counterexample) -> Failure:
    """Of a stage's output."""
    if comparison.abs_bound:
        return violation(comparison, pattern)
    point = shown.point
    return Failure(
        Status.ERROR,
        Status.BOUND_OK,
        FailureKind.BOUND,
        f"{comparison.violations} of {comparison.checked} values of `{shown.name}` are wrong; "
        f"first at index {list(point.index)}: {point.decoded} where {point.original} is wanted",
        pattern=pattern,
    )
