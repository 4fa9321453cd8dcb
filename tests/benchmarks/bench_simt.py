"""The SIMT emulator: MB of input per second of CPU time, both engines, in one process.

    python -m tests.benchmarks.bench_simt [--side N] [--repeats N] [--no-fibers]

Kernels of our own (simt_kernels.py) on side³ values of 4 bytes. Every result is compared with
NumPy's, in ascending and descending order of threads, with one worker and with two. Speeds are the
best of the repeats, which go round all variants; of two workers the gain is one of wall time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from simulators.simt import fibers, loops
from simulators.simt.frontend import front
from simulators.simt.records import Bundle, Front, Source, Unsupported, Variant
from simulators.simt.tool import plain_run
from tests.benchmarks.simt_kernels import Case, cases
from tests.simulators.simt.launching import loaded, raw
from toolchains.child.shims.simt.runtime import Kernel, Launcher, Module


@dataclass
class Measured:
    """One kernel, one engine, one order of threads, so many workers."""

    case: Case
    engine: str
    descending: bool
    workers: int
    kernel: Kernel
    module: Module
    build_s: float
    cpu_s: list[float] = field(default_factory=list)
    wall_s: list[float] = field(default_factory=list)

    def run(self) -> None:
        """One launch on cleared outputs; its result is checked."""
        for array in self.case.cleared:
            array[:] = 0
        arguments = [raw(value) for value in self.case.arguments]
        launcher = Launcher(self.workers, 120.0)
        launcher.launch(self.kernel, self.module, self.case.grid, arguments)
        for array in self.case.cleared:
            array[:] = 0
        cpu, wall = time.process_time(), time.perf_counter()
        launcher.launch(self.kernel, self.module, self.case.grid, arguments)
        self.wall_s.append(time.perf_counter() - wall)
        self.cpu_s.append(time.process_time() - cpu)
        np.testing.assert_array_equal(self.case.output, self.case.expected)

    @property
    def megabytes(self) -> float:
        """Of input."""
        return 4 * self.case.output.size / 1e6


def _built(case: Case, engine: str, descending: bool, build: Callable[[Front], object]) -> Measured:
    start = time.perf_counter()
    made = front(_source(case), plain_run)
    assert isinstance(made, Front), made
    bundle = build(made)
    seconds = time.perf_counter() - start
    assert isinstance(bundle, Bundle), bundle
    return Measured(case, engine, descending, 1, *loaded(bundle), seconds)


def _source(case: Case) -> Source:
    return Source(case.code, "kernel.cu")


def _looped(case: Case, descending: bool) -> Measured:
    def build(made: Front) -> Bundle | Unsupported:
        variant = Variant(made.info.kernels[0].symbol, case.block, descending)
        return loops.compile_kernel(made, variant)

    return _built(case, "loops", descending, build)


def _fibered(case: Case) -> Measured:
    def build(made: Front) -> object:
        variant = Variant(made.info.kernels[0].symbol, case.block)
        return fibers.compile_kernel(_source(case), made.info, variant, plain_run)

    return _built(case, "fibers", False, build)


def _all(case: Case, with_fibers: bool) -> list[Measured]:
    one, back = _looped(case, False), _looped(case, True)
    found = [one, back, *(replace(other, workers=2, cpu_s=[], wall_s=[]) for other in (one, back))]
    return [*found, _fibered(case)] if with_fibers else found


def main(
    side: Annotated[int, typer.Option(help="side³ values; a multiple of 8")] = 256,
    repeats: Annotated[int, typer.Option()] = 5,
    with_fibers: Annotated[bool, typer.Option("--fibers/--no-fibers")] = True,
) -> None:
    """Measure and print."""
    table = Table(
        "kernel", "build s", "loops", "descending", "2 workers, wall", "fibers", "loops / fibers",
        box=SIMPLE, title=f"MB of input per CPU second, {side}³ values",
    )  # fmt: skip
    for case in cases(side):
        measured = _all(case, with_fibers)
        for _ in range(repeats):
            for one in measured:
                one.run()
        table.add_row(*_cells(measured))
    Console().print(table)


def _cells(measured: list[Measured]) -> list[str]:
    one, _, two, _, *fibered = measured
    speeds = [m.megabytes / min(m.cpu_s) for m in measured]
    gain = min(one.wall_s) / min(two.wall_s)
    cells = [one.case.name, f"{one.build_s:.2f}", f"{speeds[0]:.0f}", f"{speeds[1]:.0f}"]
    cells.append(f"{gain:.2f} x")
    if fibered:
        cells += [f"{speeds[-1]:.0f}", f"{speeds[0] / speeds[-1]:.1f} x"]
    return cells


if __name__ == "__main__":
    typer.run(main)
