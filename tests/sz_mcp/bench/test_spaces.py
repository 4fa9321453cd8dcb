"""Parameter spaces: declared constants, and the submissions that a search makes of them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from kernels.fields import load
from kernels.tasks import TASKS, StageTask
from sz_mcp.bench.constants import ConstantError, replaced
from sz_mcp.bench.spaces import SpaceError, shipped, space_for


@pytest.mark.parametrize(
    ("file", "before", "value", "after"),
    [
        ("k.py", "BLOCK = 8  # of a loop\n", 16, "BLOCK = 16  # of a loop\n"),
        ("k.py", "A, BLOCK, B = 1, 2, f(3)\n", 16, "A, BLOCK, B = 1, 16, f(3)\n"),
        ("k.py", "BLOCK: int = 1 << 3\n", "1 << 5", "BLOCK: int = 1 << 5\n"),
        ("k.py", "π, BLOCK = 'é', True\n", False, "π, BLOCK = 'é', False\n"),
        ("k.py", "BLOCK = 'slow'\n", "fast", "BLOCK = 'fast'\n"),
        ("k.cu", "#define BLOCK 8\n", 16, "#define BLOCK 16\n"),
        (
            "k.cu",
            "constexpr unsigned A = 1, BLOCK = 8, C = 2;",
            9,
            "constexpr unsigned A = 1, BLOCK = 9, C = 2;",
        ),
        ("k.cu", "static const bool BLOCK = true;", False, "static const bool BLOCK = false;"),
        ("k.csl", "param BLOCK: i16 = 8;", 16, "param BLOCK: i16 = 16;"),
        ("k.csl", "const BLOCK = 8;", 16, "const BLOCK = 16;"),
    ],
)
def test_a_constant_is_changed_where_it_is_defined(
    file: str, before: str, value: int | str, after: str
) -> None:
    assert replaced(file, before, "BLOCK", value) == after


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("k.py", "BLOCKS = 8\n", "0 places define BLOCK"),
        ("k.py", "BLOCK = 1\nBLOCK = 2\n", "2 places define BLOCK"),
        ("k.py", "def f():\n    BLOCK = 1\n", "0 places"),
        ("k.py", "BLOCK = = 1", "not Python"),
        ("k.cu", "const int BLOCKS = 8;", "0 places"),
    ],
)
def test_a_constant_that_is_not_defined_once_is_refused(file: str, text: str, said: str) -> None:
    with pytest.raises(ConstantError, match=said):
        replaced(file, text, "BLOCK", 1)


@pytest.mark.parametrize(("family", "task"), shipped())
def test_a_shipped_space_can_be_searched(family: str, task: str) -> None:
    space = space_for(task, family)
    rng = np.random.default_rng(0)
    points = [space.defaults, *space.neighbours(space.defaults), space.random(rng)]
    sources = {tuple(space.files(point).values()) for point in points}
    assert space.size > 2
    assert len(sources) >= len({space.key(point) for point in points})


def _points(family: str, task: str) -> list[dict[str, object]]:
    space = space_for(task, family)
    names = [one.name for one in space.parameters]
    return [
        dict(zip(names, p, strict=True)) for p in product(*(o.choices for o in space.parameters))
    ]


@pytest.mark.parametrize("task", ["lorenzo-1d", "lorenzo-2d", "lorenzo-3d", "histogram", "bitpack"])
def test_every_point_of_our_own_kernels_is_right(task: str) -> None:
    # Read as Python: compiled ones are the slow test's, and the suite's whenever one is searched.
    space, stage = space_for(task, "numba"), TASKS[task]
    assert isinstance(stage, StageTask)
    small = load("valley_theta").data[:5, :7, :9].copy()
    inputs = stage.inputs(small, 0.05)
    wanted = stage.golden(*inputs)
    for point in _points("numba", task):
        source = space.files(point)["kernel.py"].replace("@njit", "")  # type: ignore[arg-type]
        scope: dict[str, object] = {}
        with np.errstate(over="ignore"):
            exec(compile(source, "kernel.py", "exec"), scope)
            found = scope["run"](*inputs)  # type: ignore[operator]
        outputs = found if isinstance(found, tuple) else (found,)
        for got, want in zip(outputs, wanted, strict=True):
            np.testing.assert_array_equal(got, want, err_msg=str(point))


def test_a_folder_declares_its_own_space(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text("STEP = 1\n")
    (tmp_path / "space.yaml").write_text("parameters:\n  STEP: {low: 1, high: 9, step: 4}\n")
    space = space_for("lorenzo-1d", "numba", tmp_path)
    assert [one.choices for one in space.parameters] == [(1, 5, 9)]
    assert space.files({"STEP": 9}) == {"kernel.py": "STEP = 9\n"}
    assert space.neighbours({"STEP": 5}) == [{"STEP": 1}, {"STEP": 9}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("parameters: {}", "parameters"),
        ("parameters: {STEP: {low: 1}}", "give either choices, or low and high"),
        ("parameters: {STEP: {choices: [1], default: 2}}", "the default 2 is none of"),
        ("parameters: {STEP: {choices: [1], files: [k.cu]}}", "no file 'k.cu'"),
        ("parameters: {WIDTH: {choices: [1]}}", "0 places define WIDTH"),
        ("base: best\nparameters: {STEP: {choices: [1]}}", "no 'best' numba submission"),
        ("a: [", "space.yaml"),
    ],
)
def test_what_is_wrong_with_a_space_is_told(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "kernel.py").write_text("STEP = 1\n")
    (tmp_path / "space.yaml").write_text(text)
    with pytest.raises(SpaceError) as raised:
        space_for("lorenzo-1d", "numba", tmp_path)
    assert said in str(raised.value)


def test_a_task_without_a_space_is_told_with_those_that_have_one() -> None:
    with pytest.raises(SpaceError, match=r"no parameter space for szx on numba: .*lorenzo-1d"):
        space_for("szx", "numba")
