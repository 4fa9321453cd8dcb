"""`sz-mcp demo`: play it, then print what the ledger says of both attempts."""

from __future__ import annotations

from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from sz_mcp import scripted
from sz_mcp.demo import BOUND, FIELD, MODE, TARGET, TASK, Played, play
from sz_mcp.serving import log_to_stderr

_PLAIN_WIDTH = 120
"""Columns where the output is no terminal and has no width of its own."""


def run(home: Path) -> None:
    """Play the demo and print its table and the path of its picture.

    Raises:
        StepFailed: a step failed, or the second kernel is no better.
    """
    log_to_stderr()
    with scripted.watched() as tell:
        played = scripted.run(play, home, tell)
    _print(played)


def _print(played: Played) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=_PLAIN_WIDTH)
    title = f"{TASK} on {TARGET}: {FIELD}, bound {MODE} {BOUND:g}, read from the ledger"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for text in ("attempt", "status"):
        table.add_column(text)
    for number in ("ratio", "compress\nGB/s", "decompress\nGB/s", "worst error\n/ bound"):
        table.add_column(number, justify="right")
    table.add_column("where the time went", overflow="fold")
    for one in played.attempts:
        table.add_row(
            one.label,
            one.status,
            f"{one.ratio:.2f}",
            f"{one.compress_gbps:.3g}",
            f"{one.decompress_gbps:.3g}",
            f"{one.worst_over_bound:.4f}",
            one.bottleneck,
        )
    console.print(table)
    console.print(f"{played.gain:.1f} times faster both ways.")
    console.print(f"picture: {played.picture}", soft_wrap=True)
