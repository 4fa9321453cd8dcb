"""A fresh emulated device for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.toolchains.shims.engine import engine
from toolchains.child.shims.cupy._engine import PROCESS, Asking, Process


@pytest.fixture(autouse=True)
def _fresh_process() -> Iterator[None]:
    """Nothing of a test is left for the next."""
    kept = dict(PROCESS.regions)
    PROCESS.__dict__.update(Process().__dict__)
    PROCESS.regions.update(kept)
    yield
    kept = dict(PROCESS.regions)
    PROCESS.__dict__.update(Process().__dict__)
    PROCESS.regions.update(kept)


@pytest.fixture
def compiler() -> Asking:
    """An engine; a test that needs it is skipped where device code can't be compiled."""
    pytest.importorskip("ziglang", reason="device code is compiled by ziglang")
    PROCESS.engine = made = engine()
    return made
