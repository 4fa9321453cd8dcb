"""The cases of a codec: the suite of hard cases with some random ones, or one field.

Each is compressed and decompressed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernels.bounds import BoundError, derive
from kernels.patterns import codec_pattern
from kernels.random_cases import random_cases
from kernels.records import Array, Failure, FailureKind, Field, FieldInfo
from kernels.suite import SuiteCase, bound_suite, core_suite
from kernels.tasks.base import CodecTask, StreamFormat
from kernels.verify import counterexample
from toolchains.base import Session

from .cases import Case, Outcome, violation
from .golden import GoldenStreams, misread
from .passes import IN_LOGARITHMS, Pass, Stopped, Wanted, codec_pass
from .quality import quality
from .requests import Request
from .roundtrip import decompress


@dataclass(frozen=True)
class Subject:
    """One array to compress."""

    name: str
    key: str
    """Tells its content from any other's; empty where nobody will see it again."""
    core: bool
    data: Array
    wanted: Wanted
    measured: FieldInfo | None = None
    """Of the one field, if error metrics are wanted."""


def codec_cases(
    task: CodecTask,
    request: Request,
    field: Field | None,
    golden: GoldenStreams,
    seed: int | None = None,
) -> list[Case]:
    """The suite, with the random cases of a seed if there is one; or the one field.

    Raises BoundError.
    """
    subjects = _suite(request, seed) if field is None else [_subject(field, request)]
    cases = []
    for subject in subjects:
        try:
            bound = subject.wanted.bound(subject.data).absolute
        except BoundError:
            if field is not None:
                raise
            # Asked relative to this range, the bound overflows: nothing to verify here.
            continue
        cases.append(codec_case(task, subject, bound, golden))
    return cases


def _subject(field: Field, request: Request) -> Subject:
    info = field.info
    wanted = Wanted(request.mode, request.bound, info.fill_value)
    measured = info if request.metrics else None
    return Subject(info.name, info.sha256, True, field.data, wanted, measured)


def _suite(request: Request, seed: int | None) -> list[Subject]:
    # What can't be asked of any array is the caller's mistake.
    derive(np.ones(1), None, request.mode, request.bound)
    fixed = [
        _of_suite(case, request, f"suite/{case.name}") for case in (*core_suite(), *bound_suite())
    ]
    fresh = random_cases(seed) if seed is not None else ()
    return [*fixed, *(_of_suite(case, request, "") for case in fresh)]


def _of_suite(case: SuiteCase, request: Request, key: str) -> Subject:
    mode, value = request.mode, request.bound
    if case.abs_bound is not None:
        mode, value = "abs", case.abs_bound
    wanted = Wanted(mode, value, case.fill_value)
    return Subject(case.name, key, case.core, case.data, wanted)


def codec_case(task: CodecTask, subject: Subject, abs_bound: float, golden: GoldenStreams) -> Case:
    """One array; abs_bound: what is asked of it, to be told if there is no result."""
    name, data, wanted = subject.name, subject.data, subject.wanted

    def run(session: Session) -> Outcome:
        done = codec_pass(session, data, wanted)
        outcome = ruled(task, name, data, done)
        if subject.measured is not None and isinstance(done, Pass):
            outcome = replace(outcome, metrics=quality(subject.measured, done))
        if outcome.failure or task.stream_format is None or isinstance(done, Stopped):
            return outcome
        exchanged = _interchange(task.stream_format, session, subject, done, golden)
        return replace(outcome, failure=exchanged.failure, function=exchanged.function)

    return Case(name, subject.core, data, abs_bound, run, wanted=wanted)


def ruled(task: CodecTask, name: str, data: Array, done: Pass | Stopped) -> Outcome:
    """Whether the bound holds on `data`."""
    if isinstance(done, Stopped):
        return Outcome(done.failure, function=done.function)
    comparison = done.comparison
    ratio = data.nbytes / done.size if done.size else None
    if comparison.holds:
        return Outcome(None, comparison, None, ratio, mode=done.outcome)
    shown = counterexample(name, done.original, done.decoded, comparison)
    pattern = codec_pattern(task.name, done.original, done.decoded, comparison)
    failure = violation(comparison, pattern)
    if done.original is not data:
        failure = replace(failure, message=f"{failure.message}. {IN_LOGARITHMS}")
    return Outcome(failure, comparison, shown, ratio, mode=done.outcome)


def _interchange(
    form: StreamFormat, session: Session, subject: Subject, done: Pass, golden: GoldenStreams
) -> Outcome:
    """Whether the stream is the task's format, read and written as the golden codec does."""
    data, bound = done.given, done.bound.absolute
    again = bool(subject.key)
    unreadable = golden.unreadable(form, done.stream, data, bound, remember=again)
    if unreadable is not None:
        return Outcome(unreadable, function="compress")
    key = done.key(subject.key)
    reference = golden.stream(form, key, data, bound) if again else form.encode(data, bound)
    back = decompress(session, (reference,), (data,))
    if not isinstance(back, Failure):
        differs = misread(form, reference, back.outputs[0][0])
        return Outcome(differs, function="decompress" if differs else "")
    message = f"decompress fails on the golden {form.name} stream: {back.message}"
    # A kernel that died, refused or was cancelled says nothing of the format.
    wrong = back.kind in (FailureKind.EXCEPTION, FailureKind.CONTRACT)
    kind = FailureKind.FORMAT if wrong else back.kind
    return Outcome(replace(back, kind=kind, message=message), function="decompress")
