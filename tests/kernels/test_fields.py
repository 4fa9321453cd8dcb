"""The shipped fields are the ones described, and the computed one is its formula."""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from kernels import fields
from kernels.fields import FieldDataError
from kernels.fields.shipped import read_verified
from kernels.fields.waves import waves

REAL = [name for name in fields.names() if name != "synthetic-256"]


def test_seven_real_fields_and_one_computed_are_named() -> None:
    assert len(REAL) == 7
    assert "synthetic-256" in fields.names()


@pytest.mark.parametrize("name", REAL)
def test_a_real_field_has_the_values_its_info_describes(name: str) -> None:
    field = fields.load(name)

    assert field.info == fields.info(name)
    assert (field.data.shape, field.data.dtype.name) == (field.info.shape, field.info.dtype)
    assert hashlib.sha256(field.data.tobytes()).hexdigest() == field.info.sha256
    assert field.data.flags.c_contiguous


@pytest.mark.parametrize("name", REAL)
def test_a_fill_value_is_declared_exactly_where_land_was_filled(name: str) -> None:
    field = fields.load(name)
    huge = np.unique(field.data[np.abs(field.data) > 1e15])

    assert huge.tolist() == ([] if field.info.fill_value is None else [field.info.fill_value])


def test_values_are_read_once_and_cannot_be_overwritten() -> None:
    field = fields.load("uk_theta")

    assert fields.load("uk_theta") is field
    with pytest.raises(ValueError, match="read-only"):
        field.data[0] = 1


def test_the_synthetic_field_is_its_formula() -> None:
    n = 24
    x, y, z = np.meshgrid(*[np.arange(n) / n] * 3, indexing="ij")
    noise = np.random.default_rng(0).standard_normal((n, n, n))

    expected = np.sin(7 * x + 3 * y) * np.cos(5 * z - 2 * x) + 0.3 * np.sin(40 * y * z)

    assert np.array_equal(waves(n), (expected + 0.001 * noise).astype(np.float32))


def test_the_synthetic_field_is_as_large_as_described() -> None:
    field = fields.load("synthetic-256")

    assert field.data.shape == field.info.shape == (256, 256, 256)
    assert field.info.sha256 == hashlib.sha256(field.data.data).hexdigest()
    assert not field.data.flags.writeable


def test_an_unknown_field_is_an_error_that_lists_the_names() -> None:
    with pytest.raises(
        fields.UnknownFieldError, match=r"'nope' is unknown: choose one of uk_theta"
    ):
        fields.load("nope")
    with pytest.raises(fields.UnknownFieldError, match="synthetic-256"):
        fields.info("UK_THETA")


def test_a_file_with_other_values_is_reported(tmp_path: Path) -> None:
    values = fields.load("uk_theta").data.copy()
    values[3, 5, 7] += 1
    np.savez(tmp_path / "uk_theta.npz", data=values)

    with pytest.raises(FieldDataError, match="reinstall"):
        read_verified(tmp_path / "uk_theta.npz", fields.info("uk_theta"))


def test_every_shipped_file_is_attributed() -> None:
    data = resources.files("kernels.fields") / "data"
    notice = (data / "LICENCE.md").read_text(encoding="utf-8")
    files = {entry.name for entry in data.iterdir() if entry.name.endswith(".npz")}

    assert files == {f"{name}.npz" for name in REAL}
    assert "Open Government Licence" in notice
    assert "Met Office" in notice
    for name in REAL:
        assert f"{name}.npz" in notice
        assert fields.info(name).sha256 in notice
