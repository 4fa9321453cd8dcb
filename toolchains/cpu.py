"""The processor as kernels find it: cores, vector width, caches, memory. Read, never timed.

Cores and caches are what Linux tells in /sys and /proc; vector extensions are what LLVM, which
compiles the kernels, sees. What is not told is named, with the reason.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm

from kernels.records import Metric

_CPUS = "sys/devices/system/cpu"
_WIDTHS: tuple[tuple[str, int], ...] = (
    ("avx512f", 512), ("avx2", 256), ("avx", 256), ("sse2", 128), ("sve", 128), ("neon", 128),
)  # fmt: skip
"""Extension → bits of its registers, widest first; what SVE has beyond 128 bits LLVM can't tell."""
_TOLD = (
    "avx512f", "avx512bw", "avx512vl", "avx512vbmi2", "avx2", "avx", "fma", "bmi2", "sve2", "sve",
    "neon", "dotprod",
)  # fmt: skip
"""Extensions that decide how a kernel is best written."""


@dataclass(frozen=True)
class Cache:
    """One level, as the first core sees it."""

    name: str
    """L1d, L2, L3."""
    nbytes: int
    shared_by: int
    """Logical cores that share one."""


@dataclass(frozen=True)
class Cpu:
    """One machine's processor."""

    model: str
    llvm_name: str
    logical: int
    """That this process may use."""
    physical: int | None
    """None if the machine does not tell."""
    simd_bits: int | None
    isa: tuple[str, ...]
    caches: tuple[Cache, ...]
    memory_bytes: int
    missing: tuple[str, ...]
    """What is not known, and why."""

    def metrics(self) -> tuple[Metric, ...]:
        """The numbers of it."""
        numbers: list[tuple[str, float | None, str]] = [
            ("logical_cores", self.logical, ""),
            ("physical_cores", self.physical, ""),
            ("simd_width", self.simd_bits, "bits"),
            *((f"{c.name}_cache", c.nbytes / 1024, "KiB") for c in self.caches),
            ("memory", round(self.memory_bytes / 1e9, 1), "GB"),
        ]
        return tuple(
            Metric(name, float(value), unit, "reported")
            for name, value, unit in numbers
            if value is not None
        )

    def notes(self) -> tuple[str, ...]:
        """What of it is no number."""
        isa = ", ".join(self.isa) or "no vector extensions that are known here"
        return (f"{self.model} ({self.llvm_name} to LLVM): {isa}", *self.missing)


@cache
def this_cpu() -> Cpu:
    """The processor of this machine; looked at once."""
    return inspect_cpu(Path("/"), llvm.get_host_cpu_name(), dict(llvm.get_host_cpu_features()))


def inspect_cpu(root: Path, llvm_name: str, features: Mapping[str, bool]) -> Cpu:
    """What `root`, the top of a file system, and LLVM's feature flags tell."""
    missing: list[str] = []
    physical = _physical(root / _CPUS)
    if physical is None:
        missing.append("physical cores: /sys tells no topology here (a container hides it)")
    caches = tuple(_caches(root / _CPUS))
    if not caches:
        missing.append(
            "cache sizes: /sys/devices/system/cpu/cpu0/cache is empty here, as in some virtual "
            "machines; the steps in the bandwidth curve show them"
        )
    simd = next((bits for name, bits in _WIDTHS if features.get(name)), None)
    if simd is None:
        missing.append("SIMD width: LLVM names no vector extension of this processor")
    return Cpu(
        model=_model(root),
        llvm_name=llvm_name,
        logical=len(os.sched_getaffinity(0)),
        physical=physical,
        simd_bits=simd,
        isa=tuple(name for name in _TOLD if features.get(name)),
        caches=caches,
        memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        missing=tuple(missing),
    )


def _model(root: Path) -> str:
    try:
        text = (root / "proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else platform.machine()


def _physical(cpus: Path) -> int | None:
    """Cores with threads of one core counted once."""
    cores = {
        (_text(cpu / "topology/physical_package_id"), _text(cpu / "topology/core_id"))
        for cpu in cpus.glob("cpu[0-9]*")
    }
    cores = {core for core in cores if all(core)}
    return len(cores) or None


def _caches(cpus: Path) -> Iterator[Cache]:
    for index in sorted((cpus / "cpu0/cache").glob("index[0-9]*")):
        level, kind = _text(index / "level"), _text(index / "type")
        size = re.fullmatch(r"(\d+)([KMG]?)", _text(index / "size"))
        if not level or kind == "Instruction" or size is None:
            continue
        nbytes = int(size[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[size[2]]
        name = f"L{level}d" if kind == "Data" else f"L{level}"
        yield Cache(name, nbytes, _count(_text(index / "shared_cpu_list")))


def _count(cpus: str) -> int:
    """How many a list like 0-3,8 names; 1 if it can't be read."""
    count = 0
    for part in cpus.split(","):
        found = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if found is None:
            return 1
        count += int(found[2] or found[1]) - int(found[1]) + 1
    return max(1, count)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
