"""What counts as a submission, and that a path can't lead outside the roots."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sz_mcp.errors import ArgumentProblems
from sz_mcp.settings import Limits
from sz_mcp.submissions import folder_under_roots, problems_of_files, read_folder

LIMITS = Limits()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "mine").mkdir(parents=True)
    (root / "mine" / "kernel.py").write_text("x = 1\n")
    return root.resolve()


def test_a_kernel_alone_is_a_submission() -> None:
    assert problems_of_files({"kernel.py": "x = 1"}, LIMITS) == ()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "must not be empty"),
        (".hidden", "start with a dot"),
        ("..", "start with a dot"),
        ("a/b.py", "no separators"),
        ("a\\b.py", "no separators"),
        ("a\0b", "control characters"),
        ("a\nb", "control characters"),
        ("x" * 129, "longer than 128 bytes"),
    ],
)
def test_odd_file_names_are_refused(name: str, problem: str) -> None:
    (found,) = problems_of_files({"kernel.py": "", name: ""}, LIMITS)

    assert problem in found


def test_kernel_py_is_required() -> None:
    (found,) = problems_of_files({"Kernel.py": "x"}, LIMITS)

    assert found.startswith("no 'kernel.py' among the files ('Kernel.py')")


def test_size_is_counted_in_bytes_over_all_files() -> None:
    half = "é" * (LIMITS.source_bytes // 4)

    assert problems_of_files({"kernel.py": half, "b.py": half}, LIMITS) == ()
    (found,) = problems_of_files({"kernel.py": half, "b.py": half + "x"}, LIMITS)
    assert found == "262145 bytes of source: a submission has at most 262144"


def test_the_number_of_files_is_limited() -> None:
    files = {"kernel.py": "", **{f"f{i}.py": "" for i in range(32)}}

    assert problems_of_files(files, LIMITS) == ("33 files: a submission has at most 32",)


def test_text_that_is_no_unicode_is_refused() -> None:
    (found,) = problems_of_files({"kernel.py": "ab\ud800"}, LIMITS)

    assert found == "'kernel.py' is not valid Unicode text at character 2"


def test_a_folder_is_read_without_hidden_files_and_caches(root: Path) -> None:
    (root / "mine" / ".git").mkdir()
    (root / "mine" / "__pycache__").mkdir()
    (root / "mine" / "lanes.py").write_text("y = 2\n")

    files = read_folder(folder_under_roots("mine", (root,)), (root,), LIMITS)

    assert files == {"kernel.py": "x = 1\n", "lanes.py": "y = 2\n"}


@pytest.mark.parametrize("path", ["../out", "/etc", "mine/../../out", "link"])
def test_a_path_that_ends_outside_the_roots_is_refused(root: Path, path: str) -> None:
    out = root.parent / "out"
    out.mkdir()
    (root / "link").symlink_to(out)

    with pytest.raises(ArgumentProblems, match="is not under a root of this server"):
        folder_under_roots(path, (root,))


def test_a_folder_swapped_for_a_link_after_the_check_is_refused(root: Path) -> None:
    folder = folder_under_roots("mine", (root,))
    out = root.parent / "out"
    folder.rename(out)
    folder.symlink_to(out)

    with pytest.raises(ArgumentProblems, match="is not under a root"):
        read_folder(folder, (root,), LIMITS)


def test_a_file_that_is_a_link_to_the_outside_is_refused(root: Path) -> None:
    secret = root.parent / "secret"
    secret.write_text("secret")
    (root / "mine" / "helper.py").symlink_to(secret)

    with pytest.raises(ArgumentProblems, match=r"'helper.py' is a link that leads outside"):
        read_folder(root / "mine", (root,), LIMITS)


def test_links_inside_the_roots_are_followed(root: Path) -> None:
    (root / "shared.py").write_text("z = 3\n")
    (root / "mine" / "shared.py").symlink_to(root / "shared.py")

    assert read_folder(root / "mine", (root,), LIMITS)["shared.py"] == "z = 3\n"


def test_every_unusable_file_is_told(root: Path) -> None:
    (root / "mine" / "sub").mkdir()
    os.mkfifo(root / "mine" / "pipe")
    (root / "mine" / "data.bin").write_bytes(b"\xff\xfe")

    with pytest.raises(ArgumentProblems) as refused:
        read_folder(root / "mine", (root,), LIMITS)

    assert len(refused.value.problems) == 3
    assert "'data.bin' is not UTF-8 text at byte 0" in refused.value.problems


def test_a_file_named_as_the_path_says_what_to_name(root: Path) -> None:
    with pytest.raises(ArgumentProblems, match=r"is a file: name the folder that holds kernel.py"):
        folder_under_roots("mine/kernel.py", (root,))


def test_a_missing_folder_names_the_roots(root: Path) -> None:
    with pytest.raises(ArgumentProblems, match=f"there is no folder 'none'; roots: {root}"):
        folder_under_roots("none", (root,))


def test_without_roots_no_path_is_read() -> None:
    with pytest.raises(ArgumentProblems, match="send `files` instead"):
        folder_under_roots("/tmp", ())


@pytest.mark.parametrize("path", ["~nobody-here/x", "a" * 5000, "/".join(["ok"] * 3000)])
def test_a_path_that_no_system_takes_is_a_problem_with_the_roots_listed(
    tmp_path: Path, path: str
) -> None:
    with pytest.raises(ArgumentProblems, match="roots: "):
        folder_under_roots(path, (tmp_path,))


def test_more_braces_than_a_parser_takes_in_a_moment_are_a_problem() -> None:
    source = f"x = f'{'{1}' * 4001}'"

    problems = problems_of_files({"kernel.py": source}, LIMITS)

    assert problems == ("'kernel.py' holds more than 4000 opening braces",)
