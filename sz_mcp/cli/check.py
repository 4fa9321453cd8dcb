"""`sz-mcp check ORIGINAL DECODED`: whether two files of any compressor keep a bound, exactly.

Raw files and .npy are mapped, never read whole. The exit code says it: 0 holds, 1 violated, 2 can't
be checked.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from kernels.bounds import BoundError, derive
from kernels.fields.arrays import bytes_text, is_file, mapped, mapped_npy
from kernels.fields.dims import dims_text, parse_dims
from kernels.fields.errors import FieldFileError, reading, reason
from kernels.metrics import measure
from kernels.records import Array, Comparison, Metric, Point
from kernels.verify import compare, compare_pointwise
from sz_mcp.cli.screen import screen

HOLDS, VIOLATED, UNCHECKED = 0, 1, 2
_SUFFIXES = {".f32": "float32", ".f64": "float64", ".d64": "float64"}
_PACKED = (".npz", ".nc", ".h5", ".hdf5", ".zip", ".gz", ".zst")
_SHORT = {"f": "float", "i": "int", "u": "uint"}
_KINDS = (
    "float32",
    "float64",
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
)


@dataclass(frozen=True)
class Wish:
    """What is asked of two files."""

    original: Path
    decoded: Path
    mode: str
    """abs | rel | pw_rel"""
    bound: float
    dims: str | None = None
    dtype: str | None = None
    endian: str = "little"
    """Of raw files."""
    fill: float | None = None
    threads: int | None = None
    """All cores, if None."""
    metrics: bool = False


@dataclass(frozen=True)
class Checked:
    """What came of it."""

    original: Array
    asked: float
    abs_bound: float | None
    """None where every element has its own (pw_rel)."""
    comparison: Comparison
    metrics: tuple[Metric, ...]


class _CannotCheckError(Exception):
    """The message is for the user."""


def run(wish: Wish, *, as_json: bool) -> int:
    """Check and print; the exit code."""
    try:
        checked = _check(wish)
    except (_CannotCheckError, FieldFileError, BoundError) as error:
        sys.stderr.write(f"sz-mcp: {error}\n")
        return UNCHECKED
    if as_json:
        json.dump(_plain(wish, checked), sys.stdout, indent=1, allow_nan=False)
        sys.stdout.write("\n")
    else:
        _show(wish, checked)
    return HOLDS if checked.comparison.holds else VIOLATED


def _check(wish: Wish) -> Checked:
    original = _opened(wish.original, wish, None)
    decoded = _opened(wish.decoded, wish, original)
    names = [array.dtype.newbyteorder("=").name for array in (original, decoded)]
    if original.shape != decoded.shape or names[0] != names[1]:
        raise _CannotCheckError(
            f"{wish.decoded.name} holds {names[1]} {dims_text(decoded.shape)}, "
            f"{wish.original.name} {names[0]} {dims_text(original.shape)}: they can't be compared"
            f"{_way_out(original, decoded, wish)}"
        )
    threads = wish.threads or len(os.sched_getaffinity(0))
    if wish.mode == "pw_rel":
        if original.dtype.kind != "f":
            raise _CannotCheckError(
                f"{names[0]} data has no pointwise relative bound: use --mode abs"
            )
        abs_bound = None
    else:
        abs_bound = _abs_bound(original, wish)
    with _progress(original.size) as told:
        if abs_bound is None:
            found = compare_pointwise(original, decoded, _number(wish), wish.fill, threads, told)
        else:
            found = compare(original, decoded, abs_bound, wish.fill, threads, told)
    metrics: tuple[Metric, ...] = ()
    if wish.metrics:
        with Console(stderr=True).status("error metrics"):
            spanned = abs_bound or 0.0
            metrics = measure(original, decoded, spanned, wish.fill, threads=threads).listed()
    return Checked(original, wish.bound, abs_bound, found, metrics)


def _way_out(original: Array, decoded: Array, wish: Wish) -> str:
    """What to do if only the shape of a raw original is missing."""
    raw = wish.original.suffix.lower() != ".npy" and wish.dims is None
    if not raw or original.size != decoded.size or original.ndim == decoded.ndim:
        return ""
    return f"; if they are of one shape: --dims {dims_text(decoded.shape)}"


def _number(wish: Wish) -> float:
    if not (math.isfinite(wish.bound) and wish.bound >= 0):
        raise _CannotCheckError(
            f"bound {wish.bound!r}: it must be finite and at least 0, such as 1e-3"
        )
    return wish.bound


def _abs_bound(original: Array, wish: Wish) -> float:
    """As asked, or times the range; 0 asks for equality, as bool data does. Raises BoundError."""
    if _number(wish) == 0 or original.dtype.kind == "b":
        return 0.0
    return derive(original, wish.fill, wish.mode, wish.bound).absolute


def _opened(path: Path, wish: Wish, like: Array | None) -> Array:
    """The array in a file, mapped; a raw file that says no shape or type is as `like` is."""
    try:
        if not is_file(path):
            raise _CannotCheckError(f"{path} is no file that can be mapped")
        size = path.stat().st_size
    except OSError as error:
        raise _CannotCheckError(f"{path} can't be opened: {reason(error)}") from error
    if size == 0:
        raise _CannotCheckError(f"{path.name} is empty")
    if path.suffix.lower() in _PACKED:
        raise _CannotCheckError(
            f"{path.name} holds arrays packed in a file of its own kind, which can't be mapped: "
            "write the array as .npy, or raw as .f32"
        )
    if path.suffix.lower() == ".npy":
        with reading(path.name, ".npy"):
            data: Array = np.asarray(mapped_npy(path))
        return _known(data, path)
    dtype = _dtype(path, wish, like)
    count, rest = divmod(size, dtype.itemsize)
    if rest:
        raise _CannotCheckError(
            f"{path.name} has {size:,} bytes, no whole number of {dtype.name} values "
            f"({dtype.itemsize} bytes each): it is cut short, or of another type: see --dtype"
        )
    shape = _shape(wish, like, count)
    if math.prod(shape) != count:
        raise _CannotCheckError(
            f"{path.name} has {count:,} {dtype.name} values, not the {math.prod(shape):,} of "
            f"{dims_text(shape)}"
        )
    return mapped(path, shape, dtype.newbyteorder(">" if wish.endian == "big" else "<"), 0)


def _known(data: Array, path: Path) -> Array:
    if data.dtype.newbyteorder("=").name not in (*_KINDS, "bool"):
        raise _CannotCheckError(f"{path.name} holds {data.dtype}: {', '.join(_KINDS)} are checked")
    return data


def _dtype(path: Path, wish: Wish, like: Array | None) -> np.dtype[Any]:
    said, asked = _SUFFIXES.get(path.suffix.lower()), wish.dtype
    if asked is not None and asked[:1] in _SHORT and asked[1:].isdigit():
        bits = int(asked[1:])
        asked = f"{_SHORT[asked[0]]}{bits}"
    if asked is not None and asked not in _KINDS:
        raise _CannotCheckError(f"--dtype {wish.dtype}: choose one of f32, f64, i8 … i64, u8 … u64")
    if said and asked and said != asked:
        raise _CannotCheckError(
            f"{path.name} is {said} by its suffix, --dtype says {asked}: drop --dtype"
        )
    name = asked or said or (like.dtype.newbyteorder("=").name if like is not None else None)
    if name is None:
        raise _CannotCheckError(f"{path.name} says no data type: give --dtype, such as f32")
    return np.dtype(name)


def _shape(wish: Wish, like: Array | None, count: int) -> tuple[int, ...]:
    if wish.dims is not None:
        try:
            return parse_dims(wish.dims)
        except ValueError as error:
            raise _CannotCheckError(str(error)) from error
    return like.shape if like is not None and like.size == count else (count,)


@contextmanager
def _progress(size: int) -> Iterator[Any]:
    """A bar on a terminal."""
    columns = TextColumn("checking"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("checking", total=size)
        yield lambda done, _total: bar.update(task, completed=done)


def _over(comparison: Comparison) -> float:
    """The largest error over its bound."""
    error, bound = comparison.max_abs_error, comparison.abs_bound
    if bound > 0:
        return error / bound
    return 0.0 if error == 0 else math.inf


def _show(wish: Wish, checked: Checked) -> None:
    found, data, console = checked.comparison, checked.original, screen()
    name = data.dtype.newbyteorder("=").name
    table = Table(box=SIMPLE, show_header=False)
    table.add_row("files", escape(f"{wish.original.name} → {wish.decoded.name}"))
    table.add_row("data", f"{name} {dims_text(data.shape)}, {bytes_text(data.nbytes)} each")
    table.add_row("bound", f"{wish.mode} {checked.asked!r}{_derived(wish, checked)}")
    table.add_row("checked", f"{found.checked:,} values, every one")
    table.add_row("violations", f"{found.violations:,}")
    table.add_row("largest error", _largest(wish, checked))
    if found.zero_signs_changed:
        table.add_row("zeros", f"{found.zero_signs_changed:,} came back with the other sign")
    for title, point in (("first violation", found.first), ("worst", found.worst)):
        if point is not None:
            table.add_row(title, _placed(point))
    for metric in checked.metrics:
        table.add_row(escape(metric.name), f"{metric.value:.10g} {metric.unit}".rstrip())
    console.print(table)
    verdict = "[bold green]the bound holds" if found.holds else "[bold red]the bound is violated"
    console.print(verdict)


def _derived(wish: Wish, checked: Checked) -> str:
    """The absolute bound, where it is not what was asked."""
    if checked.original.dtype.kind == "b":
        return ": bool values have to come back equal"
    if wish.mode == "rel":
        return f" × range {checked.comparison.value_range!r} = {checked.abs_bound!r}"
    return " of each value's magnitude, of the same sign" if wish.mode == "pw_rel" else ""


def _largest(wish: Wish, checked: Checked) -> str:
    over = _over(checked.comparison)
    times = f", {over:.6g} × the bound" if math.isfinite(over) else ""
    which = " (largest of its bound)" if wish.mode == "pw_rel" else ""
    return f"{checked.comparison.max_abs_error!r}{times}{which}"


def _placed(point: Point) -> str:
    """Where an element is, and what became of it."""
    index = ", ".join(map(str, point.index))
    return (
        f"[{index}], flat {point.flat:,}: {point.original} came back as {point.decoded}, "
        f"error {point.error}"
    )


def _plain(wish: Wish, checked: Checked) -> dict[str, Any]:
    """JSON values: numbers that JSON has none for are null; elements as text, which has them."""
    found = checked.comparison
    return {
        "holds": found.holds,
        "original": str(wish.original),
        "decoded": str(wish.decoded),
        "shape": list(checked.original.shape),
        "dtype": checked.original.dtype.newbyteorder("=").name,
        "mode": wish.mode,
        "bound": checked.asked,
        "abs_bound": checked.abs_bound,
        "checked": found.checked,
        "violations": found.violations,
        "max_abs_error": _finite(found.max_abs_error),
        "error_over_bound": _finite(_over(found)),
        "zero_signs_changed": found.zero_signs_changed,
        "value_range": _finite(found.value_range),
        "first": None if found.first is None else asdict(found.first),
        "worst": None if found.worst is None else asdict(found.worst),
        "metrics": {metric.name: metric.value for metric in checked.metrics},
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
