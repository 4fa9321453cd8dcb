"""How fast the wafer is compiled and simulated: python -m tests.benchmarks.bench_wafer_speed.

Everything is CSL compiled by our compiler. Processor time of one thread, the best of some runs;
tile-cycles are PEs × simulated cycles. The machine's own compilation (numba) is done before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from simulators.wafer.machine import Machine
from simulators.wafer.profiles import make_profile
from simulators.wafer.program import Program
from toolchains.csl.compiler import compile_program
from toolchains.csl.evaluation import Options

PROGRAMS = Path(__file__).parents[1] / "toolchains" / "csl" / "programs"
_ROUNDS = 2


@dataclass(frozen=True)
class Case:
    """A program and the function that the host launches."""

    name: str
    folder: str
    function: str
    params: dict[str, int]
    must: float
    """Million tile-cycles per second."""


CASES = (
    Case("halo 64 x 64, saturated", "halo", "exchange",
         {"width": 64, "height": 64, "words": 100, "rounds": 25}, 3),
    Case("halo 8 x 8, saturated", "halo", "exchange",
         {"width": 8, "height": 8, "words": 100, "rounds": 400}, 3),
    Case("local arithmetic, 32 x 32", "mostly", "work",
         {"width": 32, "height": 32, "busy": 1024, "size": 1000, "rounds": 500}, 200),
    Case("one PE of 64 x 64 busy", "mostly", "work",
         {"width": 64, "height": 64, "busy": 1, "size": 10, "rounds": 2000}, 30),
)  # fmt: skip


def best(work: Callable[[], float]) -> float:
    """Least processor seconds of some runs; `work` says what one run took."""
    return min(work() for _ in range(_ROUNDS))


def compiled(case: Case) -> tuple[Program, float]:
    """The program, and the processor seconds of compiling it."""
    given = tuple((key, str(value)) for key, value in case.params.items())
    made = []

    def once() -> float:
        begin = time.process_time()
        made.append(
            compile_program(
                PROGRAMS / case.folder / "layout.csl", Options("wse3", "1.4", params=given)
            )
        )
        return time.process_time() - begin

    seconds = best(once)
    program = made[-1].program
    assert program is not None, "\n".join(str(one) for one in made[-1].diagnostics)
    return program, seconds


def speed(program: Program, function: str) -> tuple[int, float]:
    """Simulated cycles, and million tile-cycles per processor second."""
    cycles = 0

    def once() -> float:
        nonlocal cycles
        machine = Machine(program, make_profile("wse3"))
        begin = time.process_time()
        machine.launch(function)
        outcome = machine.run_ready()
        took = time.process_time() - begin
        assert not outcome.text, outcome.text
        cycles = machine.cycle
        return took

    once()
    seconds = best(once)
    height, width = program.class_of.shape
    return cycles, width * height * cycles / seconds / 1e6


def main() -> None:
    """Measure and print."""
    table = Table("program", "compile, s", "cycles", "M tile-cycles/s", "must")
    for case in CASES:
        program, seconds = compiled(case)
        cycles, rate = speed(program, case.function)
        table.add_row(case.name, f"{seconds:.2f}", f"{cycles}", f"{rate:.1f}", f"{case.must:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
