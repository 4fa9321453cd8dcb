"""The rows of the ledger: one frozen dataclass per table, its fields named like the columns.

Every table has further columns that the ledger and the drain stamp: see `STAMPED`. Numbers that may
be NaN or infinite are floats here and DOUBLE in the database, where they keep their value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from kernels.records import Sample

STAMPED = ("id", "recorded_at", "host", "writer", "segment", "extra")
"""Columns of every table that no row class has: uuid of the row, moment it was written (UTC),
fingerprint of the host, name of the writing server, journal segment, and unknown keys."""


@dataclass(frozen=True)
class Row:
    """One row of `table`."""

    table: ClassVar[str] = ""


@dataclass(frozen=True)
class SessionRow(Row):
    """One agent's session: what was asked of it and under which conditions."""

    table: ClassVar[str] = "sessions"
    session: str
    agent: str
    client: str = ""
    """Name and version the client gave of itself."""
    transport: str = ""
    """stdio | http"""
    protocol: str = ""
    """MCP protocol version."""
    model: str = ""
    prompt_tier: str = ""
    feedback_level: str = ""
    budget_attempts: int | None = None
    budget_seconds: float | None = None


@dataclass(frozen=True)
class HostRow(Row):
    """The machine and software that measured; its fingerprint is part of the ranking key."""

    table: ClassVar[str] = "hosts"
    fingerprint: str
    """Of what decides speed: processor, accelerator, cores. Chosen by the server."""
    cpu: str = ""
    cores: int | None = None
    memory_bytes: int | None = None
    gpu: str = ""
    driver: str = ""
    os: str = ""
    python: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    sandbox: Mapping[str, str] = field(default_factory=dict)
    """Isolation layer → state, as probed at start."""
    commit_hash: str = ""
    harness: str | None = None
    """Digest of what decides scores; goes with every result that this server records."""


@dataclass(frozen=True)
class CallRow(Row):
    """One MCP call, whatever became of it."""

    table: ClassVar[str] = "calls"
    call_id: str
    tool: str
    started_at: datetime
    """Aware, or naive UTC."""
    duration_ms: float
    outcome: str
    """ok | tool_error | protocol_error | cancelled"""
    arguments: Mapping[str, object] = field(default_factory=dict)
    """As sent; the ledger replaces source text by its hash and size."""
    agent: str = ""
    session: str = ""
    client: str = ""
    protocol: str = ""
    attempt: int | None = None
    """1-based number within the session of a call that touched a kernel; None for other calls."""
    status: str | None = None
    """Status in the reply."""
    error: str | None = None
    """Text of the error, for the outcomes that have one."""
    request_bytes: int | None = None
    reply_bytes: int | None = None
    kernel_id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True)
class KernelRow(Row):
    """A submission that was received; its files are in the blob store."""

    table: ClassVar[str] = "kernels"
    kernel_id: str
    call_id: str
    task: str
    target: str
    content_hash: str
    blob: str
    parent: str | None
    agent: str
    session: str
    file_names: tuple[str, ...]
    source_bytes: int
    attempt: int | None = None
    """Of the call; here too because the call's own row is written at its end, if it has one."""
    likeness: str | None = None


@dataclass(frozen=True)
class BuildRow(Row):
    """Outcome of one compilation."""

    table: ClassVar[str] = "builds"
    call_id: str
    kernel_id: str
    status: str
    stage: str | None
    seconds: float
    failure_kind: str | None
    failure_message: str | None
    output: str | None
    guidance: tuple[Mapping[str, str], ...]
    harness: str | None = None


@dataclass(frozen=True)
class DiagnosticRow(Row):
    """One message of a compiler, a run or a check."""

    table: ClassVar[str] = "diagnostics"
    kernel_id: str
    call_id: str | None
    run_id: str | None
    position: int
    severity: str
    message: str
    file: str | None
    line_number: int | None
    column_number: int | None
    source_line: str | None


@dataclass(frozen=True)
class RunStartedRow(Row):
    """A run began. Without the matching finish it was aborted, or is still going."""

    table: ClassVar[str] = "runs_started"
    run_id: str
    call_id: str
    kernel_id: str
    tool: str
    field: str
    mode: str
    bound: float
    session: str
    agent: str
    attempt: int | None = None
    """Of the call, as in `KernelRow`."""
    repeats: int | None = None
    threads: int | None = None
    against: str | None = None
    """kernel_id it is timed side by side with."""
    reproduces: str | None = None
    """run_id of the run that it repeats."""


@dataclass(frozen=True)
class RunFinishedRow(Row):
    """What came of a run of any tool; the measurements are those of `run_compress`."""

    table: ClassVar[str] = "runs_finished"
    run_id: str
    kernel_id: str
    tool: str
    status: str
    stage: str | None
    failure_kind: str | None = None
    failure_message: str | None = None
    output: str | None = None
    guidance: tuple[Mapping[str, str], ...] = ()
    execution: str | None = None
    threads: int | None = None
    cache_state: str | None = None
    abs_bound: float | None = None
    raw_bytes: int | None = None
    stream_bytes: int | None = None
    golden_bytes: int | None = None
    within_size_rule: bool | None = None
    ratio: float | None = None
    bit_rate: float | None = None
    psnr: float | None = None
    checked_values: int | None = None
    violations: int | None = None
    max_abs_error: float | None = None
    worst_over_bound: float | None = None
    zero_signs_changed: int | None = None
    repetitions: int | None = None
    disturbed_samples: int | None = None
    compress_gbps: float | None = None
    compress_gbps_low: float | None = None
    compress_gbps_high: float | None = None
    decompress_gbps: float | None = None
    decompress_gbps_low: float | None = None
    decompress_gbps_high: float | None = None
    run_gbps: float | None = None
    run_gbps_low: float | None = None
    run_gbps_high: float | None = None
    both_ways_gbps: float | None = None
    copy_peak_gbps: float | None = None
    transfer_bits: float | None = None
    null_round_trip_s: float | None = None
    side_bytes: int | None = None
    achieved: float | None = None
    reached: bool | None = None
    tries: int | None = None
    transform_s: float | None = None
    detransform_s: float | None = None
    harness: str | None = None
    samples: tuple[Sample, ...] = ()


@dataclass(frozen=True)
class VerdictCase:
    """One case of a verdict, without its failure's text."""

    case_name: str
    core: bool
    status: str
    checked: int
    violations: int
    max_abs_error: float
    abs_bound: float
    ratio: float | None
    side_bytes: int | None = None
    achieved: float | None = None
    reached: bool | None = None
    tries: int | None = None


@dataclass(frozen=True)
class VerdictRow(Row):
    """Whether a kernel keeps its bound, or equals the golden answer."""

    table: ClassVar[str] = "verdicts"
    run_id: str
    kernel_id: str
    status: str
    stage: str | None
    holds: bool
    checked_values: int
    violations: int
    max_abs_error: float
    abs_bound: float
    worst_over_bound: float | None
    worst_flat: int | None
    worst_index: tuple[int, ...] | None
    worst_original: str | None
    worst_decoded: str | None
    worst_error: str | None
    cases: tuple[VerdictCase, ...]
    harness: str | None = None


@dataclass(frozen=True)
class ViolationRow(Row):
    """One case on which a kernel broke its bound or failed otherwise."""

    table: ClassVar[str] = "violations"
    run_id: str
    kernel_id: str
    case_name: str
    core: bool
    status: str
    checked_values: int
    violations: int
    max_abs_error: float
    abs_bound: float
    failure_kind: str | None = None
    failure_message: str | None = None
    flat: int | None = None
    element_index: tuple[int, ...] | None = None
    original: str | None = None
    decoded: str | None = None
    error: str | None = None
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    window_start: int | None = None
    window_original: tuple[str, ...] | None = None
    window_decoded: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ProfileRow(Row):
    """Where a kernel spends its time."""

    table: ClassVar[str] = "profiles"
    run_id: str
    kernel_id: str
    status: str
    stage: str | None
    field: str
    mode: str
    bound: float
    abs_bound: float
    bottleneck: str
    harness: str | None = None


@dataclass(frozen=True)
class MetricRow(Row):
    """A named number of a build, a run or a profile."""

    table: ClassVar[str] = "metrics"
    kernel_id: str
    call_id: str | None
    run_id: str | None
    origin: str
    """build | run | profile"""
    name: str
    value: float
    unit: str
    provenance: str
    """measured | derived | reported"""


@dataclass(frozen=True)
class ComparisonRow(Row):
    """How one kernel's speed compares with another's in one direction."""

    table: ClassVar[str] = "comparisons"
    run_id: str
    kernel_id: str
    against: str
    direction: str
    verdict: str
    """faster | slower | inconclusive"""
    speedup: float
    speedup_low: float
    speedup_high: float
    pairs: int
    seconds: tuple[float, ...]
    against_seconds: tuple[float, ...]


@dataclass(frozen=True)
class MarkRow(Row):
    """What an operator decided may be ranked, or may not."""

    table: ClassVar[str] = "marks"
    about: str
    """kernel | run | agent | session | likeness"""
    subject: str
    verdict: str
    """hidden | cleared"""
    reason: str
    marked_by: str
    kernel_id: str | None = None
    agent: str | None = None
    session: str | None = None


@dataclass(frozen=True)
class BenchRow(Row):
    """A bench was started or resumed."""

    table: ClassVar[str] = "benches"
    bench_id: str
    name: str
    spec: Mapping[str, object]
    spec_hash: str
    cells: int
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BenchCellRow(Row):
    """A cell of a bench began or ended."""

    table: ClassVar[str] = "bench_cells"
    bench_id: str
    cell_id: str
    session: str
    agent: str
    agent_kind: str
    """model | command | search | replay"""
    task: str
    target: str
    event: str
    """started | finished | failed | skipped | stopped"""
    prompt_tier: str = ""
    feedback_level: str = ""
    repeat: int = 1
    reason: str = ""
    calls: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class UsageRow(Row):
    """What an agent reports to have used in a turn."""

    table: ClassVar[str] = "usage"
    session: str
    agent: str
    turn: int
    input_tokens: int
    output_tokens: int
    source: str
    cached_tokens: int | None = None
    dollars: float | None = None


ROWS: tuple[type[Row], ...] = (
    SessionRow,
    HostRow,
    CallRow,
    KernelRow,
    BuildRow,
    DiagnosticRow,
    RunStartedRow,
    RunFinishedRow,
    VerdictRow,
    ViolationRow,
    ProfileRow,
    MetricRow,
    ComparisonRow,
    MarkRow,
    BenchRow,
    BenchCellRow,
    UsageRow,
)
