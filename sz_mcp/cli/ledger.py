"""`sz-mcp ledger backup | merge | prune | stats`: upkeep that people ask for."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from results_db import backup as backups
from results_db import export as exporting
from results_db import merge as merging
from results_db import prune as pruning
from results_db import schema
from results_db.errors import LedgerError
from results_db.queries import query
from results_db.rows import ROWS
from results_db.usage import usage
from sz_mcp.cli.screen import screen
from sz_mcp.errors import SettingsError, StepFailed
from sz_mcp.settings import Settings

_AGE = re.compile(r"(\d+)([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def backup(home: Path, file: Path) -> None:
    """Write the archive.

    Raises:
        StepFailed: it can't be written, or would not be consistent.
    """
    try:
        report = backups.backup(home, file)
    except LedgerError as error:
        raise StepFailed(str(error)) from error
    sys.stdout.write(
        f"{report.path}: {_mb(report.bytes)}, everything up to "
        f"{report.as_of:%Y-%m-%d %H:%M:%S} UTC\n"
        f"restore: mkdir NEW && tar -xf {report.path} -C NEW, then --home NEW\n"
    )


def export(home: Path, folder: Path, form: exporting.Form, *, sources: bool) -> None:
    """Write the folder, and print what is in it.

    Raises:
        StepFailed: it exists, or can't be written.
    """
    try:
        report = exporting.export(home, folder, form, sources=sources)
    except LedgerError as error:
        raise StepFailed(str(error)) from error
    left_out = "" if sources else "; without submissions' files (--sources)"
    sys.stdout.write(f"{report.folder}: {_counted(report.rows)}{left_out}\n")


def merge(home: Path, other: Path) -> None:
    """Take what another home has and this one lacks, and print what that was.

    Raises:
        StepFailed: one of the two can't be had now.
    """
    try:
        report = merging.merge(home, other)
    except LedgerError as error:
        raise StepFailed(str(error)) from error
    sys.stdout.write(
        f"new rows: {_counted(report.rows)}\n"
        f"new files: {report.blobs} sources and kernels, {report.pictures} pictures\n"
    )


def prune(home: Path, wish: Mapping[str, Any], *, dry_run: bool) -> None:
    """Forget what is old and print what went.

    Raises:
        SettingsError: the age is none.
        StepFailed: nothing can be pruned now.
    """
    before = datetime.now(UTC) - parse_age(wish["older_than"])
    asked = pruning.Wish(before, agent=wish["agent"], keep_best=wish["keep_best"])
    try:
        report = pruning.prune(home, asked, dry_run=dry_run)
    except LedgerError as error:
        raise StepFailed(str(error)) from error
    went = "would go" if dry_run else "went"
    sys.stdout.write(
        f"{report.kernels} kernels {went}, untouched since {before:%Y-%m-%d %H:%M} UTC\n"
        f"rows: {_counted(report.rows)}\n"
        f"files: {report.sources} sources, {report.pictures} pictures\n"
    )
    if not dry_run:
        sys.stdout.write(f"freed: {_mb(report.freed_bytes)}\n")


def _counted(rows: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {table}" for table, count in rows.items()) or "none"


def parse_age(text: str) -> timedelta:
    """A number of hours, days or weeks: 12h, 30d, 2w.

    Raises:
        SettingsError: it is something else.
    """
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise SettingsError(f"--older-than {text!r}: give hours, days or weeks: 12h, 30d, 2w")
    try:
        return timedelta(**{_UNITS[found[2]]: int(found[1])})
    except OverflowError as error:
        raise SettingsError(f"--older-than {text!r}: that is before there was time") from error


def stats(settings: Settings, *, as_json: bool) -> None:
    """Print rows per table, bytes per part, and versions.

    Raises:
        StepFailed: the ledger can't be read.
    """
    home = settings.home
    try:
        found = query(home, _counts())
    except LedgerError as error:
        raise StepFailed(str(error)) from error
    rows = {str(table): count for table, count, _ in found.rows}
    spans = [str(first) for _, _, first in found.rows if first is not None]
    parts = dict(usage(home).parts)
    told = {
        "home": str(home),
        "schema_version": schema.VERSION,
        "oldest_row": min(spans, default=None),
        "rows": rows,
        "bytes": parts,
        "total_bytes": sum(parts.values()),
        "disk_quota_bytes": settings.disk_quota_bytes,
        "warning": found.warning,
    }
    if as_json:
        json.dump(told, sys.stdout, indent=1)
        sys.stdout.write("\n")
        return
    console = screen()
    console.print(_table("rows", {name: f"{count}" for name, count in rows.items()}))
    sizes = {name: _mb(size) for name, size in sorted(parts.items())}
    console.print(_table("on disk", {**sizes, "total": _mb(sum(parts.values()))}))
    quota = settings.disk_quota_bytes
    console.print(
        f"{home}: schema {schema.VERSION}, oldest row {told['oldest_row'] or 'none'}, quota "
        f"{_mb(quota) if quota else 'none'}"
    )
    if found.warning:
        sys.stderr.write(f"sz-mcp: {found.warning}\n")


def _counts() -> str:
    return " UNION ALL ".join(
        f"SELECT '{row.table}' AS name, count(*), min(recorded_at) FROM {row.table}" for row in ROWS
    )


def _table(title: str, cells: Mapping[str, str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(title)
    table.add_column("", justify="right")
    for name, value in cells.items():
        table.add_row(name, value)
    return table


def _mb(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
