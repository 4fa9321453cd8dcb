"""A worked submission, loaded as its child would load it. Runs inside a worker."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import cast

import toolchains
from kernels import baselines
from sz_mcp.peers.protocol import Functions


def functions(option: str) -> Functions:
    """option: TASK/STYLE of a numba submission; its module has the two functions."""
    folder = Path(baselines.__file__).parent / "numba" / option
    sys.path[:0] = [str(folder), str(Path(toolchains.__file__).parent / "child")]
    return cast(Functions, importlib.import_module("kernel"))
