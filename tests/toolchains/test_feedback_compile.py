"""Each rule about compiling, raising and returning, set off by kernels in a real child."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernels.records import Failure
from tests.toolchains.broken import Broken, read
from tests.toolchains.crowd import Crowd
from toolchains.children.pool import Pool
from toolchains.feedback import guidance_for

KERNELS: dict[str, Broken] = {**read("compile"), **read("raised"), **read("contract")}
LONGEST_MESSAGE = 330
"""Characters: what numba says of the same takes up to four thousand."""


@pytest.fixture(scope="module")
def crowd(pool: Pool) -> Iterator[Crowd]:
    with Crowd(pool, {name: kernel.source for name, kernel in KERNELS.items()}) as crowd:
        yield crowd


@pytest.mark.parametrize("name", KERNELS)
def test_a_wrong_kernel_is_told_where_and_by_its_rule(crowd: Crowd, name: str) -> None:
    failure = crowd.call(name)

    assert failure is not None
    (guidance,) = guidance_for(failure, "numba")
    assert guidance.rule == KERNELS[name].rule, failure.message
    assert len(failure.message) <= LONGEST_MESSAGE
    assert "/box" not in failure.message
    if KERNELS[name].place is not None:
        assert place(failure) == (crowd.file(name), *(KERNELS[name].place or ()))


def place(failure: Failure) -> tuple[object, ...]:
    first = failure.diagnostics[0]
    return first.file, first.line, first.column
