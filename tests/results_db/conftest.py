from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from results_db.drain import drain


@pytest.fixture(scope="session")
def empty_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose database was made, with nothing in it; not to be written to."""
    path = tmp_path_factory.mktemp("empty-home")
    drain(path)
    return path


@pytest.fixture
def home(empty_home: Path, tmp_path: Path) -> Path:
    """A home of the test's own; making its database would take longer than most tests."""
    return Path(shutil.copytree(empty_home, tmp_path / "home"))
