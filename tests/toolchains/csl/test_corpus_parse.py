"""The vendor's published examples are read without a word."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.toolchains.csl.parsing import shape
from toolchains.csl.parser import parse
from toolchains.csl.printing import print_module
from toolchains.csl.source import Source

CORPORA = [("SZ_MCP_CSL_EXAMPLES", "1.4", 164), ("SZ_MCP_SDK_EXAMPLES", "2.10", 167)]


@pytest.mark.parametrize(("variable", "dialect", "count"), CORPORA)
def test_every_example_is_read_in_its_dialect_and_printed_as_it_was(
    variable: str, dialect: str, count: int
) -> None:
    if not os.environ.get(variable):
        pytest.skip(f"{variable} names no checkout of the examples")
    files = sorted(Path(os.environ[variable]).rglob("*.csl"))
    assert len(files) >= count
    for path in files:
        module, found = parse(Source(str(path), "", path.read_text(encoding="utf-8")), dialect)
        assert not found, "\n".join(map(str, found))
        assert module is not None
        again, said = parse(Source(path.name, "", print_module(module)), dialect)
        assert not said, "\n".join(map(str, said))
        assert shape(again) == shape(module)
