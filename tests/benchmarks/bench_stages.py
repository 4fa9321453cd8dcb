"""Every tuned stage against copying as many bytes as it moves, in one process, on one thread.

    python -m tests.benchmarks.bench_stages [--task NAME]… [--field NAME]… [--style S] [--repeats N]

A stage that reads R bytes and writes W moves R + W; copying (R + W) / 2 bytes moves as many. Both
are repeated in turn, on inputs that were just written, and the share is of their medians.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

from kernels import bounds, fields
from kernels.records import Arg, Array
from kernels.tasks import TASKS, StageTask
from kernels.tasks.base import nbytes_of
from kernels.verify import compare
from tests.kernels.submissions import loaded

FIELDS = ("uk_theta", "synthetic-256")


@dataclass(frozen=True)
class Measured:
    """One stage on one field."""

    task: str
    field: str
    moved: int
    """Bytes read and written."""
    original: int
    """Bytes of the field."""
    seconds: float
    copy_seconds: float

    def cells(self) -> tuple[str, ...]:
        """A row of the table."""
        moved = self.moved / 2
        return (
            self.task,
            self.field,
            f"{moved / 1e6:.1f}",
            f"{self.original / self.seconds / 1e9:.2f}",
            f"{moved / self.seconds / 1e9:.2f}",
            f"{moved / self.copy_seconds / 1e9:.2f}",
            f"{self.copy_seconds / self.seconds:.0%}",
        )


def measure(task: StageTask, style: str, name: str, bound: float, repeats: int) -> Measured:
    """Run the stage and a copy in turn."""
    field = fields.load(name)
    absolute = bounds.derive(field.data, field.info.fill_value, "rel", bound).absolute
    inputs = task.inputs(field.data, absolute)
    golden = task.golden(*inputs)
    with loaded(task.name, style) as kernel:
        run = kernel.run
    moved = task.bytes_read(inputs) + nbytes_of(golden)
    source = np.ones(moved // 2, np.uint8)
    target = np.zeros_like(source)
    spent: list[float] = []
    copied: list[float] = []
    for repetition in range(repeats + 2):
        private = tuple(v.copy() if isinstance(v, np.ndarray) else v for v in inputs)
        start = time.perf_counter()
        out = run(*private)
        middle = time.perf_counter()
        np.copyto(target, source)
        end = time.perf_counter()
        if repetition < 2:
            _check(task, inputs, golden, out if isinstance(out, tuple) else (out,))
            continue
        spent.append(middle - start)
        copied.append(end - middle)
    return Measured(
        task.name,
        name,
        moved,
        field.data.nbytes,
        statistics.median(spent),
        statistics.median(copied),
    )


def _check(
    task: StageTask, inputs: tuple[Arg, ...], golden: tuple[Array, ...], out: tuple[Array, ...]
) -> None:
    for ruling in task.rulings(inputs, golden, tuple(np.asarray(one) for one in out)):
        wrong = compare(ruling.wanted, ruling.got, ruling.abs_bound).violations
        if wrong or ruling.problem:
            raise SystemExit(f"{task.name}: {wrong} wrong values; {ruling.problem}")


def main(
    task: Annotated[list[str] | None, typer.Option(help="Stage; all if none is named.")] = None,
    field: Annotated[list[str] | None, typer.Option(help="Field; repeatable.")] = None,
    style: Annotated[str, typer.Option(help="naive or tuned.")] = "tuned",
    bound: Annotated[float, typer.Option(help="Relative bound.")] = 1e-3,
    repeats: Annotated[int, typer.Option(help="Repetitions.")] = 15,
) -> None:
    """Print one row per stage and field."""
    table = Table(box=SIMPLE, title=f"{style} stages, REL {bound:g}, one thread")
    for column in ("stage", "field", "moved/2 MB", "field GB/s", "moved/2 GB/s", "copy GB/s"):
        table.add_column(column, justify="left" if column in ("stage", "field") else "right")
    table.add_column("of copy", justify="right")
    stages = [t for t in TASKS.values() if isinstance(t, StageTask) and t.name in (task or TASKS)]
    pairs = [(stage, name) for stage in stages for name in field or FIELDS]
    for stage, name in track(pairs, "measuring", console=Console(stderr=True), transient=True):
        table.add_row(*measure(stage, style, name, bound, repeats).cells())
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
