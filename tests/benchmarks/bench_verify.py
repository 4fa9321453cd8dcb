"""The bound check: speed per core and by threads, beside a copy, and memory on mapped files.

    python -m tests.benchmarks.bench_verify [--millions N] [--repeats N] [--folder DIR --file-gb N]

GB/s count the original's bytes; times of one thread are its CPU time, others wall time. With
--folder, two float32 files of --file-gb each are written there, checked by a child process from a
cold and a warm page cache, and removed; the child's memory is its anonymous pages, as the kernel
counts them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

from kernels.records import Array
from kernels.verify import compare, compare_pointwise

_CHILD = """
import sys, time
import numpy as np
from kernels.verify import compare

def anonymous():
    with open("/proc/self/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return int(lines["RssAnon"].split()[0]) * 1024, int(lines["RssFile"].split()[0]) * 1024

small = np.zeros(4096, np.float32)
compare(small, small.copy(), 1e-3, threads=int(sys.argv[3]))
x, y = (np.memmap(path, np.float32, "r") for path in sys.argv[1:3])
before, peaks = anonymous()[0], [0, 0]

def progress(done, total):
    now = anonymous()
    peaks[0], peaks[1] = max(peaks[0], now[0] - before), max(peaks[1], now[1])

start, busy = time.perf_counter(), time.process_time()
found = compare(x, y, 1e-3, threads=int(sys.argv[3]), progress=progress)
spent = time.perf_counter() - start, time.process_time() - busy
print(found.checked, found.violations, *spent, *peaks)
"""


def pairs(count: int) -> list[tuple[str, Callable[[int], object], int]]:
    """Name, the check with so many threads, and the original's bytes."""
    rng = np.random.default_rng(0)
    x = np.exp(rng.standard_normal(count, np.float32))
    noise = (rng.random(count, np.float32) - np.float32(0.5)) * np.float32(1.99e-3)
    y, z = x + noise, x * (1 + noise)
    holes, filled = x.copy(), y.copy()
    holes[::97] = filled[::97] = np.nan
    steps = np.round(x * 4) / 4
    whole = np.arange(count, dtype=np.int32)
    doubles = (x.astype(np.float64), y.astype(np.float64))
    big = (x.astype(">f4"), y.astype(">f4"))
    square = int(count**0.5)
    flat = slice(square * square)
    turned = x[flat].reshape(square, square).T, y[flat].reshape(square, square).T
    mixed = turned[0], np.ascontiguousarray(turned[1])

    def absolute(a: Array, b: Array, bound: float) -> tuple[Callable[[int], object], int]:
        return lambda threads: compare(a, b, bound, threads=threads), a.nbytes

    def pointwise(a: Array, b: Array) -> tuple[Callable[[int], object], int]:
        return lambda threads: compare_pointwise(a, b, 1e-3, threads=threads), a.nbytes

    return [
        ("float32", *absolute(x, y, 1e-3)),
        ("float64", *absolute(*doubles, 1e-3)),
        ("float32, every error a tie", *absolute(steps, steps + np.float32(0.125), 0.125)),
        ("float32, NaN in every block", *absolute(holes, filled, 1e-3)),
        ("float32, most violate", *absolute(x, y, 1e-4)),
        ("float32, big-endian", *absolute(*big, 1e-3)),
        ("float32, Fortran order", *absolute(*turned, 1e-3)),
        ("float32, Fortran and C order", *absolute(*mixed, 1e-3)),
        ("float32, pointwise", *pointwise(x, z)),
        ("float64, pointwise", *pointwise(x.astype(np.float64), z.astype(np.float64))),
        ("int32, equality", *absolute(whole, whole.copy(), 0.0)),
        ("int32, bound 2", *absolute(whole, whole + 1, 2.0)),
    ]


def best(work: Callable[[], object], clock: Callable[[], float], repeats: int) -> float:
    """Least time of one call, s."""
    work()
    spent = []
    for _ in range(repeats):
        start = clock()
        work()
        spent.append(clock() - start)
    return min(spent)


def speeds(count: int, repeats: int, cores: int) -> Table:
    """One row per kind of data."""
    table = Table(box=SIMPLE, title=f"{count / 1e6:.0f} million values in memory, GB/s")
    for name in ("data", "one core", f"{cores} threads, wall"):
        table.add_column(name, justify="left" if name == "data" else "right")
    source = np.zeros(count, np.float32)
    target = source.copy()
    copied = best(lambda: np.copyto(target, source), time.thread_time, repeats)
    table.add_row("copy of float32", f"{source.nbytes / copied / 1e9:.2f}", "")
    for name, check, nbytes in track(pairs(count), "in memory", console=Console(stderr=True)):
        alone = best(partial(check, 1), time.thread_time, repeats)
        many = best(partial(check, cores), time.perf_counter, repeats)
        table.add_row(name, f"{nbytes / alone / 1e9:.2f}", f"{nbytes / many / 1e9:.2f}")
    return table


def mapped(folder: Path, size: int, cores: int) -> Table:
    """Two files of `size` bytes, checked by a child."""
    table = Table(box=SIMPLE, title=f"two mapped files of {size / 1e9:.1f} GB")
    for name in ("cache", "threads", "GB/s", "GB per s of CPU", "anonymous MB", "file MB", "wrong"):
        table.add_column(name, justify="right")
    paths = folder / "original.f32", folder / "decoded.f32"
    try:
        write(paths, size // 4)
        for cache, threads in (("cold", 1), ("cold", cores), ("warm", 1), ("warm", cores)):
            if cache == "cold":
                for path in paths:
                    forget(path)
            command = [sys.executable, "-c", _CHILD, *map(str, paths), str(threads)]
            if cache == "cold" and threads == 1:
                seconds = plainly_read(paths)
                table.add_row("cold", "read only", f"{size / seconds / 1e9:.2f}")
                for path in paths:
                    forget(path)
            told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            checked, wrong, seconds, busy, anonymous, pages = map(float, told.split())
            table.add_row(
                cache,
                str(threads),
                f"{checked * 4 / seconds / 1e9:.2f}",
                f"{checked * 4 / busy / 1e9:.2f}",
                f"{anonymous / 1e6:.1f}",
                f"{pages / 1e6:.0f}",
                f"{wrong:.0f}",
            )
    finally:
        for path in paths:
            path.unlink(missing_ok=True)
    return table


def write(paths: tuple[Path, Path], count: int) -> None:
    """Noise, and the same within the bound but for the last value."""
    rng = np.random.default_rng(1)
    step = 1 << 24
    with paths[0].open("wb") as original, paths[1].open("wb") as decoded:
        for start in range(0, count, step):
            x = rng.standard_normal(min(step, count - start), np.float32)
            y = x + np.float32(5e-4)
            if start + step >= count:
                y[-1] += 1
            x.tofile(original)
            y.tofile(decoded)


def plainly_read(paths: tuple[Path, Path]) -> float:
    """Seconds that reading both takes, a MB of each in turn."""
    start = time.perf_counter()
    with paths[0].open("rb", 0) as original, paths[1].open("rb", 0) as decoded:
        while original.read(1 << 20) and decoded.read(1 << 20):
            pass
    return time.perf_counter() - start


def forget(path: Path) -> None:
    """Drop a file's pages from the cache."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


def main(
    millions: Annotated[float, typer.Option(help="Values in memory, in millions.")] = 16.8,
    repeats: Annotated[int, typer.Option(help="Repetitions; the best counts.")] = 7,
    folder: Annotated[Path | None, typer.Option(help="Where the mapped files go.")] = None,
    file_gb: Annotated[float, typer.Option(help="Size of each of them.")] = 4.0,
) -> None:
    """Print the tables."""
    cores = len(os.sched_getaffinity(0))
    Console().print(speeds(int(millions * 1e6), repeats, cores))
    if folder is not None:
        Console().print(mapped(folder, int(file_gb * 1e9), cores))


if __name__ == "__main__":
    typer.run(main)
