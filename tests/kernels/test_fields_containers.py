"""Variables of NetCDF, HDF5 and Zarr files become fields; skipped where the reader is missing."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernels.fields import Catalogue, FieldFileError, MissingReaderError
from kernels.fields.arrays import source_of
from kernels.fields.files import Ask
from kernels.fields.intake import Added, Wish, add
from kernels.fields.registry import Registry
from kernels.fields.variables import Variable, reader
from kernels.records import Array

TEMPERATURE = np.linspace(250, 300, 5 * 6 * 7).reshape(5, 6, 7).astype(np.float32)


def library(name: str) -> Any:
    """An optional package, or a skip that names it."""
    with warnings.catch_warnings():
        # Compiled against other NumPy headers, which NumPy keeps working and warns of.
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"{name} is not installed: extra `data`")


def added(home: Path, file: Path, variable: str | None = None) -> Added:
    return add(Registry(home), file, Wish(name="x", ask=Ask(variable=variable)))


def loaded(home: Path) -> Array:
    return Catalogue(home).load("x").data


def write_netcdf(path: Path, form: str = "NETCDF4") -> None:
    with library("netCDF4").Dataset(path, "w", format=form) as file:
        for name, size in (("lev", 5), ("lat", 6), ("lon", 7), ("one", 1)):
            file.createDimension(name, size)
        lat = file.createVariable("lat", "f8", ("lat",))
        lat[:] = np.arange(6)
        axes = ("lev", "lat", "lon")
        temperature = file.createVariable("ta", "f4", axes, fill_value=1e20)
        temperature.units = "K"
        temperature.long_name = "air temperature"
        data = TEMPERATURE.copy()
        data[0, :3] = 1e20
        temperature.set_auto_mask(False)
        temperature[:] = data


def test_the_one_data_variable_of_a_netcdf_file_is_taken_with_its_attributes(
    tmp_path: Path,
) -> None:
    write_netcdf(tmp_path / "a.nc")

    entry = added(tmp_path, tmp_path / "a.nc").entry

    info = entry.info()
    assert (info.unit, info.source) == ("K", "a.nc: ta, air temperature")
    assert info.fill_value == float(np.float32(1e20))
    assert info.character == "3-D, 10% filled with 1e+20"
    assert entry.owned
    data = loaded(tmp_path)
    assert np.array_equal(data[1:], TEMPERATURE[1:])
    assert (data[0, :3] == np.float32(1e20)).all()


def test_netcdf_of_the_classic_format_is_read_as_well(tmp_path: Path) -> None:
    write_netcdf(tmp_path / "a.nc", "NETCDF3_CLASSIC")

    added(tmp_path, tmp_path / "a.nc")

    assert np.array_equal(loaded(tmp_path)[1:], TEMPERATURE[1:])
    assert loaded(tmp_path).dtype.isnative


def test_several_netcdf_variables_are_listed_and_one_in_a_group_can_be_named(
    tmp_path: Path,
) -> None:
    write_netcdf(tmp_path / "a.nc")
    with library("netCDF4").Dataset(tmp_path / "a.nc", "a") as file:
        inner = file.createGroup("deep").createVariable("ua", "f8", ("one", "lat"))
        inner[:] = np.arange(6)
        file.createVariable("label", str, ("lat",))
        packed = file.createVariable("packed", "i2", ("lat",))
        packed.scale_factor = 0.01

    with pytest.raises(FieldFileError) as caught:
        added(tmp_path, tmp_path / "a.nc")
    assert "--variable, of ta (float32 5x6x7), deep/ua (float64 1x6)" in str(caught.value)
    with pytest.raises(FieldFileError, match=r"no variable 'no'; it has lat .* packed \(int16 6\)"):
        added(tmp_path, tmp_path / "a.nc", "no")
    with pytest.raises(FieldFileError, match=r"'packed' .* holds int16.* unpack it first"):
        added(tmp_path, tmp_path / "a.nc", "packed")
    with pytest.raises(FieldFileError, match=r"'label' .* holds object"):
        added(tmp_path, tmp_path / "a.nc", "label")
    added(tmp_path, tmp_path / "a.nc", "deep/ua")
    assert loaded(tmp_path).tolist() == [list(range(6))]


def test_netcdfs_default_fill_counts_only_where_it_occurs(tmp_path: Path) -> None:
    with library("netCDF4").Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("n", 10)
        half = file.createVariable("half", "f4", ("n",))
        half[:4] = np.arange(4)
        whole = file.createVariable("whole", "f4", ("n",))
        whole[:] = np.arange(10)

    add(Registry(tmp_path), tmp_path / "a.nc", Wish(name="h", ask=Ask(variable="half")))
    add(Registry(tmp_path), tmp_path / "a.nc", Wish(name="w", ask=Ask(variable="whole")))

    half_info = Catalogue(tmp_path).info("h")
    assert half_info.fill_value == float(np.float32(9.969209968386869e36))
    assert half_info.character == "1-D, 60% filled with 9.96921e+36"
    assert Catalogue(tmp_path).info("w").fill_value is None


def test_a_scale_factor_of_a_real_variable_is_not_applied_and_said(tmp_path: Path) -> None:
    with library("netCDF4").Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("n", 10)
        variable = file.createVariable("v", "f4", ("n",))
        variable.set_auto_scale(False)
        variable.scale_factor = 0.5
        variable.add_offset = 0.0
        variable.missing_value = np.array([-1.0, -2.0], np.float32)
        variable[:] = np.arange(10) - 1

    found = added(tmp_path, tmp_path / "a.nc")

    assert found.notes == (
        "scale_factor 0.5 is declared and was not applied: values are as stored",
    )
    assert loaded(tmp_path).tolist() == list(range(-1, 9))
    assert found.entry.info().fill_value == -1.0


def test_a_missing_value_that_the_data_type_has_not_is_left_out_and_said(tmp_path: Path) -> None:
    with library("netCDF4").Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("n", 10)
        variable = file.createVariable("v", "f4", ("n",))
        variable[:] = np.arange(10)
    # netCDF4 itself would write it in the variable's type.
    with library("h5py").File(tmp_path / "a.nc", "a") as file:
        file["v"].attrs["missing_value"] = 1e300

    found = added(tmp_path, tmp_path / "a.nc")

    (note,) = found.notes
    assert note.startswith("missing_value 1e+300 is declared and was left out, as no float32")
    assert "--fill" in note
    assert found.entry.info().fill_value is None
    assert loaded(tmp_path).tolist() == list(range(10))


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("a.nc", "netCDF4"),
        ("a.h5", "h5py"),
    ],
)
def test_a_file_that_was_cut_short_is_refused(tmp_path: Path, name: str, package: str) -> None:
    library(package)
    if package == "netCDF4":
        write_netcdf(tmp_path / name)
    else:
        with library("h5py").File(tmp_path / name, "w") as file:
            file.create_dataset("rho", data=TEMPERATURE, chunks=(5, 6, 7), compression="gzip")
    os.truncate(tmp_path / name, (tmp_path / name).stat().st_size - 400)

    with pytest.raises(FieldFileError, match=f"{name} can't be read as .* download it again"):
        added(tmp_path / "home", tmp_path / name)

    assert list((tmp_path / "home").rglob("*.npy")) == []


def test_a_damaged_chunk_is_refused_and_no_values_are_left(tmp_path: Path) -> None:
    with library("h5py").File(tmp_path / "a.h5", "w") as file:
        rho = file.create_dataset("rho", data=TEMPERATURE, chunks=(5, 6, 7), compression="gzip")
        place = rho.id.get_chunk_info(0).byte_offset
    library("zarr").save_array(str(tmp_path / "a.zarr"), TEMPERATURE)
    whole = bytearray((tmp_path / "a.h5").read_bytes())
    whole[place : place + 100] = bytes(100)
    (tmp_path / "a.h5").write_bytes(whole)
    (chunk,) = (path for path in (tmp_path / "a.zarr" / "c").rglob("*") if path.is_file())
    chunk.write_bytes(b"no chunk at all")

    for name in ("a.h5", "a.zarr"):
        with pytest.raises(FieldFileError, match=f"{name} can't be read as values"):
            added(tmp_path / "home", tmp_path / name)

    assert list((tmp_path / "home" / "fields" / "data").iterdir()) == []


@pytest.mark.parametrize(
    "text",
    ['{"zarr_format": 3, "shape": [3]}', "{", "[]", '{"node_type": "array", "zarr_format": 3}'],
)
def test_a_zarr_store_without_a_sound_description_is_refused(tmp_path: Path, text: str) -> None:
    library("zarr")
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "a.zarr" / "zarr.json").write_text(text)

    with pytest.raises(FieldFileError, match=r"a.zarr can't be read as Zarr .* download it again"):
        added(tmp_path / "home", tmp_path / "a.zarr")


def test_more_than_four_axes_are_squeezed_in_a_variable_too(tmp_path: Path) -> None:
    with library("netCDF4").Dataset(tmp_path / "a.nc", "w") as file:
        for name, size in (("a", 1), ("b", 2), ("c", 1), ("d", 3), ("e", 4)):
            file.createDimension(name, size)
        file.createVariable("v", "f4", tuple("abcde"))[:] = np.arange(24).reshape(1, 2, 1, 3, 4)

    assert added(tmp_path, tmp_path / "a.nc").entry.shape == (2, 3, 4)
    assert np.array_equal(loaded(tmp_path).ravel(), np.arange(24))


def test_a_dataset_of_an_hdf5_file_is_read_block_by_block(tmp_path: Path) -> None:
    data = np.random.default_rng(0).standard_normal((1300, 900)).astype(">f4")
    with library("h5py").File(tmp_path / "a.h5", "w") as file:
        chunked = file.create_dataset("run/rho", data=data, chunks=(100, 100), compression="gzip")
        chunked.attrs["units"] = "kg/m3"
        chunked.attrs["_FillValue"] = np.array([-9.0])
        file["ids"] = np.arange(3)
        file["empty"] = library("h5py").Empty("f4")

    entry = added(tmp_path, tmp_path / "a.h5").entry

    assert (entry.unit, entry.fill, entry.shape) == ("kg/m3", "-9.0", (1300, 900))
    assert np.array_equal(loaded(tmp_path), data)
    assert loaded(tmp_path).dtype.isnative


def test_a_scalar_of_an_hdf5_file_is_a_field_of_one_value(tmp_path: Path) -> None:
    with library("h5py").File(tmp_path / "a.h5", "w") as file:
        file["time"] = np.float64(2.5)

    assert added(tmp_path, tmp_path / "a.h5").entry.shape == ()
    assert loaded(tmp_path).tolist() == 2.5


@pytest.mark.parametrize("version", [2, 3])
def test_an_array_of_a_zarr_store_is_read(tmp_path: Path, version: int) -> None:
    zarr = library("zarr")
    root = zarr.open_group(str(tmp_path / "a.zarr"), mode="w", zarr_format=version)
    data = TEMPERATURE.astype(np.float64)
    array = root.create_array("g/t", shape=data.shape, chunks=(2, 3, 7), dtype="f8")
    array[:] = data
    array.attrs["units"] = "K"
    array.attrs["_FillValue"] = "AAAAAAAA+H8="
    root.create_array("n", shape=(3,), dtype="i4")

    entry = added(tmp_path, tmp_path / "a.zarr").entry

    assert (entry.unit, entry.fill, entry.dtype) == ("K", "", "float64")
    assert np.array_equal(loaded(tmp_path), data)


def test_a_zarr_store_may_be_one_array_under_any_name(tmp_path: Path) -> None:
    library("zarr").save_array(str(tmp_path / "plain"), TEMPERATURE)

    added(tmp_path, tmp_path / "plain")

    assert np.array_equal(loaded(tmp_path), TEMPERATURE)


@pytest.mark.parametrize(("name", "package"), [("a.nc", "netCDF4"), ("a.h5", "h5py")])
def test_a_file_that_is_something_else_is_refused(tmp_path: Path, name: str, package: str) -> None:
    library(package)
    (tmp_path / name).write_text("no container")

    with pytest.raises(FieldFileError, match=f"{name} can't be read as"):
        added(tmp_path, tmp_path / name)


def test_a_missing_reader_is_named_with_the_remedy() -> None:
    with pytest.raises(MissingReaderError, match=r"needs the package no_such_reader: pip install"):
        reader("no_such_reader", "NetCDF")


def test_a_reader_that_stumbles_over_another_package_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stumbling_reader.py").write_text("int('post0')")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(MissingReaderError, match=r"'post0'\). If zfpy is installed: pip install"):
        reader("stumbling_reader", "Zarr")


def test_a_fill_value_in_text_may_be_digits_or_xarrays_base64() -> None:
    source = source_of(np.zeros(1))

    def fill(value: object) -> float | None:
        return Variable("v", source, {"_FillValue": value}).number("_FillValue")

    assert fill("-999") == -999.0
    assert fill("QIy1eB2vFUQ=") == 1e20
    assert fill("none") is None
    assert fill(np.array([], np.float32)) is None
