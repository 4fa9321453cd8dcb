"""`sz-mcp doctor`: what works on this machine, what does not, and the remedy."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from kernels.fields import Catalogue, FieldDataError
from results_db.errors import LedgerError
from results_db.queries import query
from sz_mcp.errors import StepFailed
from sz_mcp.host import versions
from sz_mcp.pipeline import Pipeline
from toolchains.children.timing_lock import lock_path

_STYLES = {"ok": "green", "note": "yellow", "missing": "red"}


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    what: str
    state: str
    """ok, note (works without it) or missing (something needed does not work)."""
    detail: str


def run(home: Path) -> None:
    """Print the report.

    Raises:
        StepFailed: something that is needed does not work.
    """
    findings = [*_software(), *_targets(), *_data(Catalogue(home)), *_ledger(home)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("what", "state", "detail"):
        table.add_column(column, overflow="fold")
    for one in findings:
        table.add_row(one.what, f"[{_STYLES[one.state]}]{one.state}[/]", one.detail)
    Console().print(table)
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


def _targets() -> Iterator[Finding]:
    pipeline = Pipeline(Catalogue(), warm_children=0)
    try:
        for target in pipeline.targets():
            detail = f"{target.execution}" if target.available else target.reason
            yield Finding(f"target {target.target}", "ok" if target.available else "note", detail)
        for layer in pipeline.layers():
            yield Finding(f"isolation: {layer.name}", "ok" if layer.holds else "note", layer.detail)
        yield Finding("timing lock", "ok", f"{lock_path()}, shared by all servers of this machine")
    finally:
        pipeline.close()


def _data(catalogue: Catalogue) -> Iterator[Finding]:
    try:
        for name in catalogue.names():
            catalogue.load(name)
    except FieldDataError as error:
        yield Finding("fields", "missing", f"{error}: reinstall sz-mcp")
    else:
        yield Finding("fields", "ok", f"{len(catalogue.names())}, checksums verified")


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
