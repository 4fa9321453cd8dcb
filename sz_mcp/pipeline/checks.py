"""`verify_bounds`: whether a kernel keeps its bound, or equals the golden answer, on every case.

A case is one array (codec) or one set of inputs (stage). All cases run, so that the reply shows
what kind of data a kernel fails on; the first failure decides the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernels.bounds import BoundError, derive
from kernels.records import (
    Arg,
    Array,
    CaseResult,
    Comparison,
    Counterexample,
    Failure,
    FailureKind,
    Field,
    Status,
    Verdict,
)
from kernels.suite import core_suite
from kernels.tasks.base import CodecTask, StageTask, StreamFormat
from kernels.verify import compare, counterexample
from toolchains.base import Session

from .golden import GoldenStreams, misread
from .requests import SUITE, Request, Watch
from .roundtrip import compress, decompress, run_stage


@dataclass(frozen=True)
class Case:
    """One thing to try."""

    name: str
    core: bool
    run: Callable[[Session], Outcome]


@dataclass(frozen=True)
class Outcome:
    """What came of a case."""

    failure: Failure | None
    comparison: Comparison | None = None
    counterexample: Counterexample | None = None
    ratio: float | None = None


@dataclass(frozen=True)
class _Subject:
    """One array to compress."""

    name: str
    key: str
    """Tells its content from any other's."""
    core: bool
    data: Array
    abs_bound: float


def codec_cases(
    task: CodecTask, request: Request, field: Field | None, golden: GoldenStreams
) -> list[Case]:
    """The suite, or the one field. Raises BoundError."""
    subjects = _suite(request) if field is None else [_subject(field, request)]
    return [_codec_case(task, subject, golden) for subject in subjects]


def _subject(field: Field, request: Request) -> _Subject:
    info = field.info
    bound = derive(field.data, info.fill_value, request.mode, request.bound).absolute
    return _Subject(info.name, info.sha256, True, field.data, bound)


def _suite(request: Request) -> list[_Subject]:
    derive(np.ones(1), None, request.mode, request.bound)
    subjects = []
    for case in core_suite():
        try:
            bound = derive(case.data, case.fill_value, request.mode, request.bound).absolute
        except BoundError:
            # Asked relative to this range, the bound overflows: nothing to verify here.
            continue
        subjects.append(_Subject(case.name, f"suite/{case.name}", case.core, case.data, bound))
    return subjects


def stage_cases(task: StageTask, request: Request, field: Field | None) -> list[Case]:
    """The task's edge cases, or inputs made from the one field."""
    if field is not None:
        bound = derive(field.data, field.info.fill_value, request.mode, request.bound).absolute
        return [_stage_case(task, field.info.name, task.inputs(field.data, bound))]
    return [_stage_case(task, case.name, case.inputs) for case in task.edge_cases()]


def judge(session: Session, cases: Sequence[Case], request: Request, watch: Watch) -> Verdict:
    """Run all cases, in order, until one leaves the kernel's processes dead."""
    results: list[CaseResult] = []
    outcomes: list[Outcome] = []
    for case, outcome in _outcomes(session, cases, request, watch):
        outcomes.append(outcome)
        results.append(_result(case, outcome))
    return _verdict(cases, results, outcomes)


def _outcomes(
    session: Session, cases: Sequence[Case], request: Request, watch: Watch
) -> Iterator[tuple[Case, Outcome]]:
    what = "cases of the suite" if request.field == SUITE else "field"
    for i, case in enumerate(cases):
        watch.progress(i / len(cases), f"checking {case.name} ({i + 1} of {len(cases)} {what})")
        yield case, case.run(session)
        if not session.alive():
            return


def _codec_case(task: CodecTask, subject: _Subject, golden: GoldenStreams) -> Case:
    name, data, bound = subject.name, subject.data, subject.abs_bound

    def run(session: Session) -> Outcome:
        packed = compress(session, (data,), bound)
        if isinstance(packed, Failure):
            return Outcome(packed)
        stream = packed.streams[0]
        back = decompress(session, (stream,), (data,))
        if isinstance(back, Failure):
            return Outcome(back)
        decoded = back.outputs[0][0]
        comparison = compare(data, decoded, bound)
        ratio = data.nbytes / stream.nbytes if stream.nbytes else None
        if not comparison.holds:
            shown = counterexample(name, data, decoded, comparison)
            return Outcome(_violation(name, comparison), comparison, shown, ratio)
        form = task.stream_format
        failure = None if form is None else _interchange(form, session, subject, stream, golden)
        return Outcome(failure, comparison, None, ratio)

    return Case(name, subject.core, run)


def _interchange(
    form: StreamFormat, session: Session, subject: _Subject, stream: Array, golden: GoldenStreams
) -> Failure | None:
    """Whether the stream is the task's format, read and written as the golden codec does."""
    data, bound = subject.data, subject.abs_bound
    unreadable = golden.unreadable(form, stream, data, bound)
    if unreadable is not None:
        return unreadable
    reference = golden.stream(form, subject.key, data, bound)
    back = decompress(session, (reference,), (data,))
    if isinstance(back, Failure):
        return replace(
            back,
            kind=FailureKind.FORMAT,
            message=f"decompress fails on the golden {form.name} stream: {back.message}",
        )
    return misread(form, reference, back.outputs[0][0])


def _stage_case(task: StageTask, name: str, inputs: tuple[Arg, ...]) -> Case:
    def run(session: Session) -> Outcome:
        answer = task.golden(*inputs)
        reply = run_stage(session, (inputs,), (answer,))
        if isinstance(reply, Failure):
            return Outcome(reply)
        comparisons = [
            compare(want, got, 0.0) for want, got in zip(answer, reply.outputs[0], strict=True)
        ]
        total = _added(comparisons)
        for want, got, comparison in zip(answer, reply.outputs[0], comparisons, strict=True):
            if not comparison.holds:
                shown = counterexample(name, want, got, comparison)
                return Outcome(_violation(name, comparison), total, shown)
        return Outcome(None, total)

    return Case(name, True, run)


def _added(comparisons: list[Comparison]) -> Comparison:
    """The outputs of one stage call as one comparison: counts add up, the worst is the worst."""
    worst = max(comparisons, key=lambda c: c.max_abs_error)
    return replace(
        worst,
        checked=sum(c.checked for c in comparisons),
        violations=sum(c.violations for c in comparisons),
    )


def _violation(name: str, comparison: Comparison) -> Failure:
    point = comparison.first
    where = (
        f"; first at index {list(point.index)}: {point.original} came back as {point.decoded}, "
        f"an error of {point.error}"
        if point
        else ""
    )
    limit = comparison.abs_bound
    asked = f"with absolute bound {limit!r}" if limit else "where equality is asked"
    return Failure(
        Status.ERROR,
        Status.BOUND_OK,
        FailureKind.BOUND,
        f"{name}: {comparison.violations} of {comparison.checked} values are wrong {asked}{where}",
    )


def _result(case: Case, outcome: Outcome) -> CaseResult:
    failure, comparison = outcome.failure, outcome.comparison
    return CaseResult(
        case=case.name,
        core=case.core,
        status=failure.status if failure else Status.BOUND_OK,
        checked=comparison.checked if comparison else 0,
        violations=comparison.violations if comparison else 0,
        max_abs_error=comparison.max_abs_error if comparison else 0.0,
        abs_bound=comparison.abs_bound if comparison else 0.0,
        ratio=outcome.ratio,
        failure=failure,
    )


def _verdict(cases: Sequence[Case], results: list[CaseResult], outcomes: list[Outcome]) -> Verdict:
    """The first failure that counts decides; a refusal outside the core does not count."""
    counted = [
        i for i, r in enumerate(results) if r.failure and (r.core or r.status is not Status.REFUSED)
    ]
    complete = len(results) == len(cases)
    decisive = counted[0] if counted else _tightest(results)
    outcome = outcomes[decisive] if outcomes else Outcome(None)
    failure = outcome.failure if counted else None
    comparison = outcome.comparison
    return Verdict(
        status=failure.status if failure else Status.BOUND_OK,
        stage=failure.stage if failure else Status.TIMED,
        holds=complete and not counted,
        checked_values=sum(r.checked for r in results),
        violations=sum(r.violations for r in results),
        max_abs_error=comparison.max_abs_error if comparison else 0.0,
        abs_bound=comparison.abs_bound if comparison else 0.0,
        worst=comparison.worst if comparison else None,
        counterexample=outcome.counterexample,
        cases=tuple(results),
        failure=failure,
    )


def _tightest(results: list[CaseResult]) -> int:
    """The case whose error came closest to its bound."""

    def closeness(i: int) -> float:
        r = results[i]
        return r.max_abs_error / r.abs_bound if r.abs_bound else 0.0

    return max(range(len(results)), key=closeness, default=0)
