"""A digest of what decides scores: rows with the same one were measured and judged alike.

It covers the source of our packages and the versions of what they compute with, and nothing
of the machine, which has a fingerprint of its own.
"""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("kernels", "results_db", "simulators", "sz_mcp", "toolchains")
_LIBRARIES = ("numpy", "numba", "llvmlite", "ziglang")
_DIGITS = 16


_ROOT = Path(__file__).parents[1]


def harness_digest(root: Path = _ROOT) -> str:
    """Hex digits; reads some 2 MB of files below `root`, so once per server."""
    digest = hashlib.sha256(platform.python_version().encode())
    for name in _LIBRARIES:
        digest.update(f"\0{name} {_version(name)}".encode())
    for package in _PACKAGES:
        for path in _sources(root / package):
            source = path.read_bytes()
            digest.update(f"\0{path.relative_to(root).as_posix()} {len(source)}\0".encode())
            digest.update(source)
    return digest.hexdigest()[:_DIGITS]


def _sources(package: Path) -> list[Path]:
    """Python, and the headers that device code is compiled with."""
    found = set(package.rglob("*.py"))
    for folder in package.rglob("*include"):
        found |= {path for path in folder.rglob("*") if path.is_file()}
    return sorted(found)


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"
