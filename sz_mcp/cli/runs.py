"""`sz-mcp runs list | show | cancel`: what the ledger says of runs, and the end of one."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from kernels.records import Status
from results_db import runs
from results_db.encoding import Json
from results_db.errors import LedgerError
from results_db.queries import QueryResult
from sz_mcp import cancelling
from sz_mcp.cli.screen import screen
from sz_mcp.errors import SettingsError, StepFailed

TAKEN_S = 10.0
"""A server looks about every second whether a run of its is to be cancelled."""
ENDED_S = 20.0
"""How long a cancelled run may take to be in the ledger."""
_POLL_S = 0.1
_SHORT = {
    "run_id": "run",
    "status": "status",
    "tool": "tool",
    "task": "task",
    "field": "field",
    "bound": "bound",
    "kernel_id": "kernel",
    "agent": "agent",
    "ratio": "ratio",
    "compress_gbps": "comp.",
    "decompress_gbps": "decomp.",
    "run_gbps": "stage",
    "started_at": "started",
}
_SPARED = (
    "started_at", "decompress_gbps", "run_gbps", "compress_gbps", "agent", "bound", "ratio", "task",
    "kernel_id", "tool",
)  # fmt: skip
"""Columns that a narrow terminal goes without, the first one first."""
_ROOMY = 10_000
"""Columns in which any table has room."""
STATUSES = (*map(str, Status), "aborted")


def list_runs(home: Path, wish: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the latest runs; `wish` is a `results_db.runs.Asked`.

    Raises:
        SettingsError: there is no such status.
        StepFailed: the ledger can't be read.
    """
    status = wish["status"]
    if status is not None and status not in STATUSES:
        raise SettingsError(f"--status {status!r}: give one of {', '.join(STATUSES)}")
    try:
        found = runs.list_runs(home, runs.Asked(**wish))
    except LedgerError as error:
        raise StepFailed(str(error)) from error
    if found.warning:
        sys.stderr.write(f"sz-mcp: {found.warning}\n")
    if as_json:
        _print_json([dict(zip(found.columns, row, strict=True)) for row in found.rows])
        return
    console = screen()
    shown = _fitting(found, console)
    console.print(_table(found, shown))
    left_out = [heading for key, heading in _SHORT.items() if key not in shown]
    more = f"; without {', '.join(left_out)} for want of room: see --json" if left_out else ""
    console.print(
        f"speeds in GB/s; {len(found.rows)} runs, as of {found.as_of:%Y-%m-%d %H:%M:%S} UTC{more}"
    )


def show(home: Path, run_id: str, *, as_json: bool) -> None:
    """Print everything about a run that there is.

    Raises:
        StepFailed: there is no such run.
    """
    run = {key: value for key, value in _one(home, run_id).items() if value is not None}
    if as_json:
        _print_json(run)
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    samples = run.pop("samples", [])
    for key, value in run.items():
        table.add_row(key, json.dumps(value) if isinstance(value, list | dict) else str(value))
    if isinstance(samples, list) and samples:
        table.add_row("samples", f"{len(samples)}: see --json")
    screen().print(table)


def cancel(home: Path, run_id: str) -> None:
    """End a run in progress.

    Raises:
        StepFailed: it is not in progress, or its server does not hear.
    """
    run = _one(home, run_id)
    name = str(run["run_id"])
    if run["status"] != "running":
        raise StepFailed(_why_not(run))
    cancelling.ask(home, name)
    taken = False
    deadline = time.monotonic() + TAKEN_S
    while not taken and time.monotonic() < deadline:
        time.sleep(_POLL_S)
        taken = not cancelling.is_asked(home, name)
    if not taken and cancelling.withdraw(home, name):
        run = _one(home, name)
        if run["status"] != "running":
            raise StepFailed(_why_not(run))
        raise StepFailed(
            f"{name} is still running: its server did not answer within {TAKEN_S:.0f} s. Is it on "
            "another machine, or of an older version? Ending that server ends the run"
        )
    sys.stdout.write(f"{name}: cancelled, {_end(home, name)}\n")


def _end(home: Path, run_id: str) -> str:
    """What the ledger says of a run that was just cancelled."""
    deadline = time.monotonic() + ENDED_S
    while (run := _one(home, run_id))["status"] == "running" and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    if run["status"] == "running":
        return "and still ending"
    return f"it ended as {run['status']}: {run['failure_message'] or 'it was done before'}"


def _why_not(run: Mapping[str, Json]) -> str:
    if run["status"] == "aborted":
        return f"{run['run_id']} was aborted: its server is gone, nothing is left to cancel"
    return f"{run['run_id']} has ended as {run['status']}: nothing is left to cancel"


def _one(home: Path, run_id: str) -> dict[str, Json]:
    try:
        return runs.one_run(home, run_id)
    except LedgerError as error:
        raise StepFailed(str(error)) from error


def _fitting(found: QueryResult, console: Console) -> tuple[str, ...]:
    """The columns that have room side by side, each as wide as its widest cell."""
    shown, roomy = list(_SHORT), console.options.update(width=_ROOMY)
    for spared in _SPARED:
        if console.measure(_table(found, shown), options=roomy).maximum <= console.width:
            break
        shown.remove(spared)
    return tuple(shown)


def _table(found: QueryResult, shown: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for key in shown:
        table.add_column(_SHORT[key], no_wrap=True)
    for row in found.rows:
        values = dict(zip(found.columns, row, strict=True))
        table.add_row(*(_cell(key, values[key]) for key in shown))
    return table


def _cell(key: str, value: Json) -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:.4g}"
    text = str(value)
    match key:
        case "run_id" | "kernel_id":
            # Enough to name it: commands take a beginning.
            return text[:10]
        case "started_at":
            return text[5:19]
    return text


def _print_json(value: object) -> None:
    json.dump(value, sys.stdout, indent=1, allow_nan=False)
    sys.stdout.write("\n")
