"""The same examples hold for the emulated cupy and, where a GPU is, for the real one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import toolchains.child.shims.cupy as emulated
from tests.toolchains.shims.examples import EXAMPLES
from toolchains.child.shims.cupy._engine import Asking


def names(example: Callable[[Any], None]) -> str:
    return example.__name__


@pytest.mark.parametrize("example", EXAMPLES, ids=names)
def test_the_emulated_cupy_does_as_expected(
    compiler: Asking, example: Callable[[Any], None]
) -> None:
    example(emulated)


@pytest.mark.gpu
@pytest.mark.parametrize("example", EXAMPLES, ids=names)
def test_the_real_cupy_does_as_expected(example: Callable[[Any], None]) -> None:
    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    if not cupy.cuda.is_available():
        pytest.skip("cupy has no GPU here")
    example(cupy)
