"""A user's own raw, .npy and .npz files become fields, or the message says what to do."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from kernels.bounds import derive
from kernels.fields import Catalogue, FieldDataError, FieldFileError, FieldNameError
from kernels.fields.files import Ask
from kernels.fields.intake import Wish, add
from kernels.fields.registry import Registry
from kernels.records import Array


def values(*shape: int, dtype: str = "float32") -> Array:
    return np.random.default_rng(1).standard_normal(shape).astype(dtype)


def raw(path: Path, data: Array) -> Path:
    data.tofile(path)
    return path


def test_a_raw_file_is_used_where_it_lies(tmp_path: Path) -> None:
    data = values(4, 5, 6)
    file = raw(tmp_path / "P_4x5x6.f32", data)

    added = add(Registry(tmp_path / "home"), file, Wish(ask=Ask(dims="4x5x6"), unit="Pa"))

    field = Catalogue(tmp_path / "home").load("P_4x5x6")
    assert np.array_equal(field.data, data)
    assert type(field.data) is np.ndarray
    assert not field.data.flags.writeable
    assert field.info == added.entry.info()
    assert field.info.sha256 == hashlib.sha256(data.tobytes()).hexdigest()
    assert (field.info.unit, field.info.source, field.info.character) == (
        "Pa",
        "P_4x5x6.f32",
        "3-D",
    )
    assert not (tmp_path / "home" / "fields" / "data").exists()


@pytest.mark.parametrize(
    ("name", "dtype"), [("a.f64", "float64"), ("a.d64", "float64"), ("a.F32", "float32")]
)
def test_a_suffix_says_the_data_type(tmp_path: Path, name: str, dtype: str) -> None:
    file = raw(tmp_path / name, values(30, dtype=dtype))

    entry = add(Registry(tmp_path), file, Wish(ask=Ask(dims="30"))).entry

    assert (entry.name, entry.dtype, entry.shape) == ("a", dtype, (30,))


def test_a_big_endian_raw_file_is_converted(tmp_path: Path) -> None:
    data = values(10, 20)
    file = raw(tmp_path / "x.dat", data.astype(">f4"))

    ask = Ask(dims="10x20", dtype="f32", endian="big")
    added = add(Registry(tmp_path / "home"), file, Wish(ask=ask))

    assert "converted from big-endian" in added.notes
    loaded = Catalogue(tmp_path / "home").load("x").data
    assert np.array_equal(loaded, data)
    assert loaded.dtype.isnative


@pytest.mark.parametrize(
    ("name", "size", "ask", "message"),
    [
        ("a.f32", 96, Ask(), "give --dims, slowest axis first. 24 float32 values fit 24"),
        ("CLDHGH_1_4_6.f32", 96, Ask(dims="4x7"), "96 bytes, but 4x7 of float32 needs 112"),
        ("CLDHGH_1_4_6.f32", 96, Ask(dims="4x7"), "24 float32 values fit 4x6, 24"),
        ("a.f32", 6480000 * 4, Ask(), "fit 1800x3600, 6480000"),
        ("a.f32", 512 * 4, Ask(), "fit 8x8x8, 512"),
        (
            "a.f64",
            100,
            Ask(dims="10"),
            "100 bytes are no whole number of float64 values (8 bytes each), but",
        ),
        ("a.dat", 96, Ask(dims="24"), "give --dtype f32 or --dtype f64"),
        ("a.f32", 96, Ask(dims="12", dtype="f64"), "float32 by its suffix, --dtype says float64"),
        ("a.f32", 96, Ask(dims="24;"), "whole numbers above 0 joined by x"),
        ("a.f32", 128, Ask(dims="2x2x2x2x2"), "has 5 axes"),
        ("a.xyz", 96, Ask(), "known are .f32"),
        ("a.xyz", 96, Ask(dims="24"), "give --dtype"),
        ("a.npy", 96, Ask(), "can't be read as .npy"),
        ("a.npz", 96, Ask(), "can't be read as .npz"),
    ],
)
def test_a_file_that_does_not_fit_says_what_would(
    tmp_path: Path, name: str, size: int, ask: Ask, message: str
) -> None:
    file = tmp_path / name
    file.write_bytes(b"")
    os.truncate(file, size)

    with pytest.raises(FieldFileError) as caught:
        add(Registry(tmp_path / "home"), file, Wish(ask=ask))

    assert message in str(caught.value)
    assert not (tmp_path / "home").exists()


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FieldFileError, match="no file"):
        add(Registry(tmp_path), tmp_path / "none.npy", Wish())
    with pytest.raises(FieldFileError, match="folder, and not a Zarr store"):
        add(Registry(tmp_path), tmp_path, Wish())


def test_a_large_npy_file_is_mapped_and_not_copied(tmp_path: Path) -> None:
    data = values(7, 8, dtype="float64")
    np.save(tmp_path / "t.npy", data)

    entry = add(Registry(tmp_path / "home"), tmp_path / "t.npy", Wish()).entry

    assert (entry.path, entry.form, entry.owned) == (str(tmp_path / "t.npy"), "npy", False)
    loaded = Catalogue(tmp_path / "home", held_bytes=data.nbytes - 1).load("t").data
    assert np.array_equal(loaded, data)
    base = loaded
    while isinstance(base.base, np.ndarray):
        base = base.base
    assert isinstance(base, np.memmap)


@pytest.mark.parametrize(
    ("kind", "note"),
    [("fortran", "converted from Fortran order"), ("big", "converted from big-endian")],
)
def test_an_npy_file_of_another_layout_is_converted(tmp_path: Path, kind: str, note: str) -> None:
    data = values(7, 8, 9)
    np.save(
        tmp_path / "t.npy", np.asfortranarray(data) if kind == "fortran" else data.astype(">f4")
    )

    added = add(Registry(tmp_path / "home"), tmp_path / "t.npy", Wish())

    assert note in added.notes
    field = Catalogue(tmp_path / "home").load("t")
    assert np.array_equal(field.data, data)
    assert field.data.flags.c_contiguous
    assert field.info.sha256 == hashlib.sha256(data.tobytes()).hexdigest()


@pytest.mark.parametrize("shape", [(), (1,), (3, 1, 4), (1, 2, 1, 3, 4, 1)])
def test_shapes_are_kept_up_to_four_axes_and_squeezed_beyond(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    data = values(*shape) if shape else np.array(2.5, np.float32)
    np.save(tmp_path / "t.npy", data)

    add(Registry(tmp_path / "home"), tmp_path / "t.npy", Wish())

    field = Catalogue(tmp_path / "home").load("t")
    expected = shape if len(shape) <= 4 else (2, 3, 4)
    assert field.data.shape == field.info.shape == expected
    assert np.array_equal(field.data, data.reshape(expected))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros((2, 2, 2, 2, 2), np.float32), "5 axes"),
        (np.zeros((3, 0), np.float32), "holds no element"),
        (np.zeros(3, np.int16), "holds int16, a field is float32 or float64: convert it first"),
        (np.zeros(3, np.float16), "holds float16"),
        (np.zeros(3, np.complex64), "holds complex64"),
        (np.array([{}, 1]), "can't be read as .npy"),
    ],
)
def test_an_array_that_is_no_field_is_refused(tmp_path: Path, data: Array, message: str) -> None:
    np.save(tmp_path / "t.npy", data, allow_pickle=True)

    with pytest.raises(FieldFileError, match=message):
        add(Registry(tmp_path / "home"), tmp_path / "t.npy", Wish())


def test_too_many_elements_are_refused_before_they_are_read(tmp_path: Path) -> None:
    file = tmp_path / "t.f32"
    file.touch()
    os.truncate(file, 4 * 2**31)

    with pytest.raises(FieldFileError, match="2,147,483,648 elements, a field at most"):
        add(Registry(tmp_path), file, Wish(ask=Ask(dims="2147483648")))


def test_dims_that_differ_from_the_files_own_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", values(3, 4))

    with pytest.raises(FieldFileError, match=r"differs from the shape in the file, 3x4"):
        add(Registry(tmp_path), tmp_path / "t.npy", Wish(ask=Ask(dims="4x3")))


def test_one_array_of_an_npz_file_is_taken_and_several_are_listed(tmp_path: Path) -> None:
    first, second = values(3, 4), values(5)
    np.savez(tmp_path / "one.npz", first=first)
    np.savez(tmp_path / "two.npz", first=first, second=second)
    registry = Registry(tmp_path / "home")

    add(registry, tmp_path / "one.npz", Wish())
    add(registry, tmp_path / "two.npz", Wish(ask=Ask(variable="second")))
    with pytest.raises(FieldFileError, match="has several arrays: choose --variable of first, se"):
        add(registry, tmp_path / "two.npz", Wish())
    with pytest.raises(FieldFileError, match="has no array 'third': choose --variable of first"):
        add(registry, tmp_path / "two.npz", Wish(ask=Ask(variable="third")))

    catalogue = Catalogue(tmp_path / "home")
    assert np.array_equal(catalogue.load("one-first").data, first)
    assert np.array_equal(catalogue.load("two-second").data, second)


def test_a_fill_value_in_text_is_the_nearest_of_the_data_type(tmp_path: Path) -> None:
    data = values(100)
    data[:40] = np.float32(9.96921e36)
    file = raw(tmp_path / "t.f32", data)

    added = add(Registry(tmp_path), file, Wish(ask=Ask(dims="100"), fill="9.96921e36"))

    field = Catalogue(tmp_path).load("t")
    assert field.info.fill_value == float(np.float32(9.96921e36))
    assert added.scan.filled == 40
    assert field.info.character == "1-D, 40% filled with 9.96921e+36"
    bound = derive(field.data, field.info.fill_value, "rel", 0.5).absolute
    assert bound == 0.5 * (float(data[40:].max()) - float(data[40:].min()))


@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
def test_a_fill_value_that_is_not_finite_needs_no_declaring(tmp_path: Path, text: str) -> None:
    data = values(100)
    data[10:20] = float(text)
    file = raw(tmp_path / "t.f32", data)

    added = add(Registry(tmp_path), file, Wish(ask=Ask(dims="100"), fill=text))

    assert any("non-finite values never count" in note for note in added.notes)
    field = Catalogue(tmp_path).load("t")
    assert field.info.fill_value is None
    assert field.info.character == "1-D, 10% not finite"
    finite = data[np.isfinite(data)]
    assert derive(field.data, None, "rel", 1.0).absolute == float(finite.max()) - float(
        finite.min()
    )


def test_a_nan_given_as_fill_value_leaves_the_range_as_it_is() -> None:
    data = values(100)
    data[3] = np.nan

    assert derive(data, float("nan"), "rel", 1e-3) == derive(data, None, "rel", 1e-3)


def test_a_fill_value_that_can_not_be_is_refused_and_an_absent_one_noted(tmp_path: Path) -> None:
    file = raw(tmp_path / "t.f32", values(100))
    ask = Ask(dims="100")

    with pytest.raises(FieldFileError, match="--fill 'land' is no number"):
        add(Registry(tmp_path), file, Wish(ask=ask, fill="land"))
    with pytest.raises(FieldFileError, match="larger than any float32"):
        add(Registry(tmp_path), file, Wish(ask=ask, fill="1e300"))
    added = add(Registry(tmp_path), file, Wish(ask=ask, fill="-9999"))

    assert added.notes == ("no element equals the fill value -9999.0",)


def test_a_usual_fill_value_that_was_not_declared_is_pointed_out(tmp_path: Path) -> None:
    data = values(100)
    data[7] = 1e35
    file = raw(tmp_path / "t.f32", data)

    added = add(Registry(tmp_path), file, Wish(ask=Ask(dims="100")))

    (note,) = added.notes
    assert "an extreme of the values is 1e+35" in note
    assert "--fill" in note


def test_a_changed_file_is_refused_and_a_touched_one_looked_at_again(tmp_path: Path) -> None:
    data = values(100)
    file = raw(tmp_path / "t.f32", data)
    add(Registry(tmp_path), file, Wish(ask=Ask(dims="100")))
    catalogue = Catalogue(tmp_path)
    assert np.array_equal(catalogue.load("t").data, data)

    os.utime(file, ns=(1, 1))
    assert np.array_equal(catalogue.load("t").data, data)
    assert Registry(tmp_path).get("t").mtime_ns == 1

    raw(file, data + 1)
    with pytest.raises(FieldDataError, match=r"field t has changed .*sz-mcp fields remove"):
        catalogue.load("t")
    raw(file, data[:50])
    with pytest.raises(FieldDataError, match="field t has changed"):
        catalogue.load("t")
    file.unlink()
    with pytest.raises(FieldDataError, match="can't be read"):
        catalogue.load("t")


def test_a_large_file_is_not_read_to_list_or_describe_it(tmp_path: Path) -> None:
    file = raw(tmp_path / "t.f32", values(100))
    add(Registry(tmp_path), file, Wish(ask=Ask(dims="100")))
    file.unlink()

    catalogue = Catalogue(tmp_path)

    assert "t" in catalogue.names()
    assert catalogue.info("t").shape == (100,)


def test_an_added_field_can_be_removed_and_the_users_file_stays(tmp_path: Path) -> None:
    mine = raw(tmp_path / "mine.f32", values(10))
    np.savez(tmp_path / "copied.npz", a=values(10))
    registry = Registry(tmp_path / "home")
    add(registry, mine, Wish(ask=Ask(dims="10")))
    copy = Path(add(registry, tmp_path / "copied.npz", Wish()).entry.path)
    assert copy.exists()

    registry.remove("mine")
    registry.remove("copied-a")

    assert registry.entries() == ()
    assert mine.exists()
    assert not copy.exists()


def test_a_name_that_is_taken_reserved_or_odd_is_refused(tmp_path: Path) -> None:
    file = raw(tmp_path / "t.f32", values(10))
    registry = Registry(tmp_path)
    add(registry, file, Wish(ask=Ask(dims="10")))

    for name, message in {
        "t": "registered already: choose another --name",
        "uk_theta": "reserved",
        "suite": "reserved",
        "hidden-1": "reserved",
        "../t": "use letters",
        "synthetic:smooth:8": "use letters",
        "": "use letters",
        ".t": "use letters",
    }.items():
        with pytest.raises(FieldNameError, match=message):
            add(registry, file, Wish(name=name, ask=Ask(dims="10")))
    assert len(registry.entries()) == 1


@pytest.mark.parametrize(
    ("file", "name"),
    [("CLOUDf48.bin.f32", "CLOUDf48"), ("ä b (1).f32", "b-1"), ("...f32", "field")],
)
def test_a_name_is_made_from_the_files(tmp_path: Path, file: str, name: str) -> None:
    added = add(Registry(tmp_path), raw(tmp_path / file, values(10)), Wish(ask=Ask(dims="10")))

    assert added.entry.name == name


def test_nothing_is_left_when_the_sum_is_not_what_it_should_be(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.asfortranarray(values(30, 40)))
    registry = Registry(tmp_path / "home")
    registry.folder.mkdir(parents=True)
    taken_meanwhile = registry.folder / "t.json"

    def phase(_what: str) -> object:
        taken_meanwhile.write_text("{}")
        return lambda _done, _total: None

    with pytest.raises(FieldNameError, match="registered already"):
        add(registry, tmp_path / "t.npy", Wish(), phase)  # type: ignore[arg-type]

    assert list(registry.data.iterdir()) == []
