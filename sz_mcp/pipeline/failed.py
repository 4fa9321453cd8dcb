"""Results of evaluations that a failure ended before anything was learnt."""

from __future__ import annotations

from kernels.records import (
    Bound,
    Build,
    Execution,
    Failure,
    FailureKind,
    FieldInfo,
    Profile,
    RunResult,
    Status,
    Verdict,
)

from .requests import Request
from .room import field_bytes


def unavailable(error: Exception) -> Failure:
    """No child can be had; error: why."""
    return Failure(Status.ERROR, Status.LOADS, FailureKind.CANCELLED, str(error))


def cancelled() -> Failure:
    """Whoever called has gone."""
    return Failure(Status.ERROR, Status.TIMED, FailureKind.CANCELLED, "the call was cancelled")


def unbuilt(failure: Failure) -> Build:
    """Of a build."""
    return Build(failure.status, failure.stage, 0.0, failure)


def unverified(failure: Failure) -> Verdict:
    """Of a check of the bound."""
    return Verdict(failure.status, failure.stage, False, 0, 0, 0.0, 0.0, None, None, (), failure)


def unmeasured(
    failure: Failure, info: FieldInfo, request: Request, execution: Execution
) -> RunResult:
    """Of a run."""
    return RunResult(
        status=failure.status,
        stage=failure.stage,
        execution=execution,
        field=info.name,
        bound=Bound(request.mode, request.bound, 0.0),
        raw_bytes=field_bytes(info),
        stream_bytes=0,
        comparison=None,
        samples=(),
        failure=failure,
        threads=request.threads,
    )


def unprofiled(failure: Failure, request: Request) -> Profile:
    """Of a profile."""
    bound = Bound(request.mode, request.bound, 0.0)
    return Profile(failure.status, failure.stage, request.field, bound, (), "", (), failure)
