"""`sz-mcp fields`, run as a user runs it."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from kernels.fields import Catalogue, UnknownFieldError
from kernels.fields.files import KNOWN_SUFFIXES
from kernels.fields.sdrbench import KNOWN_FILLS
from kernels.fields.synthetic import CHARACTERS
from sz_mcp.cli import app
from sz_mcp.errors import StepFailed

ROOT = Path(__file__).parents[2]
WAIT_S = 120


def fields(home: Path, *arguments: str) -> Result:
    """In this process; a failure that the command line knows is the result's exception."""
    return CliRunner().invoke(app, ["fields", *arguments, "--home", str(home)])


def failure(result: Result) -> str:
    assert isinstance(result.exception, StepFailed), result.output
    return str(result.exception)


def in_a_process(home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": str(ROOT), "SZ_MCP_HOME": str(home), **more}
    return subprocess.run(
        [sys.executable, "-m", "sz_mcp", "fields", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=WAIT_S,
        check=False,
    )


def raw(folder: Path, name: str = "T_4_5_6.f32") -> Path:
    data = np.arange(120, dtype=np.float32)
    data[:12] = 1e35
    data.tofile(folder / name)
    return folder / name


def test_a_field_goes_from_added_to_shown_to_hidden_to_removed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    file = str(raw(tmp_path))

    added = fields(home, "add", file, "--dims", "4x5x6", "--fill", "1e35", "--name", "mine")
    shown = fields(home, "show", "mine", "--picture", str(tmp_path / "mine.png"))
    listed = fields(home, "list")
    hidden = fields(home, "hide", "mine")
    removed = fields(home, "remove", "mine")

    assert "added mine: 4x5x6 float32" in added.output
    assert "12 to 119, 12 values are the fill value 1e+35" in added.output
    for fact in ("4x5x6", "12 values", "100%", "107", "public", "T_4_5_6.f32"):
        assert fact in shown.output
    assert (tmp_path / "mine.png").read_bytes().startswith(b"\x89PNG")
    assert "mine" in listed.output
    assert "1e+35" in listed.output
    assert "mine is hidden; records call it hidden-" in hidden.output
    assert removed.output == f"removed mine; {file} stays\n"
    with pytest.raises(UnknownFieldError):
        Catalogue(home).info("mine")


def test_the_list_as_json_has_everything_an_operator_may_know(tmp_path: Path) -> None:
    fields(tmp_path, "add", str(raw(tmp_path)), "--dims", "120", "--hidden", "--name", "mine")

    rows = {row["name"]: row for row in json.loads(fields(tmp_path, "list", "--json").stdout)}

    assert rows["uk_theta"]["visibility"] == "shipped"
    assert rows["synthetic:noise:500000:seed=1"]["bytes"] == 2_000_000
    mine = rows["mine"]
    assert (mine["shape"], mine["dtype"], mine["bytes"]) == ([120], "float32", 480)
    assert mine["visibility"] == "hidden"
    assert mine["alias"].startswith("hidden-")
    assert mine["path"] == str(tmp_path / "T_4_5_6.f32")


@pytest.mark.parametrize("shape", ["30", "30x40", "5x30x40", "3x5x1200x40"])
def test_a_picture_is_drawn_of_any_number_of_axes(tmp_path: Path, shape: str) -> None:
    name = f"synthetic:steps:{shape}:fill"

    shown = fields(tmp_path, "show", name, "--picture", str(tmp_path / "a.png"))

    assert f"{name}:seed=1" in shown.output
    assert (tmp_path / "a.png").stat().st_size > 1000


@pytest.mark.parametrize("largest", [1.7e308, 1e200, 1.0, 0.0, 1e-200, 5e-324])
@pytest.mark.parametrize("shape", ["16", "4x4"])
def test_a_picture_is_drawn_of_values_of_any_size(
    tmp_path: Path, largest: float, shape: str
) -> None:
    data = np.linspace(-1, 1, 16) * largest
    data.tofile(tmp_path / "wide.f64")
    fields(tmp_path, "add", str(tmp_path / "wide.f64"), "--dims", shape, "--unit", "$x^{")

    shown = fields(tmp_path, "show", "wide", "--picture", str(tmp_path / "a.png"))

    assert shown.exit_code == 0, shown.exception
    assert ("larger than any float64" in shown.output) == (largest > 1e308)
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_a_picture_of_nothing_finite_is_drawn(tmp_path: Path) -> None:
    np.full((4, 4), np.nan, np.float32).tofile(tmp_path / "none.f32")
    fields(tmp_path, "add", str(tmp_path / "none.f32"), "--dims", "4x4")

    shown = fields(tmp_path, "show", "none", "--picture", str(tmp_path / "a.png"))

    assert shown.exit_code == 0, shown.exception


def test_a_disk_without_room_is_named_with_what_to_do(tmp_path: Path) -> None:
    file = raw(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        refused = fields(tmp_path / "home", "add", str(file), "--dims", "120")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert failure(refused) == (
        f"{tmp_path}/home/fields: File too large. Make room, or use another home (--home)"
    )


def test_a_damaged_file_of_any_kind_ends_with_a_message(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_text("PK")
    os.mkfifo(tmp_path / "b.npy")

    for name in ("a.npz", "b.npy"):
        assert name in failure(fields(tmp_path / "home", "add", str(tmp_path / name)))


def test_entries_that_can_not_be_read_are_reported_beside_the_list(tmp_path: Path) -> None:
    fields(tmp_path, "add", str(raw(tmp_path)), "--dims", "120", "--name", "mine")
    (tmp_path / "fields" / "d.json").mkdir()

    listed = fields(tmp_path, "list")
    shown = fields(tmp_path, "show", "d")

    assert "mine" in listed.stdout
    assert f"sz-mcp: {tmp_path}/fields/d.json can't be understood (it is no file)" in listed.stderr
    assert "d.json can't be understood" in failure(shown)


def test_shipped_fields_are_said_to_be_neither_hidden_nor_removed(tmp_path: Path) -> None:
    for command in ("hide", "unhide", "remove"):
        message = failure(fields(tmp_path, command, "uk_theta"))
        assert message.startswith(
            "uk_theta comes with the package: it can't be hidden or removed; your own fields can"
        )


def test_what_can_not_be_done_ends_with_the_reason_and_no_traceback(tmp_path: Path) -> None:
    done = in_a_process(tmp_path, "add", str(raw(tmp_path)), "--dims", "4x5x7")

    assert done.returncode == 1
    assert done.stderr == (
        "sz-mcp: T_4_5_6.f32 has 480 bytes, but 4x5x7 of float32 needs 560. "
        "120 float32 values fit 4x5x6, 120\n"
    )
    assert done.stdout == ""


def test_commands_on_unknown_fields_say_what_is_registered(tmp_path: Path) -> None:
    fields(tmp_path, "add", str(raw(tmp_path)), "--dims", "120", "--name", "mine")

    for command in ("remove", "hide", "unhide"):
        assert "registered: mine" in failure(fields(tmp_path, command, "nope"))
    assert "choose one of uk_theta" in failure(fields(tmp_path, "show", "nope"))
    assert "registered already" in failure(
        fields(tmp_path, "add", str(raw(tmp_path)), "--dims", "120", "--name", "mine")
    )


def test_a_hidden_field_is_shown_to_its_operator_and_may_be_given_to_agents(
    tmp_path: Path,
) -> None:
    fields(tmp_path, "add", str(raw(tmp_path)), "--dims", "120", "--hidden", "--name", "mine")

    shown = fields(tmp_path, "show", "mine").output
    unhidden = fields(tmp_path, "unhide", "mine").output

    assert "hidden, recorded as hidden-" in shown
    assert "T_4_5_6.f32" in shown
    assert unhidden == "mine may be used by agents, under that name\n"
    assert Catalogue(tmp_path).problem("mine") is None


def test_the_data_sets_are_listed_without_network(tmp_path: Path) -> None:
    pytest.importorskip("sdrbench", reason="sdrbench is not installed: extra `sdrbench`")

    sets = fields(tmp_path, "fetch", "--list").output
    arrays = fields(tmp_path, "fetch", "nyx", "--list").output

    for name in ("cesm-atm", "hurricane-isabel", "nyx/log", "miranda", "512x512x512"):
        assert name in sets
    assert "nyx/temperature" in arrays
    assert "no data set 'no'" in failure(fields(tmp_path, "fetch", "no", "--list"))


def test_a_download_that_fails_names_the_address_and_the_remedy(tmp_path: Path) -> None:
    pytest.importorskip("sdrbench", reason="sdrbench is not installed: extra `sdrbench`")

    done = in_a_process(tmp_path, "fetch", "exaalt/vx", HF_HUB_OFFLINE="1")

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "https://huggingface.co/datasets/sdrbench/exaalt" in done.stderr
    assert "Nothing of it was registered. Download https://" in done.stderr
    assert "sz-mcp fields fetch exaalt/vx --from FILE_OR_FOLDER" in done.stderr
    assert "sz-mcp fields add FILE --dims 2869440 --dtype f32" in done.stderr
    assert Catalogue(tmp_path).names() == Catalogue().names()


def test_a_set_is_fetched_from_a_copy_and_a_wrong_copy_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("sdrbench", reason="sdrbench is not installed: extra `sdrbench`")
    wrong = tmp_path / "copy" / "vx.f32"
    wrong.parent.mkdir()
    wrong.touch()
    os.truncate(wrong, 11_477_760)

    result = fields(tmp_path, "fetch", "exaalt/vx", "--from", str(wrong.parent))

    assert "vx.f32 has sha256" in failure(result)
    assert "It was not registered" in failure(result)
    assert wrong.exists()


def test_the_page_on_fields_names_what_there_is() -> None:
    page = (ROOT / "docs" / "fields.md").read_text()
    known_fills = [f"`{one.data_set}` | {one.value:g}".replace("+", "") for one in KNOWN_FILLS]

    assert [name for name in CHARACTERS if f"`{name}`" not in page] == []
    assert [suffix for suffix in KNOWN_SUFFIXES if f"`{suffix}`" not in page] == []
    assert [row for row in known_fills if row not in page] == []
    for command in ("list", "show", "add", "remove", "hide", "fetch"):
        assert f"sz-mcp fields {command}" in page
