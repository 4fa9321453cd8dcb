"""The fields that come with the package: seven real ones as files, and one that is computed."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from kernels.fields.errors import FieldDataError, UnknownFieldError, reason
from kernels.fields.waves import waves
from kernels.records import Array, Field, FieldInfo

_DATA = Path(__file__).parent / "data"
_LICENCE = "Open Government Licence v3.0; contains public sector information, © Met Office"
_PACKAGE = "iris-sample-data 2.5.2"
_SYNTHETIC = "synthetic-256"


_INFOS = (
    FieldInfo(
        name="uk_theta",
        shape=(21, 204, 187),
        dtype="float32",
        source=f"{_PACKAGE}: uk_hires.pp, m01s00i004 air potential temperature over the UK",
        licence=_LICENCE,
        sha256="43cbb67a6189ab24831767700da1ac18396775d07f22ee0110e766fa9fb846e6",
        unit="K",
        character="3-D, smooth, values quantised to 1/8 K",
    ),
    FieldInfo(
        name="na_temperature",
        shape=(240, 37, 49),
        dtype="float32",
        source=f"{_PACKAGE}: A1B_north_america.nc, air_temperature, yearly means",
        licence=_LICENCE,
        sha256="fa3f2d341e21432a130c5ae564b046a190eb75c4674b690e1c67a63d9682f7ee",
        unit="K",
        character="3-D (time, latitude, longitude)",
    ),
    FieldInfo(
        name="ocean_temperature",
        shape=(148, 180),
        dtype="float32",
        source=f"{_PACKAGE}: orca2_votemper.nc, votemper at the surface, ORCA2 curvilinear grid",
        licence=_LICENCE,
        sha256="38e27682eda76010f914494582ba6ddf3538016943bd66bec67927be1dc85ba8",
        unit="degC",
        character="2-D, 38% land filled with 9.96921e36",
        fill_value=9.969209968386869e36,
    ),
    FieldInfo(
        name="sea_surface",
        shape=(54, 18, 432),
        dtype="float32",
        source=f"{_PACKAGE}: ostia_monthly.nc, surface_temperature, monthly",
        licence=_LICENCE,
        sha256="86978972bd787d81c16e5992dc0746a265458a69725253bd5b899588d186637e",
        unit="K",
        character="3-D (time, latitude, longitude), 26% land filled with 1e20",
        fill_value=1.0000000200408773e20,
    ),
    FieldInfo(
        name="valley_theta",
        shape=(60, 83, 83),
        dtype="float32",
        source=f"{_PACKAGE}: colpex.pp, m01s00i004 air potential temperature, COLPEX valley case",
        licence=_LICENCE,
        sha256="ca36c1c9a9ec57e8133b92ee61b8f4d57d2cf3a37499ffc58d12ce05cd3b9119",
        unit="K",
        character="3-D (time and level stacked), turbulent",
    ),
    FieldInfo(
        name="valley_pressure",
        shape=(60, 83, 83),
        dtype="float32",
        source=f"{_PACKAGE}: colpex.pp, m01s00i408 air pressure, COLPEX valley case",
        licence=_LICENCE,
        sha256="f2264d3426104250e23339c7dedbd2784c0a7305865b2639a0f41fd43facdb2a",
        unit="Pa",
        character="3-D (time and level stacked), large offset",
    ),
    FieldInfo(
        name="electron_density",
        shape=(29, 31, 31),
        dtype="float64",
        source=f"{_PACKAGE}: space_weather.nc, Ne, electron density",
        licence=_LICENCE,
        sha256="58b440c4649a7814ec580da56031c5fb15f67f9595d2840d76b5722baff6058d",
        unit="1e11 e/m^3",
        character="3-D, float64",
    ),
    FieldInfo(
        name=_SYNTHETIC,
        shape=(256, 256, 256),
        dtype="float32",
        source="computed: sin(7x+3y)·cos(5z−2x) + 0.3·sin(40yz) + 0.001·N(0,1)",
        licence="CC0-1.0",
        sha256="04868201a1a9414feacaea573df16547c82507a0d970d90fe569c691d043d099",
        character="3-D, 64 MiB, waves with a little noise",
    ),
)
_BY_NAME = {item.name: item for item in _INFOS}


def names() -> tuple[str, ...]:
    """Every field of the package."""
    return tuple(_BY_NAME)


def info(name: str) -> FieldInfo:
    """What is known of a field without reading it. Raises UnknownFieldError."""
    found = _BY_NAME.get(name)
    if found is None:
        raise UnknownFieldError(f"field {name!r} is unknown: choose one of {', '.join(names())}")
    return found


@lru_cache(maxsize=len(_INFOS))
def load(name: str) -> Field:
    """A field's values, read-only and read once. Raises UnknownFieldError, FieldDataError.

    The computed field's info carries the sum of what was computed: sin and cos may differ by an
    ulp from the machine that wrote the constant.
    """
    known = info(name)
    if name == _SYNTHETIC:
        data: Array = waves(256)
        known = replace(known, sha256=hashlib.sha256(data.data).hexdigest())
    else:
        data = read_verified(_DATA / f"{name}.npz", known)
    data.flags.writeable = False
    return Field(known, data)


def read_verified(path: Path, known: FieldInfo) -> Array:
    """The array `data` of an .npz file. Raises FieldDataError unless it is the one described."""
    try:
        # NumPy leaves a damaged file open, which it opened itself.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            data: Array = np.ascontiguousarray(archive["data"])
    except Exception as error:  # What a damaged archive makes NumPy raise is not listed.
        raise FieldDataError(
            f"{path.name} can't be read ({reason(error)}): reinstall the package"
        ) from error
    found = hashlib.sha256(data.data).hexdigest()
    if (data.shape, data.dtype.name, found) != (known.shape, known.dtype, known.sha256):
        raise FieldDataError(
            f"{path.name} holds {data.dtype}{data.shape} with sha256 {found}, "
            f"not {known.dtype}{known.shape} with {known.sha256}: reinstall the package"
        )
    return data
