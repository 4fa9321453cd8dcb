"""How much of a request's time, by the server's clock, is not the kernel's: a table.

A kernel that spins for a fixed time is called again and again; the server's time minus the child's
own is what waking up, copying and looking cost. Run on an otherwise idle machine:
    python -m tests.benchmarks.bench_clock
"""

from __future__ import annotations

import statistics
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from kernels.records import Failure, Submission
from toolchains.base import Cancellation, Session
from toolchains.children.pool import Pool
from toolchains.children.session import ChildSession, open_session

SPIN = """
import time
import numpy as np
def compress(data, abs_bound):
    end = time.perf_counter() + abs_bound
    while time.perf_counter() < end:
        pass
    return np.zeros(1000, np.uint8)
"""


def differences(session: Session, seconds: float, repeats: int) -> list[float]:
    """Server's time minus child's, in seconds, of undisturbed requests."""
    data = np.zeros(100_000, np.float32)
    found = []
    for _ in track(range(repeats), f"{seconds * 1e3:g} ms", console=Console(stderr=True)):
        reply = session.call("compress", ((data, seconds),), capacity=(1 << 20,), deadline_s=20)
        if isinstance(reply, Failure):
            raise SystemExit(reply.message)
        found.append(reply.seconds - reply.child_seconds)
    return found[5:]


def main(repeats: Annotated[int, typer.Option(help="Requests per row.")] = 205) -> None:
    """Print the table."""
    pool = Pool(0, 4 << 30)
    submission = Submission("sz-open", "numba", {"kernel.py": SPIN})
    table = Table("kernel", "p50 µs", "p90 µs", "p99 µs", "p50 share")
    for seconds in (0.0002, 0.001, 0.005, 0.02):
        # A kernel's time per byte is learnt per child: one each.
        session = open_session(pool, submission, ("compress",), Cancellation())
        if not isinstance(session, ChildSession):
            raise SystemExit(session.message)
        with session.apart():
            found = sorted(differences(session, seconds, repeats))
        session.close()
        cuts = statistics.quantiles(found, n=100)
        p50, p90, p99 = cuts[49], cuts[89], cuts[98]
        cells = (f"{seconds * 1e3:g} ms", *(f"{p * 1e6:.0f}" for p in (p50, p90, p99)))
        table.add_row(*cells, f"{p50 / seconds:.1%}")
    Console().print(table)
    pool.close()


if __name__ == "__main__":
    typer.run(main)
