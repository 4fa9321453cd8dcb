"""Values in files: read or mapped, looked through once, or written block by block."""

from __future__ import annotations

import hashlib
import math
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels.fields.dims import blocks
from kernels.records import Array

Progress = Callable[[int, int], None]
"""Bytes done, bytes in all."""

BLOCK_ELEMENTS = 2**20
USUAL_FILLS = (1e20, 1e30, 1e35, 1e36, 9.969209968386869e36, -999.0, -9999.0, -32768.0, -99999.0)
"""Values that often stand for "no data"."""


HELD_BYTES = 2**28
"""Values of files up to this are read into memory, larger ones mapped."""


@dataclass(frozen=True)
class Layout:
    """How values lie in a file."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    offset: int = 0
    """Bytes of a raw file before the values."""

    @property
    def nbytes(self) -> int:
        """Of the values."""
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class Scan:
    """One look at every value."""

    sha256: str
    """Of the C-order, little-endian bytes."""
    minimum: float | None
    """Over finite values that are not the fill value; None if there are none."""
    maximum: float | None
    not_finite: int
    filled: int
    suspects: tuple[float, ...]
    """Extremes that are usual fill values, though not the one declared."""


def quiet(_done: int, _total: int) -> None:
    """Progress that nobody watches."""


def mapped(path: Path, shape: tuple[int, ...], dtype: np.dtype[np.generic], offset: int) -> Array:
    """The values of a raw file, read-only and read from disk only where they are used."""
    return np.asarray(np.memmap(path, dtype, "r", offset, shape or (1,))).reshape(shape)


def held(path: Path, shape: tuple[int, ...], dtype: np.dtype[np.generic], offset: int) -> Array:
    """The same as a copy in memory, read-only. Raises OSError; ValueError if the file is short."""
    count = math.prod(shape)
    if path.stat().st_size < offset + count * dtype.itemsize:
        raise ValueError("it is too short")
    data: Array = np.fromfile(path, dtype, count, offset=offset)
    if data.size != count:
        raise ValueError("it was shortened")
    data.flags.writeable = False
    return data.reshape(shape)


def mapped_npy(path: Path) -> np.memmap[Any, Any]:
    """The array of an .npy file, mapped. Raises about anything if it is no such file."""
    return np.lib.format.open_memmap(path, mode="r")


def values_in(
    path: Path, form: str, layout: Layout, held_bytes: int = HELD_BYTES
) -> tuple[Array, bool]:
    """The values of a `raw` or `npy` file, and whether they are mapped, not held in memory.

    A file that somebody shortens ends every process that reads what it had mapped, so only large
    ones are. Raises OSError; ValueError and others if the file can't hold the values.
    """
    offset = layout.offset if form == "raw" else _offset_in_npy(path, layout)
    if layout.nbytes > held_bytes:
        return mapped(path, layout.shape, layout.dtype, offset), True
    return held(path, layout.shape, layout.dtype, offset), False


def _offset_in_npy(path: Path, layout: Layout) -> int:
    found = mapped_npy(path)
    if found.dtype != layout.dtype or found.size != math.prod(layout.shape):
        wanted = f"{layout.dtype}{list(layout.shape)}"
        raise ValueError(f"it holds {found.dtype}{list(found.shape)}, not {wanted}")
    if not found.flags.c_contiguous:
        raise ValueError("it is in Fortran order")
    return int(found.offset)


def sum_of(data: Array) -> str:
    """The sha256 of the values of a C-contiguous array."""
    return hashlib.sha256(data.data).hexdigest()


def is_file(path: Path) -> bool:
    """Whether it is a regular file; opening a pipe would wait for its other end. Raises OSError."""
    return stat.S_ISREG(path.stat().st_mode)


def bytes_text(count: int) -> str:
    """1.5 GB, in the unit that leaves few digits."""
    for power, unit in ((15, "PB"), (12, "TB"), (9, "GB"), (6, "MB"), (3, "kB")):
        if count >= 10**power:
            return f"{count / 10**power:.3g} {unit}"
    return f"{count} bytes"


def scan(data: Array, fill: float | None, progress: Progress = quiet) -> Scan:
    """Look at every value once, in blocks."""
    digest = hashlib.sha256()
    low, high = math.inf, -math.inf
    not_finite = filled = done = 0
    mark = None if fill is None else data.dtype.type(fill)
    for part in blocks(data.shape, BLOCK_ELEMENTS):
        block = np.ascontiguousarray(data[part])
        digest.update(block.data)
        finite = np.isfinite(block)
        not_finite += block.size - int(np.count_nonzero(finite))
        counted = finite
        if mark is not None:
            is_fill = block == mark
            filled += int(np.count_nonzero(is_fill))
            counted = finite & ~is_fill
        low = min(low, float(np.min(block, initial=math.inf, where=counted)))
        high = max(high, float(np.max(block, initial=-math.inf, where=counted)))
        done += block.nbytes
        progress(done, data.nbytes)
    usual = {float(data.dtype.type(value)) for value in USUAL_FILLS}
    found = low <= high
    return Scan(
        sha256=digest.hexdigest(),
        minimum=low if found else None,
        maximum=high if found else None,
        not_finite=not_finite,
        filled=filled,
        suspects=tuple(sorted({low, high} & usual)),
    )


@dataclass(frozen=True)
class Source:
    """An array somewhere, of which any block can be had."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    read: Callable[[tuple[slice, ...]], Array]


def source_of(data: Array) -> Source:
    """An array in memory, or mapped."""
    return Source(data.shape, data.dtype, lambda part: np.asarray(data[part]))


def write_npy(
    path: Path, source: Source, shape: tuple[int, ...], progress: Progress = quiet
) -> None:
    """Write an array as .npy in C order, native-endian, block by block, under another shape.

    Leaves no part of a file behind if it fails. Raises OSError, which names the folder.
    """
    dtype = source.dtype.newbyteorder("=")
    total = math.prod(shape) * dtype.itemsize
    done = 0
    try:
        with path.open("xb") as file:
            header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            for part in blocks(source.shape, BLOCK_ELEMENTS):
                block = np.ascontiguousarray(source.read(part), dtype)
                file.write(block.data)
                done += block.nbytes
                progress(done, total)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise type(error)(error.errno, error.strerror, str(path.parent)) from error
    except BaseException:
        path.unlink(missing_ok=True)
        raise
