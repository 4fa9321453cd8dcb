"""Variables of NetCDF files, through the package netCDF4."""

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
    """All variables, readable while the file is open. Raises FieldFileError."""
    library = reader("netCDF4", "NetCDF")
    with reading(path.name, "NetCDF"):
        dataset = library.Dataset(path, "r")
    try:
        with reading(path.name, "NetCDF"):
            dataset.set_auto_maskandscale(False)
            variables = tuple(_variables(dataset, "", library.default_fillvals))
        yield variables
    finally:
        dataset.close()


def _variables(group: Any, prefix: str, fills: dict[str, float]) -> Iterator[Variable]:
    for name, variable in group.variables.items():
        dtype = variable.dtype if isinstance(variable.dtype, np.dtype) else np.dtype(object)
        yield Variable(
            name=prefix + name,
            source=Source(tuple(variable.shape), dtype, _reader(variable)),
            attributes={key: variable.getncattr(key) for key in variable.ncattrs()},
            is_coordinate=name in variable.dimensions,
            default_fill=fills.get(dtype.str[1:]) if dtype.kind == "f" else None,
        )
    for name, inner in group.groups.items():
        yield from _variables(inner, f"{prefix}{name}/", fills)


def _reader(variable: Any) -> Any:
    def read(part: tuple[slice, ...]) -> Any:
        return np.asarray(variable[part or ...])

    return read
