"""What `sz-mcp fields` does: tables and JSON out, progress on stderr, files in a home."""

from __future__ import annotations

import errno
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from kernels.fields import (
    Catalogue,
    FetchError,
    FieldDataError,
    FieldFileError,
    FieldNameError,
    UnknownFieldError,
    shipped,
    synthetic,
)
from kernels.fields.arrays import Scan, scan
from kernels.fields.deliveries import LocalCopy, Package
from kernels.fields.dims import dims_text
from kernels.fields.entries import Entry
from kernels.fields.files import Ask
from kernels.fields.intake import Added, Phase, Wish
from kernels.fields.intake import add as add_file
from kernels.fields.registry import Registry
from kernels.fields.sdrbench import DataSet, Library, Order
from kernels.fields.sdrbench import fetch as fetch_set
from kernels.records import FieldInfo
from sz_mcp.cli.field_picture import draw_field
from sz_mcp.errors import StepFailed

_PLAIN_WIDTH = 160
"""Columns where the output is no terminal and has no width of its own."""

_CAUSES = (
    FetchError,
    FieldDataError,
    FieldFileError,
    FieldNameError,
    UnknownFieldError,
)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_WRITING = (errno.EROFS, errno.EACCES, errno.EPERM)


def show_list(home: Path, *, as_json: bool) -> None:
    """Print every field, as its operator knows it."""
    registry = Registry(home)
    with _told():
        rows = [_row(shipped.info(name), "shipped") for name in shipped.names()]
        ready = (synthetic.info(synthetic.parse(name)) for name in synthetic.READY)
        rows += [_row(info, "computed") for info in ready]
        rows += [_row_of_entry(entry) for entry in registry.entries()]
        for problem in registry.problems():
            sys.stderr.write(f"sz-mcp: {problem}\n")
    if as_json:
        json.dump(rows, sys.stdout, indent=1)
        sys.stdout.write("\n")
        return
    table = _table("name", "shape", "dtype", "MB >", "fill >", "visibility", "source")
    for row in rows:
        table.add_row(
            row["name"],
            dims_text(tuple(row["shape"])),
            row["dtype"],
            f"{row['bytes'] / 1e6:.1f}",
            row["fill"] or "",
            row["visibility"] + (f" as {row['alias']}" if row["alias"] else ""),
            row["source"],
        )
    console = _console()
    console.print(table)
    console.print(
        f"Any other {synthetic.GRAMMAR}.",
        style="dim",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def add(home: Path, file: Path, asked: Mapping[str, Any], wished: Mapping[str, Any]) -> None:
    """Register a file.

    Raises:
        StepFailed: it can't be registered; the message says why and what to do.
    """
    with _told(), _watched() as phase:
        added = add_file(Registry(home), file, Wish(ask=Ask(**asked), **wished), phase)
    _report(added)


def remove(home: Path, name: str) -> None:
    """Forget a field. Raises StepFailed."""
    with _told():
        entry = Registry(home).remove(name)
    kept = "" if entry.owned else f"; {entry.path} stays"
    sys.stdout.write(f"removed {entry.name}{kept}\n")


def hide(home: Path, name: str, *, hidden: bool) -> None:
    """Hide a field from agents, or show it to them. Raises StepFailed."""
    with _told():
        entry = Registry(home).hide(name, hidden=hidden)
    if hidden:
        sys.stdout.write(
            f"{entry.name} is hidden; records call it {entry.alias}. Records made before keep its "
            "name, and a server that runs notices now\n"
        )
    else:
        sys.stdout.write(f"{entry.name} may be used by agents, under that name\n")


def show(home: Path, name: str, picture: Path | None) -> None:
    """Print what is known of a field and what its values are. Raises StepFailed."""
    catalogue = Catalogue(home)
    with _told(), _watched() as phase:
        field = catalogue.load(name)
        found = scan(field.data, field.info.fill_value, phase("looking through"))
        if picture is not None:
            picture.write_bytes(draw_field(field))
    registry = catalogue.registry
    entry = registry.find(name) if registry is not None else None
    facts = {**_facts(field.info, entry), **_statistics(found, field.data.size)}
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for what, value in facts.items():
        if value:
            table.add_row(what, value)
    _console().print(table)


def list_sets(what: str | None) -> None:
    """Print the data sets, or the arrays of one. Raises StepFailed."""
    with _told():
        sets = Package().sets()
        if what is not None:
            wanted = [one for one in sets if what in (one.name, one.label)]
            if not wanted:
                names = ", ".join(dict.fromkeys(one.name for one in sets))
                raise FetchError(f"no data set {what!r}: choose one of {names}")
            _console().print(_arrays_table(wanted))
            return
    table = _table("set", "arrays >", "shape", "GB >", "archive GB >", "licence")
    for one in sets:
        shapes = dict.fromkeys(dims_text(array.shape) for array in one.arrays)
        shown = ", ".join([*shapes][:2]) + (", …" if len(shapes) > 2 else "")
        size = sum({array.path: array.size for array in one.arrays}.values())
        table.add_row(
            one.label,
            str(len(one.arrays)),
            shown,
            f"{size / 1e9:.2f}",
            f"{one.archive_bytes / 1e9:.2f}",
            one.licence if one.is_default else "",
        )
    _console().print(table)


def fetch(home: Path, order: Mapping[str, Any], copy: Path | None) -> None:
    """Fetch and register arrays of a data set. Raises StepFailed."""
    package = Package()
    library: Library = package if copy is None else LocalCopy(package, copy.expanduser())
    count = 0
    with _told(), _watched() as phase:
        for outcome in fetch_set(Registry(home), library, Order(**order), phase):
            if outcome.added is None:
                sys.stdout.write(f"{outcome.name} is left out: {outcome.skipped}\n")
            else:
                count += 1
                _report(outcome.added)
    sys.stdout.write(f"{count} fields registered\n")


def _row(info: FieldInfo, visibility: str) -> dict[str, Any]:
    itemsize = 8 if info.dtype == "float64" else 4
    return {
        "name": info.name,
        "shape": list(info.shape),
        "dtype": info.dtype,
        "bytes": math.prod(info.shape) * itemsize,
        "fill": None if info.fill_value is None else f"{info.fill_value:g}",
        "visibility": visibility,
        "alias": None,
        "source": info.source,
        "path": None,
    }


def _row_of_entry(entry: Entry) -> dict[str, Any]:
    itemsize = 8 if entry.dtype == "float64" else 4
    return {
        "name": entry.name,
        "shape": list(entry.shape),
        "dtype": entry.dtype,
        "bytes": math.prod(entry.shape) * itemsize,
        "fill": f"{float(entry.fill):g}" if entry.fill else None,
        "visibility": "hidden" if entry.hidden else "public",
        "alias": entry.alias if entry.hidden else None,
        "source": entry.source,
        "path": entry.path,
    }


def _facts(info: FieldInfo, entry: Entry | None) -> dict[str, str]:
    fill = "" if info.fill_value is None else repr(info.fill_value)
    common = {"shape": dims_text(info.shape), "dtype": info.dtype, "fill value": fill}
    if entry is None:
        own = {"name": info.name, "source": info.source, "licence": info.licence}
        return {
            **own,
            **common,
            "unit": info.unit,
            "character": info.character,
            "sha256": info.sha256,
        }
    return {
        "name": entry.name,
        "visibility": f"hidden, recorded as {entry.alias}" if entry.hidden else "public",
        "file": entry.path,
        "source": entry.source,
        "licence": entry.licence,
        **common,
        "unit": entry.unit,
        "character": entry.character,
        "sha256": entry.sha256,
    }


def _statistics(found: Scan, count: int) -> dict[str, str]:
    facts = {
        "values": f"{count:,}",
        "finite": f"{100 * (count - found.not_finite) / count:.4g}%",
        "fill": f"{found.filled:,} values" if found.filled else "",
    }
    if found.minimum is None or found.maximum is None:
        return {**facts, "minimum": "no value counts for the range"}
    return {
        **facts,
        "minimum": repr(found.minimum),
        "maximum": repr(found.maximum),
        "range": _range_text(found.maximum - found.minimum),
    }


def _range_text(width: float) -> str:
    return f"{width:.6g}" if math.isfinite(width) else "larger than any float64"


def _arrays_table(sets: Iterable[DataSet]) -> Table:
    table = _table("fetch", "dtype", "shape", "file MB >")
    for one in sets:
        for array in one.arrays:
            table.add_row(
                f"{one.label}/{array.name}",
                array.dtype,
                dims_text(array.shape),
                f"{array.size / 1e6:.1f}",
            )
    return table


def _report(added: Added) -> None:
    entry, found = added.entry, added.scan
    shape = dims_text(entry.shape)
    sys.stdout.write(f"added {entry.name}: {shape} {entry.dtype}, sha256 {entry.sha256[:12]}…")
    if found.minimum is not None and found.maximum is not None:
        sys.stdout.write(f", {found.minimum:g} to {found.maximum:g}")
    if found.filled:
        sys.stdout.write(f", {found.filled:,} values are the fill value {float(entry.fill):g}")
    sys.stdout.write(f"; hidden, recorded as {entry.alias}\n" if entry.hidden else "\n")
    for note in added.notes:
        sys.stdout.write(f"note: {note}\n")


@contextmanager
def _told() -> Iterator[None]:
    """Causes that a user can do something about become the command's one message."""
    try:
        yield
    except _CAUSES as error:
        raise StepFailed(str(error)) from error
    except OSError as error:
        raise StepFailed(_trouble(error)) from error


def _trouble(error: OSError) -> str:
    """What the operating system refused, where, and what to do."""
    place = f"{error.filename}: " if error.filename else ""
    what = f"{place}{error.strerror or error}"
    if error.errno in _NO_ROOM:
        return f"{what}. Make room, or use another home (--home)"
    if error.errno in _NO_WRITING:
        return f"{what}. Allow it, or use another home (--home)"
    return what


@contextmanager
def _watched() -> Iterator[Phase]:
    """Phases as bars on stderr, where that is a terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bars:

        def phase(what: str) -> Any:
            bar = bars.add_task(what, total=None)
            return lambda done, total: bars.update(bar, completed=done, total=total)

        yield phase


def _table(*columns: str) -> Table:
    """A column whose title ends in > is aligned to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        title = column.removesuffix(" >")
        table.add_column(title, justify="left" if title == column else "right", overflow="fold")
    return table


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=_PLAIN_WIDTH)
