"""The SDRBench data sets: what there is, and how an array of one becomes a registered field.

What is known of the sets and how they are downloaded comes from the package sdrbench, behind
`Library`; a copy downloaded by hand serves as well (`LocalCopy`). Selected arrays → files, verified
by their published sums → entries.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from kernels.fields.arrays import Progress, mapped, source_of
from kernels.fields.dims import dims_text, problem_of_shape
from kernels.fields.entries import Entry
from kernels.fields.errors import FetchError, FieldDataError, FieldFileError
from kernels.fields.intake import Added, Phase, enrol, silent, stored
from kernels.fields.registry import Registry, new_alias, problem_of_name

_DTYPES = {"<f4": "float32", "<f8": "float64"}
_CHUNK_BYTES = 2**24


@dataclass(frozen=True)
class SetArray:
    """One array of a data set, and the file it is in."""

    name: str
    path: str
    """Of the file, within the set's archive."""
    size: int
    """Of the file, in bytes."""
    sha256: str
    """Of the file."""
    dtype: str
    """As NumPy's short text, such as <f4."""
    shape: tuple[int, ...]
    file_shape: tuple[int, ...]
    """Of all values of the file; more than `shape` if the file holds several arrays."""
    axes: tuple[int, ...] = ()
    """How the file's axes are to be transposed; empty if they are not."""
    index: int | None = None
    """Which part of the file along its first axis; None for the whole."""


@dataclass(frozen=True)
class DataSet:
    """One variant of a data set."""

    name: str
    variant: str
    is_default: bool
    """What is meant if no variant is named."""
    title: str
    provider: str
    licence: str
    url: str
    """Of the archive, for a download by hand."""
    archive_bytes: int
    arrays: tuple[SetArray, ...]

    @property
    def label(self) -> str:
        """What the command line takes."""
        return self.name if self.is_default else f"{self.name}/{self.variant}"


@dataclass(frozen=True)
class Delivery:
    """A file that arrived, and the wanted arrays it holds."""

    path: Path
    arrays: tuple[SetArray, ...]
    is_ours: bool
    """It may be deleted with its fields."""


class Library(Protocol):
    """Where data sets come from."""

    def sets(self) -> tuple[DataSet, ...]:
        """Every variant of every set, without network."""

    def deliver(
        self, data_set: DataSet, wanted: Sequence[SetArray], folder: Path
    ) -> Iterator[Delivery]:
        """Bring the files of some arrays into a folder, one after the other. Raises FetchError."""


@dataclass(frozen=True)
class KnownFill:
    """A value that stands for "no data" in a set, if it occurs."""

    data_set: str
    value: float
    source: str


KNOWN_FILLS = (
    KnownFill(
        "cesm-atm",
        1e36,
        "CAM's history files: `fillvalue = 1.e36_r8` in cam_history_support.F90. "
        "In 2d-cleared it is 0 (SDRBench: cleared data zeroed all background data)",
    ),
    KnownFill(
        "hurricane-isabel",
        1e35,
        "NCAR's description: land values, where there is no valid atmospheric data, are 1.0e35. "
        "In the snapshot they are 0 (SDRBench: cleared dataset by replacing background by 0)",
    ),
)


@dataclass(frozen=True)
class Selection:
    """The arrays that were asked for."""

    data_set: DataSet
    arrays: tuple[SetArray, ...]


@dataclass(frozen=True)
class Outcome:
    """What became of one array: a field, or the reason why not."""

    name: str
    added: Added | None = None
    skipped: str = ""


@dataclass(frozen=True)
class Order:
    """What to fetch, and where to put it."""

    what: str
    """SET[/VARIANT][/FIELD]"""
    folder: Path | None = None
    """None for the registry's own."""
    hidden: bool = False


def select(sets: Sequence[DataSet], what: str) -> Selection:
    """The arrays that SET[/VARIANT][/FIELD] names. Raises FetchError, which lists choices."""
    name, _, rest = what.partition("/")
    variants = [one for one in sets if one.name == name.lower().replace("_", "-")]
    if not variants:
        known = ", ".join(dict.fromkeys(one.name for one in sets))
        raise FetchError(f"no data set {name!r}: choose one of {known}")
    for one in sorted(variants, key=lambda one: not one.is_default):
        for field in _readings(one, rest):
            found = tuple(a for a in one.arrays if field in ("", a.name))
            if found:
                return Selection(one, found)
    default = next((one for one in variants if one.is_default), variants[0])
    fields = ", ".join(array.name for array in default.arrays[:60])
    others = ", ".join(one.variant for one in variants if one is not default) or "none"
    raise FetchError(
        f"{name} has no field or variant {rest!r}; fields of {default.variant}: {fields}; other "
        f"variants: {others}"
    )


def _readings(data_set: DataSet, rest: str) -> Iterator[str]:
    """Which field of this variant the text after the set's name may mean; empty for all."""
    if data_set.is_default:
        yield rest
    if rest == data_set.variant:
        yield ""
    elif rest.startswith(f"{data_set.variant}/"):
        yield rest.removeprefix(f"{data_set.variant}/")
        yield rest


def field_name(data_set: DataSet, array: SetArray) -> str:
    """The name under which an array is registered."""
    parts = [data_set.name]
    if not (data_set.is_default or array.name.startswith(f"{data_set.variant}/")):
        parts.append(data_set.variant)
    return re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join([*parts, array.name]))


def fetch(
    registry: Registry, library: Library, order: Order, phase: Phase = silent
) -> Iterator[Outcome]:
    """Register the arrays of an order, each as soon as it has arrived and was verified.

    An array that can't be a field, or is registered already, is left out with the reason.

    Raises:
        FetchError: something could not be had or is damaged; the message says what to do.
    """
    chosen = select(library.sets(), order.what)
    wanted = []
    for array in chosen.arrays:
        name = field_name(chosen.data_set, array)
        reason = _reason_against(registry, name, array)
        if reason:
            yield Outcome(name, skipped=reason)
        else:
            wanted.append(array)
    if not wanted:
        return
    folder = (order.folder or registry.data / "sdrbench") / chosen.data_set.name
    for delivery in library.deliver(chosen.data_set, wanted, folder):
        ours = delivery.is_ours and order.folder is None
        intake = _Intake(registry, chosen.data_set, delivery, order.hidden, ours, phase)
        yield from intake.outcomes()


def _reason_against(registry: Registry, name: str, array: SetArray) -> str:
    if array.dtype not in _DTYPES:
        return f"it holds {array.dtype}, a field is float32 or float64"
    try:
        if registry.find(name) is not None:
            return "it is registered already"
    except FieldDataError as error:
        return str(error)
    return problem_of_name(name) or problem_of_shape(array.shape) or ""


@dataclass(frozen=True)
class _Intake:
    """Makes fields of one file that arrived."""

    registry: Registry
    data_set: DataSet
    delivery: Delivery
    hidden: bool
    ours: bool
    phase: Phase

    def outcomes(self) -> Iterator[Outcome]:
        path = self.delivery.path
        try:
            self._verify_parts()
            for array in self.delivery.arrays:
                name = field_name(self.data_set, array)
                yield Outcome(name, self._added(name, array))
        except FieldFileError as error:
            if self.ours:
                path.unlink(missing_ok=True)
            raise FetchError(f"{error}. It was not registered") from error
        if self.ours and all(array.axes for array in self.delivery.arrays):
            path.unlink(missing_ok=True)

    def _verify_parts(self) -> None:
        """The file's sum, where no single array's sum is the same. Raises FieldFileError."""
        first, path = self.delivery.arrays[0], self.delivery.path
        if path.stat().st_size != first.size:
            raise FieldFileError(
                f"{path.name} has {path.stat().st_size:,} bytes, it should have {first.size:,}"
            )
        if first.index is None and not first.axes:
            return
        found = _file_sum(path, self.phase("verifying"))
        if found != first.sha256:
            raise FieldFileError(f"{path.name} has sha256 {found}, it should be {first.sha256}")

    def _added(self, name: str, array: SetArray) -> Added:
        path, dtype = self.delivery.path, np.dtype(_DTYPES[array.dtype])
        form, offset, owned = "raw", 0, self.ours
        if array.axes:
            values = mapped(path, array.file_shape, dtype, 0).transpose(array.axes)
            path = stored(self.registry, name, source_of(values), array.shape, self.phase)
            form, owned = "npy", True
        elif array.index is not None:
            offset = array.index * math.prod(array.shape) * dtype.itemsize
        is_whole = form == "raw" and array.index is None
        draft = Entry(
            name=name,
            path=str(path.absolute()),
            form=form,
            shape=array.shape,
            dtype=dtype.name,
            sha256=array.sha256 if is_whole else "",
            size=0,
            mtime_ns=0,
            offset=offset,
            source=f"SDRBench {self.data_set.label}: {array.name}; {self.data_set.provider}",
            licence=self.data_set.licence,
            alias=new_alias() if self.hidden else "",
            hidden=self.hidden,
            owned=owned,
        )
        fills = tuple(k.value for k in KNOWN_FILLS if k.data_set == self.data_set.name)
        return enrol(self.registry, draft, fills, self.phase)


def _file_sum(path: Path, progress: Progress) -> str:
    digest, done, total = hashlib.sha256(), 0, path.stat().st_size
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
            done += len(chunk)
            progress(done, total)
    return digest.hexdigest()


def by_file(arrays: Sequence[SetArray]) -> dict[str, tuple[SetArray, ...]]:
    """The wanted arrays by the file they are in."""
    grouped: dict[str, list[SetArray]] = {}
    for array in arrays:
        grouped.setdefault(array.path, []).append(array)
    return {path: tuple(members) for path, members in grouped.items()}


def by_hand(data_set: DataSet, array: SetArray) -> str:
    """What to do where a download does not work."""
    return (
        f"Download {data_set.url} ({data_set.archive_bytes / 1e9:.1f} GB) by hand and run: "
        f"sz-mcp fields fetch {data_set.label}/{array.name} --from FILE_OR_FOLDER; or add one "
        f"unpacked file: sz-mcp fields add FILE --dims {dims_text(array.file_shape)} "
        f"--dtype {'f32' if array.dtype == '<f4' else 'f64'}"
    )
