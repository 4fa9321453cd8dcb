"""`sz-mcp doctor`: what works on this machine, what does not, and the remedy."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from kernels.fields import Catalogue, FieldDataError
from results_db.errors import LedgerError
from results_db.queries import query
from results_db.usage import usage
from sz_mcp.errors import StepFailed
from sz_mcp.host import versions
from sz_mcp.pipeline import Pipeline
from sz_mcp.quota import DiskQuota
from toolchains.base import TargetInfo
from toolchains.children.counters import EVENTS, perf_event, reason
from toolchains.children.timing_lock import lock_path

_STYLES = {"ok": "green", "note": "yellow", "missing": "red"}
_BAR = 24
"""Cells of the longest bar."""


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    what: str
    state: str
    """ok, note (works without it) or missing (something needed does not work)."""
    detail: str


@dataclass
class _Machine:
    """What is shown below the findings."""

    peaks: list[TargetInfo] = field(default_factory=list)


def run(home: Path, quota_bytes: int = 0) -> None:
    """Print the report.

    Raises:
        StepFailed: something that is needed does not work.
    """
    machine = _Machine()
    findings = [
        *_software(),
        *_targets(home, machine),
        *_counters(),
        *_data(Catalogue(home)),
        *_ledger(home),
        _disk(home, quota_bytes),
    ]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("what", "state", "detail"):
        table.add_column(column, overflow="fold")
    for one in findings:
        table.add_row(one.what, f"[{_STYLES[one.state]}]{one.state}[/]", one.detail)
    console = Console()
    console.print(table)
    for peaks in machine.peaks:
        console.print(_bandwidths(peaks))
    missing = [one.what for one in findings if one.state == "missing"]
    if missing:
        raise StepFailed(f"does not work here: {', '.join(missing)}")


def _software() -> Iterator[Finding]:
    yield Finding("Python", "ok", f"{platform.python_version()} at {sys.executable}")
    for name, version in versions().items():
        state = "ok" if version != "not installed" or name == "sz-mcp" else "missing"
        yield Finding(name, state, version)
    compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    found = f"{compiler} is here, and not used" if compiler else "none is here"
    yield Finding("C compiler", "ok", f"{found}: numba brings its own code generator")


def _targets(home: Path, machine: _Machine) -> Iterator[Finding]:
    pipeline = Pipeline(Catalogue(home), warm_children=0, home=home)
    try:
        for target in pipeline.targets():
            detail = f"{target.execution}" if target.available else target.reason
            yield Finding(f"target {target.target}", "ok" if target.available else "note", detail)
            if target.available:
                yield from _described(pipeline.describe(target.target), machine)
        for layer in pipeline.layers():
            yield Finding(f"isolation: {layer.name}", "ok" if layer.holds else "note", layer.detail)
        yield Finding("timing lock", "ok", f"{lock_path()}, shared by all servers of this machine")
    finally:
        pipeline.close()


def _described(info: TargetInfo, machine: _Machine) -> Iterator[Finding]:
    """What it runs on, and what that can do at best."""
    told = (f"{m.name.replace('_', ' ')} {m.value:g} {m.unit}".rstrip() for m in info.hardware)
    yield Finding(f"{info.target}: hardware", "ok", ", ".join(told))
    processor, *unknown = info.notes or ("",)
    yield Finding(f"{info.target}: processor", "ok", processor)
    for note in unknown:
        yield Finding(f"{info.target}: not known", "note", note)
    if info.peaks:
        machine.peaks.append(info)


def _counters() -> Iterator[Finding]:
    """What `profile` can count of a child."""
    exclude_kernel = 1 << 5
    for name in ("instructions", "page_faults"):
        what = f"counter: {name.replace('_', ' ')}"
        fd = perf_event(*EVENTS[name], 0, exclude_kernel)
        if fd >= 0:
            os.close(fd)
        yield Finding(what, "ok" if fd >= 0 else "note", "perf" if fd >= 0 else reason(-fd))


def _bandwidths(info: TargetInfo) -> Table:
    """The measured curve, one row per size, with bars for copies."""
    rows: dict[int, dict[str, float]] = {}
    for peak in info.peaks:
        kind, _, rest = peak.name.partition("_at_")
        size, _, suffix = rest.partition("_KiB")
        rows.setdefault(int(size), {})[kind + suffix.replace("_", " ")] = peak.value
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    table = Table(
        title=f"{info.target}: bandwidth of arrays by size, GB/s, the best ever measured",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("size", justify="right")
    for name in columns:
        table.add_column(name, justify="right")
    table.add_column("copy", min_width=_BAR)
    best = max((row.get("copy", 0.0) for row in rows.values()), default=1.0)
    for kib, row in sorted(rows.items()):
        cells = [f"{row[name]:.1f}" if name in row else "" for name in columns]
        named = f"{kib} KiB" if kib < 1024 else f"{kib >> 10} MiB"
        bar = "█" * max(1, round(_BAR * row.get("copy", 0.0) / best))
        table.add_row(named, *cells, f"[blue]{bar}[/]")
    return table


def _data(catalogue: Catalogue) -> Iterator[Finding]:
    try:
        for name in catalogue.names():
            catalogue.load(name)
    except FieldDataError as error:
        yield Finding("fields", "missing", f"{error}: reinstall sz-mcp")
    else:
        yield Finding("fields", "ok", f"{len(catalogue.names())}, checksums verified")


def _disk(home: Path, quota_bytes: int) -> Finding:
    quota = DiskQuota(home, quota_bytes)
    if refusal := quota.refusal():
        return Finding("disk quota", "missing", refusal)
    if warning := quota.warning():
        return Finding("disk quota", "note", warning)
    limit = f"of {quota_bytes / 1e9:.3g} GB" if quota_bytes else "and has no quota"
    return Finding("disk quota", "ok", f"the home takes {usage(home).total / 1e6:.1f} MB {limit}")


def _ledger(home: Path) -> Iterator[Finding]:
    yield Finding("home", "ok", str(home))
    counts = (
        "SELECT (SELECT count(*) FROM calls), (SELECT count(*) FROM kernels), "
        "(SELECT count(*) FROM runs), (SELECT count(*) FROM journal_damage), "
        "(SELECT count(*) FROM unplaced_rows)"
    )
    try:
        found = query(home, counts)
    except LedgerError as error:
        yield Finding("ledger", "missing", str(error))
        return
    if found.warning:
        yield Finding("ledger", "missing", found.warning)
        return
    ((calls, kernels, runs, damaged, unplaced),) = found.rows
    yield Finding("ledger", "ok", f"{calls} calls, {kernels} kernels, {runs} runs")
    if damaged:
        detail = f"{damaged} torn or damaged pieces were met: SELECT * FROM journal_damage"
        yield Finding("journal", "note", detail)
    else:
        yield Finding("journal", "ok", "no damage was ever met")
    if unplaced:
        yield Finding("schema", "note", f"{unplaced} rows are of a newer version of sz-mcp")
