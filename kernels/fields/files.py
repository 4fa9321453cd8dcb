"""A user's file → the array it holds, and what it says of it.

SDRBench raw files need dims; .npy and .npz know their shape; NetCDF, HDF5 and Zarr hold variables.
"""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kernels.fields import hdf5, netcdf, zarr_store
from kernels.fields.arrays import Source, is_file, mapped, mapped_npy, source_of
from kernels.fields.dims import (
    DTYPES,
    dims_text,
    has_value,
    parse_dims,
    problem_of_shape,
    squeezed,
)
from kernels.fields.errors import FieldFileError, reading
from kernels.fields.variables import Variable, choose, unusable
from kernels.records import Array

_RAW: dict[str, str | None] = {
    ".f32": "float32",
    ".f64": "float64",
    ".d64": "float64",
    ".dat": None,
    ".bin": None,
    ".raw": None,
}
"""Suffix of raw files → data type, where it says."""
RAW_SUFFIXES = tuple(_RAW)
_CONTAINERS: dict[str, Callable[[Path], AbstractContextManager[tuple[Variable, ...]]]] = {
    ".nc": netcdf.opened,
    ".nc4": netcdf.opened,
    ".cdf": netcdf.opened,
    ".h5": hdf5.opened,
    ".hdf5": hdf5.opened,
    ".he5": hdf5.opened,
    ".zarr": zarr_store.opened,
}
KNOWN_SUFFIXES = (*RAW_SUFFIXES, ".npy", ".npz", *(one for one in _CONTAINERS if one != ".zarr"))
_SHORT = {"f32": "float32", "f64": "float64"}
_USUAL_SHAPES = (
    (1800, 3600),
    (26, 1800, 3600),
    (100, 500, 500),
    (98, 1200, 1200),
    (256, 384, 384),
    (500, 500, 500),
    (512, 512, 512),
    (288, 115, 69, 69),
)
"""Of SDRBench: CESM-ATM, Hurricane ISABEL, SCALE-LETKF, Miranda, S3D, NYX, QMCPACK."""


@dataclass(frozen=True)
class Ask:
    """What the user says of a file."""

    dims: str | None = None
    dtype: str | None = None
    """f32 | f64"""
    variable: str | None = None
    endian: str = "little"


@dataclass(frozen=True)
class Opened:
    """An array in a file, readable while it is open."""

    source: Source
    shape: tuple[int, ...]
    """Of the field: without length-1 axes if there were more than four."""
    form: str = ""
    """raw or npy if the file can be mapped as it is, else empty."""
    variable: str = ""
    title: str = ""
    unit: str = ""
    fill: float | None = None
    """As the file declares it."""
    perhaps: tuple[float, ...] = ()
    """Fill values if they occur."""
    notes: tuple[str, ...] = ()


@contextmanager
def opened(path: Path, ask: Ask) -> Iterator[Opened]:
    """Open the array that is meant. Raises FieldFileError."""
    if not path.is_dir():
        _check_file(path)
    suffix = path.suffix.lower()
    if suffix in _CONTAINERS or _is_zarr(path):
        container = _CONTAINERS.get(suffix, zarr_store.opened)
        with container(path) as variables:
            yield _of_variable(choose(variables, ask.variable, path.name), path, ask)
        return
    if path.is_dir():
        raise FieldFileError(f"{path.name} is a folder, and not a Zarr store: name a file in it")
    if suffix == ".npz":
        yield _of_npz(path, ask)
    elif suffix == ".npy":
        yield _of_npy(path, ask)
    elif suffix in _RAW or ask.dims is not None:
        yield _of_raw(path, ask)
    else:
        raise FieldFileError(
            f"{path.name}: its suffix says no format; known are {', '.join(KNOWN_SUFFIXES)}, and "
            "Zarr folders. A raw file of another "
            "name needs --dims and --dtype"
        )


def _check_file(path: Path) -> None:
    """Raises FieldFileError: reading a pipe would wait for its other end."""
    if not is_file(path):
        raise FieldFileError(
            f"{path.name} is no file: it is a pipe, a socket or a device; write the values to a "
            "file first"
        )
    if path.stat().st_size == 0:
        raise FieldFileError(f"{path.name} is empty: write it anew, or download it again")


def _is_zarr(path: Path) -> bool:
    return path.is_dir() and any((path / mark).exists() for mark in zarr_store.MARKS)


def _of_raw(path: Path, ask: Ask) -> Opened:
    dtype = _raw_dtype(path, ask)
    size = path.stat().st_size
    if ask.dims is None:
        raise FieldFileError(
            f"{path.name} is raw and says no shape: give --dims, slowest axis first. "
            f"{_fitting(path.name, size, dtype)}"
        )
    shape = _asked_shape(ask.dims)
    needed = math.prod(shape) * dtype.itemsize
    if needed != size:
        raise FieldFileError(
            f"{path.name} has {size:,} bytes, but {dims_text(shape)} of {dtype.name} needs "
            f"{needed:,}. {_fitting(path.name, size, dtype)}"
        )
    if ask.endian == "big":
        swapped = mapped(path, shape, dtype.newbyteorder(">"), 0)
        return _checked(Opened(source_of(swapped), shape, notes=("converted from big-endian",)))
    return _checked(Opened(source_of(mapped(path, shape, dtype, 0)), shape, "raw"))


def _raw_dtype(path: Path, ask: Ask) -> np.dtype[np.generic]:
    said = _RAW.get(path.suffix.lower())
    asked = None if ask.dtype is None else _SHORT.get(ask.dtype, ask.dtype)
    if asked is not None and asked not in DTYPES:
        raise FieldFileError(f"--dtype {ask.dtype}: choose one of f32, f64")
    if said and asked and said != asked:
        raise FieldFileError(f"{path.name} is {said} by its suffix, --dtype says {asked}: drop one")
    if said is None and asked is None:
        raise FieldFileError(f"{path.name} says no data type: give --dtype f32 or --dtype f64")
    return np.dtype(asked or said)


def _asked_shape(dims: str) -> tuple[int, ...]:
    try:
        return squeezed(parse_dims(dims))
    except ValueError as error:
        raise FieldFileError(str(error)) from error


def _fitting(name: str, size: int, dtype: np.dtype[np.generic]) -> str:
    """Dims that would fit a raw file: by the numbers in its name, or as data sets usually are."""
    count, rest = divmod(size, dtype.itemsize)
    if rest:
        return _odd(name, size, dtype)
    numbers = [int(text) for text in re.findall(r"\d{1,9}", name)]
    runs = (
        tuple(numbers[i:j]) for i in range(len(numbers)) for j in range(i + 1, len(numbers) + 1)
    )
    candidates = [shape for shape in runs if math.prod(shape) == count and 1 not in shape]
    candidates += [shape for shape in _USUAL_SHAPES if math.prod(shape) == count]
    for axes in (3, 2):
        side = round(count ** (1 / axes))
        if side > 1 and side**axes == count:
            candidates.append((side,) * axes)
    candidates.append((count,))
    listed = ", ".join(dict.fromkeys(dims_text(shape) for shape in candidates))
    return f"{count:,} {dtype.name} values fit {listed}"


def _odd(name: str, size: int, dtype: np.dtype[np.generic]) -> str:
    """What may be wrong with a raw file that ends within a value."""
    wrong = (
        f"{size:,} bytes are no whole number of {dtype.name} values ({dtype.itemsize} bytes each)"
    )
    if size % 4:
        return f"{wrong}: it is cut short, or holds more than values, such as a header"
    is_said = _RAW.get(Path(name).suffix.lower())
    remedy = "rename it to .f32" if is_said else "give --dtype f32"
    return f"{wrong}, but {size // 4:,} of float32: {remedy} if it holds those"


def _of_npy(path: Path, ask: Ask) -> Opened:
    with reading(path.name, ".npy"):
        data: Array = np.asarray(mapped_npy(path))
    notes = []
    if data.dtype.byteorder == ">":
        notes.append("converted from big-endian")
    if not data.flags.c_contiguous:
        notes.append("converted from Fortran order")
    form = "" if notes else "npy"
    shape = squeezed(data.shape)
    return _checked(_agreed(Opened(source_of(data), shape, form, notes=tuple(notes)), ask), path)


def _of_npz(path: Path, ask: Ask) -> Opened:
    with reading(path.name, ".npz"), zipfile.ZipFile(path) as archive:
        members = (name for name in archive.namelist() if name.endswith(".npy"))
        chosen = _chosen(path, [name.removesuffix(".npy") for name in members], ask.variable)
        with archive.open(f"{chosen}.npy") as member:
            data: Array = np.lib.format.read_array(member, allow_pickle=False)
    found = Opened(source_of(data), squeezed(data.shape), variable=chosen)
    return _checked(_agreed(found, ask), path)


def _chosen(path: Path, names: list[str], wanted: str | None) -> str:
    """The array of an archive that is meant. Raises FieldFileError."""
    if not names:
        raise FieldFileError(f"{path.name} holds no array: write one with numpy.savez")
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is None or wanted not in names:
        trouble = "has several arrays" if wanted is None else f"has no array {wanted!r}"
        raise FieldFileError(f"{path.name} {trouble}: choose --variable of {', '.join(names)}")
    return wanted


def _of_variable(variable: Variable, path: Path, ask: Ask) -> Opened:
    notes = [
        f"{name} {variable.number(name):g} is declared and was not applied: values are as stored"
        for name, neutral in (("scale_factor", 1.0), ("add_offset", 0.0))
        if variable.number(name) not in (None, neutral)
    ]
    fill, trouble = _declared_fill(variable)
    found = Opened(
        source=_guarded(variable.source, path),
        shape=squeezed(variable.source.shape),
        variable=variable.name,
        title=variable.text("long_name") or variable.text("standard_name"),
        unit=variable.text("units"),
        fill=fill,
        perhaps=() if variable.default_fill is None else (variable.default_fill,),
        notes=(*notes, *trouble),
    )
    return _checked(_agreed(found, ask), path)


def _guarded(source: Source, path: Path) -> Source:
    """A chunk may be damaged though all that describes it is not."""

    def read(part: tuple[slice, ...]) -> Array:
        with reading(path.name, "values"):
            return source.read(part)

    return replace(source, read=read)


def _declared_fill(variable: Variable) -> tuple[float | None, tuple[str, ...]]:
    """The first fill value that the data type has, and a note of each that it has not."""
    notes: list[str] = []
    for name in ("_FillValue", "missing_value"):
        value = variable.number(name)
        if value is None:
            continue
        if has_value(variable.source.dtype, value):
            return value, tuple(notes)
        notes.append(
            f"{name} {value:g} is declared and was left out, as no {variable.source.dtype} can "
            "have it: if another value marks missing data, remove the field and add it with --fill"
        )
    return None, tuple(notes)


def _agreed(found: Opened, ask: Ask) -> Opened:
    """A file that knows its shape needs no dims. Raises FieldFileError if they differ."""
    if ask.dims is not None and _asked_shape(ask.dims) != found.shape:
        raise FieldFileError(
            f"--dims {ask.dims} differs from the shape in the file, {dims_text(found.shape)}: "
            "leave --dims out"
        )
    return found


def _checked(found: Opened, path: Path | None = None) -> Opened:
    """Raises FieldFileError if no field can have this shape or data type."""
    if found.source.dtype.name not in DTYPES:
        what = path.name if path is not None else "the file"
        raise FieldFileError(unusable(found.source.dtype, what))
    problem = problem_of_shape(found.shape)
    if problem is not None:
        raise FieldFileError(problem)
    return found
