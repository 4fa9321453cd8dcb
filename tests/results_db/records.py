"""Records as the server makes them, with only what a test cares about to be said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from kernels.records import (
    Bound,
    Build,
    CaseResult,
    Comparison,
    Counterexample,
    Diagnostic,
    Execution,
    Failure,
    FailureKind,
    Kernel,
    Metric,
    Point,
    Profile,
    RunResult,
    Sample,
    Status,
    Submission,
    Verdict,
)
from results_db.drain import drain
from results_db.ledger import Ledger
from results_db.rows import CallRow, RunStartedRow

REL = Bound("rel", 1e-3, 0.5)


def kernel(
    kernel_id: str,
    *,
    task: str = "szp",
    agent: str = "alice",
    session: str = "s1",
    source: str | None = None,
) -> Kernel:
    """`source`: of kernel.py; by default every kernel is another program."""
    files = {"kernel.py": source or f"NAME = {kernel_id!r}\n"}
    return Kernel(kernel_id, Submission(task, "numba", files), agent, session)


def call(call_id: str, **columns: Any) -> CallRow:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    given: dict[str, Any] = {
        "tool": "describe_arch",
        "started_at": moment,
        "duration_ms": 1.5,
        "outcome": "ok",
        **columns,
    }
    return CallRow(call_id=call_id, **given)


def samples(
    directions: Sequence[str], gbps: float, *, disturbed: bool = False, count: int = 3
) -> tuple[Sample, ...]:
    return tuple(
        Sample(direction, number, 1e-3, 9e-4, 2, round(gbps * 1e6), 0.0, disturbed)
        for direction in directions
        for number in range(count)
    )


def comparison(**columns: Any) -> Comparison:
    given: dict[str, Any] = {
        "checked": 1000,
        "violations": 0,
        "max_abs_error": 0.25,
        "abs_bound": 0.5,
        "worst": Point(3, (0, 3), "1.0", "1.25", "0.25"),
        "first": None,
        "zero_signs_changed": 2,
        "sum_squared_error": 10.0,
        "value_range": 100.0,
        **columns,
    }
    return Comparison(**given)


def run_result(gbps: float = 1.0, **columns: Any) -> RunResult:
    given: dict[str, Any] = {
        "status": Status.TIMED,
        "stage": None,
        "execution": Execution.HARDWARE,
        "field": "cesm",
        "bound": REL,
        "raw_bytes": 4000,
        "stream_bytes": 1000,
        "comparison": comparison(),
        "samples": samples(("compress", "decompress"), gbps),
        "golden_bytes": 1000,
        "metrics": (Metric("copy_peak_gbps", 10.0, "GB/s", "measured"),),
        **columns,
    }
    return RunResult(**given)


def verdict(**columns: Any) -> Verdict:
    given: dict[str, Any] = {
        "status": Status.BOUND_OK,
        "stage": Status.TIMED,
        "holds": True,
        "checked_values": 1000,
        "violations": 0,
        "max_abs_error": 0.25,
        "abs_bound": 0.5,
        "worst": None,
        "counterexample": None,
        "cases": (CaseResult("noise", True, Status.BOUND_OK, 1000, 0, 0.25, 0.5, 4.0),),
        **columns,
    }
    return Verdict(**given)


def broken_verdict() -> Verdict:
    point = Point(7, (7,), "nan", "-0.0", "inf")
    failure = Failure(Status.ERROR, Status.BOUND_OK, FailureKind.BOUND, "one value is off")
    case = CaseResult(
        "non-finite", True, Status.ERROR, 33, 1, float("inf"), 0.5, None, failure=failure
    )
    example = Counterexample("non-finite", (33,), "float32", 0.5, ("nan",), ("-0.0",), 7, point)
    return verdict(
        status=Status.ERROR,
        stage=Status.BOUND_OK,
        holds=False,
        violations=1,
        max_abs_error=float("inf"),
        worst=point,
        counterexample=example,
        cases=(*verdict().cases, case),
        failure=failure,
    )


def failed_build() -> Build:
    complaint = Diagnostic("error", "invalid syntax", "kernel.py", 3, 7, "def f(:")
    failure = Failure(
        Status.ERROR, Status.PARSED, FailureKind.SYNTAX, "does not parse", (complaint,), "boom"
    )
    return Build(Status.ERROR, Status.PARSED, 0.1, failure, (complaint,))


def profile() -> Profile:
    metrics = (Metric("copy_fraction", 0.5, "1", "derived"),)
    return Profile(Status.TIMED, None, "cesm", REL, metrics, "memory")


def started(run_id: str, kernel_id: str, **columns: Any) -> RunStartedRow:
    given: dict[str, Any] = {
        "call_id": f"call-{run_id}",
        "tool": "run_compress",
        "field": "cesm",
        "mode": "rel",
        "bound": 1e-3,
        "session": "s1",
        "agent": "alice",
        **columns,
    }
    return RunStartedRow(run_id=run_id, kernel_id=kernel_id, **given)


def record_run(
    ledger: Ledger, run_id: str, kernel_id: str, result: RunResult, attempt: int | None = None
) -> None:
    bound = result.bound
    row = started(
        run_id,
        kernel_id,
        field=result.field,
        mode=bound.mode,
        bound=bound.value,
        attempt=attempt,
    )
    ledger.run_started(row)
    ledger.run_finished(run_id, kernel_id, "run_compress", result)


def record_verdict(ledger: Ledger, run_id: str, kernel_id: str, result: Verdict) -> None:
    ledger.run_started(started(run_id, kernel_id, tool="verify_bounds", field="suite"))
    ledger.run_finished(run_id, kernel_id, "verify_bounds", result)


def record_ranked(
    ledger: Ledger, made: Kernel, result: RunResult, attempt: int | None = None
) -> None:
    """A kernel that is received, holds on the suite and is timed, in this attempt."""
    name = made.kernel_id
    ledger.kernel(made, f"call-{name}")
    record_verdict(ledger, f"verify-{name}", name, verdict())
    record_run(ledger, f"run-{name}", name, result, attempt)


def read(home: Path, sql: str) -> list[tuple[Any, ...]]:
    """What plain DuckDB finds in the snapshot, without a drain."""
    with duckdb.connect(str(home / "ledger-read.duckdb"), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def drained(home: Path, sql: str) -> list[tuple[Any, ...]]:
    """The same after a drain."""
    drain(home)
    return read(home, sql)
