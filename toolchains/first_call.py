"""A build's first call: each function once on a small smooth field, so that it compiles.

Errors of that call stop a build only where they are of the build: a typing error, a missing
function. Anything else is a warning.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kernels.records import Arg, Array, Build, Diagnostic, Failure, FailureKind, Status
from kernels.tasks.base import StageTask, Task
from toolchains.base import Reply, Session
from toolchains.limits import COMPILING_S, REQUEST_S

FIRST_CALL_S = REQUEST_S + COMPILING_S
_WARM_UP_BOUND = 1e-3
_SLOW_TO_COMPILE = 0.25
"""Share of the deadline of a first call from which on that is worth a word."""


def warm_up(session: Session, task: Task) -> tuple[Failure | None, dict[str, float]]:
    """Call every function once on a small smooth field: the failure if one failed, the seconds."""
    field = _small_field()
    if isinstance(task, StageTask):
        reply = _call(session, "run", task.inputs(field, _WARM_UP_BOUND), field)
        return (reply, {}) if isinstance(reply, Failure) else (None, {"run": reply.seconds})
    packed = _call(session, "compress", (field, _WARM_UP_BOUND), field)
    if isinstance(packed, Failure):
        return packed, {}
    if [a.ndim for a in packed.outputs[0]] != [1]:
        return _contract("compress must return one array"), {}
    stream = packed.outputs[0][0].copy()
    back = _call(session, "decompress", (stream, field.shape, field.dtype), field)
    if isinstance(back, Failure):
        return back, {"compress": packed.seconds}
    return None, {"compress": packed.seconds, "decompress": back.seconds}


def slow_first_calls(took: Mapping[str, float]) -> tuple[Diagnostic, ...]:
    """A note for each function whose first call came near its deadline."""
    return tuple(
        Diagnostic(
            "note",
            f"the first call of {function}, which compiles it, took {seconds:.1f} s of the "
            f"{FIRST_CALL_S:.0f} s that it may take: slice assignments, np.full and .any() "
            "inside @njit compile slowly, and each combination of argument types compiles anew",
        )
        for function, seconds in took.items()
        if seconds > _SLOW_TO_COMPILE * FIRST_CALL_S
    )


def _call(
    session: Session, function: str, arguments: tuple[Arg, ...], field: Array
) -> Reply | Failure:
    room = (1 << 20) + 8 * field.nbytes
    return session.call(function, (arguments,), capacity=(room,), deadline_s=REQUEST_S)


def _small_field() -> Array:
    """3-D, because that is what most fields are: numba compiles per number of dimensions."""
    x, y, z = np.meshgrid(*(np.linspace(0, 3, n) for n in (10, 12, 14)), indexing="ij")
    return np.ascontiguousarray(np.sin(x + y) * np.cos(z) + 2.0, np.float32)


def stops_build(failure: Failure) -> bool:
    """A typing error or a missing function is of the build; what happens later is of the run."""
    return failure.kind in (FailureKind.COMPILE, FailureKind.CONTRACT, FailureKind.CANCELLED)


def earlier(failure: Failure) -> Failure:
    """The same failure on the rung where a build stops."""
    stage = Status.PARSED if failure.kind is FailureKind.SYNTAX else Status.COMPILED
    return replace(failure, stage=stage)


def failed_build(failure: Failure, start: float) -> Build:
    """A build that a failure ended; start: `time.perf_counter()` when it began."""
    return Build(
        status=failure.status,
        stage=failure.stage,
        seconds=time.perf_counter() - start,
        failure=failure,
        diagnostics=failure.diagnostics,
    )


def _contract(message: str) -> Failure:
    return Failure(Status.ERROR, Status.COMPILED, FailureKind.CONTRACT, message)


def warnings(failure: Failure) -> tuple[Diagnostic, ...]:
    """It compiled, but the first call on a small smooth field failed: say so early."""
    text = f"it compiles, but the first call on a 10x12x14 float32 field failed: {failure.message}"
    places = failure.diagnostics[:1]
    if not places:
        return (Diagnostic("warning", text),)
    p = places[0]
    return (Diagnostic("warning", text, p.file, p.line, p.column, p.source),)
