"""The vendor's published examples are compiled without an error on every architecture they name."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolchains.csl.command_line import parse
from toolchains.csl.compiler import compile_program, read_file
from toolchains.csl.source import Severity

CORPORA = [("SZ_MCP_CSL_EXAMPLES", "1.4"), ("SZ_MCP_SDK_EXAMPLES", "2.10")]

_BY_SDKLAYOUT = "sdklayout-"
"""These folders have no layout in CSL: test_corpus_run.py runs them."""

_UNUSED = {
    "benchmarks/25-pt-stencil/nop.csl",
    "tutorials/gemv-00-basic-syntax/code.csl",
    "tutorials/pipeline-03-multiple/memcpy_edge/north.csl",
    "tutorials/pipeline-03-multiple/memcpy_edge/south.csl",
}
"""No layout names these; they are only parsed."""


def _commands(script: Path) -> Iterator[list[str]]:
    """The arguments of a script's calls of cslc."""
    for line in script.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["cslc"]:
            yield words[1:]


def _mistakes(script: Path, arguments: list[str], dialect: str, read: set[Path]) -> list[str]:
    wish = parse([*arguments, f"--sdk-dialect={dialect}"])

    def reader(path: str) -> str:
        read.add((script.parent / path).resolve())
        return read_file(path)

    compiled = compile_program(script.parent / wish.main, wish.options, reader)
    return [f"{script}: {one}" for one in compiled.diagnostics if one.severity is Severity.ERROR]


@pytest.mark.slow
@pytest.mark.parametrize(("variable", "dialect"), CORPORA)
def test_every_example_is_compiled_without_an_error(variable: str, dialect: str) -> None:
    if not os.environ.get(variable):
        pytest.skip(f"{variable} names no checkout of the examples")
    root = Path(os.environ[variable]).resolve()
    read: set[Path] = set()
    found: list[str] = []
    for script in sorted(root.rglob("commands_wse[23].sh")):
        for arguments in _commands(script):
            found += _mistakes(script, arguments, dialect, read)
    for path in sorted(set(root.rglob("*.csl")) - read):
        if re.search(r"^layout\b", path.read_text(encoding="utf-8"), re.MULTILINE):
            for script in sorted(path.parent.parent.glob("commands_wse[23].sh")):
                for arguments in _commands(script):
                    other = [str(path) if one.endswith(".csl") else one for one in arguments]
                    found += _mistakes(script, other, dialect, read)
    assert not found, "\n\n".join(found)
    left = {
        str(path.relative_to(root))
        for path in set(root.rglob("*.csl")) - read
        if not path.parent.name.startswith(_BY_SDKLAYOUT)
    }
    assert left <= _UNUSED, f"no example of its corpus uses {sorted(left - _UNUSED)}"
