"""A pipeline with canned records, for tests of the server's edge that compile and run nothing.

What a kernel's source says decides what becomes of it: `BROKEN` fails to compile, `WRONG` breaks
its bound, `SLOW` works until it is cancelled, `CRASH` makes the pipeline itself fail, `RAISES`
compiles and then fails when it is called.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from pathlib import Path

from kernels.fields import Catalogue
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
    Guidance,
    Kernel,
    Metric,
    Point,
    Profile,
    RunResult,
    Sample,
    Status,
    Verdict,
)
from results_db.statistics import Compared, contrast
from sz_mcp.app import App
from sz_mcp.engine import Engine, Parts
from sz_mcp.pipeline import Request, Watch
from sz_mcp.settings import Budgets, FeedbackLevel, Settings, Traffic
from toolchains.base import TargetInfo
from toolchains.children.isolation import Layer

GOOD = {"kernel.py": "def compress(data, abs_bound): ...\ndef decompress(s, shape, dtype): ...\n"}
BROKEN = {"kernel.py": "BROKEN def compress(\n"}
WRONG = {"kernel.py": "WRONG = 1\n"}
SLOW = {"kernel.py": "SLOW = 1\n"}
CRASH = {"kernel.py": "CRASH = 1\n"}
RAISES = {"kernel.py": "RAISES = 1\n"}

PNG = b"\x89PNG\r\n\x1a\nfake"
_POINT = Point(flat=7, index=(0, 7), original="1.5", decoded="nan", error="inf")


@dataclass
class FakePipeline:
    """Implements `sz_mcp.engine.Evaluations`."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set when a SLOW kernel saw its cancellation."""
    started: threading.Event = field(default_factory=threading.Event)
    """Set when a SLOW kernel began."""
    release: threading.Event = field(default_factory=threading.Event)
    """Set by a test to let SLOW kernels finish."""
    closed: bool = False
    requests: list[Request] = field(default_factory=list)

    def targets(self) -> tuple[TargetInfo, ...]:
        return (
            TargetInfo("numba", Execution.HARDWARE, available=True),
            TargetInfo("cuda:sm_90", None, available=False, reason="no GPU; install one"),
        )

    def describe(self, target: str) -> TargetInfo:
        return TargetInfo(
            target=target,
            execution=Execution.HARDWARE,
            available=True,
            limits=(Metric("memory", 4.0, "GB", "declared"),),
            peaks=(Metric("copy", 9.5, "GB/s", "measured"), Metric("odd", math.nan, "", "x")),
            contract="define compress and decompress",
            example=GOOD,
            advice=("use njit",),
        )

    def layers(self) -> tuple[Layer, ...]:
        return (Layer("bubblewrap", False, "no user namespaces"),)

    def build(self, kernel: Kernel, watch: Watch) -> Build:
        source = kernel.submission.files["kernel.py"]
        self._wait(source, watch)
        if "CRASH" in source:
            raise RuntimeError("secret detail")
        if "RAISES" in source:
            failure = Failure(Status.ERROR, Status.TERMINATES, FailureKind.EXCEPTION, "KeyError: 1")
            return Build(Status.COMPILED, Status.LOADS, 0.25, first_call=failure)
        if "BROKEN" not in source:
            return Build(Status.COMPILED, Status.LOADS, 0.25)
        diagnostic = Diagnostic(
            "error", "invalid syntax", "kernel.py", 1, 8, "BROKEN def compress("
        )
        failure = Failure(
            Status.ERROR,
            Status.PARSED,
            FailureKind.SYNTAX,
            "kernel.py does not parse",
            (diagnostic,),
        )
        return Build(Status.ERROR, Status.PARSED, 0.01, failure, (diagnostic,))

    def verify(self, kernel: Kernel, request: Request, watch: Watch) -> Verdict:
        self.requests.append(request)
        source = kernel.submission.files["kernel.py"]
        stopped = self._wait(source, watch)
        if stopped is not None or "WRONG" in source:
            failure = stopped or Failure(
                Status.ERROR, Status.BOUND_OK, FailureKind.BOUND, "the bound does not hold"
            )
            return _broken(failure)
        case = CaseResult("noise", True, Status.BOUND_OK, 1000, 0, 9e-4, 1e-3, 3.5)
        return Verdict(
            Status.BOUND_OK, Status.TIMED, True, 1000, 0, 9e-4, 1e-3, None, None, (case,)
        )

    def run(self, kernel: Kernel, request: Request, watch: Watch) -> RunResult:
        self.requests.append(request)
        failure = self._wait(kernel.submission.files["kernel.py"], watch)
        samples = tuple(
            Sample(direction, i, 0.001 * (i + 1), 0.001, 2, 2_000_000, 0.0, i == 2)
            for direction in ("compress", "decompress")
            for i in range(request.repeats)
        )
        return RunResult(
            status=Status.ERROR if failure else Status.TIMED,
            stage=Status.TIMED if failure else None,
            execution=Execution.HARDWARE,
            field=request.field,
            bound=Bound(request.mode, request.bound, 0.02),
            raw_bytes=1_000_000,
            stream_bytes=0 if failure else 100_000,
            comparison=None if failure else _comparison(),
            samples=() if failure else samples,
            failure=failure,
            golden_bytes=100_000,
            null_round_trip_s=1e-4,
            threads=request.threads,
        )

    def compare(self, kernel: Kernel, against: Kernel, request: Request, watch: Watch) -> Compared:
        result = self.run(kernel, request, watch)
        if result.failure is not None:
            return Compared(result, against.kernel_id)
        seconds = [0.001 + 1e-6 * i for i in range(request.repeats)]
        other = [2 * one for one in seconds]
        return Compared(result, against.kernel_id, (contrast("compress", seconds, other),))

    def profile(self, kernel: Kernel, request: Request, watch: Watch) -> Profile:
        self.requests.append(request)
        self._wait(kernel.submission.files["kernel.py"], watch)
        metrics = (
            Metric("compress.seconds", 0.002, "s", "measured"),
            Metric("phase.compress.pack", 0.001, "s", "reported"),
        )
        bound = Bound(request.mode, request.bound, 0.02)
        return Profile(Status.TIMED, None, request.field, bound, metrics, "half of it in pack")

    def close(self) -> None:
        self.closed = True

    def _wait(self, source: str, watch: Watch) -> Failure | None:
        """What a long evaluation does: report, and end when cancelled or released."""
        watch.progress(0.5, "half way")
        if "SLOW" not in source:
            return None
        ended = threading.Event()
        watch.cancellation.attach(ended.set)
        self.started.set()
        while not (ended.is_set() or self.release.wait(0.005)):
            pass
        if not ended.is_set():
            return None
        self.cancelled.set()
        return Failure(Status.ERROR, Status.TERMINATES, FailureKind.CANCELLED, "cancelled")


def _broken(failure: Failure) -> Verdict:
    example = Counterexample(
        "nan inside", (1, 8), "float32", 1e-3, ("1.0", "nan"), ("1.0", "1.0"), 6, _POINT
    )
    case = CaseResult("nan inside", True, Status.ERROR, 8, 1, math.inf, 1e-3, failure=failure)
    fine = CaseResult("noise", True, Status.BOUND_OK, 1000, 0, 9e-4, 1e-3, 3.5)
    return Verdict(
        failure.status,
        failure.stage,
        False,
        1008,
        1,
        math.inf,
        1e-3,
        _POINT,
        example,
        (case, fine),
        failure,
    )


def _comparison() -> Comparison:
    return Comparison(
        checked=250_000,
        violations=0,
        max_abs_error=0.019,
        abs_bound=0.02,
        worst=_POINT,
        first=None,
        zero_signs_changed=0,
        sum_squared_error=12.5,
        value_range=20.0,
    )


def guide(failure: Failure | None, _target: str) -> tuple[Guidance, ...]:
    return () if failure is None else (Guidance("rule", "what it means", "what to do"),)


def make_app(
    home: Path,
    pipeline: FakePipeline,
    *,
    answer_s: float = 45.0,
    feedback: FeedbackLevel = "suggest",
    roots: tuple[Path, ...] = (),
    agent: str = "tester",
    traffic: Traffic | None = None,
) -> App:
    """An App around the fake pipeline; with `traffic` one that serves over HTTP."""
    settings = Settings(
        home=home,
        roots=roots,
        agent=agent,
        feedback=feedback,
        budgets=Budgets(answer_s=answer_s, progress_s=0.01),
        kept_results=2,
        traffic=traffic or Traffic(),
    )
    parts = Parts(pipeline=pipeline, catalogue=Catalogue(home), guide=guide, draw=lambda _: PNG)
    transport = "stdio" if traffic is None else "http"
    return App(settings, transport, lambda app: Engine(parts, app.ledger, home))
