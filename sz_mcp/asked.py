"""One run of a kernel as a tool, or the command line, asked for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """One run as it was asked for."""

    tool: str
    """verify_bounds | run_compress | profile"""
    run_id: str
    kernel_id: str
    field: str
    mode: str
    bound: float
    repeats: int = 7
    threads: int = 1
    against: str | None = None
    """kernel_id it is timed side by side with."""
    reproduces: str | None = None
    """run_id of the run that it repeats."""
    metrics: bool = False
    """Whether error metrics of the field are wanted too."""
