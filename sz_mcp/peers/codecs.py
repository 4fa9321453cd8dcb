"""The compressors that can be put side by side: name → how it is called.

Each is a module beside this file that runs inside a worker alone, and makes of an option the two
functions of a codec (`protocol.Functions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernels import baselines

EXTRA = "pip install 'sz-mcp[peers]'"


@dataclass(frozen=True)
class Codec:
    """One compressor."""

    name: str
    what: str
    module: str
    """That has `functions(option)`."""
    option: str = ""
    package: str = ""
    """On PyPI; empty for our own."""
    threads: bool = False
    """Whether it can use more than one."""


_SZ3 = "SZ3 through pysz"
_THEIRS = (
    Codec(
        "sz3-lorenzo", f"{_SZ3}, Lorenzo and regression", "sz_mcp.peers.sz3", "LORENZO_REG", "pysz"
    ),
    Codec("sz3", f"{_SZ3}, its default", "sz_mcp.peers.sz3", "INTERP_LORENZO", "pysz"),
    Codec("sz3-interp", f"{_SZ3}, interpolation alone", "sz_mcp.peers.sz3", "INTERP", "pysz"),
    Codec("sz3-nopred", f"{_SZ3}, no prediction", "sz_mcp.peers.sz3", "NOPRED", "pysz"),
    Codec("zfp", "zfp through zfpy, fixed accuracy", "sz_mcp.peers.zfp", "", "zfpy"),
    Codec(
        "sperr",
        "SPERR as WebAssembly, point-wise error",
        "sz_mcp.peers.sperr",
        "pwe",
        "numcodecs-wasm-sperr",
    ),
)
_OURS = (
    ("szp", "szp", "tuned"),
    ("szx", "szx", "tuned"),
    ("sz", "sz-open", "sz"),
    ("sz-open", "sz-open", "tuned"),
)
_ONLY_IF_ASKED = frozenset({"sz3-interp", "sz3-nopred"})


def table() -> Mapping[str, Codec]:
    """Every compressor, ours first."""
    ours = (
        Codec(name, f"{task} {style}, numba", "sz_mcp.peers.ours", f"{task}/{style}", threads=True)
        for name, task, style in _OURS
        if style in baselines.styles(task)
    )
    return {codec.name: codec for codec in (*ours, *_THEIRS)}


def usual() -> tuple[str, ...]:
    """Those that are compared if none is named."""
    return tuple(name for name in table() if name not in _ONLY_IF_ASKED)
