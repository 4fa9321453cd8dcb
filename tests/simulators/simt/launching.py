"""Kernels for tests: compiled here, launched here."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from simulators.simt.frontend import front
from simulators.simt.loops import compile_kernel
from simulators.simt.records import Bundle, Front, Source, Unsupported, Variant
from simulators.simt.tool import plain_run
from toolchains.child.shims.simt.runtime import Kernel, Launcher, Module, load, make_module

needs_clang = pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None, reason="no clang: the ziglang package is missing"
)


@cache
def fronted(code: str, warp: int = 32, dialect: str = "cuda") -> Front:
    """A module after the front end; a failure if it is rejected."""
    made = front(Source(code, "kernel.cu", dialect, warp), plain_run)
    assert isinstance(made, Front), made
    return made


def symbol(made: Front, name: str) -> str:
    """Of the kernel with that name; empty: of the only one."""
    found = [k.symbol for k in made.info.kernels if name in ("", k.name, k.symbol)]
    assert found, [k.name for k in made.info.kernels]
    return found[0]


def looped(made: Front, name: str, block: tuple[int, int, int], **more: Any) -> Bundle:
    """Compiled by `loops`; a failure if it refuses."""
    done = compile_kernel(made, Variant(symbol(made, name), block, **more))
    assert isinstance(done, Bundle), done
    return done


def refusal(made: Front, name: str, block: tuple[int, int, int] = (32, 1, 1)) -> Unsupported:
    """Why `loops` does not do a kernel."""
    done = compile_kernel(made, Variant(symbol(made, name), block))
    assert isinstance(done, Unsupported)
    return done


def loaded(bundle: Bundle) -> tuple[Kernel, Module]:
    """A bundle in this process, with fresh globals."""
    return load(bundle.meta, bundle.code), make_module(bundle.meta["globals"])  # type: ignore[arg-type]


def raw(value: Any) -> bytes:
    """An argument: arrays as pointers."""
    if isinstance(value, np.ndarray):
        return int(value.ctypes.data).to_bytes(8, "little")
    return bytes(value.tobytes())


def launch(
    bundle: Bundle,
    grid: tuple[int, int, int],
    arguments: Sequence[Any],
    *,
    workers: int = 1,
    shared: int = 0,
    deadline_s: float | None = 20.0,
) -> None:
    """Load and launch once; raises what the launch raises."""
    kernel, module = loaded(bundle)
    launcher = Launcher(workers, deadline_s)
    launcher.launch(kernel, module, grid, [raw(a) for a in arguments], shared)
