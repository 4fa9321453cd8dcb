"""Checkouts of public repositories, and their device code run as it stands.

None of that code is kept here. The variable names a folder with a checkout per repository; without
it these tests skip.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kernels.records import Array
from simulators.simt.exchange import (
    ANSWER,
    REQUEST,
    Answer,
    Described,
    Request,
    pack_request,
    unpack_answer,
)
from simulators.simt.records import Bundle, ModuleInfo, Source, Variant
from toolchains.child.shims.simt.runtime import Launcher, Module, load, make_module

VARIABLE = "SZ_MCP_PUBLIC_KERNELS"
ROOT = Path(__file__).parents[2]
ORDERS = {"ascending": False, "descending": True}
_COMPILE_S, _RUN_S = 240.0, 120.0
_ALIGN = 256
"""Of what cudaMalloc returns."""
_SUFFIXES = (".h", ".cuh", ".hh", ".hpp", ".inl")
Dim = tuple[int, int, int]
Argument = Array | np.generic | bytes


@dataclass(frozen=True)
class File:
    """Device code of a repository."""

    repository: str
    """Name of its folder, and where it comes from."""
    path: str
    folders: tuple[str, ...]
    """Those whose headers it includes: `-I`."""
    blocks: tuple[tuple[str, Dim], ...]
    """Its kernels by name, and the block that its host launches each with."""

    def source(self) -> Source:
        """As the compiler gets it; skips the test without a checkout."""
        given = os.environ.get(VARIABLE)
        if not given:
            pytest.skip(f"{VARIABLE} does not name a folder with a checkout of {self.repository}")
        root = Path(given, self.repository.partition("/")[2])
        if not (root / self.path).is_file():
            pytest.skip(f"{root} holds no {self.path}: it is to be a checkout of {self.repository}")
        beside = str(Path(self.path).parent)
        folders = (beside, *self.folders)
        found = {
            str(one.relative_to(root)): one.read_text(errors="replace")
            for folder in folders
            for one in sorted((root / folder).glob("*"))
            if one.suffix in _SUFFIXES
        }
        code = (root / self.path).read_text(errors="replace")
        options = tuple(f"-I{folder}" for folder in folders)
        return Source(code, self.path, options=options, headers=found)


@dataclass
class Program:
    """A file's kernels in one order of threads; its variables are kept between launches."""

    file: File
    descending: bool = False
    launcher: Launcher = field(default_factory=lambda: Launcher(1, _RUN_S))
    _variables: Module | None = None

    def run(self, name: str, grid: int | Dim, *args: Argument, shared: int = 0) -> None:
        """Launch a kernel once. Arrays are passed as pointers, scalars and bytes as they are."""
        made = kernel(self.file, name, descending=self.descending)
        loaded = load(made.meta, made.code)
        if self._variables is None:
            self._variables = make_module(made.meta["globals"])  # type: ignore[arg-type]
        values = [_raw(one) for one in args]
        blocks = (grid, 1, 1) if isinstance(grid, int) else grid
        self.launcher.launch(loaded, self._variables, blocks, values, shared)


def on_device(values: Array) -> Array:
    """A copy that begins where a GPU's allocations do."""
    memory = np.zeros(values.nbytes + _ALIGN, np.uint8)
    start = -memory.ctypes.data % _ALIGN
    made = memory[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    made[...] = values
    return made


def _raw(value: Argument) -> bytes:
    if isinstance(value, np.ndarray):
        return int(value.ctypes.data).to_bytes(8, "little")
    return value if isinstance(value, bytes) else value.tobytes()


@cache
def kernel(file: File, name: str, *, descending: bool = False) -> Bundle:
    """A kernel by its name in the source; fails the test with what the compiler says."""
    symbols = [one.symbol for one in described(file).kernels if name in (one.name, one.symbol)]
    assert symbols, f"{file.path} has no {name}: {[one.name for one in described(file).kernels]}"
    made = answered(
        Request(file.source(), Variant(symbols[0], dict(file.blocks)[name], descending))
    )
    assert isinstance(made, Bundle), f"{name}: {made}"
    return made


@cache
def described(file: File) -> ModuleInfo:
    """What a file defines."""
    made = answered(Request(file.source()))
    assert isinstance(made, Described), f"{file.path}: {made}"
    return made.info


def answered(request: Request) -> Answer:
    """What the compiler says, in a process of its own: it may abort."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, REQUEST).write_bytes(pack_request(request))
        done = subprocess.run(
            [sys.executable, "-c", "from simulators.simt.build import main; main()"],
            cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": folder},
            capture_output=True, text=True, timeout=_COMPILE_S, check=False,
        )  # fmt: skip
        assert not done.returncode, f"the compiler ended with {done.returncode}: {done.stderr}"
        return unpack_answer(Path(folder, ANSWER).read_bytes())


def check_engines(
    files: Sequence[File], fallbacks: Mapping[str, str], *, descending: bool = False
) -> None:
    """That nine tenths of the kernels are in loops, and that only `fallbacks` are not.

    fallbacks: name → a part of the reason.
    """
    metas = {
        (one.path, name): kernel(one, name, descending=descending).meta
        for one in files
        for name, _ in one.blocks
    }
    others = {n: str(meta["reason"]) for (_, n), meta in metas.items() if meta["engine"] != "loops"}
    assert set(others) == set(fallbacks), others
    assert all(reason in others[name] for name, reason in fallbacks.items()), others
    assert len(others) * 10 <= len(metas), others
