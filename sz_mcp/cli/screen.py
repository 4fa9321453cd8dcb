"""Where the commands about runs and the ledger print: a terminal as wide as it is, a file wider."""

from __future__ import annotations

from rich.console import Console

PLAIN_WIDTH = 160
"""Columns where the output is no terminal and has no width of its own."""


def screen() -> Console:
    """Standard output."""
    console = Console()
    return console if console.is_terminal else Console(width=PLAIN_WIDTH)
