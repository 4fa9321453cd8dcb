"""Arrays of Zarr stores (folders), through the package zarr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kernels.fields.arrays import Source
from kernels.fields.errors import reading
from kernels.fields.variables import Variable, reader

MARKS = ("zarr.json", ".zgroup", ".zarray", ".zmetadata")
"""Files by which a folder is known for a Zarr store."""


@contextmanager
def opened(path: Path) -> Iterator[tuple[Variable, ...]]:
    """All arrays, readable while this lasts. Raises FieldFileError."""
    library = reader("zarr", "Zarr")
    with reading(path.name, "Zarr"):
        root = library.open(str(path), mode="r")
        if isinstance(root, library.Array):
            members = [(path.name.removesuffix(".zarr"), root)]
        else:
            members = sorted(root.members(max_depth=None), key=lambda member: member[0])
        variables = tuple(_variable(*one) for one in members if isinstance(one[1], library.Array))
    yield variables


def _variable(name: str, array: Any) -> Variable:
    axes = getattr(array.metadata, "dimension_names", None) or array.attrs.get(
        "_ARRAY_DIMENSIONS", ()
    )
    fill = array.fill_value if array.dtype.kind == "f" else None
    return Variable(
        name=name,
        source=Source(tuple(array.shape), array.dtype, lambda part: np.asarray(array[part])),
        attributes=dict(array.attrs),
        is_coordinate=tuple(axes) == (name.rsplit("/", 1)[-1],),
        # 0 is what Zarr itself fills with where nobody chose a value.
        default_fill=float(fill) if fill else None,
    )
