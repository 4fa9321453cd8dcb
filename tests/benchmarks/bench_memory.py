"""`szp` and `szx` beside what memory can do, in one process: repeated calls, the best of each.

    python -m tests.benchmarks.bench_memory [--field NAME]… [--repeats N] [--seconds S]

First, on one thread and by its processor time, speeds of both with a copy and a fill of as many
bytes: no decoder is faster than a fill. `bench_codecs` has the same codecs beside others, where
each call finds the caches full of what other processes did.

Then a second thread, by the wall clock. A repetition counts if it was quiet: no thread of this
process was preempted, and no other process could have run, before or after. Without enough of
those it says so. A copy, shared by two threads in the same way, shows what memory gives.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pytest
import typer

from kernels.records import Array
from sz_mcp.peers.measure import subject_of
from tests.benchmarks.bench_codecs import BOUNDS, FIELDS, Clock, input_of
from tests.kernels.tuned_codecs import Tuned, tuned_codecs

DIRECTIONS = ("compress", "decompress")
PAUSE_S = 0.004
"""Before each repetition on the wall clock, so that the scheduler owes these threads time."""
THREADED_BOUND = 1e-3
Call = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """A field at a bound, and what is called with it."""

    name: str
    data: Array
    bound: float
    streams: dict[str, npt.NDArray[np.uint8]]

    def call(self, codec: Tuned, direction: str) -> Call:
        """One call of a codec."""
        if direction == "compress":
            return partial(codec.kernel.compress, self.data, self.bound)
        shape, dtype = self.data.shape, self.data.dtype
        return partial(codec.kernel.decompress, self.streams[codec.name], shape, dtype)


@dataclass(frozen=True)
class Quiet:
    """Seconds of undisturbed repetitions, and how many there were in all."""

    seconds: Sequence[float]
    tried: int


def _case(name: str, data: Array, fill: float | None, bound: float) -> Case:
    absolute = subject_of(name, data, fill, "rel", bound).bound.absolute
    codecs = tuned_codecs().values()
    streams = {one.name: one.kernel.compress(data, absolute).copy() for one in codecs}
    return Case(name, data, absolute, streams)


def _best(calls: dict[tuple[str, str], Call], repeats: int) -> dict[tuple[str, str], float]:
    """Processor seconds of this thread; calls of a kind follow each other, kinds take turns."""
    best: dict[tuple[str, str], float] = {}
    for _ in range(repeats):
        for key, call in calls.items():
            for _ in range(4):
                start = time.thread_time()
                call()
                best[key] = min(best.get(key, np.inf), time.thread_time() - start)
    return best


def _alone(case: Case, label: str, repeats: int) -> None:
    target = np.zeros_like(case.data)
    calls: dict[tuple[str, str], Call] = {
        ("memory", "copy"): partial(np.copyto, target, case.data),
        ("memory", "fill"): partial(target.fill, 1.0),
    }
    for codec in tuned_codecs().values():
        for direction in DIRECTIONS:
            calls[codec.name, direction] = case.call(codec, direction)
    best = _best(calls, repeats)
    speeds = {key: case.data.nbytes / 1e9 / seconds for key, seconds in best.items()}
    gains = [speeds["szx", one] / speeds["szp", one] for one in DIRECTIONS]
    cells = [f"{speeds[key]:.1f}" for key in calls]
    _row([label, *cells, *(f"{gain:.2f}" for gain in gains)])


def _row(cells: Sequence[str]) -> None:
    typer.echo("| " + " | ".join(cells) + " |")


def _runnable() -> int:
    """Processes that run or could, this one counted."""
    return int(Path("/proc/loadavg").read_text("ascii").split()[3].split("/")[0])


def _preempted() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def _measured(case: Call, kept: list[float]) -> None:
    """Call twice, the second time by the clock; kept if nothing came between."""
    time.sleep(PAUSE_S)
    case()
    before, alone = _preempted(), _runnable() <= 1
    start = time.perf_counter()
    case()
    seconds = time.perf_counter() - start
    # The helper may not sleep yet.
    if alone and _runnable() <= 2 and _preempted() == before:
        kept.append(seconds)


@contextmanager
def _copies(data: Array) -> Iterator[Callable[[int], Call]]:
    """A copy of the data in so many threads."""
    source, target = data.reshape(-1), np.zeros(data.size, data.dtype)
    middle = data.size // 2
    with ThreadPoolExecutor(1) as pool:

        def halves() -> None:
            other = pool.submit(np.copyto, target[middle:], source[middle:])
            np.copyto(target[:middle], source[:middle])
            other.result()

        yield lambda threads: halves if threads > 1 else partial(np.copyto, target, source)


def _shared(cases: Sequence[Case], seconds: float) -> dict[Any, Quiet]:
    """By field, codec, direction and threads."""
    kept: dict[Any, list[float]] = defaultdict(list)
    tried: dict[Any, int] = defaultdict(int)
    until = time.monotonic() + seconds * len(cases)
    while time.monotonic() < until:
        for case in cases:
            with _copies(case.data) as copies:
                for threads in (1, 2):
                    key = case.name, "copy", "", threads
                    tried[key] += 1
                    _measured(copies(threads), kept[key])
            for codec in tuned_codecs().values():
                for direction in DIRECTIONS:
                    for threads in (1, 2):
                        key = case.name, codec.name, direction, threads
                        tried[key] += 1
                        with _team(codec, threads):
                            _measured(case.call(codec, direction), kept[key])
    return {key: Quiet(sorted(found), tried[key]) for key, found in kept.items()}


@contextmanager
def _team(codec: Tuned, threads: int) -> Iterator[None]:
    """So many threads, and the kernel's own choice of slabs for them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec.kernel.team, "size", lambda: threads)
        yield


@contextmanager
def _one_thread() -> Iterator[None]:
    with ExitStack() as stack:
        for codec in tuned_codecs().values():
            stack.enter_context(_team(codec, 1))
        yield


def _gain(one: Quiet, two: Quiet) -> str:
    if not one.seconds or not two.seconds:
        return f"no quiet repetition of {one.tried}"
    best = one.seconds[0] / two.seconds[0]
    median = statistics.median(one.seconds) / statistics.median(two.seconds)
    counts = f"{len(one.seconds)} and {len(two.seconds)} of {one.tried}"
    return f"best {best:.2f}, median {median:.2f} ({counts})"


def main(
    field_names: Annotated[list[str] | None, typer.Option("--field")] = None,
    repeats: Annotated[int, typer.Option(min=1)] = 10,
    seconds: Annotated[float, typer.Option(help="For two threads, per field; 0: none.")] = 20.0,
) -> None:
    """Print the tables."""
    inputs = [input_of(name, Clock.CPU) for name in field_names or FIELDS]
    columns = ["field, REL", "copy", "fill"]
    columns += [f"{codec} {one}" for codec in tuned_codecs() for one in DIRECTIONS]
    columns += ["szx / szp compress", "decompress"]
    typer.echo("GB/s of original data, best, processor time of one thread\n")
    _row(columns)
    _row(["---"] * len(columns))
    threaded = []
    for one in inputs:
        for bound in BOUNDS:
            with _one_thread():
                case = _case(one.name, one.data, one.fill_value, bound)
                _alone(case, f"{one.name} {bound:g}", repeats)
            if bound == THREADED_BOUND:
                threaded.append(case)
    if seconds > 0:
        typer.echo(
            f"\ntwo threads against one, REL {THREADED_BOUND:g}, wall clock, quiet moments\n"
        )
        found = _shared(threaded, seconds)
        for name, what, direction, threads in found:
            if threads == 1:
                ends = (found[name, what, direction, count] for count in (1, 2))
                typer.echo(f"{name}, {what} {direction}: {_gain(*ends)}")


if __name__ == "__main__":
    typer.run(main)
