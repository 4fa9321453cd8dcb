"""Worked submissions for GPUs in this process, on the emulated cupy.

Device code is compiled in a process of its own, since a compiler may abort; what came of it is kept
for the whole run.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

from kernels.records import Array
from tests.kernels.submissions import loaded
from toolchains.child import shims
from toolchains.child.shims import cupy
from toolchains.child.shims.cupy._engine import PROCESS, Asking

ROOT = Path(__file__).parents[2]
DIALECTS = {"cuda": "cuda", "rocm": "hip"}
COMPILE_S = 240.0
"""Of one kernel, on a machine that is busy with others."""


@dataclass(frozen=True)
class Case:
    """A submission, and how wide the warps are that run it."""

    family: str
    task: str
    style: str
    warp: int = 32
    descending: bool = False
    """Threads of a block in descending order."""

    def __str__(self) -> str:
        order = "-descending" if self.descending else ""
        return f"{self.family}{self.warp}-{self.task}-{self.style}{order}"


@dataclass(frozen=True)
class OnDevice:
    """A loaded submission that takes and returns NumPy arrays."""

    module: ModuleType

    def run(self, *inputs: object) -> tuple[Array, ...]:
        """Of a stage."""
        result = self.module.run(*map(_given, inputs))
        return tuple(map(_taken, result if isinstance(result, tuple) else (result,)))

    def compress(self, data: Array, abs_bound: float) -> Array:
        """Of a codec."""
        return _taken(self.module.compress(_given(data), abs_bound))

    def decompress(
        self, stream: Array, shape: tuple[int, ...], dtype: np.dtype[np.generic]
    ) -> Array:
        """Of a codec."""
        return _taken(self.module.decompress(_given(stream), shape, dtype))


@contextmanager
def on_device(case: Case) -> Iterator[OnDevice]:
    """The submission of `case`, with an emulated cupy that is gone afterwards."""
    before = set(sys.modules)
    shims.install("cupy")
    PROCESS.engine = Asking(_compiled)
    PROCESS.dialect, PROCESS.warp = DIALECTS[case.family], case.warp
    PROCESS.descending = case.descending
    try:
        with loaded(case.task, case.style, case.family) as module:
            yield OnDevice(module)
    finally:
        PROCESS.engine, PROCESS.dialect, PROCESS.warp, PROCESS.descending = None, "cuda", 32, False
        for name in set(sys.modules) - before:
            if name.partition(".")[0] == "cupy":
                del sys.modules[name]


def _given(value: object) -> object:
    return cupy.asarray(value.copy()) if isinstance(value, np.ndarray) else value


def _taken(value: object) -> Array:
    return np.asarray(cupy.asnumpy(value) if isinstance(value, cupy.ndarray) else value)


@cache
def _compiled(request: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "request.json").write_bytes(request)
        done = subprocess.run(
            [sys.executable, "-c", "from simulators.simt.build import main; main()"],
            cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": folder},
            capture_output=True, text=True, timeout=COMPILE_S, check=False,
        )  # fmt: skip
        if done.returncode:
            raise AssertionError(
                f"the compiler ended with {done.returncode}: {done.stderr[-2000:]}"
            )
        return Path(folder, "answer.bin").read_bytes()
