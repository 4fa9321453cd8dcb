"""Variables of a file that describes itself: which one is meant, and what its attributes say."""

from __future__ import annotations

import base64
import binascii
import importlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np

from kernels.fields.arrays import Source
from kernels.fields.dims import DTYPES, dims_text
from kernels.fields.errors import FieldFileError, MissingReaderError

_SHOWN = 40


@dataclass(frozen=True)
class Variable:
    """One array of a file."""

    name: str
    """With the groups it is in, joined by slashes."""
    source: Source
    attributes: Mapping[str, object] = field(default_factory=dict)
    is_coordinate: bool = False
    """It only numbers an axis of others."""
    default_fill: float | None = None
    """What never-written elements hold, whether or not there are any."""

    @property
    def usable(self) -> bool:
        """Whether a field can be made of it."""
        return self.source.dtype.name in DTYPES

    def text(self, name: str) -> str:
        """A text attribute; empty if there is none."""
        value = self.attributes.get(name, "")
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        return str(value).strip()

    def number(self, name: str) -> float | None:
        """A number attribute, the first if there are several."""
        value = self.attributes.get(name)
        if isinstance(value, str):
            return _encoded(value)
        array = np.asarray(value).reshape(-1)
        return float(array[0]) if array.size and array.dtype.kind in "fiu" else None


def choose(variables: Sequence[Variable], wanted: str | None, file: str) -> Variable:
    """The variable that is meant. Raises FieldFileError, which lists them."""
    if wanted is not None:
        found = [v for v in variables if v.name.lstrip("/") == wanted.lstrip("/")]
        if not found:
            raise FieldFileError(f"{file} has no variable {wanted!r}; it has {_listed(variables)}")
        return _float(found[0], file)
    usable = [v for v in variables if v.usable]
    likely = [v for v in usable if not v.is_coordinate] or usable
    if len(likely) == 1:
        return likely[0]
    if not likely:
        raise FieldFileError(
            f"{file} has no float32 or float64 variable; it has {_listed(variables)}. Write one as "
            "float32 first, for example with numpy: values.astype('float32')"
        )
    raise FieldFileError(
        f"{file} has several variables: choose one with --variable, of {_listed(likely)}"
    )


def reader(package: str, what: str) -> ModuleType:
    """An optional package. Raises MissingReaderError."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingReaderError(
            f"reading {what} needs the package {package}: pip install 'sz-mcp[data]', or save the "
            "variable as .npy with numpy.save and add that"
        ) from error
    except ValueError as error:
        # numcodecs 0.16 under Zarr stumbles over the version of zfpy 1.0.1.post0.
        raise MissingReaderError(
            f"reading {what} needs the package {package}, which fails here ({error}). If zfpy is "
            "installed: pip install zfpy==1.0.1"
        ) from error


def unusable(dtype: object, what: str) -> str:
    """Why an array of this data type can't be a field, and what to do."""
    return (
        f"{what} holds {dtype}, a field is float32 or float64: convert it first, for example with "
        "numpy: numpy.save('field.npy', values.astype('float32'))"
    )


def _float(variable: Variable, file: str) -> Variable:
    if variable.usable:
        return variable
    message = unusable(variable.source.dtype, f"variable {variable.name!r} of {file}")
    if "scale_factor" in variable.attributes:
        message += (
            "; it is packed, so unpack it first (ncpdq -U in.nc out.nc, or multiply by "
            "scale_factor and add add_offset)"
        )
    raise FieldFileError(message)


def _listed(variables: Sequence[Variable]) -> str:
    shown = [f"{v.name} ({v.source.dtype} {dims_text(v.source.shape)})" for v in variables[:_SHOWN]]
    if len(variables) > _SHOWN:
        shown.append(f"{len(variables) - _SHOWN} more")
    return ", ".join(shown) or "none at all"


def _encoded(text: str) -> float | None:
    """A fill value as xarray writes it into Zarr 3: base64 of a double; or as digits."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        raw = base64.standard_b64decode(text)
    except (binascii.Error, ValueError):
        return None
    return float(struct.unpack("<d", raw)[0]) if len(raw) == 8 else None
