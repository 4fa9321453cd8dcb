"""Cycles of the wafer simulator and those that were published: python -m tests.benchmarks.…

Sources: [FAB] arXiv 2608.25124 (the vendor's simulator, WSE-3); [SPMM] SpMM_Cerebras's test of
@fmacs (WSE-2).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simulators.wafer.machine import Machine
from simulators.wafer.profiles import make_profile
from simulators.wafer.program import Program
from toolchains.csl.compiler import compile_program
from toolchains.csl.evaluation import Options

_MULTIPLIER = 1
"""Loading the constant 2.0, which comes before the operation."""
_UNTIL_DISPATCH = 3
"""Two descriptor loads, the third being elided, and the instruction: [FAB] counts its 2 + n / 4
from there, and 6 + n / 4 from one such operation to the next."""
PROGRAMS = Path(__file__).parents[1] / "toolchains" / "csl" / "programs"
LOOP_FORMS = {"single": 1040, "tiles": 4617, "mapped": 2840, "rows": 3032}
"""[FAB] 4096 multiply-adds of f16."""


@dataclass(frozen=True)
class Row:
    """A figure of ours next to the published one."""

    name: str
    ours: int
    published: float
    tolerance: float

    @property
    def ratio(self) -> float:
        """Ours / published."""
        return self.ours / self.published


@dataclass(frozen=True)
class Run:
    """A compiled program on its machine."""

    program: Program
    machine: Machine

    def stamps(self, x: int, count: int) -> list[int]:
        """Timestamps that a PE has in `times`."""
        one = self.program.classes[self.program.class_of[0, x]]
        assert one.exported_variables is not None
        pointer = self.machine.read(x, 0, one.exported_variables["times"], 2)
        data = self.machine.read(x, 0, int.from_bytes(pointer, "little"), 6 * count)
        return [int.from_bytes(data[6 * i : 6 * i + 6], "little") for i in range(count)]

    def span(self, function: str) -> int:
        """Cycles between the two timestamps that a function takes."""
        self.machine.launch(function)
        outcome = self.machine.run_ready()
        assert not outcome.text, outcome.text
        begin, end = self.stamps(0, 2)
        return end - begin


def load(name: str, arch: str, **params: int) -> Run:
    """A program of the tests, compiled."""
    given = tuple((key, str(value)) for key, value in params.items())
    made = compile_program(PROGRAMS / name / "layout.csl", Options(arch, "1.4", params=given))
    assert made.program is not None, "\n".join(str(one) for one in made.diagnostics)
    return Run(made.program, Machine(made.program, make_profile(arch)))


def loop_forms() -> Iterator[Row]:
    """One PE of WSE-3, four ways to the same result."""
    run = load("loop_forms", "wse3")
    for name, published in LOOP_FORMS.items():
        yield Row(f"4096 fmach, {name}", run.span(name), published, 0.05)


def vector_forms() -> Iterator[Row]:
    """Single operations, without what the timing takes."""
    run = load("vector_forms", "wse2", size=1028)
    empty = run.span("nothing") + _MULTIPLIER
    yield Row("1028 fmacs, WSE-2", run.span("apart") - empty, 1034, 0)
    yield Row("1028 fmacs, one bank, WSE-2", run.span("together") - empty, 2062, 0)
    run = load("vector_forms", "wse3", size=2048)
    empty = run.span("nothing") + _UNTIL_DISPATCH
    yield Row("2048 add16, WSE-3, from dispatch", run.span("sums") - empty, 514, 0)


def relay(hops: int, size: int) -> int:
    """Cycles from the first PE's sending to the last one's completion task."""
    run = load("relay", "wse3", hops=hops, size=size)
    run.machine.launch("run")
    outcome = run.machine.run_quiet()
    assert not outcome.text, outcome.text
    return run.stamps(hops, 1)[0] - run.stamps(0, 1)[0]


def relays() -> Iterator[Row]:
    """[FAB] T = 1.001 N B + 16.1 N + 16.5; a message of 8 words 19 from its dispatch."""
    for hops in (1, 2, 4, 8):
        for size in (64, 512):
            published = 1.001 * hops * size + 16.1 * hops + 16.5
            yield Row(f"{hops} hops of {size} words", relay(hops, size), published, 0.04)


def applications() -> Iterator[Row]:
    """[FAB] Programs of the vendor's examples, where a checkout of those of SDK 1.4 is at hand."""
    checkout = os.environ.get("SZ_MCP_CSL_EXAMPLES")
    if checkout is None:
        return
    layout = Path(checkout) / "benchmarks" / "cholesky" / "layout.csl"
    made = compile_program(layout, Options("wse3", "1.4", params=(("P", "10"), ("Nt", "4"))))
    assert made.program is not None, "\n".join(str(one) for one in made.diagnostics)
    machine = Machine(made.program, make_profile("wse3"))
    machine.launch("f_chol")
    outcome = machine.run_ready()
    assert not outcome.text, outcome.text
    # Which numbers are in the matrix changes no cycle.
    yield Row("Cholesky, 10 x 10 PEs of 4 x 4", machine.cycle, 12479, 0.15)


def rows() -> Iterator[Row]:
    """All of them."""
    yield from applications()
    yield from vector_forms()
    yield from loop_forms()
    yield from relays()


if __name__ == "__main__":
    for row in rows():
        verdict = "ok" if abs(row.ratio - 1) <= row.tolerance else "MISSED"
        print(  # noqa: T201
            f"{row.name:32} {row.ours:6} / {row.published:8.1f} = {row.ratio:.3f}"
            f" within {row.tolerance:.1%}: {verdict}"
        )
    print(f"{'8 words, 1 hop':30} {relay(1, 8):6} /     19 dispatch to task, 36 by timestamps")  # noqa: T201
