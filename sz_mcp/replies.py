"""What each tool returns, as models: their fields and units are the output schemas clients see.

Only shapes live here; `answers` fills them from the records of the data line. No field is ever NaN
or infinite: a model refuses to be built with one, and `null` says why in the field's description.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model

from kernels.records import Execution, Status


class Reply(BaseModel):
    """A frozen record of JSON values."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)


class DiagnosticReply(Reply):
    """One message of a compiler, a run or a check, with its place in the submitted files."""

    severity: str
    """error, warning or note."""
    message: str
    file: str | None = None
    line: int | None = None
    """From 1."""
    column: int | None = None
    """From 1."""
    source: str | None = None
    """Text of that line."""


class GuidanceReply(Reply):
    """What something means and what to do about it."""

    rule: str
    """Name of the rule that matched."""
    explanation: str
    suggestion: str
    """Empty at feedback level `explain`."""


class MetricReply(Reply):
    """A named number."""

    name: str
    value: float | None
    """null if it could not be represented (not finite)."""
    unit: str
    provenance: str
    """measured, derived, or reported (by the kernel's own process, untrusted)."""


class PointReply(Reply):
    """One array element; numbers are text, so that NaN, Inf and −0 survive."""

    flat: int
    """Index in C order."""
    index: list[int]
    original: str
    decoded: str
    error: str


class ValueRunReply(Reply):
    """Equal neighbours that came back equal, as text."""

    count: int
    original: str
    decoded: str
    error: str


class CounterexampleReply(Reply):
    """Values that reproduce a violation: a whole small array, or those around the worst element."""

    case: str
    shape: list[int]
    dtype: str
    abs_bound: float
    start: int
    """Flat index of values[0]."""
    values: list[str]
    """Original values; empty where `runs` says it in less, as is `decoded`."""
    decoded: list[str]
    point: PointReply
    inputs: list[str] = []
    """Of a stage: its first input at the same places, if the output has an element for each."""
    name: str = ""
    """Of a stage: which output; `values` are wanted, `decoded` is what came."""
    given: str = ""
    """Of a stage: names, types and shapes of all inputs."""
    input_name: str = ""
    """Of `inputs`."""
    shrunk_from: list[int] = []
    """Shape of the case's array, if this is the smallest found on which the bound still breaks."""
    runs: list[ValueRunReply] = []
    """All of that array in C order."""
    rule: str = ""
    """Of `guidance`, that it matches."""


class CaseContentReply(Reply):
    """What a case's array holds, to reproduce a failure on it."""

    values: list[str]
    """All values in C order, as text, if they are at most 64; else none."""
    minimum: float | None
    """Of the finite values; null without any."""
    maximum: float | None
    non_finite: int
    """How many are NaN or infinite."""


class CaseReply(Reply):
    """One case of the suite, or the field asked for."""

    case: str
    core: bool
    """Whether a kernel has to take it. Others it may refuse, but if it takes one, `holds` depends
    on that too."""
    status: Status
    checked: int
    """Values checked."""
    violations: int
    max_abs_error: float | None
    """null if a finite value came back non-finite or the reverse, or nothing was compared."""
    abs_bound: float
    """The absolute bound asked of this case."""
    ratio: float | None = None
    achieved: float | None = None
    """As in the reply; likewise the next three."""
    reached: bool | None = None
    tries: int | None = None
    side_bytes: int | None = None
    shape: list[int] = []
    """Of the array compressed, or of a stage's first input."""
    dtype: str = ""
    function: str = ""
    """compress, decompress or run, if the case failed there; empty for a violation."""
    content: CaseContentReply | None = None
    """If it failed otherwise than by a violation."""
    message: str = ""
    given: str = ""
    """Of a stage: names, types and shapes of all inputs."""


class SampleReply(Reply):
    """One timed request, by the server's clock."""

    direction: str
    """compress, decompress or run."""
    repetition: int
    seconds: float
    """Over the whole batch."""
    batch: int
    """Distinct inputs in the request."""
    gbps: float | None
    """Original bytes per second / 1e9; null if too short to tell."""
    disturbed: bool
    """Other work on the machine slowed it; left out of the median if others are not."""


class LoopReply(Reply):
    """A loop as the compiler left it; reported by the kernel's own process."""

    function: str
    file: str
    line: int
    source: str
    """Text of that line."""
    width: int
    """Values that one instruction takes; 1: not vectorised."""
    reason: str
    """Why it was not; what it carries from step to step, and calls in it that were not inlined."""
    share: float | None
    """Of the profiled time, spent in the loop itself; null if not known."""


class ContrastReply(Reply):
    """One direction of two kernels timed side by side."""

    direction: str
    """compress, decompress or run."""
    verdict: str
    """faster or slower than `against`; inconclusive if the interval contains 1."""
    speedup: float
    """Speed over that of `against`."""
    low: float
    """Lower end of the 95% interval of `speedup`."""
    high: float | None
    """Upper end; null with fewer than 6 pairs."""
    pairs: int
    """Undisturbed pairs of repetitions, in random order."""
    gbps: float
    """Median over the pairs."""
    against_gbps: float


class TaskReply(Reply):
    """A task that kernels can be written for."""

    name: str
    summary: str
    rung: int
    """Order in which to climb: simpler first."""
    signature: str
    """Functions kernel.py must define."""
    page: str
    """URI of the task's page: inputs, outputs, stream format, how it is scored."""


class FieldReply(Reply):
    """A named array of scientific data."""

    name: str
    shape: list[int]
    dtype: str
    unit: str
    character: str
    fill_value: float | None


class TargetReply(Reply):
    """Where a kernel can run, and what to know to write for it."""

    target: str
    execution: Execution | None = None
    """How it runs here: hardware, emulated (no speeds) or simulated (cycles); null: not at all."""
    available: bool
    reason: str = ""
    """Why it can't run here, and the remedy."""
    limits: list[MetricReply] = []
    """Memory, time and sizes a kernel may take."""
    peaks: list[MetricReply] = []
    """Bandwidths measured on this machine; only when one target is asked for."""
    contract: str = ""
    """What kernel.py must define and may import."""
    example: dict[str, str] = {}
    """A complete submission: file name → text."""
    advice: list[str] = []


class DescribeReply(Reply):
    """Reply of `describe_arch`: every target in brief, or the fields of the one asked for."""

    targets: list[TargetReply] | None = None
    """Without `target`: every target in brief."""
    target: str | None = None
    execution: Execution | None = None
    """How it runs here: hardware, emulated (no speeds) or simulated (cycles); null: not at all."""
    available: bool | None = None
    reason: str | None = None
    """Why it can't run here, and the remedy; empty if it can."""
    limits: list[MetricReply] | None = None
    hardware: list[MetricReply] | None = None
    """Cores, vector width, caches, memory."""
    peaks: list[MetricReply] | None = None
    """Bandwidths measured on this machine: of one thread at typical sizes; detailed: the whole
    curve, and of all cores together."""
    notes: list[str] | None = None
    """The processor and its vector extensions; what is not known, and why."""
    contract: str | None = None
    example: dict[str, str] | None = None
    """A complete submission for `example_task`, file name → text, ready for compile_kernel."""
    example_task: str | None = None
    advice: list[str] | None = None
    task: str | None = None
    page: str | None = None
    """Of one task, Markdown: what it takes and returns, to the bit; detailed: with an example."""
    tasks: list[TaskReply] = []
    fields: list[FieldReply] = []
    """Those that are listed; sz-mcp://fields has all."""
    feedback: str = ""
    """Feedback level of this session: none, raw, explain or suggest."""


class KernelReply(Reply):
    """What every reply about a kernel says."""

    status: Status
    """A rung of the ladder received < parsed < compiled < loads < terminates < roundtrips <
    bound_ok < timed; or running, rejected, refused, error, suspect, inconclusive."""
    stage: Status | None = None
    """First rung that was not reached: where it stopped. null when nothing is left to reach."""
    kernel_id: str
    run_id: str | None = None
    """Name of this run in the ledger; while `running`, what to give get_result."""
    message: str = ""
    """What happened, in a sentence; empty on success (but for a cancellation that came too late)
    and at feedback level `none`."""
    diagnostics: list[DiagnosticReply] = []
    guidance: list[GuidanceReply] = []
    output: str = ""
    """Tail of what the kernel printed."""
    next: str = ""
    """The call to make now."""
    progress: float | None = None
    """Fraction done, while `running`."""


class CompileReply(KernelReply):
    """Reply of `compile_kernel`."""

    resources: list[str] = []
    """URIs: the stored source, the pages of task and target, what compilers wrote (PTX, SASS)."""
    seconds: float | None = None
    """Wall time of the build."""
    attempt: int | None = None
    """Which call of this session that touched a kernel this was, from 1."""
    content_hash: str = ""
    """SHA-256 of the normalised source: equal for equal kernels."""
    metrics: list[MetricReply] = []


class MeasuredReply(KernelReply):
    """What every reply about a kernel at a bound says."""

    field: str = ""
    mode: str = ""
    """rel, abs, pw_rel, psnr, l2norm or ratio."""
    bound: float | None = None
    """As asked, in the units of `mode`."""
    abs_bound: float | None = None
    """The absolute bound derived from the pristine data, in the field's unit; 0 means lossless,
    null that the kernel was not run. For a suite: of the case that decided. In pw_rel run_compress
    has that of log2 |x|, which the kernel is given, and verify_bounds that of the worst element."""
    achieved: float | None = None
    """What was asked as it came out, in the units of `mode`: largest |x − x'| / |x|, dB,
    ‖x − x'‖₂, ratio. null in modes rel and abs, if nothing differs, or if the bound broke."""
    reached: bool | None = None
    """Whether that is what was asked; a ratio may be out of reach, and is not ranked then."""
    tries: int | None = None
    """Absolute bounds that were tried."""
    side_bytes: int | None = None
    """Of signs, zeros and exceptions, which the server keeps (pw_rel); counted in `ratio`."""


class SearchReply(Reply):
    """Values tried around those that the kernel handled worst."""

    seed: int
    """Of the cases `random:SEED:N`, this search and the damage."""
    random_cases: int
    values: int
    worst_over_bound: float
    """Largest error among them, in bounds."""


class DamageReply(Reply):
    """What the decoder made of the kernel's own streams, cut or changed."""

    tried: int
    detected: int
    """It raised, or returned another shape or type."""
    undetected: int
    """It quietly returned other values."""
    harmless: int
    """It returned the same values."""
    examples: list[str] = []
    """Damage that went undetected."""


class VerifyReply(MeasuredReply):
    """Reply of `verify_bounds`."""

    holds: bool | None = None
    """Whether no case failed; outside the core a case may be refused. null while running."""
    checked_values: int | None = None
    violations: int | None = None
    """Elements whose error exceeds the bound, by exact arithmetic."""
    max_abs_error: float | None = None
    """Largest |x − x'| of the case that decided, in the field's unit; null if a finite value came
    back non-finite or the reverse, nothing was compared, or equality is asked, as is `abs_bound`.
    """
    decided_by: str = ""
    """Case that decided: a violation before other failures, the core first; if the bound holds, the
    one that came closest to it."""
    not_run: int = 0
    """Cases left when the kernel's processes had died."""
    failed_cases: int | None = None
    """Cases that failed, or were refused."""
    case_count: int | None = None
    """Cases in all, with those not run."""
    worst: PointReply | None = None
    """Element of the largest error in the case that decided."""
    counterexample: CounterexampleReply | None = None
    cases: list[CaseReply] = []
    """concise: the first cases that failed, the content of one. detailed: all."""
    search: SearchReply | None = None
    """Of a codec on which all cases held."""
    damage: DamageReply | None = None
    """Likewise, of the suite."""
    metrics: list[MetricReply] = []
    """detailed, of one field: error metrics of what the codec makes of it."""


class RunReply(MeasuredReply):
    """Reply of `run_compress`. Speeds count original bytes, 1 GB = 1e9 bytes."""

    execution: Execution | None = None
    """hardware, emulated (no speeds) or simulated (cycles)."""
    ratio: float | None = None
    """Original bytes / bytes of the stream, and side data."""
    bit_rate: float | None = None
    """Bits of both per value."""
    compress_gbps: float | None = None
    """Median over the repetitions, GB/s."""
    decompress_gbps: float | None = None
    """Median over the repetitions, GB/s."""
    run_gbps: float | None = None
    """Stage tasks: median over the repetitions, GB/s."""
    score: float | None = None
    """What ranks it, once it is timed: in sz-open the bits of its page; else GB/s, of both
    directions together (harmonic mean) in szp and szx."""
    max_abs_error: float | None = None
    """Largest |x − x'| on the pristine field, in its unit."""
    psnr: float | None = None
    """dB; null if lossless or nothing was decoded."""
    lossless: bool | None = None
    """Whether every value came back exactly."""
    raw_bytes: int | None = None
    stream_bytes: int | None = None
    """As the server received them."""
    golden_bytes: int | None = None
    """Size of the reference stream, for tasks with a fixed format."""
    within_size_rule: bool | None = None
    """stream_bytes ≤ 1.02 × golden_bytes + 64: needed to be ranked by speed."""
    threads: int = 1
    cache_state: str = ""
    null_round_trip_s: float | None = None
    """Median time of a request that does nothing, s."""
    samples: list[SampleReply] = []
    """Every timed repetition."""
    against: str | None = None
    """The other kernel, if two were timed side by side; such a run is not ranked."""
    compared: list[ContrastReply] = []
    """Per direction, how the two compare."""
    cycles: int | None = None
    """Simulated targets: cycles of the device."""
    projected_gbps: float | None = None
    """Simulated targets: speed that `cycles` projects to."""
    projection_basis: str = ""
    """Simulated targets: clock and assumptions of the projection."""
    metrics: list[MetricReply] = []
    """detailed only: of the machine, and error metrics of what the codec makes of the field."""


class ProfileReply(MeasuredReply):
    """Reply of `profile`."""

    metrics: list[MetricReply] = []
    """Time per phase, bandwidth against the copy peak at that size, and more."""
    bottleneck: str = ""
    """What limits the slowest function, in a sentence, with the numbers behind it."""
    loops: list[LoopReply] = []
    """Innermost loops of compiled functions as the compiler left them, hottest first. concise: at
    most 3, those not vectorised."""
    notes: list[str] = []
    """What disturbed the measurement; what could not be measured here, and the remedy."""
    picture: str | None = None
    """URI of the same as a PNG."""


class QueryReply(Reply):
    """Reply of `query_results`."""

    columns: list[str]
    rows: list[list[JsonValue]]
    """Times are ISO 8601 text; NaN and infinities are null."""
    truncated: bool
    """Whether there were more rows."""
    as_of: str = ""
    """Up to when the ledger had been drained, ISO 8601."""
    warning: str = ""
    """Why newer rows are missing, if they are."""


def _any_of(*models: type[Reply]) -> type[Reply]:
    """A model that permits the fields of all `models`, each optional and as documented there."""
    fields: dict[str, Any] = {}
    for model in models:
        for name, info in model.model_fields.items():
            optional = Field(default=None, description=info.description)
            fields.setdefault(name, (info.annotation | None, optional))  # type: ignore[operator]
    return create_model(
        "ResultReply",
        __base__=Reply,
        __doc__="Reply of `get_result`: what the tool that started the run would have returned.",
        **fields,
    )


ResultReply = _any_of(CompileReply, VerifyReply, RunReply, ProfileReply)
