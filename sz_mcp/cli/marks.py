"""`sz-mcp marks add | list | review`: what operators decide may be ranked, or may not."""

from __future__ import annotations

import getpass
import os
import sys
from pathlib import Path

from results_db import marks
from results_db.errors import LedgerError
from results_db.marks import Mark
from sz_mcp.cli.sql import run as show
from sz_mcp.errors import SettingsError, StepFailed

SHOWN = 10_000
"""Rows of a list at most."""

_CURRENT = (
    "SELECT about, subject, verdict, reason, agent, marked_by, marked_at FROM current_marks"
    " ORDER BY marked_at DESC"
)
_EVERY = (
    "SELECT about, subject, verdict, reason, agent, marked_by, recorded_at AS marked_at FROM marks"
    " ORDER BY marked_at DESC"
)
_REVIEW = (
    "SELECT run_id, agent, task, field, mode, bound, why, ratio, compress_gbps, decompress_gbps,"
    " run_gbps, kernel_id, measured_at, decision, reason FROM review"
)


def add(home: Path, mark: Mark) -> None:
    """Record a mark and print what it changed.

    Raises:
        SettingsError: the reason is empty.
        StepFailed: there is no such subject, or the ledger can't be had.
    """
    if not mark.reason.strip():
        raise SettingsError("--reason: say why, for whoever reads the ledger later")
    try:
        marked = marks.add(home, mark)
    except LedgerError as error:
        raise StepFailed(str(error)) from error
    row, (before, after) = marked.row, marked.places
    sys.stdout.write(f"{row.verdict}: {row.about} {row.subject}, by {row.marked_by}\n")
    if marked.delayed:
        sys.stdout.write(f"recorded, but not in the rankings yet: {marked.delayed}\n")
    else:
        sys.stdout.write(f"leaderboard: {before} places before, {after} now\n")


def list_marks(home: Path, *, every: bool, as_json: bool) -> None:
    """Print the marks in force, or every one that was ever made. Raises StepFailed."""
    show(home, _EVERY if every else _CURRENT, "json" if as_json else "table", SHOWN)


def review(home: Path, *, every: bool, as_json: bool) -> None:
    """Print the suspect results that await a decision, or all of them. Raises StepFailed."""
    statement = _REVIEW if every else f"{_REVIEW} WHERE decision IS NULL"
    show(home, statement, "json" if as_json else "table", SHOWN)


def operator() -> str:
    """The user's name; a container may know none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
