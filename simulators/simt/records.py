"""What flows through the emulator: Source → Front → Bundle, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernels.diagnostics import Diagnostic


@dataclass(frozen=True)
class Source:
    """Device code of one module, as a submission gives it."""

    code: str
    file: str
    """Name for diagnostics: that of a submission's file, or where in kernel.py the text stands."""
    dialect: str = "cuda"
    """cuda | hip"""
    warp: int = 32
    """Threads of a warp or wavefront: 32 or 64."""
    options: tuple[str, ...] = ()
    """As given to NVRTC: -D, -I, --std; others are refused or ignored by name."""
    names: tuple[str, ...] = ()
    """Name expressions of template instances, such as `scan<float, 4>`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Files beside it that it may include: name → text."""


@dataclass(frozen=True)
class Variant:
    """What one compilation of a kernel is made for."""

    kernel: str
    """Symbol in the module."""
    block: tuple[int, int, int]
    descending: bool = False
    """Threads of a block in descending order, to show results that depend on it."""
    hooks: str = "none"
    """none | checked (every access is inside an allocation, shared memory was written before it is
    read) | counted (accesses of sampled blocks are recorded)"""


@dataclass(frozen=True)
class Param:
    """A parameter of a kernel."""

    name: str
    size: int
    align: int
    pointer: bool
    kind: str = ""
    """int | float; empty for the rest."""


@dataclass(frozen=True)
class Global:
    """A `__device__` or `__constant__` variable."""

    name: str
    symbol: str
    size: int
    align: int
    constant: bool
    init: bytes
    """Its first content; empty: zeros."""


@dataclass(frozen=True)
class KernelInfo:
    """A `__global__` function."""

    name: str
    """As the source spells it, or the name expression that asked for it."""
    symbol: str
    params: tuple[Param, ...]
    shared_bytes: int = 0
    """Static shared memory of a block."""
    max_threads: int = 1024
    """By its launch bounds."""


@dataclass(frozen=True)
class ModuleInfo:
    """What a module defines."""

    kernels: tuple[KernelInfo, ...]
    globals: tuple[Global, ...] = ()


@dataclass(frozen=True)
class Front:
    """A module after the front end."""

    info: ModuleInfo
    ir: str
    """LLVM IR of this processor, as text, before optimisation for threads."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Warnings."""
    warp: int = 32
    """Of the source."""


@dataclass(frozen=True)
class Bundle:
    """A kernel for this processor and one block shape."""

    meta: Mapping[str, object]
    """As the launch interface documents it; JSON."""
    code: bytes
    """An ELF object."""


@dataclass(frozen=True)
class Rejected:
    """The source has errors."""

    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class Unsupported:
    """An engine does not do this; another may."""

    reason: str
    line: int = 0
