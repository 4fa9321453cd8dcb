"""`sz-mcp check`, run as a user runs it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from kernels.records import Array
from sz_mcp.cli import app

ROOT = Path(__file__).parents[2]
WIDE = {"COLUMNS": "200"}


def check(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["check", *map(str, arguments)], env=WIDE)


def told(*arguments: object) -> tuple[int, dict[str, Any]]:
    """Exit code and JSON."""
    result = check(*arguments, "--json")
    return result.exit_code, json.loads(result.stdout)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Array]:
    """A raw field of 4×5×6, and the same with one error of 0.25 at [2, 3, 4]."""
    original = np.linspace(-1, 1, 120, dtype=np.float32).reshape(4, 5, 6)
    decoded = original.copy()
    decoded[2, 3, 4] += 0.25
    original.tofile(tmp_path / "original.f32")
    decoded.tofile(tmp_path / "decoded.f32")
    return tmp_path / "original.f32", tmp_path / "decoded.f32", original


def test_a_bound_that_holds_ends_with_0(files: tuple[Path, Path, Array]) -> None:
    result = check(*files[:2], "--bound", 0.2500001, "--dims", "4x5x6")

    assert result.exit_code == 0
    assert "the bound holds" in result.stdout
    assert "120 values, every one" in result.stdout


def test_a_violation_ends_with_1_and_says_where_it_is(files: tuple[Path, Path, Array]) -> None:
    result = check(*files[:2], "--bound", 0.1, "--dims", "4x5x6")
    code, found = told(*files[:2], "--bound", 0.1, "--dims", "4x5x6")

    assert result.exit_code == code == 1
    assert "[2, 3, 4], flat 82" in result.stdout
    assert "the bound is violated" in result.stdout
    assert (found["holds"], found["violations"], found["checked"]) == (False, 1, 120)
    assert (found["first"]["index"], found["first"]["flat"]) == ([2, 3, 4], 82)
    assert found["worst"] == found["first"]
    assert found["error_over_bound"] == found["max_abs_error"] / 0.1


def test_the_tolerance_of_a_peers_own_check_is_none_of_ours(tmp_path: Path) -> None:
    original = np.zeros(1000, np.float32)
    np.save(tmp_path / "a.npy", original)
    np.save(tmp_path / "b.npy", original + np.float32(1.09e-3))

    code, found = told(tmp_path / "a.npy", tmp_path / "b.npy", "--bound", 1e-3)

    assert (code, found["violations"]) == (1, 1000)
    assert 1.089 < found["error_over_bound"] < 1.091


def test_the_bound_is_the_double_that_was_asked_not_its_float32(tmp_path: Path) -> None:
    np.zeros(3, np.float32).tofile(tmp_path / "a.f32")
    np.full(3, 1e-3, np.float32).tofile(tmp_path / "b.f32")
    both = tmp_path / "a.f32", tmp_path / "b.f32"

    assert check(*both, "--bound", "0.001").exit_code == 1
    assert check(*both, "--bound", "0.0010000000475").exit_code == 0


def test_relative_bounds_are_of_the_range_without_the_fill_value(tmp_path: Path) -> None:
    original = np.array([0, 5, 10, 1e20], np.float64)
    np.save(tmp_path / "a.npy", original)
    np.save(tmp_path / "b.npy", original + np.array([0.1, 0, 0, 0]))
    both = tmp_path / "a.npy", tmp_path / "b.npy"

    code, found = told(*both, "--mode", "rel", "--bound", 1e-2, "--fill", 1e20)
    tight = told(*both, "--mode", "rel", "--bound", 9.9e-3, "--fill", 1e20)

    assert (code, found["abs_bound"], found["value_range"]) == (0, 0.1, 10.0)
    assert tight[0] == 1
    assert told(*both, "--mode", "rel", "--bound", 1e-2)[1]["abs_bound"] == 1e18


def test_pointwise_bounds_keep_signs_and_zeros(tmp_path: Path) -> None:
    original = np.array([1.0, -2.0, 0.0, 4.0])
    np.save(tmp_path / "a.npy", original)
    np.save(tmp_path / "good.npy", original * 1.0009)
    np.save(tmp_path / "bad.npy", np.array([1.0, 2.0, 1e-12, 4.0]))
    how = "--mode", "pw_rel", "--bound", 1e-3

    good, bad = (
        told(tmp_path / "a.npy", tmp_path / f"{name}.npy", *how) for name in ("good", "bad")
    )

    assert good[0] == 0
    assert 0.89 < good[1]["error_over_bound"] < 0.91
    assert (bad[0], bad[1]["violations"], bad[1]["first"]["flat"]) == (1, 2, 1)
    assert (bad[1]["abs_bound"], bad[1]["error_over_bound"]) == (None, None)
    assert "pw_rel 0.001" in check(tmp_path / "a.npy", tmp_path / "bad.npy", *how).stdout


def test_lost_values_are_told_without_infinite_json(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([1.0, math.nan, math.inf]))
    np.save(tmp_path / "b.npy", np.array([math.nan, math.nan, math.inf]))

    code, found = told(tmp_path / "a.npy", tmp_path / "b.npy", "--bound", 1)

    assert (code, found["violations"], found["max_abs_error"]) == (1, 1, None)
    assert (found["worst"]["decoded"], found["worst"]["error"]) == ("nan", "inf")


@pytest.mark.parametrize("dtype", ["i16", "int16", "u8", "i64"])
def test_integers_are_checked_exactly(tmp_path: Path, dtype: str) -> None:
    kind = {"i16": "<i2", "int16": "<i2", "u8": "u1", "i64": "<i8"}[dtype]
    original = np.arange(100).astype(kind)
    original.tofile(tmp_path / "a.dat")
    (original + original.dtype.type(2)).tofile(tmp_path / "b.dat")
    both = tmp_path / "a.dat", tmp_path / "b.dat", "--dtype", dtype

    assert check(*both, "--bound", 2).exit_code == 0
    assert check(*both, "--bound", 1.99).exit_code == 1
    assert check(*both[:1], *both[:1], *both[2:], "--bound", 0).exit_code == 0


def test_a_raw_file_beside_an_npy_has_its_shape_and_type(tmp_path: Path) -> None:
    original = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    decoded = original.copy()
    decoded[1, 2, 3] += 1
    np.save(tmp_path / "a.npy", np.asfortranarray(original))
    decoded.tofile(tmp_path / "b.out")

    code, found = told(tmp_path / "a.npy", tmp_path / "b.out", "--bound", 0.5)

    assert (code, found["first"]["index"], found["shape"]) == (1, [1, 2, 3], [2, 3, 4])


def test_big_endian_files_are_checked(tmp_path: Path) -> None:
    original = np.arange(1000, dtype=">f4")
    original.tofile(tmp_path / "a.f32")
    (original + 1).astype(">f4").tofile(tmp_path / "b.f32")
    both = tmp_path / "a.f32", tmp_path / "b.f32", "--endian", "big"

    assert check(*both, "--bound", 1).exit_code == 0
    assert check(*both, "--bound", 0.99).exit_code == 1


def test_metrics_are_told_on_request(files: tuple[Path, Path, Array]) -> None:
    options = "--bound", 0.1, "--dims", "4x5x6", "--threads", 1

    plain = told(*files[:2], *options)[1]["metrics"]
    code, found = told(*files[:2], *options, "--metrics")

    assert plain == {}
    assert code == 1
    assert found["metrics"]["max_error"] == pytest.approx(0.25)
    assert found["metrics"]["rmse"] == pytest.approx(0.25 / math.sqrt(120), rel=1e-6)
    assert found["metrics"]["errors[outside]"] == 1
    assert 0 < found["metrics"]["ssim"] < 1
    assert "errors[outside]" in check(*files[:2], *options, "--metrics").stdout


def sizes(folder: Path) -> dict[str, Path]:
    """Files that don't fit each other."""
    paths = {
        "six": folder / "six.f32",
        "five": folder / "five.f32",
        "odd": folder / "odd.f32",
        "empty": folder / "empty.f32",
        "unknown": folder / "unknown.dat",
        "doubles": folder / "doubles.npy",
        "halves": folder / "halves.npy",
        "square": folder / "square.npy",
        "packed": folder / "packed.npz",
        "broken": folder / "broken.npy",
        "gone": folder / "gone.f32",
        "folder": folder,
    }
    paths["six"].write_bytes(bytes(24))
    paths["unknown"].write_bytes(bytes(24))
    paths["five"].write_bytes(bytes(20))
    paths["odd"].write_bytes(bytes(23))
    paths["empty"].write_bytes(b"")
    paths["broken"].write_bytes(b"no array")
    np.save(paths["doubles"], np.zeros(6))
    np.save(paths["halves"], np.zeros(6, np.float16))
    np.save(paths["square"], np.zeros((2, 3), np.float32))
    np.savez(paths["packed"], np.zeros(6, np.float32))
    return paths


@pytest.mark.parametrize(
    ("pair", "options", "message"),
    [
        (("six", "five"), ["--bound", "1"], "five.f32 holds float32 5, six.f32 float32 6"),
        (("six", "square"), ["--bound", "1"], "if they are of one shape: --dims 2x3"),
        (
            ("packed", "six"),
            ["--bound", "1"],
            "packed.npz holds arrays packed in a file",
        ),
        (("six", "odd"), ["--bound", "1"], "no whole number of float32 values"),
        (("six", "empty"), ["--bound", "1"], "empty.f32 is empty"),
        (("six", "gone"), ["--bound", "1"], "gone.f32 can't be opened: No such file"),
        (("six", "folder"), ["--bound", "1"], "is no file that can be mapped"),
        (("six", "doubles"), ["--bound", "1"], "doubles.npy holds float64 6"),
        (("halves", "halves"), ["--bound", "1"], "halves.npy holds float16"),
        (("broken", "six"), ["--bound", "1"], "can't be read as .npy"),
        (("unknown", "unknown"), ["--bound", "1"], "says no data type: give --dtype"),
        (("six", "six"), ["--bound", "1", "--dtype", "f64"], "drop --dtype"),
        (("unknown", "unknown"), ["--bound", "1", "--dtype", "f16"], "--dtype f16: choose one of"),
        (("unknown", "unknown"), ["--bound", "1", "--dtype", "x"], "--dtype x: choose one of"),
        (("six", "six"), ["--bound", "1", "--dims", "2x4"], "not the 8 of 2x4"),
        (("six", "six"), ["--bound", "1", "--dims", "2,3"], "joined by x"),
        (("six", "six"), ["--bound", "nan"], "bound nan: it must be finite"),
        (("six", "six"), ["--bound=-1"], "bound -1.0: it must be finite"),
        (("six", "six"), ["--bound", "inf", "--mode", "pw_rel"], "bound inf: it must be finite"),
        (
            ("unknown", "unknown"),
            ["--bound", "1", "--dtype", "i32", "--mode", "pw_rel"],
            "int32 data has no pointwise relative bound",
        ),
    ],
)
def test_what_cannot_be_checked_ends_with_2_and_a_reason(
    tmp_path: Path, pair: tuple[str, str], options: list[str], message: str
) -> None:
    paths = sizes(tmp_path)

    result = check(*(paths[name] for name in pair), *options)

    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("mode", ["abs", "rel"])
def test_bool_data_have_to_be_equal_and_no_larger_bound_is_told(tmp_path: Path, mode: str) -> None:
    paths = tmp_path / "a.npy", tmp_path / "b.npy"
    np.save(paths[0], np.array([True, False, True]))
    np.save(paths[1], np.array([True, True, True]))

    code, found = told(*paths, "--bound", 1, "--mode", mode)
    result = check(*paths, "--bound", 1, "--mode", mode)

    assert (code, found["violations"], found["abs_bound"]) == (1, 1, 0.0)
    assert "bool values have to come back equal" in result.stdout


def test_a_relative_bound_that_overflows_ends_with_2(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([-1.7e308, 1.7e308]))

    result = check(tmp_path / "a.npy", tmp_path / "a.npy", "--bound", 1, "--mode", "rel")

    assert result.exit_code == 2
    assert "overflows" in result.stderr


def test_an_unknown_option_ends_with_2() -> None:
    assert check("a", "b", "--bound", 1, "--tolerance", 2).exit_code == 2


def test_the_command_is_there_in_a_process(files: tuple[Path, Path, Array]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sz_mcp", "check", *files[:2], "--bound", "0.1", "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=120,
        check=False,
    )

    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout)["first"]["flat"] == 82
