"""The shape of the code: sizes, and documents that name what exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("sz_mcp", "kernels", "toolchains", "simulators", "results_db")
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
_COMPILED = ("njit", "compiled")


def _sources() -> Iterator[Path]:
    for package in PACKAGES:
        yield from (ROOT / package).rglob("*.py")


def test_files_stay_small() -> None:
    large = {
        str(path.relative_to(ROOT)): count
        for path in _sources()
        if (count := len(path.read_text().splitlines())) > MAX_FILE_LINES
    }

    assert large == {}


def test_functions_stay_small_but_for_numba_loops() -> None:
    large = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in _sources()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= MAX_FUNCTION_LINES
        and not any(ast.unparse(d).startswith(_COMPILED) for d in node.decorator_list)
    ]

    assert large == []


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "AGENTS.md", "README.md"])
def test_paths_that_a_document_names_exist(document: str) -> None:
    named = re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", (ROOT / document).read_text())
    tracked = [name for name in named if name.split("/")[0] in (*PACKAGES, "tests", "docs", ".ci")]

    assert tracked
    assert [name for name in tracked if not (ROOT / name).exists()] == []
