"""From the records of the data line to what an agent is told.

A record, its guidance and a view (feedback level, how much detail) flow in; a `Reply` model flows
out. What a level hides is hidden here and nowhere else.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from kernels.records import (
    Build,
    CaseContent,
    CaseResult,
    Diagnostic,
    Failure,
    Guidance,
    Kernel,
    Loop,
    Metric,
    Profile,
    RunResult,
    Sample,
    Status,
    Verdict,
)
from results_db.statistics import Contrast
from results_db.summary import Speed, summarise
from sz_mcp.artifacts import artifact_uri, shown
from sz_mcp.asked import Asked
from sz_mcp.counterexamples import counterexample_reply, point_reply
from sz_mcp.device_replies import device_fields
from sz_mcp.further_replies import further_fields
from sz_mcp.mode_replies import mode_fields
from sz_mcp.replies import (
    CaseContentReply,
    CaseReply,
    CompileReply,
    ContrastReply,
    DiagnosticReply,
    GuidanceReply,
    KernelReply,
    LoopReply,
    MetricReply,
    ProfileReply,
    QueryReply,
    Reply,
    RunReply,
    SampleReply,
    VerifyReply,
)
from sz_mcp.settings import FeedbackLevel
from sz_mcp.steps import after, after_build, at
from toolchains.children.counters import NO_HARDWARE
from toolchains.vectorisation import left_scalar

if TYPE_CHECKING:
    from results_db.queries import QueryResult

SHOWN_PHASES = 6
SHOWN_LOOPS = 3
SHOWN_RESOURCES = 12
"""In a concise profile: phases, and loops that were not vectorised."""
_BRIEF = (".seconds", ".bandwidth", ".share_of_copy_peak", ".peak_memory", "copy_peak")
"""How the names of metrics end that a concise profile tells."""
SHOWN_CASES = 4
"""Failed cases in the structure of a concise reply; the content of the first alone."""
SHOWN_SAMPLES = 10
"""In a concise reply, those that were not disturbed first: 5 of the 7 each way that are usual."""
SHOWN_SHARE = 0.05
"""Of the time, from which on a loop is in a concise profile."""
OUTPUT_TAIL = 1500
"""Characters of a kernel's own output in a concise reply."""


@dataclass(frozen=True)
class View:
    """How much a caller is shown."""

    feedback: FeedbackLevel = "suggest"
    detailed: bool = False


class Told(TypedDict):
    """The fields of a `KernelReply` that feedback levels govern."""

    message: str
    diagnostics: list[DiagnosticReply]
    guidance: list[GuidanceReply]
    output: str
    next: str


class _AskedFields(TypedDict):
    run_id: str
    kernel_id: str
    field: str
    mode: str
    bound: float


def compile_reply(
    kernel: Kernel, build: Build, guidance: Sequence[Guidance], view: View, attempt: int | None
) -> CompileReply:
    """Reply of compile_kernel for a finished build."""
    kernel_id, submission = kernel.kernel_id, kernel.submission
    told = _told(view, build.failure, build.diagnostics, guidance, after_build(kernel_id, build))
    if build.first_call and view.feedback != "none":
        told["output"] = _printed(view, build.first_call)
    return CompileReply(
        status=build.status,
        stage=build.stage,
        kernel_id=kernel_id,
        resources=[
            f"sz-mcp://kernels/{kernel_id}",
            f"sz-mcp://tasks/{submission.task}",
            f"sz-mcp://targets/{submission.target}",
            *(artifact_uri(kernel_id, name) for name in shown(build.artifacts)),
        ],
        seconds=finite(build.seconds),
        attempt=attempt,
        content_hash=submission.content_hash,
        metrics=metrics_reply(build.metrics if view.detailed else _of_kernels(build.metrics)),
        **told,
    )


def _of_kernels(metrics: Sequence[Metric]) -> list[Metric]:
    """Of each kernel of a GPU, what limits it: the first few."""
    return [metric for metric in metrics if "[" in metric.name][:SHOWN_RESOURCES]


def verify_reply(
    asked: Asked, verdict: Verdict, guidance: Sequence[Guidance], view: View
) -> VerifyReply:
    """Reply of verify_bounds for a finished verdict."""
    step = after(asked, verdict.failure)
    if verdict.holds:
        field = '"…"' if asked.field == "suite" else f'"{asked.field}"'
        step = f'run_compress(kernel_id="{asked.kernel_id}", field={field}{at(asked)})'
    told = view.feedback != "none"
    shown, worst = (verdict.counterexample, verdict.worst) if told else (None, None)
    failed = [case for case in verdict.cases if _failed(case)]
    cases = (verdict.cases if view.detailed else failed) if told else ()
    compared = _compared(verdict)
    return VerifyReply(
        status=verdict.status,
        stage=verdict.stage,
        **_asked(asked),
        abs_bound=finite(verdict.abs_bound) if verdict.cases and not verdict.exact else None,
        **mode_fields(verdict.outcome),
        holds=verdict.holds,
        checked_values=verdict.checked_values,
        violations=verdict.violations,
        max_abs_error=finite(verdict.max_abs_error) if compared and not verdict.exact else None,
        decided_by=verdict.decided_by if told else "",
        not_run=verdict.not_run,
        failed_cases=len(failed),
        case_count=len(verdict.cases) + verdict.not_run,
        worst=point_reply(worst) if worst else None,
        counterexample=counterexample_reply(shown, _rule(guidance, view)) if shown else None,
        cases=[_case(case) for case in cases],
        metrics=metrics_reply(verdict.metrics) if view.detailed else [],
        **further_fields(verdict, told=told),
        **_told(view, verdict.failure, (), guidance, step),
    )


def concise(reply: Reply) -> Reply:
    """The reply with few of many cases or samples: the text, made before, tells of all."""
    match reply:
        case VerifyReply():
            first, rest = reply.cases[:1], reply.cases[1:SHOWN_CASES]
            bare = [case.model_copy(update={"content": None}) for case in rest]
            return reply.model_copy(update={"cases": [*first, *bare]})
        case RunReply() if len(reply.samples) > SHOWN_SAMPLES:
            by_worth = sorted(reply.samples, key=lambda sample: sample.disturbed)
            return reply.model_copy(update={"samples": by_worth[:SHOWN_SAMPLES]})
    return reply


def run_reply(
    asked: Asked,
    result: RunResult,
    guidance: Sequence[Guidance],
    view: View,
    contrasts: Sequence[Contrast] = (),
) -> RunReply:
    """Reply of run_compress for a finished run, or for one beside another kernel."""
    summary, checked = summarise(result), result.comparison
    step = after(asked, result.failure)
    if result.failure is None:
        where = f'"{asked.kernel_id}", field="{asked.field}"'
        step = f"profile(kernel_id={where}{at(asked)})"
        if asked.against is not None:
            step = f"run_compress(kernel_id={where}{at(asked)}): a compared run is not ranked"
    return RunReply(
        status=result.status,
        stage=result.stage,
        **_asked(asked),
        abs_bound=finite(result.bound.absolute) if checked else None,
        **mode_fields(result.outcome),
        execution=result.execution,
        ratio=finite(summary.ratio),
        bit_rate=finite(summary.bit_rate),
        compress_gbps=_median(summary.compress),
        decompress_gbps=_median(summary.decompress),
        run_gbps=_median(summary.run),
        score=finite(summary.score) if result.status is Status.TIMED else None,
        max_abs_error=finite(checked.max_abs_error) if checked else None,
        psnr=finite(summary.psnr),
        lossless=checked.max_abs_error == 0 if checked else None,
        raw_bytes=result.raw_bytes,
        stream_bytes=result.stream_bytes,
        golden_bytes=result.golden_bytes,
        within_size_rule=summary.within_size_rule,
        threads=result.threads,
        cache_state=result.cache_state,
        null_round_trip_s=finite(result.null_round_trip_s),
        samples=[_sample(sample) for sample in result.samples],
        against=asked.against,
        compared=[_contrast(one, result.raw_bytes) for one in contrasts],
        **device_fields(result.metrics),
        metrics=metrics_reply(result.metrics) if view.detailed else [],
        **_told(view, result.failure, (), guidance, step),
    )


def profile_reply(
    asked: Asked, profile: Profile, guidance: Sequence[Guidance], view: View
) -> ProfileReply:
    """Reply of profile for a finished profile."""
    every = tuple(dict.fromkeys((*profile.guidance, *guidance)))
    loops: Sequence[Loop] = profile.loops if view.detailed else _scalar(profile)
    return ProfileReply(
        status=profile.status,
        stage=profile.stage,
        **_asked(asked),
        abs_bound=None if profile.failure else finite(profile.bound.absolute),
        metrics=metrics_reply(profile.metrics if view.detailed else _brief(profile.metrics)),
        bottleneck=profile.bottleneck,
        loops=[_loop(loop) for loop in loops] if view.feedback != "none" else [],
        notes=_profile_notes(profile, view) if view.feedback != "none" else [],
        picture=picture_uri(asked.run_id) if profile.picture else None,
        **_told(view, profile.failure, (), every, after(asked, profile.failure)),
    )


def _brief(metrics: Sequence[Metric]) -> list[Metric]:
    """What a concise reply tells: per function, and the longest phases."""
    phases = [m for m in metrics if m.name.startswith("phase.")]
    longest = sorted(phases, key=lambda m: -m.value)[:SHOWN_PHASES]
    return [m for m in metrics if m in longest or m.name.endswith(_BRIEF)]


def _scalar(profile: Profile) -> list[Loop]:
    """Loops that something can be done about, or that take much of the time, as far as known."""
    seen = (loop for loop in profile.loops if loop.share is None or loop.share >= SHOWN_SHARE)
    told = (loop for loop in seen if left_scalar(loop) or (loop.share and loop.width == 1))
    return [*told][:SHOWN_LOOPS]


def _profile_notes(profile: Profile, view: View) -> list[str]:
    if view.detailed:
        return list(profile.notes)
    short = f"{NO_HARDWARE}: see describe_arch"
    return [short if note.startswith(NO_HARDWARE) else note for note in profile.notes]


def running_reply(kernel_id: str, run_id: str, fraction: float, message: str) -> KernelReply:
    """Reply of any tool about a job that goes on after the tool had to answer."""
    return KernelReply(
        status=Status.RUNNING,
        kernel_id=kernel_id,
        run_id=run_id,
        message=message,
        progress=fraction,
        next=f'get_result(run_id="{run_id}")',
    )


def query_reply(result: QueryResult) -> QueryReply:
    """Reply of query_results."""
    return QueryReply(
        columns=list(result.columns),
        rows=[list(row) for row in result.rows],
        truncated=result.truncated,
        as_of=result.as_of.isoformat(timespec="milliseconds"),
        warning=result.warning,
    )


def picture_uri(run_id: str) -> str:
    """Where the picture of a profile can be read."""
    return f"sz-mcp://runs/{run_id}/profile.png"


def metrics_reply(metrics: Iterable[Metric]) -> list[MetricReply]:
    """Metrics as a reply has them."""
    return [
        MetricReply(name=m.name, value=finite(m.value), unit=m.unit, provenance=m.provenance)
        for m in metrics
    ]


def finite(value: float | None) -> float | None:
    """The number, or None where JSON has none for it."""
    return value if value is not None and math.isfinite(value) else None


def _asked(asked: Asked) -> _AskedFields:
    return _AskedFields(
        run_id=asked.run_id,
        kernel_id=asked.kernel_id,
        field=asked.field,
        mode=asked.mode,
        bound=asked.bound,
    )


def _told(
    view: View,
    failure: Failure | None,
    diagnostics: Sequence[Diagnostic],
    guidance: Sequence[Guidance],
    step: str,
) -> Told:
    """What the caller's feedback level lets it see of a failure or a measurement."""
    if view.feedback == "none":
        return Told(message="", diagnostics=[], guidance=[], output="", next="")
    messages = dict.fromkeys((*diagnostics, *(failure.diagnostics if failure else ())))
    return Told(
        message=_message(view, failure),
        diagnostics=[_diagnostic(one) for one in messages],
        guidance=[] if view.feedback == "raw" else [_guidance(one, view) for one in guidance],
        output=_printed(view, failure),
        next=step,
    )


def _message(view: View, failure: Failure | None) -> str:
    if failure is None:
        return ""
    whole = view.detailed and failure.details
    return f"{failure.message}\n\n{failure.details}" if whole else failure.message


def _printed(view: View, failure: Failure | None) -> str:
    output = failure.output if failure else ""
    return output if view.detailed else output[-OUTPUT_TAIL:]


def _compared(verdict: Verdict) -> bool:
    """Whether the case that decided was decoded: the record's zeros would say it has no error."""
    decisive = [case for case in verdict.cases if case.case == verdict.decided_by]
    return any(case.checked for case in decisive or verdict.cases)


def _guidance(guidance: Guidance, view: View) -> GuidanceReply:
    return GuidanceReply(
        rule=guidance.rule,
        explanation=guidance.explanation,
        suggestion=guidance.suggestion if view.feedback == "suggest" else "",
    )


def _diagnostic(diagnostic: Diagnostic) -> DiagnosticReply:
    return DiagnosticReply(
        severity=diagnostic.severity,
        message=diagnostic.message,
        file=diagnostic.file,
        line=diagnostic.line,
        column=diagnostic.column,
        source=diagnostic.source,
    )


def _loop(loop: Loop) -> LoopReply:
    return LoopReply(
        function=loop.function,
        file=loop.file,
        line=loop.line,
        source=loop.source,
        width=loop.width,
        reason="; ".join(_loop_facts(loop)),
        share=finite(loop.share),
    )


def _loop_facts(loop: Loop) -> list[str]:
    facts = [fact for fact in (loop.reason, loop.among) if fact]
    if loop.carried:
        facts.append(f"carried: {', '.join(loop.carried)}")
    facts += (f"not inlined: {call.text}" for call in loop.calls)
    if loop.counts_references:
        facts.append("counts references to arrays")
    return facts


def _rule(guidance: Sequence[Guidance], view: View) -> str:
    """The entry of the tables that a counterexample matches."""
    return guidance[0].rule if guidance and view.feedback in ("explain", "suggest") else ""


def _failed(case: CaseResult) -> bool:
    return case.failure is not None or case.violations > 0


def _case(case: CaseResult) -> CaseReply:
    return CaseReply(
        case=case.case,
        core=case.core,
        status=case.status,
        checked=case.checked,
        violations=case.violations,
        max_abs_error=finite(case.max_abs_error) if case.checked else None,
        abs_bound=case.abs_bound,
        ratio=finite(case.ratio),
        **mode_fields(case.outcome),
        shape=list(case.shape),
        dtype=case.dtype,
        function=case.function,
        content=_content(case.content) if case.content else None,
        message=case.failure.message if case.failure else "",
        given=case.given,
    )


def _content(content: CaseContent) -> CaseContentReply:
    return CaseContentReply(
        values=list(content.values),
        minimum=finite(content.minimum),
        maximum=finite(content.maximum),
        non_finite=content.non_finite,
    )


def _contrast(contrast: Contrast, nbytes: int) -> ContrastReply:
    speedup = contrast.speedup
    return ContrastReply(
        direction=contrast.direction,
        verdict=speedup.verdict,
        speedup=speedup.ratio,
        low=speedup.low,
        high=finite(speedup.high),
        pairs=len(contrast.seconds),
        gbps=nbytes / statistics.median(contrast.seconds) / 1e9,
        against_gbps=nbytes / statistics.median(contrast.against_seconds) / 1e9,
    )


def _sample(sample: Sample) -> SampleReply:
    return SampleReply(
        direction=sample.direction,
        repetition=sample.repetition,
        seconds=sample.seconds,
        batch=sample.batch,
        gbps=sample.nbytes / sample.seconds / 1e9 if sample.seconds > 0 else None,
        disturbed=sample.disturbed,
    )


def _median(speed: Speed | None) -> float | None:
    return finite(speed.median) if speed else None
