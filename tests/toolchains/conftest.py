"""One pool of children for all tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from kernels.records import Array, Failure, Submission
from toolchains.base import Cancellation
from toolchains.children.pool import Pool
from toolchains.children.session import ChildSession, open_session

HONEST = """\
import numpy as np

def compress(data, abs_bound):
    return np.frombuffer(data.tobytes(), np.uint8)

def decompress(stream, shape, dtype):
    return stream.view(dtype).reshape(shape)
"""

Open = Callable[..., ChildSession | Failure]


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    pool = Pool(2, 4 << 30)
    yield pool
    pool.close()


@pytest.fixture
def open_kernel(pool: Pool) -> Iterator[Open]:
    """Load source text as kernel.py, or files; sessions are closed afterwards."""
    opened: list[ChildSession] = []

    def open_(source: str | dict[str, str], *functions: str) -> ChildSession | Failure:
        files = {"kernel.py": source} if isinstance(source, str) else source
        submission = Submission("sz-open", "numba", files)
        session = open_session(
            pool, submission, functions or ("compress", "decompress"), Cancellation()
        )
        if isinstance(session, ChildSession):
            opened.append(session)
        return session

    yield open_
    for session in opened:
        session.close()


@pytest.fixture
def field() -> Array:
    return np.random.default_rng(7).standard_normal((20, 30, 40)).astype(np.float32)


@pytest.fixture
def shims() -> Path:
    return Path(__file__).parents[2] / "toolchains" / "child"
