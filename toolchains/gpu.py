"""GPU targets: real compilation with the vendor's compiler, and execution by the emulator.

A submission is `kernel.py` with cupy, and device code in files or strings. Its processes get an
emulated cupy (toolchains/child/shims); which device code there is shows when it is imported and
called, and that is then also compiled for the real GPU, for its errors and resources.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kernels import baselines
from kernels.records import (
    Build,
    Diagnostic,
    Execution,
    Failure,
    FailureKind,
    Guidance,
    Metric,
    Status,
    Submission,
)
from kernels.tasks import TASKS
from simulators.simt.records import Source
from simulators.simt.tool import RunTool
from toolchains.base import Call, Cancellation, Explanation, Session, TargetInfo
from toolchains.child import wire
from toolchains.children.pool import Pool
from toolchains.children.process import ChildProcess
from toolchains.children.session import ChildSession, Purpose, open_session
from toolchains.children.tools import Tools
from toolchains.emulation import Emulator, Log, Reading, missing
from toolchains.first_call import earlier, failed_build, stops_build, warm_up
from toolchains.first_call import warnings as call_warnings
from toolchains.gpu_counts import parsed_counts
from toolchains.gpu_model import modelled
from toolchains.limits import deadline_s, limits, output_room
from toolchains.orders import OrderedSession
from toolchains.tripwires import tripped

_KEPT_NATIVES = 64
_EXAMPLE_TASK = "lorenzo-1d"
_COUNTING_S = 60.0
"""For compiling kernels with counters, and reading those."""


@dataclass(frozen=True)
class GpuTarget:
    """One architecture of a family."""

    arch: str
    """sm_90, gfx942."""
    warp: int
    hardware: tuple[Metric, ...] = ()
    """Of an example GPU, as documented."""
    notes: tuple[str, ...] = ()
    listed: bool = True
    """As in TargetInfo."""


@dataclass(frozen=True)
class Native:
    """What the vendor's compiler made of one module."""

    diagnostics: tuple[Diagnostic, ...] = ()
    metrics: tuple[Metric, ...] = ()
    failed: bool = False
    artifacts: Mapping[str, bytes] = field(default_factory=dict)
    """Name → content: PTX, SASS, assembly."""
    note: str = ""
    """What could not be told, and the remedy."""


def _as_it_is(source: Source) -> str:
    return source.code


@dataclass(frozen=True)
class Family:
    """The targets of one vendor: what differs between CUDA and ROCm."""

    name: str
    dialect: str
    targets: Mapping[str, GpuTarget]
    """Name, such as cuda:sm_90 → what it is."""
    compile: Callable[[Source, str, RunTool], Native]
    """source, architecture, how programs are run"""
    missing: Callable[[], str]
    """Why the vendor's compiler is not here, and the remedy; empty if it is."""
    contract: str
    advice: tuple[str, ...]
    advise: Callable[[Iterable[Diagnostic]], tuple[Guidance, ...]]
    """What the real compiler's warnings mean."""
    translate: Callable[[Source], str] = _as_it_is
    """Device code as the emulator is to read it."""


class GpuToolchain:
    """Implements `toolchains.base.Toolchain` for one family."""

    def __init__(
        self, family: Family, pool: Pool, *, cache: Path | None = None, tripwires: bool = True
    ) -> None:
        """cache: folder where compiled kernels outlive this server."""
        self._family, self._pool = family, pool
        self._tools = Tools(pool.isolation)
        self._emulator = Emulator(self._tools, cache)
        self._tripwires = tripwires
        self._natives: dict[str, Native] = {}
        self._lock = threading.Lock()

    def targets(self) -> tuple[TargetInfo, ...]:
        """See `Toolchain.targets`."""
        return tuple(map(self._info, self._family.targets))

    def describe(self, target: str) -> TargetInfo:
        """See `Toolchain.describe`."""
        one = self._family.targets[target]
        info = self._info(target)
        return replace(
            info,
            limits=limits(),
            hardware=one.hardware,
            notes=(*one.notes, *filter(None, (self._family.missing(),))),
            contract=self._family.contract,
            example=dict(baselines.read(_EXAMPLE_TASK, "naive", self._family.name).files),
            example_task=_EXAMPLE_TASK,
            advice=self._family.advice,
        )

    def build(self, submission: Submission, cancellation: Cancellation) -> Build:
        """See `Toolchain.build`: import, a small call under emulation, then the real compiler."""
        start = time.perf_counter()
        refused = self._refused(submission)
        if refused is not None:
            return failed_build(refused, start)
        log = Log()
        called = self._first_call(submission, cancellation, log)
        natives = [self._native(s, submission.target, cancellation) for s in log.sources]
        found = tuple(d for native in natives for d in native.diagnostics)
        if any(native.failed for native in natives):
            return failed_build(_rejected(found), start)
        if log.rejected and self._family.missing():
            # What its Python says of it is the same in other words.
            return failed_build(_rejected(log.rejected), start)
        if called is not None and stops_build(called):
            return failed_build(earlier(called), start)
        notes = tuple(Diagnostic("note", n.note) for n in natives[:1] if n.note)
        notes += _engines(log)
        return Build(
            status=Status.COMPILED,
            stage=Status.LOADS,
            seconds=time.perf_counter() - start,
            diagnostics=(*found, *notes, *(call_warnings(called) if called else ())),
            metrics=tuple(m for native in natives for m in native.metrics),
            first_call=called,
            guidance=self._family.advise(found),
            artifacts=_artifacts(log.sources, natives),
        )

    def load(
        self, submission: Submission, threads: int, cancellation: Cancellation
    ) -> Session | Failure:
        """See `Toolchain.load`: every call in two orders of threads."""
        refused = self._refused(submission)
        if refused is not None:
            return refused
        opened = self._open(submission, cancellation, Log(), _Opening(Purpose.SCORE, threads))
        return opened if isinstance(opened, Failure) else OrderedSession(opened)

    def load_checked(self, submission: Submission, cancellation: Cancellation) -> Session | Failure:
        """See `Toolchain.load_checked`."""
        refused = self._refused(submission)
        return refused or self._open(submission, cancellation, Log(), _Opening(Purpose.CHECK))

    def explain(
        self,
        submission: Submission,
        calls: Sequence[Call],
        threads: int,
        cancellation: Cancellation,
    ) -> Explanation:
        """See `Toolchain.explain`: what the real compiler says, and what the emulator counts."""
        log = Log()
        how = _Opening(Purpose.BUILD, threads, wire.COUNTS)
        opened = self._open(submission, cancellation, log, how)
        if isinstance(opened, Failure):
            return Explanation(notes=(f"nothing was modelled: {opened.message}",))
        cancellation.attach(opened.kill)
        try:
            failed = [
                f"{call.function} was not counted: {reply.message}"
                for call in calls
                if isinstance(reply := _counted_call(opened, call), Failure)
            ]
            counts = parsed_counts(opened.output())
        finally:
            cancellation.detach(opened.kill)
            opened.close()
        natives = [self._native(s, submission.target, cancellation) for s in log.sources]
        compiled = tuple(m for native in natives for m in native.metrics)
        model = modelled(counts, self._family.targets[submission.target].hardware, compiled)
        return Explanation(
            metrics=(*model.metrics, *compiled),
            notes=(*failed, *model.notes),
            bottleneck=model.bottleneck,
            guidance=model.guidance,
        )

    def close(self) -> None:
        """See `Toolchain.close`: the pool is the pipeline's."""

    def _info(self, target: str) -> TargetInfo:
        reason = missing()
        return TargetInfo(
            target=target,
            execution=None if reason else Execution.EMULATED,
            available=not reason,
            reason=reason,
            listed=self._family.targets[target].listed,
        )

    def _refused(self, submission: Submission) -> Failure | None:
        reason = missing()
        if reason:
            return Failure(Status.ERROR, Status.LOADS, FailureKind.CANCELLED, reason)
        return tripped(submission) if self._tripwires else None

    def _first_call(
        self, submission: Submission, cancellation: Cancellation, log: Log
    ) -> Failure | None:
        """What went wrong when it was imported and called once on a small field."""
        how = _Opening(Purpose.BUILD, flags=wire.ANNOUNCES | wire.CHECKS)
        opened = self._open(submission, cancellation, log, how)
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
        log: Log,
        how: _Opening,
    ) -> ChildSession | Failure:
        target = self._family.targets[submission.target]
        flags = wire.CUDA if self._family.dialect == "cuda" else wire.HIP
        flags |= how.flags | (wire.WIDE if target.warp == 64 else 0)
        reading = Reading(
            lambda source: self._errors(source, submission.target, cancellation),
            self._family.translate,
        )
        giver = self._emulator.giver(cancellation, log, reading)
        children = _Emulating(self._pool, flags, giver)
        functions = TASKS[submission.task].functions
        return open_session(
            children, submission, functions, cancellation, purpose=how.purpose, threads=how.threads
        )

    def _native(self, source: Source, target: str, cancellation: Cancellation) -> Native:
        absent = self._family.missing()
        if absent:
            return Native(note=absent)
        arch = self._family.targets[target].arch
        key = hashlib.sha256(repr((arch, source)).encode()).hexdigest()
        with self._lock:
            known = self._natives.get(key)
        if known is not None:
            return known
        native = self._family.compile(source, arch, self._tools.runner(cancellation))
        # What a caller that left has ended says nothing of the source.
        if not cancellation.cancelled:
            with self._lock:
                self._natives[key] = native
                while len(self._natives) > _KEPT_NATIVES:
                    del self._natives[next(iter(self._natives))]
        return native

    def _errors(
        self, source: Source, target: str, cancellation: Cancellation
    ) -> tuple[Diagnostic, ...]:
        """Of the real compiler; empty if it takes the source, or is not here."""
        native = self._native(source, target, cancellation)
        return native.diagnostics if native.failed else ()


def _counted_call(session: ChildSession, call: Call) -> object:
    """Once; counting takes its time."""
    return session.call(
        call.function,
        (call.arguments,),
        capacity=(output_room(call.output_bytes),),
        deadline_s=_COUNTING_S + 4 * deadline_s(call.output_bytes),
    )


@dataclass(frozen=True)
class _Opening:
    """How a submission is loaded."""

    purpose: Purpose
    threads: int = 1
    flags: int = 0
    """Of wire.ANNOUNCES and the like, beside the kind of GPU."""


@dataclass(frozen=True)
class _Emulating:
    """Children of the pool, each of which will emulate a GPU."""

    pool: Pool
    flags: int
    give: Callable[[bytes], bytes]

    def take(self, threads: int = 1) -> ChildProcess:
        """See `Pool.take`."""
        child = self.pool.take(threads)
        child.asked |= self.flags
        child.give = self.give
        return child


def _engines(log: Log) -> tuple[Diagnostic, ...]:
    """Which engine of the emulator ran each kernel, and why it was not `loops`."""
    kernels = (f"{kernel} in {engine}" for kernel, engine in log.engines.items())
    told = ", ".join(kernels)
    return (Diagnostic("note", f"emulated: {told}"),) if told else ()


def _artifacts(sources: Sequence[Source], natives: Sequence[Native]) -> dict[str, bytes]:
    """By the file that each module is of: szp.ptx; of several modules of one file, numbered."""
    found: dict[str, bytes] = {}
    for i, (source, native) in enumerate(zip(sources, natives, strict=True)):
        stem = Path(source.file).stem or "module"
        for kind, content in native.artifacts.items():
            name = f"{stem}.{kind}"
            found[f"{stem}-{i}.{kind}" if name in found else name] = content
    return found


def _rejected(diagnostics: tuple[Diagnostic, ...]) -> Failure:
    """Errors of device code, as the failure of a build."""
    first = next((d for d in diagnostics if d.severity == "error"), diagnostics[0])
    where = f"{first.file}:{first.line}: " if first.file and first.line else ""
    return Failure(
        Status.ERROR,
        Status.COMPILED,
        FailureKind.COMPILE,
        f"device code does not compile: {where}{first.message}",
        diagnostics,
    )
