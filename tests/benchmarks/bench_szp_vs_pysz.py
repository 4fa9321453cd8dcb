"""The worked `szp` (or `sz-open`) kernels against pysz's Lorenzo, in one process, on one thread.

    python -m tests.benchmarks.bench_szp_vs_pysz [--field NAME]… [--bound REL]… [--repeats N]

Repetitions are interleaved, so that a slow moment of the machine hits both alike. Times are of the
calls alone, on warm code; the bound is checked exactly on what each of them decoded.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer
from pysz import sz, szAlgorithm, szConfig, szErrorBoundMode
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

from kernels import bounds, fields
from kernels.records import Array
from kernels.verify import compare
from tests.kernels.submissions import loaded

Stream = npt.NDArray[np.uint8]


@dataclass
class Codec:
    """Two functions and what was measured of them."""

    name: str
    compress: Callable[[Array, float], Stream]
    decompress: Callable[[Stream, Array], Array]
    stream_bytes: int = 0
    worst: float = 0.0
    """Largest error over the bound."""
    compress_s: list[float] = field(default_factory=list)
    decompress_s: list[float] = field(default_factory=list)

    def repeat(self, data: Array, bound: float, *, timed: bool) -> None:
        """Once both ways; the bound is checked in the first, untimed repetition."""
        private = data.copy()
        start = time.perf_counter()
        stream = self.compress(private, bound)
        packed = time.perf_counter()
        decoded = self.decompress(stream, data)
        end = time.perf_counter()
        if timed:
            self.compress_s.append(packed - start)
            self.decompress_s.append(end - packed)
            return
        comparison = compare(data, decoded, bound)
        self.stream_bytes = stream.size
        self.worst = comparison.max_abs_error / bound if bound else 0.0
        if not comparison.holds:
            raise SystemExit(f"{self.name} breaks the bound {bound}: {comparison}")


def _submission(task: str, style: str) -> Codec:
    with loaded(task, style) as kernel:
        compress, restore = kernel.compress, kernel.decompress

    def decompress(stream: Stream, like: Array) -> Array:
        result: Array = restore(stream, like.shape, like.dtype)
        return result

    return Codec(f"{task} {style}", compress, decompress)


def _pysz(algorithm: Any) -> Codec:
    def compress(data: Array, bound: float) -> Stream:
        config = szConfig()
        config.errorBoundMode = szErrorBoundMode.ABS
        config.absErrorBound = bound
        config.cmprAlgo = algorithm
        config.openmp = False
        stream: Stream = sz.compress(data, config)[0]
        return stream

    def decompress(stream: Stream, like: Array) -> Array:
        result: Array = sz.decompress(stream, like.dtype, like.shape)[0]
        return result

    return Codec("pysz Lorenzo", compress, decompress)


def _measure(data: Array, bound: float, codecs: list[Codec], repeats: int, title: str) -> None:
    for repetition in track(range(-1, repeats), description=title, transient=True):
        for codec in codecs:
            codec.repeat(data, bound, timed=repetition >= 0)


def _cells(codec: Codec, data: Array, peer: Codec) -> list[str]:
    cells = [codec.name, f"{data.nbytes / codec.stream_bytes:.2f}", f"{codec.worst:.5f}"]
    for seconds, peer_seconds in (
        (codec.compress_s, peer.compress_s),
        (codec.decompress_s, peer.decompress_s),
    ):
        median, peer_median = statistics.median(seconds), statistics.median(peer_seconds)
        cells += [
            f"{data.nbytes / median / 1e9:.2f}",
            f"{data.nbytes / min(seconds) / 1e9:.2f}",
            f"{peer_median / median:.1f}×",
        ]
    return cells


def main(
    field_names: Annotated[list[str] | None, typer.Option("--field")] = None,
    rel_bounds: Annotated[list[float] | None, typer.Option("--bound")] = None,
    task: Annotated[str, typer.Option(help="szp or sz-open")] = "szp",
    style: Annotated[list[str] | None, typer.Option()] = None,
    repeats: Annotated[int, typer.Option(min=1)] = 7,
) -> None:
    """Print one table: speeds in GB/s of original data, × against pysz in the same run."""
    table = Table(
        title=f"{task} against pysz, one thread, {repeats} interleaved repetitions",
        caption="C compress, D decompress; GB/s of original data, median and best; × of medians",
        box=SIMPLE,
    )
    for heading in ("field", "rel", "codec", "ratio", "error/bound"):
        table.add_column(heading, no_wrap=True)
    for heading in ("C GB/s", "best", "C ×", "D GB/s", "best", "D ×"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in field_names or ["synthetic-256"]:
        known = fields.load(name)
        for rel in rel_bounds or [1e-3]:
            bound = bounds.derive(known.data, known.info.fill_value, "rel", rel).absolute
            peer = _pysz(szAlgorithm.LORENZO_REG)
            codecs = [*(_submission(task, s) for s in style or ["tuned"]), peer]
            _measure(known.data, bound, codecs, repeats, f"{name} {rel:g}")
            for codec in codecs:
                table.add_row(name, f"{rel:g}", *_cells(codec, known.data, peer))
    console = Console()
    console.width = max(console.width, 120)
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
