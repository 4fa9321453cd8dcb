"""Load a worked submission as its child would: its folder and the child's modules on the path."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from kernels import baselines

BASELINES = Path(baselines.__file__).parent
CHILD = BASELINES.parents[1] / "toolchains" / "child"


@contextmanager
def loaded(task: str, style: str, family: str = "numba") -> Iterator[ModuleType]:
    """The kernel module. Its own modules are forgotten afterwards: other kernels use such names."""
    folder = BASELINES / family / task / style
    before, path = set(sys.modules), list(sys.path)
    sys.path[:0] = [str(folder), str(CHILD)]
    try:
        yield importlib.import_module("kernel")
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - before:
            origin = getattr(sys.modules[name], "__file__", None) or ""
            if Path(origin).parent == folder:
                del sys.modules[name]
