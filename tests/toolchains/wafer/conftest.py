"""A wafer toolchain with a pool of its own, for the tests of one module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from toolchains.children.pool import Pool
from toolchains.wafer import WaferToolchain


@pytest.fixture(scope="module")
def wafer() -> Iterator[WaferToolchain]:
    pool = Pool(1, 8 << 30)
    toolchain = WaferToolchain(pool)
    yield toolchain
    toolchain.close()
    pool.close()
