"""Files that can't become fields: damaged, no files at all, of odd sizes, or without room."""

from __future__ import annotations

import os
import resource
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from kernels.fields import Catalogue, FieldDataError, FieldFileError, FieldNameError
from kernels.fields.arrays import Source
from kernels.fields.files import Ask
from kernels.fields.intake import Wish, add, silent, stored
from kernels.fields.registry import Registry
from kernels.fields.shipped import read_verified

DATA = np.arange(100, dtype=np.float32)


def bad_crc(path: Path) -> None:
    np.savez(path, a=DATA)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    path.write_bytes(whole)


def truncated_npz(path: Path) -> None:
    np.savez(path, a=DATA)
    os.truncate(path, path.stat().st_size // 2)


def only_text(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "no array")


def text_named_as_array(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", "no array")


def header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "truncated.npz": truncated_npz,
    "crc.npz": bad_crc,
    "pk.npz": lambda path: path.write_text("PK is what this text starts with"),
    "pk.npy": lambda path: path.write_bytes(b"PK\x03\x04 is what this text starts with"),
    "text.npz": only_text,
    "named.npz": text_named_as_array,
    "plain.npz": lambda path: path.write_bytes(header("{'descr': '<f4'}")),
    "unclosed.npy": lambda path: path.write_bytes(header("{'descr': '<f4', (\n")),
    "dims.npy": lambda path: path.write_bytes(
        header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({10**30},)}}\n")
    ),
    "negative.npy": lambda path: path.write_bytes(
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}\n") + bytes(100)
    ),
    "dict.npy": lambda path: path.write_bytes(header("[]\n")),
    "short.npy": lambda path: path.write_bytes(b"\x93NUM"),
    "long.npy": lambda path: path.write_bytes(
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000,)}\n") + bytes(100)
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_damaged_numpy_file_is_refused_with_what_to_do(tmp_path: Path, name: str) -> None:
    UNREADABLE[name](tmp_path / name)

    with pytest.raises(FieldFileError) as caught:
        add(Registry(tmp_path / "home"), tmp_path / name, Wish())

    assert name in str(caught.value)
    assert any(word in str(caught.value) for word in ("download it again", "numpy.savez"))
    assert not (tmp_path / "home").exists()


def test_a_text_beside_the_one_array_of_an_archive_is_no_choice(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", rho=DATA)
    with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive:
        archive.writestr("readme.txt", "no array")

    add(Registry(tmp_path), tmp_path / "a.npz", Wish(name="x"))

    assert np.array_equal(Catalogue(tmp_path).load("x").data, DATA)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".h5", ".nc", ".f32", ".zarr"])
def test_only_files_and_folders_are_opened(tmp_path: Path, suffix: str) -> None:
    os.mkfifo(tmp_path / f"p{suffix}")

    with pytest.raises(FieldFileError, match=f"p{suffix} is no file: .* a pipe"):
        add(Registry(tmp_path), tmp_path / f"p{suffix}", Wish(ask=Ask(dims="10")))
    with pytest.raises(FieldFileError, match="null is no file"):
        add(Registry(tmp_path), Path("/dev/null"), Wish(ask=Ask(dims="10", dtype="f32")))


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("a.f32", 0, "a.f32 is empty"),
        ("a.npy", 0, "a.npy is empty"),
        ("a.f32", 6, "6 bytes are no whole number of float32 values (4 bytes each): it is cut"),
        ("a.f64", 6, "6 bytes are no whole number of float64 values (8 bytes each): it is cut"),
        ("a.f64", 12, "(8 bytes each), but 3 of float32: rename it to .f32 if it holds those"),
        ("a.dat", 12, "(8 bytes each), but 3 of float32: give --dtype f32 if it holds those"),
    ],
)
def test_a_raw_file_of_an_odd_size_is_told_what_is_wrong(
    tmp_path: Path, name: str, size: int, message: str
) -> None:
    (tmp_path / name).write_bytes(bytes(size))
    ask = Ask(dims="10", dtype="f64") if name == "a.dat" else Ask(dims="10")

    with pytest.raises(FieldFileError) as caught:
        add(Registry(tmp_path), tmp_path / name, Wish(ask=ask))

    assert message in str(caught.value)


# A full disk.


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """Writing beyond fails, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_disk_without_room_for_an_entry_is_named_and_left_clean(tmp_path: Path) -> None:
    DATA.tofile(tmp_path / "q.f32")
    registry = Registry(tmp_path / "home")

    with files_up_to(100), pytest.raises(OSError, match="File too large") as caught:
        add(registry, tmp_path / "q.f32", Wish(ask=Ask(dims="100")))

    assert caught.value.filename == str(registry.folder)
    assert left_in(registry.folder) == [".lock"]


def test_a_disk_without_room_for_values_is_named_and_left_clean(tmp_path: Path) -> None:
    np.save(tmp_path / "q.npy", np.asfortranarray(DATA.reshape(10, 10)))
    registry = Registry(tmp_path / "home")

    with files_up_to(200), pytest.raises(OSError, match="File too large") as caught:
        add(registry, tmp_path / "q.npy", Wish())

    assert caught.value.filename == str(registry.data)
    assert left_in(registry.folder) == []


def test_room_that_is_missing_is_said_in_fitting_units(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    source = Source((free,), np.dtype(np.float32), lambda _part: DATA)

    with pytest.raises(FieldFileError, match=r"converting needs \d[\d.]* (MB|GB|TB|PB) in .* free"):
        stored(Registry(tmp_path), "x", source, (free,), silent)


def test_a_field_of_the_package_can_not_be_hidden_or_removed(tmp_path: Path) -> None:
    registry = Registry(tmp_path)

    for name in ("uk_theta", "synthetic:noise:100"):
        for change in (registry.remove, lambda name: registry.hide(name, hidden=True)):
            with pytest.raises(FieldNameError, match="comes with the package: it can't be hidden"):
                change(name)


def test_a_file_name_that_is_no_text_does_not_reach_a_reply(tmp_path: Path) -> None:
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.f32"))
    DATA.tofile(file)

    add(Registry(tmp_path), file, Wish(name="x", ask=Ask(dims="100")))

    field = Catalogue(tmp_path).load("x")
    assert field.info.source == "a?.f32"
    assert np.array_equal(field.data, DATA)


def test_a_damaged_file_of_the_package_is_named_without_its_folder(tmp_path: Path) -> None:
    known = Catalogue().info("uk_theta")

    for bad in (truncated_npz, only_text, lambda path: np.savez(path, data=DATA)):
        bad(tmp_path / "uk_theta.npz")
        with pytest.raises(FieldDataError, match="reinstall the package") as caught:
            read_verified(tmp_path / "uk_theta.npz", known)
        assert str(tmp_path) not in str(caught.value)
