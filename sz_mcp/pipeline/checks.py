"""`verify_bounds`: whether a kernel keeps its bound, or equals the golden answer, on every case.

A case is one array (codec) or one set of inputs (stage). All cases run, so that the reply shows
what kind of data a kernel fails on; a violation decides the verdict before any other failure.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernels.bounds import BoundError, derive
from kernels.error_pattern import ErrorPattern
from kernels.patterns import codec_pattern, stage_pattern, stage_task
from kernels.records import (
    Arg,
    Array,
    CaseContent,
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
from kernels.tasks.base import CodecTask, Ruling, StageTask, StreamFormat
from kernels.verify import compare, counterexample, in_hexadecimal
from toolchains.base import Session
from toolchains.feedback import guidance_for
from toolchains.limits import deadline_s, output_room

from .golden import GoldenStreams, misread
from .requests import SUITE, Request, Watch
from .rounds import BUDGET_S, oracle_failure
from .roundtrip import compress, decompress, reordered, run_stage, swapped

_TELLING, _SMALL = 32, 8
"""Values of an array on which a fault shows as what it is, and on which it may."""
_SHORT = 64
"""Values of an array that are all shown where a kernel fails on it."""


@dataclass(frozen=True)
class Case:
    """One thing to try."""

    name: str
    core: bool
    data: Array
    """The array to compress, or a stage's first input."""
    abs_bound: float
    run: Callable[[Session], Outcome]
    stage: StageTask | None = None
    given: str = ""
    """Of a stage: names, types and shapes of all inputs."""


@dataclass(frozen=True)
class Outcome:
    """What came of a case."""

    failure: Failure | None
    comparison: Comparison | None = None
    counterexample: Counterexample | None = None
    ratio: float | None = None
    function: str = ""
    """compress, decompress or run, if it failed there."""


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


def judge(session: Session, cases: Sequence[Case], request: Request, watch: Watch) -> Verdict:
    """Run all cases, in order, until one leaves the kernel's processes dead."""
    outcomes = list(_outcomes(session, cases, request, watch))
    return _verdict(cases, outcomes)


def _outcomes(
    session: Session, cases: Sequence[Case], request: Request, watch: Watch
) -> Iterator[Outcome]:
    what = "cases of the suite" if request.field == SUITE else "field"
    give_up = time.monotonic() + BUDGET_S
    for i, case in enumerate(cases):
        if i and time.monotonic() > give_up:
            yield Outcome(_TOO_SLOW)
            return
        watch.progress(i / len(cases), f"checking {case.name} ({i + 1} of {len(cases)} {what})")
        outcome = case.run(session)
        if session.alive():
            yield outcome
            continue
        stopped = outcome.failure and outcome.failure.status is not Status.REFUSED
        yield outcome if stopped else replace(outcome, failure=_ENDED)
        return


_TOO_SLOW = Failure(
    Status.ERROR,
    Status.BOUND_OK,
    FailureKind.TIMEOUT,
    f"the cases before this one took more than {BUDGET_S:.0f} s together, so it was not begun",
)


def _codec_case(task: CodecTask, subject: _Subject, golden: GoldenStreams) -> Case:
    name, data, bound = subject.name, subject.data, subject.abs_bound

    def run(session: Session) -> Outcome:
        limit = deadline_s(data.nbytes)
        packed = compress(session, (data,), bound)
        if isinstance(packed, Failure):
            return _failed(packed, "compress", limit)
        stream = packed.streams[0]
        back = decompress(session, (stream,), (data,))
        if isinstance(back, Failure):
            return _failed(back, "decompress", limit)
        decoded = back.outputs[0][0]
        comparison = compare(data, decoded, bound)
        ratio = data.nbytes / stream.nbytes if stream.nbytes else None
        if not comparison.holds:
            shown = counterexample(name, data, decoded, comparison)
            pattern = codec_pattern(task.name, data, decoded, comparison)
            return Outcome(_violation(comparison, pattern), comparison, shown, ratio)
        form = task.stream_format
        if form is None:
            return Outcome(None, comparison, None, ratio)
        exchanged = _interchange(form, session, subject, stream, golden)
        return replace(exchanged, comparison=comparison, ratio=ratio)

    return Case(name, subject.core, data, bound, run)


def _interchange(
    form: StreamFormat, session: Session, subject: _Subject, stream: Array, golden: GoldenStreams
) -> Outcome:
    """Whether the stream is the task's format, read and written as the golden codec does."""
    data, bound = subject.data, subject.abs_bound
    unreadable = golden.unreadable(form, stream, data, bound)
    if unreadable is not None:
        return Outcome(unreadable, function="compress")
    reference = golden.stream(form, subject.key, data, bound)
    back = decompress(session, (reference,), (data,))
    if not isinstance(back, Failure):
        differs = misread(form, reference, back.outputs[0][0])
        return Outcome(differs, function="decompress" if differs else "")
    failed = _failed(back, "decompress", deadline_s(data.nbytes))
    message = f"decompress fails on the golden {form.name} stream: {_message(failed)}"
    # A kernel that died, refused or was cancelled says nothing of the format.
    wrong = back.kind in (FailureKind.EXCEPTION, FailureKind.CONTRACT)
    kind = FailureKind.FORMAT if wrong else back.kind
    return replace(failed, failure=replace(back, kind=kind, message=message))


def _stage_case(task: StageTask, name: str, tried: Sequence[tuple[Arg, ...]]) -> Case:
    """tried: the inputs of the cases before it, which may have done harm, and its own."""
    inputs = tried[-1]

    def run(session: Session) -> Outcome:
        answer = task.golden(*inputs)
        reply = run_stage(session, (inputs,), (answer,), task.outputs)
        if isinstance(reply, Failure):
            limit = deadline_s(output_room(sum(a.nbytes for a in answer)))
            return _failed(replace(reply, pattern=stage_task(task.name, tried)), "run", limit)
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


def _failed(failure: Failure, function: str, limit_s: float) -> Outcome:
    """A call that gave no result."""
    if failure.kind is FailureKind.TIMEOUT:
        failure = replace(failure, message=f"{failure.message} (deadline {limit_s:.3g} s)")
    return Outcome(failure, function=function)


def _message(outcome: Outcome) -> str:
    return outcome.failure.message if outcome.failure else ""


def _added(comparisons: list[Comparison]) -> Comparison:
    """The outputs of one stage call as one comparison: counts add up, the worst is the worst."""
    worst = max(comparisons, key=lambda c: c.max_abs_error)
    return replace(
        worst,
        checked=sum(c.checked for c in comparisons),
        violations=sum(c.violations for c in comparisons),
    )


def _violation(comparison: Comparison, pattern: ErrorPattern) -> Failure:
    limit = comparison.abs_bound
    asked = f"with absolute bound {limit!r}" if limit else "where equality is asked"
    of = f" of `{pattern.output_name}`" if pattern.output_name else ""
    return Failure(
        Status.ERROR,
        Status.BOUND_OK,
        FailureKind.BOUND,
        f"{comparison.violations} of {comparison.checked} values{of} are wrong {asked}"
        f"{_first(comparison)}",
        pattern=pattern,
    )


def _unequal(comparison: Comparison, pattern: ErrorPattern, shown: Counterexample) -> Failure:
    """Of a stage's output."""
    if comparison.abs_bound:
        return _violation(comparison, pattern)
    point = shown.point
    return Failure(
        Status.ERROR,
        Status.BOUND_OK,
        FailureKind.BOUND,
        f"{comparison.violations} of {comparison.checked} values of `{shown.name}` are wrong; "
        f"first at index {list(point.index)}: {point.decoded} where {point.original} is wanted",
        pattern=pattern,
    )


def _first(comparison: Comparison) -> str:
    """Where the first wrong value is, and how wrong."""
    point = comparison.first
    if point is None:
        return ""
    error, limit = float(point.error), comparison.abs_bound
    many = f" ({error / limit:.3g} times the bound)" if limit and np.isfinite(error) else ""
    return (
        f"; first at index {list(point.index)}: {point.original} came back as {point.decoded}, "
        f"an error of {point.error}{many}"
    )


_ENDED = Failure(
    Status.ERROR,
    Status.TERMINATES,
    FailureKind.CRASH,
    "the kernel's process ended after it had replied",
)


def _result(case: Case, outcome: Outcome) -> CaseResult:
    failure, comparison = outcome.failure, outcome.comparison
    violated = comparison is not None and not comparison.holds
    return CaseResult(
        case=case.name,
        core=case.core,
        status=failure.status if failure else Status.BOUND_OK,
        checked=comparison.checked if comparison else 0,
        violations=comparison.violations if comparison else 0,
        max_abs_error=comparison.max_abs_error if comparison else 0.0,
        abs_bound=comparison.abs_bound if comparison else case.abs_bound,
        ratio=outcome.ratio,
        failure=failure,
        shape=case.data.shape,
        dtype=case.data.dtype.name,
        function=outcome.function,
        content=_content(case.data) if failure and not violated else None,
        given=case.given,
    )


def _content(data: Array) -> CaseContent:
    finite = data[np.isfinite(data)]
    return CaseContent(
        values=tuple(map(repr, data.reshape(-1).tolist())) if data.size <= _SHORT else (),
        minimum=float(finite.min()) if finite.size else None,
        maximum=float(finite.max()) if finite.size else None,
        non_finite=data.size - finite.size,
    )


def _verdict(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdict:
    """A refusal outside the core does not count; a violation decides before other failures."""
    results = [_result(case, outcome) for case, outcome in zip(cases, outcomes, strict=False)]
    counted = [
        i for i, r in enumerate(results) if r.failure and (r.core or r.status is not Status.REFUSED)
    ]
    decisive = _decisive(results, counted) if counted else _tightest(results)
    outcome, result = outcomes[decisive], results[decisive]
    not_run = len(cases) - len(results)
    failure = _located(result, not_run, len(cases)) if counted else None
    comparison = outcome.comparison
    return Verdict(
        status=failure.status if failure else Status.BOUND_OK,
        stage=failure.stage if failure else Status.TIMED,
        holds=not counted and not_run == 0,
        checked_values=sum(r.checked for r in results),
        violations=sum(r.violations for r in results),
        max_abs_error=result.max_abs_error,
        abs_bound=result.abs_bound,
        worst=comparison.worst if comparison else None,
        counterexample=outcome.counterexample,
        cases=tuple(results),
        failure=failure,
        decided_by=result.case,
        not_run=not_run,
        exact=all(case.stage is not None and case.stage.judge is None for case in cases),
    )


def _located(result: CaseResult, not_run: int, cases: int) -> Failure | None:
    """The failure of a case, with what is needed to reproduce it."""
    failure = result.failure
    if failure is None:
        return None
    where = result.case
    if not result.violations:
        called = f"{result.function} of " if result.function else ""
        form = result.given or (
            f"{result.dtype} of shape {result.shape}, abs_bound {result.abs_bound!r}"
        )
        where = f"{where}: {called}{form}"
    left = f". {not_run} of {cases} cases were not run" if not_run else ""
    return replace(failure, message=f"{where}: {failure.message}{left}")


def _decisive(results: Sequence[CaseResult], failed: Sequence[int]) -> int:
    """A violation before any other failure, the core before the rest, large before tiny.

    A tiny array says too little: where the first element is the last and the only one, every cause
    looks alike. So a stage's tiny one comes even after other failures.
    """
    violated = [i for i in failed if results[i].violations]
    core = [i for i in violated if results[i].core] or violated
    for least in (_TELLING, _SMALL):
        telling = [i for i in core if _values(results[i]) >= least]
        if telling and results[telling[0]].given:
            return _typical(results, telling)
        if telling:
            return _largest_error(results, telling)
    if core and not results[core[0]].given:
        return _largest_error(results, core)
    others = [i for i in failed if i not in violated]
    if others:
        return min(others, key=lambda i: (not results[i].core, i))
    return _typical(results, core)


def _largest_error(results: Sequence[CaseResult], among: Sequence[int]) -> int:
    """In bounds, so that cases of different ranges compare."""
    return max(among, key=lambda i: (_in_bounds(results[i]), -i))


def _typical(results: Sequence[CaseResult], among: Sequence[int]) -> int:
    """The case of which the rules say what they say of most, with some elements right if it can be.

    One case may look like something that it is not, such as a loop that ends too early if all other
    values are 0 anyway.
    """
    said = {i: _said(results[i]) for i in among}
    most = Counter(said.values()).most_common(1)[0][0]
    alike = [i for i in among if said[i] == most]
    return next((i for i in alike if _right(results[i]) > 1), alike[0])


def _said(result: CaseResult) -> tuple[str, str]:
    """The output that is wrong, and the rule that speaks of it."""
    failure = result.failure
    pattern = failure.pattern if failure else None
    rules = guidance_for(failure, "")
    return pattern.output_name if pattern else "", rules[0].rule if rules else ""


def _right(result: CaseResult) -> int:
    """Values that are right of the array that is wrong."""
    pattern = result.failure.pattern if result.failure else None
    return pattern.checked - pattern.violations if pattern else 0


def _values(result: CaseResult) -> int:
    """Of the array that is wrong."""
    pattern = result.failure.pattern if result.failure else None
    return pattern.checked if pattern else result.checked


def _tightest(results: Sequence[CaseResult]) -> int:
    """The case whose error came closest to its bound."""
    return max(range(len(results)), key=lambda i: _in_bounds(results[i]))


def _in_bounds(result: CaseResult) -> float:
    return result.max_abs_error / result.abs_bound if result.abs_bound else 0.0
