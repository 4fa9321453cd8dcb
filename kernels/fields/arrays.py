"""Values in files: mapped without being read, looked through once, or written block by block."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels.fields.dims import blocks
from kernels.records import Array

Progress = Callable[[int, int], None]
"""Bytes done, bytes in all."""

BLOCK_ELEMENTS = 2**20
USUAL_FILLS = (1e20, 1e30, 1e35, 1e36, 9.969209968386869e36, -999.0, -9999.0, -32768.0, -99999.0)
"""Values that often stand for "no data"."""


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


def mapped_npy(path: Path) -> Array:
    """The array of an .npy file, likewise. Raises ValueError if it is no such file."""
    array: Array = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    return array


def values_in(
    path: Path, form: str, shape: tuple[int, ...], dtype: np.dtype[np.generic], offset: int = 0
) -> Array:
    """The values of a `raw` or `npy` file, mapped. Raises ValueError if it can't hold them."""
    if form == "raw":
        return mapped(path, shape, dtype, offset)
    data = mapped_npy(path)
    if data.dtype != dtype or data.size != math.prod(shape):
        raise ValueError(f"it holds {data.dtype}{list(data.shape)}, not {dtype}{list(shape)}")
    return data.reshape(shape)


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

    Leaves no part of a file behind if it fails.
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
    except BaseException:
        path.unlink(missing_ok=True)
        raise
