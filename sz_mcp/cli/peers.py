"""`sz-mcp compare`: our compressors and those of others side by side on any field."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from kernels.bounds import BoundError
from kernels.fields import Catalogue, FieldDataError, FieldFileError, UnknownFieldError
from kernels.fields.files import Ask
from kernels.fields.intake import Wish as FileWish
from kernels.fields.intake import add
from kernels.fields.registry import Registry
from kernels.records import Field
from kernels.suite import core_suite
from sz_mcp.cli.screen import screen
from sz_mcp.errors import StepFailed
from sz_mcp.peers.codecs import Codec, table, usual
from sz_mcp.peers.measure import CLOCK, Row, Sides, Subject, Tell, sides, subject_of
from sz_mcp.peers.report import plain, suite_table, troubles
from sz_mcp.peers.report import table as drawn
from sz_mcp.pipeline import SUITE
from sz_mcp.pipeline.room import SHARE, machine_bytes

_COPIES = 4
"""Memory that one compressor may take, in sizes of its field."""


@dataclass(frozen=True)
class Wish:
    """What is compared."""

    fields: Sequence[str]
    """Names, files, or `suite`."""
    mode: str
    bounds: Sequence[float]
    codecs: Sequence[str]
    """Empty: the usual ones."""
    repeats: int
    threads: int


def run(home: Path, wish: Wish, *, as_json: bool) -> None:
    """Measure and print.

    Raises:
        StepFailed: a name, a bound or the memory is not enough; the message says which.
    """
    codecs = _chosen(wish.codecs)
    console = screen()
    rows: list[Row] = []
    with sides(codecs, wish.threads) as bout, _watched() as tell:
        for name in wish.fields:
            made = list(_rows(bout, home, name, wish, tell))
            rows += made
            if not as_json:
                console.print(suite_table(made) if name == SUITE else drawn(made))
                for line in troubles(made):
                    console.print(line, style="dim", highlight=False, markup=False)
    if as_json:
        found = {"clock": CLOCK, "threads": wish.threads, "rows": [plain(row) for row in rows]}
        json.dump(found, sys.stdout, indent=1, allow_nan=False)
        sys.stdout.write("\n")
        return
    threads = "one thread" if wish.threads == 1 else f"ours with {wish.threads} threads"
    console.print(
        f"{threads}; speeds are medians and bests of {wish.repeats}: {CLOCK}", style="dim"
    )


def _chosen(names: Sequence[str]) -> tuple[Codec, ...]:
    """Raises StepFailed."""
    known = table()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise StepFailed(f"--codec {unknown[0]!r} is unknown: choose of {', '.join(known)}")
    return tuple(known[name] for name in dict.fromkeys(names or usual()))


def _rows(bout: Sides, home: Path, name: str, wish: Wish, tell: Tell) -> Iterator[Row]:
    """Raises StepFailed."""
    try:
        subjects = _suite(wish) if name == SUITE else _of_field(home, name, wish, bout)
    except (UnknownFieldError, FieldDataError, FieldFileError, BoundError) as error:
        raise StepFailed(f"{name}: {error}") from error
    repeats = 0 if name == SUITE else wish.repeats
    for subject in subjects:
        label = f"{subject.name} {subject.bound.mode} {subject.bound.value:g}"
        yield from bout.rows(subject, repeats, _labelled(tell, label))


def _labelled(tell: Tell, label: str) -> Tell:
    return lambda what: tell(f"{label}: {what}")


def _of_field(home: Path, name: str, wish: Wish, bout: Sides) -> list[Subject]:
    field = _loaded(home, name)
    need = field.data.nbytes * (2 + _COPIES * len(bout.workers))
    room = SHARE * machine_bytes()
    if need > room:
        raise StepFailed(
            f"{name} has {field.data.nbytes / 1e9:.2f} GB: {len(bout.workers)} compressors would "
            f"take up to {need / 1e9:.1f} of {room / 1e9:.1f} GB. Choose fewer with --codec"
        )
    fill = field.info.fill_value
    return [subject_of(name, field.data, fill, wish.mode, value) for value in wish.bounds]


def _loaded(home: Path, name: str) -> Field:
    """A field by its name, or the one in a file that describes itself."""
    catalogue = Catalogue(home)
    file = Path(name).expanduser()
    if catalogue.missing(name) is None or not file.exists():
        return catalogue.load(name)
    with tempfile.TemporaryDirectory() as folder:
        added = add(Registry(Path(folder)), file, FileWish(ask=Ask(), name="file"))
        return Catalogue(Path(folder)).load(added.entry.name)


def _suite(wish: Wish) -> list[Subject]:
    """Every case at the bounds that can be derived for it."""
    subjects = []
    for value in wish.bounds:
        for case in core_suite():
            try:
                made = subject_of(case.name, case.data, case.fill_value, wish.mode, value)
            except BoundError:
                continue
            subjects.append(made)
    return subjects


@contextmanager
def _watched() -> Iterator[Tell]:
    """A live line on stderr, where that is a terminal."""
    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(24),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("", total=None)
        yield lambda what: progress.update(task, description=what)
