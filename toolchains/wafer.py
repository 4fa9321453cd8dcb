"""Wafer targets: CSL compiled by our compiler, run by the machine model, counted in cycles."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

import kernels
import simulators
import toolchains
from kernels import baselines
from kernels.records import (
    Build,
    Diagnostic,
    Execution,
    Failure,
    FailureKind,
    Guidance,
    HeatMap,
    Metric,
    Status,
    Submission,
)
from kernels.tasks import TASKS
from simulators.simt.tool import Tool
from toolchains.backends import Parts
from toolchains.base import Call, Cancellation, Explanation, Session, TargetInfo
from toolchains.children.pool import Pool
from toolchains.children.runtime import runtime
from toolchains.children.session import Purpose, open_session
from toolchains.children.tools import Tools
from toolchains.csl.building import ANSWER, PROGRAM, REQUEST, request
from toolchains.device_use import DeviceUse
from toolchains.first_call import earlier, failed_build, stops_build, warm_up
from toolchains.first_call import warnings as call_warnings
from toolchains.limits import limits
from toolchains.tripwires import tripped
from toolchains.wafer_explain import explained
from toolchains.wafer_machines import Made, ProgramFolder, WaferMachine
from toolchains.wafer_session import Simulating, WaferSession
from toolchains.wafer_targets import ADVICE, CONTRACT, HARDWARE

_ARCHS = {"wafer:wse2": "wse2", "wafer:wse3": "wse3"}
_EXAMPLE_TASK = "lorenzo-1d"
_COMPILE_S = 60.0
_WARNINGS = 3
"""Of the compiler, that are told again when a program halts."""
_MEMORY_BYTES = 4 << 30


@dataclass
class _Log:
    """What the children of one session compiled."""

    diagnostics: list[Mapping[str, object]] = field(default_factory=list)
    failed: bool = False
    stopped: str = ""
    """Where the first that failed was stopped; see `toolchains.csl.compiler.Stopped`."""


class WaferToolchain:
    """Implements `toolchains.base.Toolchain` for the wafer-scale engine."""

    def __init__(self, pool: Pool, *, tripwires: bool = True) -> None:
        """pool: children that run the host part of submissions."""
        self._pool, self._tripwires = pool, tripwires
        self._tools = Tools(pool.isolation)
        self._folder = ProgramFolder()
        self._made: dict[str, Made] = {}
        self._lock = threading.Lock()

    def targets(self) -> tuple[TargetInfo, ...]:
        """See `Toolchain.targets`."""
        return tuple(
            TargetInfo(target=name, execution=Execution.SIMULATED, available=True)
            for name in _ARCHS
        )

    def describe(self, target: str) -> TargetInfo:
        """See `Toolchain.describe`."""
        return TargetInfo(
            target=target,
            execution=Execution.SIMULATED,
            available=True,
            limits=limits(),
            hardware=HARDWARE[_ARCHS[target]],
            notes=(
                "simulated: cycles of our model of the machine, whose costs are calibrated to "
                "published measurements (docs/wafer.md)",
            ),
            contract=CONTRACT,
            example=dict(baselines.read(_EXAMPLE_TASK, "naive", "wafer").files),
            example_task=_EXAMPLE_TASK,
            advice=ADVICE,
        )

    def build(self, submission: Submission, cancellation: Cancellation) -> Build:
        """See `Toolchain.build`: import, then a small call that compiles and runs its programs."""
        start = time.perf_counter()
        refused = self._refused(submission)
        if refused is not None:
            return failed_build(refused, start)
        log = _Log()
        called = self._first_call(submission, cancellation, log)
        found = tuple(map(_diagnostic, log.diagnostics))
        guidance = _guidance(log.diagnostics)
        if log.failed:
            return replace(failed_build(_rejected(found, log.stopped), start), guidance=guidance)
        if called is not None and stops_build(called):
            return failed_build(earlier(called), start)
        return Build(
            status=Status.COMPILED,
            stage=Status.LOADS,
            seconds=time.perf_counter() - start,
            diagnostics=(*found, *(call_warnings(called) if called else ())),
            first_call=called,
            guidance=guidance,
        )

    def load(
        self, submission: Submission, threads: int, cancellation: Cancellation
    ) -> Session | Failure:
        """See `Toolchain.load`."""
        return self._refused(submission) or self._open(
            submission, cancellation, _Log(), Purpose.SCORE, threads
        )

    def load_checked(self, submission: Submission, cancellation: Cancellation) -> Session | Failure:
        """See `Toolchain.load_checked`: the machine checks every access anyway."""
        return self._refused(submission) or self._open(
            submission, cancellation, _Log(), Purpose.BUILD, 1
        )

    def explain(
        self,
        submission: Submission,
        calls: Sequence[Call],
        threads: int,
        cancellation: Cancellation,
    ) -> Explanation:
        """See `Toolchain.explain`: the cycles of each call, and what the PEs did in them."""
        opened = self._open(submission, cancellation, _Log(), Purpose.BUILD, threads, profiled=True)
        if isinstance(opened, Failure):
            return Explanation(notes=(f"nothing was simulated: {opened.message}",))
        metrics: list[Metric] = []
        notes: list[str] = []
        bottleneck = ""
        maps: list[HeatMap] = []
        slowest = -1
        try:
            for call in calls:
                reply = opened.call(
                    call.function,
                    (call.arguments,),
                    capacity=(2 * call.output_bytes + (1 << 20),),
                    deadline_s=60.0,
                )
                use = opened.device_use(call.function)
                if isinstance(reply, Failure):
                    notes.append(f"{call.function} was not counted: {reply.message}")
                elif use is not None:
                    metrics += _use_metrics(call.function, use)
                    seen = explained(call.function, opened.profiles(call.function))
                    metrics += seen.metrics
                    notes += seen.notes
                    maps += seen.maps
                    if seen.bottleneck and use.cycles > slowest:
                        slowest, bottleneck = use.cycles, seen.bottleneck
        finally:
            opened.close()
        return Explanation(
            metrics=tuple(metrics), notes=tuple(notes), bottleneck=bottleneck, maps=tuple(maps)
        )

    def close(self) -> None:
        """See `Toolchain.close`."""
        self._folder.close()

    def _refused(self, submission: Submission) -> Failure | None:
        return tripped(submission) if self._tripwires else None

    def _first_call(
        self, submission: Submission, cancellation: Cancellation, log: _Log
    ) -> Failure | None:
        opened = self._open(submission, cancellation, log, Purpose.BUILD, 1)
        if isinstance(opened, Failure):
            return opened
        cancellation.attach(opened.kill)
        try:
            failure, _ = warm_up(opened, TASKS[submission.task])
        finally:
            cancellation.detach(opened.kill)
            opened.close()
        return failure

    def _open(
        self,
        submission: Submission,
        cancellation: Cancellation,
        log: _Log,
        purpose: Purpose,
        threads: int,
        *,
        profiled: bool = False,
    ) -> WaferSession | Failure:
        arch = _ARCHS[submission.target]

        def compile_(main: str, options: list[str]) -> Made:
            made = self._compiled(submission, main, options, cancellation)
            log.diagnostics += made.diagnostics
            if made.folder is None and not log.failed:
                log.failed, log.stopped = True, made.stopped
            return made

        children = Simulating(self._pool, lambda: WaferMachine(compile_, arch, profiled=profiled))
        functions = TASKS[submission.task].functions
        opened = open_session(
            children, submission, functions, cancellation, purpose=purpose, threads=threads
        )
        if isinstance(opened, Failure):
            children.close()
            return opened
        machines = dict(zip(functions, children.of(functions), strict=True))
        return WaferSession(opened, machines, lambda: _warned(log))

    def _compiled(
        self, submission: Submission, main: str, options: list[str], cancellation: Cancellation
    ) -> Made:
        key = hashlib.sha256(
            repr((sorted(submission.files.items()), main, options)).encode()
        ).hexdigest()
        with self._lock:
            known = self._made.get(key)
        if known is not None:
            return known
        made = self._compile_now(submission, main, options, cancellation, key)
        if not cancellation.cancelled:
            with self._lock:
                self._made[key] = made
        return made

    def _compile_now(
        self,
        submission: Submission,
        main: str,
        options: list[str],
        cancellation: Cancellation,
        key: str,
    ) -> Made:
        done = self._tools.run(_tool(request(submission.files, main, options)), cancellation)
        raw = done.files.get(ANSWER)
        if raw is None:
            why = "took more than a minute" if done.timed_out else done.err.strip()[-300:]
            return Made(error=f"the CSL compiler failed: {why}")
        answer = json.loads(raw)
        if "error" in answer:
            return Made(error=str(answer["error"]))
        diagnostics = tuple(answer["diagnostics"])
        if any(name not in done.files for name in PROGRAM):
            texts = "\n".join(str(d["text"]) for d in diagnostics if d["severity"] == "error")
            error = texts or "the program does not compile"
            return Made(diagnostics=diagnostics, error=error, stopped=answer["stopped"])
        folder = self._folder.place(key)
        (folder / "bin").mkdir(parents=True, exist_ok=True)
        for name in PROGRAM:
            (folder / "bin" / name).write_bytes(done.files[name])
        return Made(folder, diagnostics)


def backend(parts: Parts) -> WaferToolchain:
    """The wafer targets of a server."""
    return WaferToolchain(parts.pool, tripwires=parts.tripwires)


def _diagnostic(one: Mapping[str, object]) -> Diagnostic:
    hint = f" (hint: {one['hint']})" if one.get("hint") else ""
    return Diagnostic(
        severity=str(one["severity"]),
        message=f"{one['message']}{hint} [{one['code']}]",
        file=str(one["file"]) if one.get("file") else None,
        line=int(str(one["line"])) if one.get("line") else None,
        column=int(str(one["column"])) if one.get("column") else None,
        source=str(one["source"]) if one.get("source") else None,
    )


def _warned(log: _Log) -> tuple[Diagnostic, ...]:
    """Each warning of a session's programs once, the first few."""
    warnings = (_diagnostic(one) for one in log.diagnostics if one["severity"] == "warning")
    return tuple(dict.fromkeys(warnings))[:_WARNINGS]


def _guidance(diagnostics: Sequence[Mapping[str, object]]) -> tuple[Guidance, ...]:
    """The compiler's own hints."""
    hints = [d for d in diagnostics if d.get("hint") and d["severity"] != "note"]
    return tuple(Guidance(f"csl.{d['code']}", str(d["message"]), str(d["hint"])) for d in hints[:3])


_STOPPED = {
    "parse": (Status.PARSED, "the CSL program does not parse"),
    "place": (Status.LOADS, "the CSL program compiles, but can not be placed on the machine"),
}
"""Where the compiler stopped: the first rung that was not reached, and that in words."""


def _rejected(found: tuple[Diagnostic, ...], stopped: str) -> Failure:
    stage, text = _STOPPED.get(stopped, (Status.COMPILED, "the CSL program does not compile"))
    first = next((d for d in found if d.severity == "error"), None)
    if first is not None:
        where = f"{first.file}:{first.line}: " if first.file and first.line else ""
        text = f"{text}: {where}{first.message}"
    return Failure(Status.ERROR, stage, FailureKind.COMPILE, text, found)


def _use_metrics(function: str, use: DeviceUse) -> list[Metric]:
    return [
        Metric(f"{function}_device_cycles", use.cycles, "cycles", "modelled"),
        Metric(f"{function}_columns", use.columns, "PEs", "derived"),
        Metric(f"{function}_rows", use.rows, "PEs", "derived"),
        Metric(f"{function}_words_in", use.words_in, "words", "modelled"),
        Metric(f"{function}_words_out", use.words_out, "words", "modelled"),
    ]


def _tool(asked: bytes) -> Tool:
    paths = [str(path.parent) for path in _own()]
    text = (
        f"import sys; sys.path[:0] = {[*paths, str(_numpy()[0].parent)]!r}\n"
        "from toolchains.csl.building import main; main()"
    )
    return Tool(
        argv=(str(runtime().interpreter), "-I", "-S", "-B", "-X", "utf8", "-c", text),
        files={REQUEST: asked},
        results=(ANSWER, *PROGRAM),
        shown=(*_own(), *_numpy()),
        timeout_s=_COMPILE_S,
        memory_bytes=_MEMORY_BYTES,
    )


@cache
def _own() -> tuple[Path, ...]:
    """Our packages that the compiler is made of."""
    return tuple(
        Path(str(package.__file__)).resolve().parent
        for package in (toolchains, simulators, kernels)
    )


@cache
def _numpy() -> tuple[Path, ...]:
    folder = Path(np.__file__).resolve().parent
    beside = folder.parent / "numpy.libs"
    return (folder, beside) if beside.is_dir() else (folder,)
