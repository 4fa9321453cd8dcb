"""Where NVIDIA's wheels lie: NVRTC, the headers that kernels include, the disassembler.

They are data files of distributions that are never imported. CUDA 13's share one folder,
`nvidia/cu13`; CUDA 12's have one each, and names that end in -cu12.
"""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

INSTALL = "pip install 'sz-mcp[cuda]'"
_LIBRARY = ("nvidia-cuda-nvrtc", "libnvrtc.so.13"), ("nvidia-cuda-nvrtc-cu12", "libnvrtc.so.12")
_HEADERS = {"runtime": "cuda_fp16.h", "crt": "crt/host_defines.h", "cccl": "cub/version.cuh"}
"""Part of a wheel's name → a header in it, below the folder to search."""
_OF_12 = {"crt": "nvcc"}
"""Part of a wheel's name → where its headers were in CUDA 12."""


@dataclass(frozen=True)
class Nvrtc:
    """An installed NVRTC."""

    version: str
    """Of its wheel."""
    library: Path
    includes: tuple[Path, ...]
    """Folders of headers, in the order to search them."""
    missing: tuple[str, ...]
    """Wheels with headers that are not installed."""


@cache
def find_nvrtc() -> Nvrtc | None:
    """The newest that is installed; None without one."""
    for wheel, name in _LIBRARY:
        library = _file(wheel, name)
        if library is None:
            continue
        suffix = wheel.removeprefix("nvidia-cuda-nvrtc")
        parts = {_OF_12.get(p, p) if suffix else p: header for p, header in _HEADERS.items()}
        wheels = {f"nvidia-cuda-{part}{suffix}": header for part, header in parts.items()}
        found = {w: _root(w, header) for w, header in wheels.items()}
        return Nvrtc(
            version=importlib.metadata.version(wheel),
            library=library,
            includes=tuple(dict.fromkeys(f for f in found.values() if f is not None)),
            missing=tuple(w for w, folder in found.items() if folder is None),
        )
    return None


@cache
def find_nvdisasm() -> Path | None:
    """The disassembler of cubins; None without it."""
    return _file("nvidia-cuda-nvdisasm", "nvdisasm")


def _file(wheel: str, name: str) -> Path | None:
    return next((p for p, inside in _files(wheel) if inside.name == name), None)


def _root(wheel: str, header: str) -> Path | None:
    """The folder below which `header` lies."""
    parts = PurePosixPath(header).parts
    for path, inside in _files(wheel):
        if inside.parts[-len(parts) :] == parts:
            return path.parents[len(parts) - 1]
    return None


@cache
def _files(wheel: str) -> tuple[tuple[Path, PurePosixPath], ...]:
    """Where a wheel's files are, and their names in it."""
    try:
        distribution = importlib.metadata.distribution(wheel)
    except importlib.metadata.PackageNotFoundError:
        return ()
    files = distribution.files or ()
    located = ((Path(str(distribution.locate_file(f))), PurePosixPath(f)) for f in files)
    return tuple((path, inside) for path, inside in located if path.is_file())
