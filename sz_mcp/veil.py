"""Results on a hidden field, as the ledger keeps them: every agent may read it.

What was found stays (statuses, sizes, speeds, errors against the bound); values of the field, and
texts of the kernel that may hold them, do not. The operator who asked is told all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kernels.records import (
    CaseResult,
    Comparison,
    Failure,
    Guidance,
    Point,
    Profile,
    RunResult,
    Verdict,
)
from results_db.statistics import Compared

Result = Verdict | RunResult | Profile | Compared

VEILED = "hidden"


def veiled(result: Result) -> Result:
    """The result without anything that tells a value of its field."""
    match result:
        case Verdict():
            return replace(
                result,
                failure=_failure(result.failure),
                worst=_point(result.worst),
                counterexample=None,
                cases=tuple(map(_case, result.cases)),
            )
        case RunResult():
            return _run(result)
        case Profile():
            return replace(result, failure=_failure(result.failure))
        case Compared():
            return replace(result, result=_run(result.result))


def veiled_guidance(guidance: Sequence[Guidance]) -> tuple[Guidance, ...]:
    """Which rules spoke, without their texts: those may quote a failure."""
    return tuple(Guidance(one.rule, VEILED, VEILED) for one in guidance)


def _run(result: RunResult) -> RunResult:
    return replace(
        result,
        failure=_failure(result.failure),
        comparison=_comparison(result.comparison),
    )


def _failure(failure: Failure | None) -> Failure | None:
    if failure is None:
        return None
    message = f"{failure.kind} on a hidden field"
    return replace(failure, message=message, diagnostics=(), output="", details="", pattern=None)


def _point(point: Point | None) -> Point | None:
    return point and replace(point, original=VEILED, decoded=VEILED, error=VEILED)


def _comparison(comparison: Comparison | None) -> Comparison | None:
    if comparison is None:
        return None
    return replace(comparison, worst=_point(comparison.worst), first=_point(comparison.first))


def _case(case: CaseResult) -> CaseResult:
    return replace(case, failure=_failure(case.failure), content=None)
