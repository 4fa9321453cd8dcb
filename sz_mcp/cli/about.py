"""`sz-mcp config` and what `--version` says beside the version."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from results_db import schema
from sz_mcp.configuration import Configured, shown


def schema_version() -> int:
    """Version of the ledger's schema that this package writes."""
    return schema.VERSION


def show(found: Configured, *, as_json: bool) -> None:
    """Print every key, its value and its origin."""
    if as_json:
        rows = {
            key: {"value": _plain(value), "from": found.origins[key]}
            for key, value in found.values.items()
        }
        json.dump(rows, sys.stdout, indent=1)
        sys.stdout.write("\n")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("key", "value", "from"):
        table.add_column(column, overflow="fold")
    for key, value in found.values.items():
        table.add_row(key, shown(value), found.origins[key])
    Console().print(table)


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, Path) else value
