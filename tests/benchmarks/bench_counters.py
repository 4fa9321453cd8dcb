"""Kernels with 1 block in 64 counted against the same engine without counters, in one run.

    python -m tests.benchmarks.bench_counters [--side N] [--repeats N]

MB of input (side³ values of 4 bytes) per second of process CPU time, the best of the repeats, which
alternate. `with reading` includes grouping and summing the trace after the launch.
"""

from __future__ import annotations

import time
from typing import Annotated, Any

import numpy as np
import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from simulators.simt.fibers import compile_kernel
from simulators.simt.frontend import front
from simulators.simt.records import Bundle, Front, Source, Variant
from simulators.simt.tool import plain_run
from tests.benchmarks.simt_kernels import Case, cases
from tests.simulators.simt.launching import loaded, raw
from toolchains.child.shims.simt.counting import Counting, Sampling
from toolchains.child.shims.simt.runtime import Launcher

SAMPLING = Sampling(one_in=64, most=1 << 30, records=1 << 25)
"""Really one in 64, whatever the grid."""


class _Unread(Counting):
    """Lets the traces be."""

    def take(self, *_args: Any) -> None:
        """Nothing."""


def _launched(case: Case, hooks: str) -> Any:
    source = Source(case.code, "kernel.cu")
    made = front(source, plain_run)
    assert isinstance(made, Front)
    variant = Variant(made.info.kernels[0].symbol, case.block, hooks=hooks)
    bundle = compile_kernel(source, made.info, variant, plain_run)
    assert isinstance(bundle, Bundle), bundle
    kernel, module = loaded(bundle)

    def launch(counting: Counting) -> float:
        launcher = Launcher(counting=counting)
        for array in case.arguments:
            if isinstance(array, np.ndarray):
                launcher.registry.register(array.ctypes.data, array.nbytes)
        for array in case.cleared:
            array[...] = 0
        start = time.process_time()
        launcher.launch(kernel, module, case.grid, [raw(a) for a in case.arguments])
        seconds = time.process_time() - start
        np.testing.assert_array_equal(case.output, case.expected)
        return seconds

    return launch


def main(
    side: Annotated[int, typer.Option(help="values along each axis")] = 256,
    repeats: Annotated[int, typer.Option(help="the best of so many")] = 5,
) -> None:
    """Print a table."""
    table = Table("kernel", "plain MB/s", "counted MB/s", "share", "with reading", box=SIMPLE)
    for case in cases(side):
        plain, counted = _launched(case, "none"), _launched(case, "counted")
        best = {"plain": np.inf, "counted": np.inf, "read": np.inf}
        for _ in range(repeats):
            best["plain"] = min(best["plain"], plain(_Unread()))
            best["counted"] = min(best["counted"], counted(_Unread(SAMPLING)))
            best["read"] = min(best["read"], counted(Counting(SAMPLING)))
        speed = {name: 4 * side**3 / seconds / 1e6 for name, seconds in best.items()}
        shares = [f"{speed[name] / speed['plain']:.0%}" for name in ("counted", "read")]
        table.add_row(case.name, f"{speed['plain']:.0f}", f"{speed['counted']:.0f}", *shares)
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
