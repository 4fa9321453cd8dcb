"""Records of the data line → rows of the ledger. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from kernels.records import (
    Build,
    CaseResult,
    Counterexample,
    Diagnostic,
    Failure,
    Guidance,
    Kernel,
    Metric,
    ModeOutcome,
    Point,
    Profile,
    RunResult,
    Verdict,
)
from kernels.verdicts import Damage
from results_db.rows import (
    BuildRow,
    ComparisonRow,
    DiagnosticRow,
    KernelRow,
    MetricRow,
    ProfileRow,
    Row,
    RunFinishedRow,
    VerdictCase,
    VerdictRow,
    ViolationRow,
)
from results_db.statistics import Compared
from results_db.summary import RunSummary, Speed, over_bound, summarise


@dataclass(frozen=True)
class Subject:
    """What a row is about."""

    kernel_id: str
    call_id: str | None = None
    run_id: str | None = None


def kernel_row(kernel: Kernel, call_id: str, blob: str, attempt: int | None) -> KernelRow:
    """The row that names a stored submission."""
    submission = kernel.submission
    return KernelRow(
        kernel_id=kernel.kernel_id,
        call_id=call_id,
        task=submission.task,
        target=submission.target,
        content_hash=submission.content_hash,
        blob=blob,
        parent=submission.parent,
        agent=kernel.agent,
        session=kernel.session,
        file_names=tuple(sorted(submission.files)),
        source_bytes=sum(len(_utf8(text)) for text in submission.files.values()),
        attempt=attempt,
        likeness=submission.likeness,
    )


def build_rows(
    call_id: str, kernel_id: str, build: Build, guidance: Sequence[Guidance]
) -> tuple[Row, ...]:
    """A build with its diagnostics and metrics."""
    failure, subject = build.failure, Subject(kernel_id, call_id=call_id)
    row = BuildRow(
        call_id=call_id,
        kernel_id=kernel_id,
        status=build.status.value,
        stage=build.stage.value,
        seconds=build.seconds,
        failure_kind=_kind(failure),
        failure_message=_message(failure),
        output=failure.output if failure else None,
        guidance=_guidance(guidance),
    )
    messages = (*build.diagnostics, *(failure.diagnostics if failure else ()))
    return row, *_diagnostics(messages, subject), *_metrics(build.metrics, subject, "build")


def finished_rows(
    run_id: str,
    kernel_id: str,
    tool: str,
    result: Verdict | RunResult | Profile | Compared,
    guidance: Sequence[Guidance],
) -> tuple[Row, ...]:
    """A finished run of any tool: its outcome and what that tool measured."""
    if isinstance(result, Compared):
        rows = finished_rows(run_id, kernel_id, tool, result.result, guidance)
        return *rows, *_comparisons(result, Subject(kernel_id, run_id=run_id))
    failure = result.failure
    finished = RunFinishedRow(
        run_id=run_id,
        kernel_id=kernel_id,
        tool=tool,
        status=result.status.value,
        stage=result.stage.value if result.stage else None,
        failure_kind=_kind(failure),
        failure_message=_message(failure),
        output=failure.output if failure else None,
        guidance=_guidance(guidance),
    )
    subject = Subject(kernel_id, run_id=run_id)
    messages = _diagnostics(failure.diagnostics if failure else (), subject)
    match result:
        case RunResult():
            return *_run_rows(finished, result), *messages
        case Verdict():
            return *_verdict_rows(finished, result), *messages
        case Profile():
            return *_profile_rows(finished, result), *messages


def _comparisons(compared: Compared, subject: Subject) -> Iterable[ComparisonRow]:
    for one in compared.contrasts:
        yield ComparisonRow(
            run_id=str(subject.run_id),
            kernel_id=subject.kernel_id,
            against=compared.against,
            direction=one.direction,
            verdict=one.speedup.verdict,
            speedup=one.speedup.ratio,
            speedup_low=one.speedup.low,
            speedup_high=one.speedup.high,
            pairs=len(one.seconds),
            seconds=one.seconds,
            against_seconds=one.against_seconds,
        )


def without_sources(arguments: Mapping[str, object]) -> Mapping[str, object]:
    """A call's arguments with the text of `files` replaced by its hash and size."""
    files = arguments.get("files")
    if not isinstance(files, Mapping):
        return arguments
    return {**arguments, "files": {str(name): _digest(text) for name, text in files.items()}}


def _digest(text: object) -> Mapping[str, object]:
    data = _utf8(text if isinstance(text, str) else repr(text))
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _run_rows(finished: RunFinishedRow, result: RunResult) -> tuple[Row, ...]:
    row = replace(
        _with_figures(finished, summarise(result)),
        execution=result.execution.value,
        threads=result.threads,
        cache_state=result.cache_state,
        abs_bound=result.bound.absolute,
        raw_bytes=result.raw_bytes,
        stream_bytes=result.stream_bytes,
        golden_bytes=result.golden_bytes,
        repetitions=len({sample.repetition for sample in result.samples}),
        disturbed_samples=sum(sample.disturbed for sample in result.samples),
        null_round_trip_s=result.null_round_trip_s,
        transform_s=_metric(result, "transform_seconds"),
        detransform_s=_metric(result, "detransform_seconds"),
        samples=result.samples,
        **_mode_columns(result.outcome),
    )
    subject = Subject(finished.kernel_id, run_id=finished.run_id)
    metrics = _metrics(result.metrics, subject, "run")
    checked = result.comparison
    if checked is None:
        return row, *metrics
    row = replace(
        row,
        checked_values=checked.checked,
        violations=checked.violations,
        max_abs_error=checked.max_abs_error,
        zero_signs_changed=checked.zero_signs_changed,
    )
    if checked.holds:
        return row, *metrics
    broken = CaseResult(
        case=result.field,
        core=True,
        status=result.status,
        checked=checked.checked,
        violations=checked.violations,
        max_abs_error=checked.max_abs_error,
        abs_bound=checked.abs_bound,
        failure=result.failure,
    )
    return row, _violation(finished, broken, checked.worst or checked.first, None), *metrics


class _ModeColumns(TypedDict):
    """Of runs and of cases."""

    side_bytes: int | None
    achieved: float | None
    reached: bool | None
    tries: int | None


def _mode_columns(outcome: ModeOutcome | None) -> _ModeColumns:
    """All NULL in modes abs and rel."""
    return _ModeColumns(
        side_bytes=outcome.side_bytes if outcome else None,
        achieved=outcome.achieved if outcome else None,
        reached=outcome.reached if outcome else None,
        tries=outcome.tries if outcome else None,
    )


def _metric(result: RunResult, name: str) -> float | None:
    return next((metric.value for metric in result.metrics if metric.name == name), None)


def _with_figures(row: RunFinishedRow, summary: RunSummary) -> RunFinishedRow:
    compress, decompress, run = summary.compress, summary.decompress, summary.run
    return replace(
        row,
        within_size_rule=summary.within_size_rule,
        ratio=summary.ratio,
        bit_rate=summary.bit_rate,
        psnr=summary.psnr,
        worst_over_bound=summary.worst_over_bound,
        compress_gbps=_median(compress),
        compress_gbps_low=compress.low if compress else None,
        compress_gbps_high=compress.high if compress else None,
        decompress_gbps=_median(decompress),
        decompress_gbps_low=decompress.low if decompress else None,
        decompress_gbps_high=decompress.high if decompress else None,
        run_gbps=_median(run),
        run_gbps_low=run.low if run else None,
        run_gbps_high=run.high if run else None,
        both_ways_gbps=summary.both_ways_gbps,
        copy_peak_gbps=summary.copy_peak_gbps,
        transfer_bits=summary.transfer_bits,
    )


def _median(speed: Speed | None) -> float | None:
    return speed.median if speed else None


def _verdict_rows(finished: RunFinishedRow, result: Verdict) -> tuple[Row, ...]:
    worst = result.worst
    finished = replace(
        finished,
        abs_bound=result.abs_bound,
        checked_values=result.checked_values,
        violations=result.violations,
        max_abs_error=result.max_abs_error,
        worst_over_bound=over_bound(result.max_abs_error, result.abs_bound),
        **_mode_columns(result.outcome),
    )
    verdict = VerdictRow(
        run_id=finished.run_id,
        kernel_id=finished.kernel_id,
        status=finished.status,
        stage=finished.stage,
        holds=result.holds,
        checked_values=result.checked_values,
        violations=result.violations,
        max_abs_error=result.max_abs_error,
        abs_bound=result.abs_bound,
        worst_over_bound=finished.worst_over_bound,
        worst_flat=worst.flat if worst else None,
        worst_index=worst.index if worst else None,
        worst_original=worst.original if worst else None,
        worst_decoded=worst.decoded if worst else None,
        worst_error=worst.error if worst else None,
        cases=tuple(_verdict_case(case) for case in result.cases),
    )
    subject = Subject(finished.kernel_id, run_id=finished.run_id)
    damage = _metrics(_damage_metrics(result.damage), subject, "run")
    metrics = _metrics(result.metrics, subject, "run")
    return finished, verdict, *_violations(finished, result), *damage, *metrics


def _damage_metrics(damage: Damage | None) -> tuple[Metric, ...]:
    """What was made of damaged streams."""
    if damage is None:
        return ()
    counts = {
        "damage.tried": damage.tried,
        "damage.detected": damage.detected,
        "damage.undetected": damage.undetected,
    }
    return tuple(Metric(name, float(n), "streams", "measured") for name, n in counts.items())


def _verdict_case(case: CaseResult) -> VerdictCase:
    return VerdictCase(
        case_name=case.case,
        core=case.core,
        status=case.status.value,
        checked=case.checked,
        violations=case.violations,
        max_abs_error=case.max_abs_error,
        abs_bound=case.abs_bound,
        ratio=case.ratio,
        **_mode_columns(case.outcome),
    )


def _violations(finished: RunFinishedRow, result: Verdict) -> Iterable[ViolationRow]:
    shown = result.counterexample
    for case in result.cases:
        if case.violations or case.failure is not None:
            example = shown if shown is not None and shown.case == case.case else None
            yield _violation(finished, case, example.point if example else None, example)


def _violation(
    finished: RunFinishedRow, case: CaseResult, point: Point | None, example: Counterexample | None
) -> ViolationRow:
    row = ViolationRow(
        run_id=finished.run_id,
        kernel_id=finished.kernel_id,
        case_name=case.case,
        core=case.core,
        status=case.status.value,
        checked_values=case.checked,
        violations=case.violations,
        max_abs_error=case.max_abs_error,
        abs_bound=case.abs_bound,
        failure_kind=_kind(case.failure),
        failure_message=_message(case.failure),
    )
    if point is not None:
        row = replace(
            row,
            flat=point.flat,
            element_index=point.index,
            original=point.original,
            decoded=point.decoded,
            error=point.error,
        )
    if example is not None:
        row = replace(
            row,
            shape=example.shape,
            dtype=example.dtype,
            window_start=example.start,
            window_original=example.values,
            window_decoded=example.decoded,
        )
    return row


def _profile_rows(finished: RunFinishedRow, result: Profile) -> tuple[Row, ...]:
    profile = ProfileRow(
        run_id=finished.run_id,
        kernel_id=finished.kernel_id,
        status=finished.status,
        stage=finished.stage,
        field=result.field,
        mode=result.bound.mode,
        bound=result.bound.value,
        abs_bound=result.bound.absolute,
        bottleneck=result.bottleneck,
    )
    finished = replace(
        finished,
        guidance=(*finished.guidance, *_guidance(result.guidance)),
        abs_bound=result.bound.absolute,
    )
    subject = Subject(finished.kernel_id, run_id=finished.run_id)
    return finished, profile, *_metrics(result.metrics, subject, "profile")


def _diagnostics(messages: Sequence[Diagnostic], subject: Subject) -> Iterable[DiagnosticRow]:
    """One row per distinct message: a build repeats its failure's among its own."""
    for position, message in enumerate(dict.fromkeys(messages)):
        yield DiagnosticRow(
            kernel_id=subject.kernel_id,
            call_id=subject.call_id,
            run_id=subject.run_id,
            position=position,
            severity=message.severity,
            message=message.message,
            file=message.file,
            line_number=message.line,
            column_number=message.column,
            source_line=message.source,
        )


def _metrics(metrics: Sequence[Metric], subject: Subject, origin: str) -> Iterable[MetricRow]:
    for metric in metrics:
        yield MetricRow(
            kernel_id=subject.kernel_id,
            call_id=subject.call_id,
            run_id=subject.run_id,
            origin=origin,
            name=metric.name,
            value=metric.value,
            unit=metric.unit,
            provenance=metric.provenance,
        )


def _guidance(guidance: Sequence[Guidance]) -> tuple[Mapping[str, str], ...]:
    return tuple(
        {"rule": item.rule, "explanation": item.explanation, "suggestion": item.suggestion}
        for item in guidance
    )


def _kind(failure: Failure | None) -> str | None:
    return failure.kind.value if failure else None


def _message(failure: Failure | None) -> str | None:
    return failure.message if failure else None
