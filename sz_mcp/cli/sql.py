"""`sz-mcp sql`: one SELECT over the ledger, as a table, JSON or CSV."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from results_db.errors import LedgerError
from results_db.queries import QueryResult, query
from sz_mcp.errors import StepFailed

_PLAIN_WIDTH = 200
"""Columns where the output is no terminal and has no width of its own."""


def run(home: Path, statement: str, form: str, max_rows: int) -> None:
    """Print the rows; `form` is table, json or csv.

    Raises:
        StepFailed: the statement can't be run; DuckDB says why.
    """
    try:
        result = query(home, statement, max_rows)
    except LedgerError as error:
        raise StepFailed(str(error)) from error
    match form:
        case "json":
            rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
            json.dump(rows, sys.stdout, indent=None if len(rows) > 100 else 1, allow_nan=False)
            sys.stdout.write("\n")
        case "csv":
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(result.columns)
            writer.writerows(result.rows)
        case _:
            _print_rows(result)
    if result.warning:
        sys.stderr.write(f"sz-mcp: {result.warning}\n")
    if result.truncated:
        sys.stderr.write(f"sz-mcp: only the first {max_rows} rows; see --max-rows\n")


def _print_rows(result: QueryResult) -> None:
    """A table, or one record below the other where a table would not fit the terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_PLAIN_WIDTH)
    fits = _natural_width(result) <= console.width
    console.print(_table(result) if fits else _records(result))
    console.print(f"{len(result.rows)} rows, as of {result.as_of:%Y-%m-%d %H:%M:%S} UTC")


def _natural_width(result: QueryResult) -> int:
    """Columns that a table needs when no cell is folded."""
    cells = [result.columns, *([_cell(v) for v in row] for row in result.rows)]
    return sum(max(len(row[i]) for row in cells) + 2 for i in range(len(result.columns)))


def _records(result: QueryResult) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for number, row in enumerate(result.rows, 1):
        table.add_row(f"row {number}", "", style="dim")
        for column, value in zip(result.columns, row, strict=True):
            table.add_row(column, _cell(value))
    return table


def _table(result: QueryResult) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(result.columns):
        numbers = all(isinstance(row[i], int | float) for row in result.rows if row[i] is not None)
        table.add_column(column, justify="right" if numbers else "left", overflow="fold")
    for row in result.rows:
        table.add_row(*(_cell(value) for value in row))
    return table


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:.6g}"
        case list() | dict():
            return json.dumps(value)
    return str(value)
