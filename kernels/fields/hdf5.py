"""Datasets of HDF5 files, through the package h5py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kernels.fields.arrays import Source
from kernels.fields.errors import reading
from kernels.fields.variables import Variable, reader


@contextmanager
def opened(path: Path) -> Iterator[tuple[Variable, ...]]:
    """All datasets, readable while the file is open. Raises FieldFileError."""
    library = reader("h5py", "HDF5")
    with reading(path.name, "HDF5"):
        file = library.File(path, "r")
    with file:
        found: list[Any] = []
        with reading(path.name, "HDF5"):
            # Must return None, or the visit ends.
            file.visititems(
                lambda _name, item: (
                    found.append(item) if isinstance(item, library.Dataset) else None
                )
            )
            variables = tuple(_variable(item) for item in found if item.shape is not None)
        yield variables


def _variable(dataset: Any) -> Variable:
    fill = dataset.fillvalue if dataset.dtype.kind == "f" else None
    return Variable(
        name=dataset.name.lstrip("/"),
        source=Source(tuple(dataset.shape), dataset.dtype, lambda part: np.asarray(dataset[part])),
        attributes=dict(dataset.attrs),
        is_coordinate=bool(dataset.is_scale),
        # 0 is what HDF5 itself fills with where nobody chose a value.
        default_fill=float(fill) if fill else None,
    )
