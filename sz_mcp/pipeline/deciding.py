"""What the outcomes of all cases say together: which of them decides, and the verdict.

A violation decides before any other failure, so that the reply shows the worst there is to know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kernels.records import Array, CaseContent, CaseResult, Failure, Status, Verdict
from toolchains.feedback import guidance_for
from toolchains.feedback.cause_rules import VAGUE

from .cases import Case, Outcome

_TELLING, _SMALL = 32, 8
"""Values of an array on which a fault shows as what it is, and on which it may."""
_SHARE = 0.2
"""Of the violated cases, that a telling rule must speak of to be heard before a vague one."""
_SHORT = 64
"""Values of an array that are all shown where a kernel fails on it."""


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
        outcome=outcome.mode,
    )


def _content(data: Array) -> CaseContent:
    finite = data[np.isfinite(data)]
    return CaseContent(
        values=tuple(map(repr, data.reshape(-1).tolist())) if data.size <= _SHORT else (),
        minimum=float(finite.min()) if finite.size else None,
        maximum=float(finite.max()) if finite.size else None,
        non_finite=data.size - finite.size,
    )


def decide(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdict:
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
        outcome=result.outcome,
        metrics=outcome.metrics,
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
            return _alike(results, telling)
    if core and not results[core[0]].given:
        return _largest_error(results, core)
    others = [i for i in failed if i not in violated]
    if others:
        return min(others, key=lambda i: (not results[i].core, i))
    return _typical(results, core)


def _alike(results: Sequence[CaseResult], among: Sequence[int]) -> int:
    """The first of which the rules say what they say of most: simpler cases come first.

    Cases with a bound come first, and those of which a rule says more than that much is wrong.
    """
    bounded = [i for i in among if results[i].abs_bound] or among
    said = {i: _said(results[i]) for i in bounded}
    telling = {i: one for i, one in said.items() if one[1] not in VAGUE}
    if len(telling) < _SHARE * len(said):
        telling = said
    most = Counter(telling.values()).most_common(1)[0][0]
    return next(i for i, one in telling.items() if one == most)


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
