"""The records of the data line, from what an agent sent to what it is told.

Submission → Build → RunResult → Verdict (+ Profile) → ledger row → reply. They are frozen, carry
no behaviour beyond naming, and are the types that cross from one top-level package to another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.diagnostics import Diagnostic as Diagnostic
from kernels.error_pattern import ErrorPattern
from kernels.likeness import likeness
from kernels.statuses import Execution as Execution
from kernels.statuses import FailureKind as FailureKind
from kernels.statuses import Status as Status
from kernels.verdicts import Damage, Search

Array = npt.NDArray[Any]
"""Of one of the data types that the contract names; which one is checked where it matters."""

Arg = Array | float | int | tuple[int, ...] | np.dtype[np.generic]
"""What a kernel's function may be given: array, abs_bound, count, shape, dtype."""


@dataclass(frozen=True)
class Submission:
    """The files an agent sends for one task and one target."""

    task: str
    target: str
    files: Mapping[str, str]
    """File name → text; `kernel.py` is the entry."""
    parent: str | None = None
    """kernel_id of the submission it was derived from, as the agent said."""

    @property
    def exact_hash(self) -> str:
        """SHA-256 (hex) over task, target, names and texts as they are: the same program."""
        digest = hashlib.sha256(f"{self.task}\0{self.target}\0".encode())
        for name in sorted(self.files):
            text = self.files[name]
            digest.update(f"{name}\0{len(text)}\0{text}".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    @property
    def content_hash(self) -> str:
        """SHA-256 (hex) over names and text; line ends and trailing blanks don't count."""
        digest = hashlib.sha256()
        for name in sorted(self.files):
            text = "\n".join(line.rstrip() for line in self.files[name].splitlines()).rstrip()
            digest.update(f"{name}\0{text}\0".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    @cached_property
    def likeness(self) -> str:
        """SHA-256 (hex) that near-duplicates share: see `kernels.likeness`. Takes milliseconds."""
        return likeness(self.files)


@dataclass(frozen=True)
class Kernel:
    """A submission that was received."""

    kernel_id: str
    """Random, per submission."""
    submission: Submission
    agent: str = ""
    session: str = ""


@dataclass(frozen=True)
class Guidance:
    """What a failure or a measurement means and what to do next; `rule` names the table entry."""

    rule: str
    explanation: str
    suggestion: str


@dataclass(frozen=True)
class Failure:
    """Why a kernel stopped where it did."""

    status: Status
    """rejected | refused | error | suspect | inconclusive"""
    stage: Status
    """First rung of the ladder that was not reached."""
    kind: FailureKind
    message: str
    diagnostics: tuple[Diagnostic, ...] = ()
    output: str = ""
    """Tail of what the kernel printed (stdout and stderr)."""
    details: str = ""
    """All that a compiler said, where `message` is the gist of it."""
    pattern: ErrorPattern | None = None
    """Of a broken bound, or a stage's wrong output; of a stage without one it names the task."""


@dataclass(frozen=True)
class Build:
    """Outcome of compiling a submission in its own process."""

    status: Status
    stage: Status
    """First rung not reached."""
    seconds: float
    """Wall time of the whole build."""
    failure: Failure | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    metrics: tuple[Metric, ...] = ()
    first_call: Failure | None = None
    """It compiled, but failed on the small field that a build tries it on."""
    guidance: tuple[Guidance, ...] = ()
    """On what compiles, but should be better."""
    artifacts: Mapping[str, bytes] = field(default_factory=dict)
    """What compilers wrote: name, such as x.ptx → text."""


@dataclass(frozen=True)
class FieldInfo:
    """What is known of a field without reading its values."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    """NumPy name: float32 or float64."""
    source: str
    licence: str
    sha256: str
    """Of the C-order, little-endian bytes."""
    unit: str = ""
    character: str = ""
    """What makes it worth testing on, in a few words."""
    fill_value: float | None = None
    hidden: bool = False
    """Used for scoring, never named to an agent."""


@dataclass(frozen=True)
class Field:
    """A named array of scientific data; `data` is C-contiguous and read-only."""

    info: FieldInfo
    data: Array


@dataclass(frozen=True)
class Bound:
    """A bound as asked, and the absolute bound the server derived from pristine data."""

    mode: str
    value: float
    absolute: float
    """What the kernel is given; in pw_rel with the logarithms of the data."""


@dataclass(frozen=True)
class ModeOutcome:
    """What came of a bound mode other than abs and rel on one array."""

    side_bytes: int = 0
    """Compressed side data that the server keeps beside the stream; counted in the ratio."""
    tries: int = 1
    """Absolute bounds that were tried."""
    achieved: float | None = None
    """In the units of the mode: largest |x − x'| / |x| (pw_rel), dB (psnr), ‖x − x'‖₂ (l2norm),
    original bytes / counted bytes (ratio). None: infinite, or not known since the bound broke."""
    reached: bool | None = None
    """Whether what was asked was achieved; None if the bound broke before that was known."""


@dataclass(frozen=True)
class Point:
    """One element of a comparison. Numbers are `repr` text, so that NaN, Inf and −0 survive."""

    flat: int
    index: tuple[int, ...]
    original: str
    decoded: str
    error: str


@dataclass(frozen=True)
class Comparison:
    """Every element of one array checked against its bound (contract §2)."""

    checked: int
    violations: int
    max_abs_error: float
    """Largest finite |x − x'|; `inf` if a finite value came back non-finite or the reverse."""
    abs_bound: float
    worst: Point | None
    """Element of the largest error; None for an empty array."""
    first: Point | None
    """First violation in C order; None if the bound holds."""
    zero_signs_changed: int
    """Zeros that came back with the other sign: allowed, reported."""
    sum_squared_error: float
    value_range: float
    """max − min over finite original values."""

    @property
    def holds(self) -> bool:
        """Whether no element violates the bound."""
        return self.violations == 0


@dataclass(frozen=True)
class ValueRun:
    """Equal neighbours that came back as equal values. Numbers are `repr` text."""

    count: int
    original: str
    decoded: str
    error: str


@dataclass(frozen=True)
class Counterexample:
    """An array on which the bound breaks, small enough to print."""

    case: str
    shape: tuple[int, ...]
    dtype: str
    abs_bound: float
    values: tuple[str, ...]
    """The original's values (`repr`) around the worst element, whole if short."""
    decoded: tuple[str, ...]
    start: int
    """Flat index of values[0] in the case's array."""
    point: Point
    inputs: tuple[str, ...] = ()
    """Of a stage: its first input at the same places, if the output has an element for each."""
    name: str = ""
    """Of a stage: which output, or what was made of it."""
    given: str = ""
    """Of a stage: names, types and shapes of all inputs."""
    input_name: str = ""
    """Of `inputs`."""
    runs: tuple[ValueRun, ...] = ()
    """Of an array that was shrunk from the case's: all of it, in C order."""
    shrunk_from: tuple[int, ...] = ()
    """Shape of the case's array, if this is a smaller one that was made of it."""


@dataclass(frozen=True)
class CaseContent:
    """What a case's array holds, so that a failure on it can be reproduced."""

    values: tuple[str, ...]
    """All of them (`repr`, C order) if the array is short, else none."""
    minimum: float | None
    """Of the finite values; None without any."""
    maximum: float | None
    non_finite: int
    """NaN and infinities."""


@dataclass(frozen=True)
class CaseResult:
    """One case of the suite, or the one field asked for."""

    case: str
    core: bool
    """Whether `holds` depends on its being supported; a refusal outside the core is allowed."""
    status: Status
    checked: int
    violations: int
    max_abs_error: float
    abs_bound: float
    ratio: float | None = None
    """Original bytes / bytes that count: side data too."""
    failure: Failure | None = None
    shape: tuple[int, ...] = ()
    """Of the array compressed, or of a stage's first input."""
    dtype: str = ""
    function: str = ""
    """compress, decompress or run, if it failed there; empty for a violation."""
    content: CaseContent | None = None
    """Of a case that failed otherwise than by a violation."""
    given: str = ""
    """Of a stage: names, types and shapes of all inputs."""
    outcome: ModeOutcome | None = None


@dataclass(frozen=True)
class Verdict:
    """Whether a kernel keeps its bound (codec) or equals the golden answer (stage)."""

    status: Status
    stage: Status | None
    """First rung not reached; None when nothing is left to reach."""
    holds: bool
    """No case failed, but that cases outside the core may be refused."""
    checked_values: int
    violations: int
    max_abs_error: float
    """Of the case that decided, as are `abs_bound`, `worst` and `counterexample`."""
    abs_bound: float
    worst: Point | None
    counterexample: Counterexample | None
    cases: tuple[CaseResult, ...]
    failure: Failure | None = None
    decided_by: str = ""
    """Case that decided: a violation before any other failure, the core first, arrays of some size
    before tiny ones; if all went well, the one whose error came closest to its bound."""
    not_run: int = 0
    """Cases left when the kernel's processes had died."""
    exact: bool = False
    """Equality was asked, and no bound."""
    outcome: ModeOutcome | None = None
    """Of the case that decided."""
    search: Search | None = None
    """Of a codec on which all cases held."""
    damage: Damage | None = None
    """Likewise, on the suite."""
    metrics: tuple[Metric, ...] = ()
    """Of the one field, if they were asked for."""


@dataclass(frozen=True)
class Sample:
    """One timed request, by the server's clock."""

    direction: str
    """compress | decompress | run"""
    repetition: int
    seconds: float
    """From `go` until the child was seen idle, over the whole batch."""
    child_seconds: float
    """The same by the child's own clock, for the kernel's calls only; never used for ranking."""
    batch: int
    """Distinct inputs in the request."""
    nbytes: int
    """Original bytes in the request."""
    wait_seconds: float
    """Run-queue wait of child and parent during the request."""
    disturbed: bool


@dataclass(frozen=True)
class RunResult:
    """Size and speed on one field at one bound; error and ratio are of the pristine field."""

    status: Status
    stage: Status | None
    execution: Execution
    field: str
    bound: Bound
    raw_bytes: int
    stream_bytes: int
    comparison: Comparison | None
    samples: tuple[Sample, ...]
    failure: Failure | None = None
    golden_bytes: int | None = None
    """Size of the golden stream, where the task has one: decides the size rule (contract §3)."""
    null_round_trip_s: float | None = None
    """Median time of a request that does nothing, measured on the same children."""
    threads: int = 1
    cache_state: str = ""
    metrics: tuple[Metric, ...] = ()
    outcome: ModeOutcome | None = None

    @property
    def counted_bytes(self) -> int:
        """Of stream and side data, on the pristine field; 0 without a stream."""
        side = self.outcome.side_bytes if self.outcome and self.stream_bytes else 0
        return self.stream_bytes + side


@dataclass(frozen=True)
class Metric:
    """A named number with its unit and where it comes from."""

    name: str
    value: float
    unit: str
    provenance: str
    """measured | derived | reported (by the child or its compiler, untrusted) | documented (by a
    vendor) | modelled (of what is emulated)"""


@dataclass(frozen=True)
class Bandwidth:
    """What memory can do for arrays of `nbytes`, in GB (1e9 bytes) of array per second."""

    nbytes: int
    copy_gbps: float
    read_gbps: float
    write_gbps: float


@dataclass(frozen=True)
class KeptCall:
    """A call of one of the submission's own compiled functions that was not inlined."""

    function: str
    file: str
    line: int
    """Where that function is defined."""
    arguments: int
    arrays: int
    """How many of the arguments are arrays."""
    share: float | None = None
    """Of the profiled time, spent in that function; None if not known."""

    @property
    def text(self) -> str:
        """Whom it calls, and with how much."""
        arrays = f", {self.arrays} of them arrays" if self.arrays else ""
        share = "" if self.share is None else f", {self.share:.0%} of the time"
        place = f"{self.file}:{self.line}"
        return f"`{self.function}` ({place}; {self.arguments} arguments{arrays}{share})"


@dataclass(frozen=True)
class Loop:
    """A loop of a submission as the compiler left it: reported by the child, never evidence."""

    function: str
    """Of the submission, that it stands in; empty at module level."""
    file: str
    line: int
    source: str
    """Text of that line."""
    width: int
    """Values that one instruction takes; 1 if the loop was not vectorised."""
    reason: str = ""
    """Why it was not."""
    share: float | None = None
    """Of the profiled time, spent in it, by looks at where the process is; None if not known."""
    among: str = ""
    """Where its own share is not known: how many loops share the time of a function."""
    carried: tuple[str, ...] = ()
    """Variables that a step reads as the step before left them."""
    calls: tuple[KeptCall, ...] = ()
    """That are made in it."""
    counts_references: bool = False
    """Whether references to arrays are counted in it."""


@dataclass(frozen=True)
class HeatMap:
    """A share, 0 to 1, per processing element of a rectangle."""

    name: str
    rows: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Profile:
    """Where a kernel spends its time."""

    status: Status
    stage: Status | None
    field: str
    bound: Bound
    metrics: tuple[Metric, ...]
    bottleneck: str
    guidance: tuple[Guidance, ...] = ()
    failure: Failure | None = None
    picture: bytes | None = None
    """PNG."""
    loops: tuple[Loop, ...] = ()
    """Hottest first, those that were not vectorised before the others."""
    notes: tuple[str, ...] = ()
    """What could not be measured here, and why; what disturbed the measurement."""
    peaks: tuple[Bandwidth, ...] = ()
    """Bandwidths of this machine by size, to draw the kernel against."""
    maps: tuple[HeatMap, ...] = ()
    """To draw, of targets that are rectangles of processing elements."""
