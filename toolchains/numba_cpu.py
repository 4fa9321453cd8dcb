"""The numba target: Python and numba on the CPU of this machine, in children of the pool."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import numpy as np

from kernels import baselines
from kernels.records import (
    Arg,
    Array,
    Build,
    Diagnostic,
    Execution,
    Failure,
    FailureKind,
    Metric,
    Status,
    Submission,
)
from kernels.tasks import TASKS
from kernels.tasks.base import StageTask, Task
from toolchains.base import Cancellation, Reply, Session, TargetInfo
from toolchains.children.pool import Pool
from toolchains.children.session import open_session
from toolchains.limits import limits
from toolchains.peaks import Peaks

TARGET = "numba"
_WARM_UP_DEADLINE_S = 10.0
_WARM_UP_BOUND = 1e-3
_PEAK_SIZES = (64 << 10, 4 << 20, 64 << 20)

_CONTRACT = " ".join(
    (
        "kernel.py is imported in a fresh child process that has numpy, numba, the standard",
        "library and `szstream` (builds and checks the stream header); no network, no other files.",
        "Codec tasks define compress(data, abs_bound) -> 1-D uint8 array and",
        "decompress(stream, shape, dtype) -> array; stage tasks define run(*inputs). `data` is",
        "C-contiguous and a private copy; abs_bound is a float >= 0, and 0 asks for lossless.",
        "compress and decompress run in two processes that share nothing but the stream.",
        "Raise NotImplementedError for what you do not support. Every element is checked exactly;",
        "NaN and Inf must come back as they were.",
    )
)

_ADVICE = (
    "Quantise first, then predict on the integers: predicting from originals adds up errors.",
    "Check |x - x'| <= bound after rounding to the data type, and store what fails as it is.",
    "Use @njit without fastmath: fused multiply-add in the check lets violations through.",
    "Guard NaN and Inf before any integer arithmetic.",
    "Loop over blocks of 32 values with fixed trip counts, without branches per element: LLVM then "
    "vectorises.",
    "Allocate the worst-case output once and return a slice: fresh large arrays cost page faults.",
    "A run has one thread unless it asks for more; parallel=True costs 0.4 s more to compile.",
)


class NumbaToolchain:
    """Implements `toolchains.base.Toolchain`."""

    def __init__(self, pool: Pool, peaks: Peaks, memory_bytes: int) -> None:
        """memory_bytes: address space that a child may use; shown as a limit."""
        self._pool, self._peaks, self._memory_bytes = pool, peaks, memory_bytes

    def targets(self) -> tuple[TargetInfo, ...]:
        """See `Toolchain.targets`."""
        return (self._info(peaks=()),)

    def describe(self, target: str) -> TargetInfo:
        """See `Toolchain.describe`."""
        if target != TARGET:
            raise KeyError(target)
        peaks = []
        for size in _PEAK_SIZES:
            b = self._peaks.at(size)
            for name, value in (
                ("copy", b.copy_gbps),
                ("read", b.read_gbps),
                ("write", b.write_gbps),
            ):
                peaks.append(Metric(f"{name}_at_{size >> 10}_KiB", value, "GB/s", "measured"))
        return self._info(tuple(peaks))

    def build(self, submission: Submission, cancellation: Cancellation) -> Build:
        """See `Toolchain.build`: parse, import, then one small call so that numba compiles."""
        start = time.perf_counter()
        task = TASKS[submission.task]
        # Compile, not score: one child runs all functions of the submission.
        session = open_session(self._pool, submission, task.functions, cancellation, together=True)
        if isinstance(session, Failure):
            return _failed(_earlier(session), start)
        cancellation.attach(session.kill)
        try:
            failure, seconds = _warm_up(session, task)
        finally:
            cancellation.detach(session.kill)
            session.close()
        if failure is not None and _stops_build(failure):
            return _failed(_earlier(failure), start)
        return Build(
            status=Status.COMPILED,
            stage=Status.LOADS,
            seconds=time.perf_counter() - start,
            diagnostics=() if failure is None else _warnings(failure),
            metrics=(Metric("first_call_seconds", seconds, "s", "measured"),),
            first_call=failure,
        )

    def load(
        self, submission: Submission, threads: int, cancellation: Cancellation
    ) -> Session | Failure:
        """See `Toolchain.load`."""
        functions = TASKS[submission.task].functions
        return open_session(self._pool, submission, functions, cancellation, threads=threads)

    def close(self) -> None:
        """See `Toolchain.close`."""
        self._pool.close()

    def _info(self, peaks: tuple[Metric, ...]) -> TargetInfo:
        return TargetInfo(
            target=TARGET,
            execution=Execution.HARDWARE,
            available=True,
            limits=(
                Metric("cores", float(len(os.sched_getaffinity(0))), "", "measured"),
                Metric("address_space", self._memory_bytes / 1e9, "GB per process", "measured"),
                Metric("first_call_deadline", _WARM_UP_DEADLINE_S, "s", "derived"),
                *limits(),
                Metric("scratch_folder", 64.0, "MiB", "derived"),
            ),
            peaks=peaks,
            contract=_CONTRACT,
            example=dict(baselines.read("szp", "naive").files),
            advice=_ADVICE,
        )


def _warm_up(session: Session, task: Task) -> tuple[Failure | None, float]:
    """Call every function once on a small smooth field: the failure if one failed, the seconds."""
    field = _small_field()
    if isinstance(task, StageTask):
        reply = _call(session, "run", task.inputs(field, _WARM_UP_BOUND), field)
        return (reply, 0.0) if isinstance(reply, Failure) else (None, reply.seconds)
    packed = _call(session, "compress", (field, _WARM_UP_BOUND), field)
    if isinstance(packed, Failure):
        return packed, 0.0
    if [a.ndim for a in packed.outputs[0]] != [1]:
        return _contract("compress must return one array"), 0.0
    stream = packed.outputs[0][0].copy()
    back = _call(session, "decompress", (stream, field.shape, field.dtype), field)
    if isinstance(back, Failure):
        return back, packed.seconds
    return None, packed.seconds + back.seconds


def _call(
    session: Session, function: str, arguments: tuple[Arg, ...], field: Array
) -> Reply | Failure:
    room = (1 << 20) + 8 * field.nbytes
    return session.call(function, (arguments,), capacity=(room,), deadline_s=_WARM_UP_DEADLINE_S)


def _small_field() -> Array:
    """3-D, because that is what most fields are: numba compiles per number of dimensions."""
    x, y, z = np.meshgrid(*(np.linspace(0, 3, n) for n in (10, 12, 14)), indexing="ij")
    return np.ascontiguousarray(np.sin(x + y) * np.cos(z) + 2.0, np.float32)


def _stops_build(failure: Failure) -> bool:
    """A typing error or a missing function is of the build; what happens later is of the run."""
    return failure.kind in (FailureKind.COMPILE, FailureKind.CONTRACT, FailureKind.CANCELLED)


def _earlier(failure: Failure) -> Failure:
    """The same failure on the rung where a build stops."""
    stage = Status.PARSED if failure.kind is FailureKind.SYNTAX else Status.COMPILED
    return replace(failure, stage=stage)


def _failed(failure: Failure, start: float) -> Build:
    return Build(
        status=failure.status,
        stage=failure.stage,
        seconds=time.perf_counter() - start,
        failure=failure,
        diagnostics=failure.diagnostics,
    )


def _contract(message: str) -> Failure:
    return Failure(Status.ERROR, Status.COMPILED, FailureKind.CONTRACT, message)


def _warnings(failure: Failure) -> tuple[Diagnostic, ...]:
    """It compiled, but the first call on a small smooth field failed: say so early."""
    text = f"it compiles, but the first call on a 10x12x14 float32 field failed: {failure.message}"
    places = failure.diagnostics[:1]
    if not places:
        return (Diagnostic("warning", text),)
    p = places[0]
    return (Diagnostic("warning", text, p.file, p.line, p.column, p.source),)
