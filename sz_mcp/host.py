"""What the ledger records of the machine: enough to tell whose speeds may be compared."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from results_db.rows import HostRow
from sz_mcp.harness import harness_digest
from toolchains.children.isolation import Layer

_PACKAGES = ("sz-mcp", "mcp", "numpy", "numba", "llvmlite", "duckdb")


def host_row(layers: Iterable[Layer]) -> HostRow:
    """The machine, its software and how it isolates children."""
    cpu, cores, memory = _cpu(), os.cpu_count() or 1, _memory_bytes()
    return HostRow(
        fingerprint=_fingerprint(cpu, cores),
        cpu=cpu,
        cores=cores,
        memory_bytes=memory,
        os=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        versions=versions(),
        harness=harness_digest(),
        sandbox={layer.name: "holds" if layer.holds else layer.detail for layer in layers},
    )


def isolation_note(layers: Iterable[Layer]) -> str:
    """In a line: which layers keep kernels apart, and which do not hold."""
    known = tuple(layers)
    held = ", ".join(layer.name for layer in known if layer.holds) or "nothing"
    missing = ", ".join(layer.name for layer in known if not layer.holds)
    return f"kernels are kept apart by {held}" + (f"; not here: {missing}" if missing else "")


def peaks_key() -> str:
    """What measured bandwidths hold for: this machine, as this version measures it."""
    cores = os.cpu_count() or 1
    return f"{_fingerprint(_cpu(), cores)}-{_version('sz-mcp').replace(' ', '-')}"


def versions() -> dict[str, str]:
    """The packages that decide what is measured, and by what."""
    return {name: _version(name) for name in _PACKAGES}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _fingerprint(cpu: str, cores: int) -> str:
    """Readable, and different for processors whose names only differ where a slug would not."""
    slug = re.sub(r"[^a-z0-9]+", "-", cpu.lower()).strip("-")[:40]
    digest = hashlib.sha256(f"{cpu}|{cores}|{platform.machine()}".encode()).hexdigest()
    return f"{slug}-{cores}c-{digest[:8]}"


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else platform.machine()


def _memory_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
