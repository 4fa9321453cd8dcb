"""One made-up ledger for all tests of the board; they only read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sz_mcp.board.made import make


@pytest.fixture(scope="session")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of `made.make`."""
    home = tmp_path_factory.mktemp("board")
    make(home)
    return home
