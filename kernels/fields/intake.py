"""How a user's file becomes a registered field.

File + what the user says → an array, mapped where it lies or stored as .npy → its sum → an entry.
"""

from __future__ import annotations

import math
import re
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from kernels.fields.arrays import (
    Layout,
    Progress,
    Scan,
    Source,
    bytes_text,
    quiet,
    scan,
    values_in,
    write_npy,
)
from kernels.fields.dims import has_value
from kernels.fields.entries import Entry, printable
from kernels.fields.errors import FieldFileError, FieldNameError, reading
from kernels.fields.files import RAW_SUFFIXES, Ask, Opened, opened
from kernels.fields.registry import Registry, new_alias, problem_of_name, taken

Phase = Callable[[str], Progress]
"""Told what begins now; gives who is told how far it is."""


@dataclass(frozen=True)
class Wish:
    """How a field is to be registered."""

    name: str | None = None
    ask: Ask = field(default_factory=Ask)
    fill: str | None = None
    """Text; what counts is the value of the field's data type that is nearest."""
    unit: str | None = None
    licence: str | None = None
    source: str | None = None
    hidden: bool = False


@dataclass(frozen=True)
class Added:
    """A registered field, and what its owner should know."""

    entry: Entry
    scan: Scan
    notes: tuple[str, ...]


def silent(_what: str) -> Progress:
    """Phases that nobody watches."""
    return quiet


def add(registry: Registry, file: Path, wish: Wish, phase: Phase = silent) -> Added:
    """Register a user's file. Nothing is left behind if it fails.

    Raises:
        FieldFileError: it can't be a field as asked.
        FieldNameError: the name can't be used.
        OSError: the home can't be written, or is full.
    """
    path = file.expanduser().absolute()
    if not path.exists():
        raise FieldFileError(f"no file {path}")
    with opened(path, wish.ask) as found:
        name = _name_of(path, found.variable) if wish.name is None else wish.name
        check_name(registry, name)
        fill, notes = _fill(wish.fill, found)
        place = path
        if not found.form:
            place = stored(registry, name, found.source, found.shape, phase)
        draft = Entry(
            name=name,
            path=str(place),
            form=found.form or "npy",
            shape=found.shape,
            dtype=found.source.dtype.name,
            sha256="",
            size=0,
            mtime_ns=0,
            fill="" if fill is None else repr(fill),
            unit=printable(found.unit if wish.unit is None else wish.unit),
            source=printable(wish.source or _source(path, found)),
            licence=printable(wish.licence or "not stated"),
            hidden=wish.hidden,
            alias=new_alias() if wish.hidden else "",
            owned=not found.form,
        )
    try:
        added = enrol(registry, draft, found.perhaps, phase)
    except BaseException:
        if draft.owned:
            place.unlink(missing_ok=True)
        raise
    return replace(added, notes=(*found.notes, *notes, *added.notes))


def enrol(
    registry: Registry, draft: Entry, perhaps: tuple[float, ...] = (), phase: Phase = silent
) -> Added:
    """Look through the values of a draft and register it.

    `perhaps`: fill values, should they occur. A sum in the draft must be the values'.

    Raises:
        FieldFileError: the values are not what they should be.
        FieldNameError: the name was taken meanwhile.
    """
    path = Path(draft.path)
    before = path.stat()
    layout = Layout(draft.shape, np.dtype(draft.dtype), draft.offset)
    with reading(path.name, draft.form):
        values, _ = values_in(path, draft.form, layout)
    found = scan(values, float(draft.fill) if draft.fill else None, phase("looking through"))
    guess = None if draft.fill else _occurring(perhaps, found, values.dtype)
    if guess is not None:
        draft = replace(draft, fill=repr(guess))
        found = scan(values, guess, phase("looking through, without fill"))
    after = path.stat()
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise FieldFileError(f"{path.name} changed while it was read: add it again")
    if draft.sha256 not in ("", found.sha256):
        raise FieldFileError(
            f"{path.name} has sha256 {found.sha256}, it should be {draft.sha256}: it is damaged or "
            "another file; download it again"
        )
    entry = replace(
        draft,
        sha256=found.sha256,
        size=after.st_size,
        mtime_ns=after.st_mtime_ns,
        character=draft.character or _character(draft, found, values.size),
    )
    return Added(registry.add(entry), found, _notes(entry, found))


def check_name(registry: Registry, name: str) -> None:
    """Raises FieldNameError if a field can't be added under this name."""
    problem = problem_of_name(name)
    if problem is None and registry.find(name) is not None:
        problem = taken(name)
    if problem is not None:
        raise FieldNameError(problem)


def stored(
    registry: Registry, name: str, source: Source, shape: tuple[int, ...], phase: Phase
) -> Path:
    """A copy of an array in the registry's own folder. Raises FieldFileError if it is too full."""
    registry.data.mkdir(parents=True, exist_ok=True)
    needed = math.prod(shape) * source.dtype.itemsize
    free = shutil.disk_usage(registry.data).free
    if needed > free:
        raise FieldFileError(
            f"converting needs {bytes_text(needed)} in {registry.data}, and {bytes_text(free)} are "
            "free: make room, or use another home (--home)"
        )
    target = registry.data / f"{name}-{secrets.token_hex(4)}.npy"
    write_npy(target, source, shape, phase("converting"))
    return target


def rounded_fill(value: float, dtype: np.dtype[np.generic]) -> float | None:
    """The fill value as the data hold it; None for NaN and infinities, which never count anyway.

    Raises:
        FieldFileError: the data type has no such value.
    """
    if not math.isfinite(value):
        return None
    if not has_value(dtype, value):
        raise FieldFileError(f"fill value {value!r} is larger than any {dtype.name}")
    return float(dtype.type(value))


def _fill(asked: str | None, found: Opened) -> tuple[float | None, tuple[str, ...]]:
    """The fill value to register: the user's, else the file's."""
    if asked is None:
        value = found.fill
    else:
        try:
            value = float(asked)
        except ValueError as error:
            raise FieldFileError(
                f"--fill {asked!r} is no number: write it as 1e35 or -9999"
            ) from error
    if value is None:
        return None, ()
    nearest = rounded_fill(value, found.source.dtype)
    if nearest is None:
        return None, (f"fill {value} needs no declaring: non-finite values never count",)
    return nearest, ()


def _occurring(
    perhaps: tuple[float, ...], found: Scan, dtype: np.dtype[np.generic]
) -> float | None:
    """The first possible fill value that is an extreme of the values."""
    for value in perhaps:
        nearest = rounded_fill(value, dtype)
        if nearest is not None and nearest in (found.minimum, found.maximum):
            return nearest
    return None


def _character(draft: Entry, found: Scan, count: int) -> str:
    parts = [f"{len(draft.shape)}-D"]
    if found.filled:
        parts.append(f"{_percent(found.filled, count)} filled with {float(draft.fill):g}")
    if found.not_finite:
        parts.append(f"{_percent(found.not_finite, count)} not finite")
    return ", ".join(parts)


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole
    return "less than 1%" if share < 1 else f"{share:.0f}%"


def _notes(entry: Entry, found: Scan) -> tuple[str, ...]:
    notes = []
    if entry.fill and not found.filled:
        notes.append(f"no element equals the fill value {entry.fill}")
    notes.extend(
        f"an extreme of the values is {value:g}, which often marks missing data: if it does here, "
        f"remove the field and add it with --fill {value!r}"
        for value in found.suspects
    )
    if found.minimum is None:
        notes.append("no value counts for the range: with mode rel it is compressed losslessly")
    return tuple(notes)


def _name_of(path: Path, variable: str) -> str:
    """A field name from a file name, and the variable's."""
    stem = path.name
    while (inner := Path(stem)).suffix.lower() in (*RAW_SUFFIXES, ".gz"):
        stem = inner.stem
    stem = Path(stem).stem if variable or stem == path.name else stem
    text = f"{stem}-{variable}" if variable and variable != stem else stem
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("._-")[:80] or "field"


def _source(path: Path, found: Opened) -> str:
    """File name, variable and title; never the folder, which is nobody's business."""
    what = ", ".join(part for part in (found.variable, found.title) if part)
    return f"{path.name}: {what}" if what else path.name
