"""What a person sees of a running bench: cells done, cells in progress, time left.

On a terminal a live display; elsewhere a line per cell that ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn

from sz_mcp.bench.cells import Cell
from sz_mcp.bench.records import Before, Event, Spent
from sz_mcp.bench.spec import Budget, Parallel

_SHOWN = 110
"""Characters of a reason."""


class Watcher(Protocol):
    """Is told what happens."""

    def started(self, cell: Cell) -> None:
        """A cell began."""
        ...

    def told(self, cell: Cell, what: str) -> None:
        """What its agent is doing."""
        ...

    def looked(self) -> None:
        """A second has passed."""
        ...

    def ended(self, cell: Cell, event: Event, reason: str, spent: Spent | None) -> None:
        """A cell ended."""
        ...


class Estimate:
    """How long the cells that are left will take, by those that ended."""

    def __init__(self, todo: Sequence[Cell], before: Before, parallel: Parallel) -> None:
        self._todo = {cell.cell_id: cell for cell in todo}
        self._took = dict(before.seconds)
        self._parallel = parallel

    def ended(self, cell: Cell, spent: Spent | None) -> None:
        """One less."""
        self._todo.pop(cell.cell_id, None)
        if spent is not None:
            key = (cell.agent, cell.target)
            seconds, count = self._took.get(key, (0.0, 0))
            self._took[key] = (seconds + spent.seconds, count + 1)

    def left_s(self) -> float | None:
        """Seconds; None if nothing is known yet."""
        if not self._took:
            return None
        whole = sum(seconds for seconds, _ in self._took.values())
        usual = whole / sum(count for _, count in self._took.values())
        sums = {True: 0.0, False: 0.0}
        for cell in self._todo.values():
            seconds, count = self._took.get((cell.agent, cell.target), (usual, 1))
            sums[cell.waits] += seconds / count
        return max(sums[True] / self._parallel.waiting, sums[False] / self._parallel.busy)


def most_s(cells: Sequence[Cell], budget: Budget, parallel: Parallel) -> float | None:
    """Seconds that the budget of their cells allows; None if it has no minutes."""
    if budget.minutes is None:
        return None
    waiting = sum(cell.waits for cell in cells)
    rounds = max(waiting / parallel.waiting, (len(cells) - waiting) / parallel.busy)
    return 60 * budget.minutes * rounds


def spoken(seconds: float | None) -> str:
    """Such as `3 min`."""
    if seconds is None:
        return "not known yet"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Lines:
    """A line per ended cell."""

    def __init__(self, console: Console, done: int, total: int, estimate: Estimate) -> None:
        self._console, self._done, self._total = console, done, total
        self._estimate = estimate

    def started(self, cell: Cell) -> None:
        """Nothing is printed."""

    def told(self, cell: Cell, what: str) -> None:
        """Nothing is printed."""

    def looked(self) -> None:
        """Nothing is printed."""

    def ended(self, cell: Cell, event: Event, reason: str, spent: Spent | None) -> None:
        """Print it."""
        self._done += 1
        self._estimate.ended(cell, spent)
        cost = "" if spent is None else f" ({spent.calls} calls, {spent.seconds:.0f} s)"
        left = spoken(self._estimate.left_s())
        self._console.print(
            f"[{self._done}/{self._total}] {cell.cell_id}: {event}{cost}: {reason[:_SHOWN]}; "
            f"left: {left}",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )


class Live(Lines):
    """A bar for the bench and a line per cell in progress."""

    def __init__(self, progress: Progress, done: int, total: int, estimate: Estimate) -> None:
        super().__init__(progress.console, done, total, estimate)
        self._progress = progress
        self._whole = progress.add_task("cells", total=total, completed=done)
        self._lines: dict[str, TaskID] = {}

    def started(self, cell: Cell) -> None:
        """Show its line."""
        self._lines[cell.cell_id] = self._progress.add_task(cell.cell_id, total=None)

    def told(self, cell: Cell, what: str) -> None:
        """Show it in its line."""
        if (line := self._lines.get(cell.cell_id)) is not None:
            self._progress.update(line, description=f"{cell.cell_id}: {what}")

    def looked(self) -> None:
        """Show the time left."""
        left = spoken(self._estimate.left_s())
        self._progress.update(self._whole, description=f"cells, left: {left}")

    def ended(self, cell: Cell, event: Event, reason: str, spent: Spent | None) -> None:
        """Print it, and take its line away."""
        super().ended(cell, event, reason, spent)
        if (line := self._lines.pop(cell.cell_id, None)) is not None:
            self._progress.remove_task(line)
        self._progress.update(self._whole, advance=1)


@contextmanager
def watching(done: int, total: int, estimate: Estimate) -> Iterator[Watcher]:
    """Show progress on stderr."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(console, done, total, estimate)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.completed:.0f}/{task.total}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield Live(progress, done, total, estimate)


def summary(events: Mapping[Event, int]) -> str:
    """Such as `3 finished, 1 failed`."""
    return ", ".join(f"{count} {event}" for event, count in events.items()) or "nothing to do"
