"""The text block of each reply: what a reader who never looks at the structured content needs.

A reply model flows in, a few lines flow out: verdict first, then where and why, then the next call.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import groupby

from kernels.records import Execution
from sz_mcp.counterexamples import counterexample_lines
from sz_mcp.further_replies import further_lines
from sz_mcp.mode_replies import mode_line
from sz_mcp.replies import (
    CaseReply,
    CompileReply,
    ContrastReply,
    DescribeReply,
    DiagnosticReply,
    FieldReply,
    KernelReply,
    LoopReply,
    MetricReply,
    ProfileReply,
    QueryReply,
    Reply,
    RunReply,
    TargetReply,
    VerifyReply,
)
from sz_mcp.values import listed

SHOWN_DIAGNOSTICS = 5
SHOWN_CASES = 6
CELL = 60
"""Characters of one table cell."""
_COMPUTED = "synthetic:"
_PEAK = re.compile(r"(\w+?)_at_(\d+)_KiB(\w*)")
_VARYING = re.compile(r"b'[^']*'|\d[\d.]*(e[+-]?\d+)?|\([\d, ]*\)")


def text_of(reply: Reply) -> str:
    """The text block of a reply."""
    match reply:
        case KernelReply(status="running"):
            lines = _running(reply)
        case DescribeReply():
            lines = _describe(reply)
        case CompileReply():
            lines = _kernel(reply, _compile(reply))
        case VerifyReply():
            lines = _kernel(reply, _verify(reply))
        case RunReply():
            lines = _kernel(reply, _run(reply))
        case ProfileReply():
            lines = _kernel(reply, _profile(reply))
        case QueryReply():
            lines = _query(reply)
        case _:
            raise TypeError(f"no text for a {type(reply).__name__}")
    return "\n".join(lines)


def _running(reply: KernelReply) -> Iterable[str]:
    yield f"running, {reply.progress or 0:.0%} done: {reply.message}. run_id {reply.run_id}"
    yield f"next: {reply.next}"


def _describe(reply: DescribeReply) -> Iterable[str]:
    if reply.page is not None:
        yield reply.page.rstrip()
        yield (
            'next: response_format="detailed" adds a complete example; or '
            f'compile_kernel(task="{reply.task}", target="…", files={{"kernel.py": "…"}})'
        )
    elif reply.targets is not None:
        for state, alike in groupby(reply.targets, _state):
            yield f"target {', '.join(target.target for target in alike)} ({state})"
        yield from _choices(reply)
        yield from reply.notes or []
        yield 'next: describe_arch(target="…") for its contract and an example, and'
        yield 'describe_arch(task="…") for exactly what it takes and returns'
    else:
        yield from _target(reply)
        yield from _choices(reply)
        yield f'next: compile_kernel(task="…", target="{reply.target}", files={{"kernel.py": "…"}})'


def _state(target: TargetReply) -> str:
    return f"{target.execution}" if target.available else f"not here: {target.reason}"


def _choices(reply: DescribeReply) -> Iterable[str]:
    """Tasks and fields; the name of a computed field says what it is."""
    for task in reply.tasks:
        yield f"task {task.name}: {task.summary}"
    computed = [field.name for field in reply.fields if field.name.startswith(_COMPUTED)]
    for field in reply.fields:
        if field.name not in computed:
            yield f"field {field.name}: {_form(field)}{field.character}"
    if computed:
        yield f"computed fields {', '.join(computed)}"


def _form(field: FieldReply) -> str:
    """Shape, type and unit."""
    shape = "×".join(map(str, field.shape))
    return f"{shape} {field.dtype}{field.unit and f' {field.unit}'}, "


def _target(reply: DescribeReply) -> Iterable[str]:
    state = f"{reply.execution}" if reply.available else f"can't run here: {reply.reason}"
    yield f"target {reply.target} ({state})"
    yield from reply.notes or []
    for label, metrics in (("hardware", reply.hardware or []), ("limits", reply.limits or [])):
        if metrics:
            listed = (f"{m.name} {_sized(m)}".rstrip() for m in metrics)
            yield f"{label}: {', '.join(listed)}"
    yield from _peaks(reply.peaks or [])
    if reply.contract:
        yield reply.contract
    for name, text in (reply.example or {}).items():
        task = f" for task {reply.example_task}" if reply.example_task else ""
        yield f"example{task}, {name}:\n{text.rstrip()}"
    yield from (f"advice: {line}" for line in reply.advice or [])


def _peaks(peaks: list[MetricReply]) -> Iterable[str]:
    """One line per kind (copy by 2 threads, ...), the sizes side by side."""
    kinds: dict[str, list[str]] = {}
    for peak in peaks:
        found = _PEAK.fullmatch(peak.name)
        if found is None:
            yield from _metrics("peak", [peak])
            continue
        kind, size, threads = found.groups()
        speed = f"{_number(peak.value)} at {_kib(int(size))}"
        kinds.setdefault(kind + threads.replace("_", " "), []).append(speed)
    for kind, speeds in kinds.items():
        yield f"peak {kind}, GB/s: {', '.join(speeds)}"


def _sized(metric: MetricReply) -> str:
    if metric.unit == "KiB" and metric.value is not None:
        return _kib(int(metric.value))
    return f"{_number(metric.value)} {metric.unit}"


def _kib(kib: int) -> str:
    return f"{kib} KiB" if kib < 1024 else f"{kib >> 10} MiB"


def _kernel(reply: KernelReply, first: Iterable[str]) -> Iterable[str]:
    """What all replies about a kernel share, around the lines that are its own."""
    yield from first
    yield from _told(reply)
    if reply.next:
        yield f"next: {reply.next}"


def _told(reply: KernelReply) -> Iterable[str]:
    """What the feedback level lets through."""
    shown = reply.diagnostics[:SHOWN_DIAGNOSTICS]
    if reply.message and reply.message not in {one.message for one in shown if one.file}:
        yield reply.message
    for diagnostic in shown:
        yield from _diagnostic(diagnostic, reply.message)
    more = len(reply.diagnostics) - SHOWN_DIAGNOSTICS
    if more > 0:
        yield f"… and {more} more diagnostics"
    for guidance in reply.guidance:
        yield f"why: {guidance.explanation}"
        if guidance.suggestion:
            yield f"do: {guidance.suggestion}"
    if reply.output:
        yield f"printed:\n{reply.output.rstrip()}"


def _stopped(reply: KernelReply) -> str:
    """Status, and the rung it did not reach."""
    return f"{reply.status} at {reply.stage}" if reply.stage else f"{reply.status}"


def _compile(reply: CompileReply) -> Iterable[str]:
    took = "" if reply.seconds is None else f" in {reply.seconds:.2f} s"
    failed = reply.status in ("error", "rejected", "refused")
    state = _stopped(reply) if failed else reply.status
    yield f"{state}{took}: kernel_id {reply.kernel_id}"


def _verify(reply: VerifyReply) -> Iterable[str]:
    yield f"{_verdict(reply)}. run_id {reply.run_id}"
    yield from mode_line(reply)
    stage = reply.counterexample is not None and reply.counterexample.given
    if reply.worst and reply.violations and not stage:
        worst = reply.worst
        yield (
            f"worst element {worst.index} (flat {worst.flat}): {worst.original} came back as "
            f"{worst.decoded}, error {worst.error}"
        )
    if reply.counterexample:
        yield from counterexample_lines(reply.counterexample)
    groups: dict[tuple[str, str, str], list[CaseReply]] = {}
    for case in reply.cases:
        if case.violations or case.message:
            # Sizes and bytes differ from case to case where the cause is the same.
            message = case.message if case.violations else _VARYING.sub("#", case.message)
            groups.setdefault((case.status, case.function, message), []).append(case)
    for alike in list(groups.values())[:SHOWN_CASES]:
        yield from _alike(alike, reply)
    more = sum(map(len, list(groups.values())[SHOWN_CASES:]))
    if more:
        yield f"… and {more} more cases that failed"
    yield from further_lines(reply)


def _alike(cases: list[CaseReply], reply: VerifyReply) -> Iterable[str]:
    """Cases that failed in the same way, the first of them in full."""
    first = cases[0]
    core = "" if first.core else " (not core)"
    place = f" in {first.function}" if first.function else ""
    told = first.message in reply.message
    message = "as told below" if told else first.message
    form = f", {first.dtype}{first.shape}, abs_bound {first.abs_bound!r}" if first.dtype else ""
    form = f" ({first.given})" if first.given else form
    case = f"{first.case}{core}{form}"
    if len(cases) > 1:
        yield f"{len(cases)} cases: {first.status}{place}: {message}; first: {case}"
    elif not told:
        yield f"case {case}: {first.status}{place}: {message}"
    yield from _content(first)


def _content(case: CaseReply) -> Iterable[str]:
    content = case.content
    if content is None:
        return
    size = math.prod(case.shape)
    if content.values or not size:
        yield f"values of {_contents(case)}: {listed(content.values, case.dtype) or 'none'}"
        return
    yield (
        f"values of {_contents(case)}: {size} from {_extreme(content.minimum, case.dtype)} to "
        f"{_extreme(content.maximum, case.dtype)}, {content.non_finite} of them not finite"
    )


def _extreme(value: float | None, dtype: str) -> str:
    return f"{value:.0f}" if value is not None and "int" in dtype else _number(value)


def _contents(case: CaseReply) -> str:
    """Of a stage's case the content is that of its first input."""
    return f"`{case.given.split()[0]}` of {case.case}" if case.given else case.case


def _exact(reply: VerifyReply) -> bool:
    """Whether a stage was asked for equality: it has no bound then."""
    return bool(reply.checked_values) and reply.abs_bound is None


def _where(reply: VerifyReply) -> str:
    """A stage's edge cases have nothing to do with the bound that was asked for."""
    stage = _exact(reply) or any(case.given for case in reply.cases)
    if stage and reply.field == "suite":
        return "on the suite"
    return f"on {reply.field} at {reply.mode} {reply.bound:g}"


def _equality(reply: VerifyReply) -> str:
    cases, failed = reply.case_count or 1, reply.failed_cases
    where = _where(reply)
    if reply.field == "suite":
        where = f"on all {cases} cases" if reply.holds else f"in {failed} of {cases} cases"
    if reply.holds:
        return f"{reply.status}: equals the golden answer {where} ({reply.checked_values} values)"
    verdict = "differs from the golden answer" if reply.violations else "failed"
    found = f"{reply.checked_values} values checked, {reply.violations} wrong"
    return f"{_stopped(reply)}: {verdict} {where}; {found}"


def _verdict(reply: VerifyReply) -> str:
    if _exact(reply):
        return _equality(reply)
    where = _where(reply)
    if not reply.checked_values:
        return f"{_stopped(reply)}: nothing was verified {where}"
    found = f"{reply.checked_values} values checked, {reply.violations} violations"
    shown = reply.counterexample
    if shown and shown.given and not shown.abs_bound:
        return f"{_stopped(reply)}: `{shown.name}` is not as the task asks {where}; {found}"
    if reply.max_abs_error is not None or reply.violations:
        error = "not finite" if reply.max_abs_error is None else _number(reply.max_abs_error)
        case = f" ({reply.decided_by})" if reply.decided_by not in ("", reply.field) else ""
        found += f", largest error {error} against {_number(reply.abs_bound)}{case}"
    if reply.holds:
        return f"{reply.status}: the bound holds {where}; {found}"
    verdict = "the bound does NOT hold" if reply.violations else "not verified"
    return f"{_stopped(reply)}: {verdict} {where}; {found}"


def _cycles(reply: RunReply) -> Iterable[str]:
    """Of a simulated device, in place of a speed."""
    if reply.cycles is not None:
        speed = _number(reply.projected_gbps)
        yield f"{_number(reply.cycles)} cycles, projected {speed} GB/s: {reply.projection_basis}"


def _run(reply: RunReply) -> Iterable[str]:
    timeless = reply.execution not in (None, Execution.HARDWARE) and reply.status == "bound_ok"
    if timeless and reply.ratio is None:
        yield (
            f"bound_ok on {reply.field} ({reply.execution}, so no speed): equals the golden "
            f"answer. run_id {reply.run_id}"
        )
        yield from _cycles(reply)
        return
    if reply.status != "timed" and reply.ratio is None and reply.run_gbps is None:
        yield f"{_stopped(reply)} on {reply.field}. run_id {reply.run_id}"
        return
    parts = [
        ("ratio {}", reply.ratio),
        ("{} bits/value", reply.bit_rate),
        ("compress {} GB/s", reply.compress_gbps),
        ("decompress {} GB/s", reply.decompress_gbps),
        ("run {} GB/s", reply.run_gbps),
        ("score {}", None if reply.run_gbps else reply.score),
        ("largest error {}", reply.max_abs_error),
        ("bound {}", None if reply.mode == "pw_rel" else reply.abs_bound),
        ("PSNR {} dB", reply.psnr),
    ]
    told = ", ".join(form.format(_number(value)) for form, value in parts if value is not None)
    state = reply.status if timeless or reply.stage is None else _stopped(reply)
    how = f"{reply.execution}, so no speed" if timeless else f"{reply.execution}"
    yield f"{state} on {reply.field} ({how}): {told}. run_id {reply.run_id}"
    yield from _cycles(reply)
    yield from mode_line(reply)
    disturbed = sum(sample.disturbed for sample in reply.samples)
    if disturbed:
        calm = len(reply.samples) - disturbed
        yield (
            f"{disturbed} of {len(reply.samples)} timed requests were disturbed by other work; "
            f"{f'speeds are of the other {calm}' if calm else 'speeds are of these'}"
        )
    if reply.within_size_rule is False:
        yield (
            f"too large to be ranked by speed: {reply.stream_bytes} bytes against "
            f"1.02 × {reply.golden_bytes} + 64"
        )
    yield from (_contrast(one, reply.against or "") for one in reply.compared)


def _contrast(one: ContrastReply, against: str) -> str:
    high = "∞" if one.high is None else f"{one.high:.4g}"
    verdict = (
        one.verdict if one.verdict != "inconclusive" else "inconclusive: more repeats tell more"
    )
    return (
        f"{one.direction}: {one.speedup:.4g} times as fast as {against}, 95% interval "
        f"{one.low:.4g} to {high} over {one.pairs} pairs: {verdict}. Medians, which other work "
        f"moves more than pairs: {one.gbps:.4g} against {one.against_gbps:.4g} GB/s"
    )


def _profile(reply: ProfileReply) -> Iterable[str]:
    if reply.bottleneck:
        yield f"profiled on {reply.field}: {reply.bottleneck}. run_id {reply.run_id}"
    else:
        yield f"{_stopped(reply)} on {reply.field}. run_id {reply.run_id}"
    told = {metric.name: metric for metric in reply.metrics}
    functions = [name.removesuffix(".seconds") for name in told if name.endswith(".seconds")]
    for function in functions:
        yield f"{function}: {', '.join(_function(function, told))}"
    phases = [m for name, m in told.items() if name.startswith("phase.") and m.value is not None]
    if phases:
        listed = (f"{m.name[6:]} {_number(m.value)} ms" for m in map(_in_ms, _worth(phases)))
        yield f"of this in functions of the submission: {', '.join(listed)}"
    yield from _metrics("", (_in_ms(m) for m in told.values() if m not in phases))
    yield from (_loop(loop) for loop in reply.loops)
    yield from (f"note: {note}" for note in reply.notes)


def _worth(phases: list[MetricReply]) -> Iterable[MetricReply]:
    """Phases that take 1% of the time or more."""
    total = sum(m.value for m in phases if m.value)
    return (m for m in phases if m.value and m.value >= 0.01 * total)


def _in_ms(metric: MetricReply) -> MetricReply:
    if metric.unit != "s" or metric.value is None:
        return metric
    return metric.model_copy(update={"value": 1e3 * metric.value, "unit": "ms"})


def _loop(loop: LoopReply) -> str:
    width = f"takes {loop.width} values at a time" if loop.width > 1 else ""
    share = "" if loop.share is None else f", {loop.share:.0%} of the time"
    told = "; ".join(filter(None, (width, loop.reason)))
    return f"loop {loop.file}:{loop.line}{share}: {told}\n    {loop.source}"


def _function(function: str, told: dict[str, MetricReply]) -> Iterable[str]:
    """The figures of one function of the task, which are taken from those that are still to tell.

    Suffixes of metrics are those of `sz_mcp.pipeline.roofline.metrics`.
    """
    for suffix, factor, form in (
        ("seconds", 1e3, "{} ms"),
        ("bandwidth", 1.0, "{} GB/s of original data"),
        ("share_of_copy_peak", 100.0, "{}% of the speed of a copy"),
        ("peak_memory", 1.0, "{} MB of memory at its peak"),
    ):
        metric = told.pop(f"{function}.{suffix}", None)
        if metric is not None and metric.value is not None:
            yield form.format(_number(factor * metric.value))


def _query(reply: QueryReply) -> Iterable[str]:
    yield " | ".join(reply.columns)
    for row in reply.rows:
        yield " | ".join(_cell(value) for value in row)
    more = ", more were left out: select fewer columns, or give max_rows" if reply.truncated else ""
    yield f"({len(reply.rows)} rows{more})"
    if reply.warning:
        yield f"warning: {reply.warning}"


def _cell(value: object) -> str:
    text = _number(value) if isinstance(value, float) else str("" if value is None else value)
    flat = " ".join(text.split())
    return flat if len(flat) <= CELL else f"{flat[: CELL - 1]}…"


def _metrics(label: str, metrics: Iterable[MetricReply]) -> Iterable[str]:
    for metric in metrics:
        name = f"{label} {metric.name}".strip()
        yield f"{name}: {_number(metric.value)} {metric.unit}".rstrip()


def _diagnostic(diagnostic: DiagnosticReply, told: str) -> Iterable[str]:
    """`file:line:column: severity: message`, the source line, and a caret under the column.

    told: what the reply has said already; a part of it is not said again.
    """
    parts = [str(part) for part in (diagnostic.file, diagnostic.line, diagnostic.column) if part]
    place = ":".join(parts)
    if diagnostic.message in told and diagnostic.message != told:
        if place:
            yield f"at {place}:"
    elif place or diagnostic.message != told:
        yield ": ".join([place] * bool(place) + [diagnostic.severity, diagnostic.message])
    source = diagnostic.source
    if source is not None:
        yield f"    {source}"
        if diagnostic.column:
            # Tabs are kept, so that the caret stands under its column however wide they are.
            before = source[: diagnostic.column - 1]
            yield f"    {''.join(c if c == chr(9) else ' ' for c in before)}^"


def _number(value: float | None) -> str:
    if value is None:
        return "n/a"
    # Counts in full: 65536 registers are not 6.554e+04.
    whole = float(value).is_integer() and abs(value) < 1e12
    return f"{value:.0f}" if whole else f"{value:.4g}"
