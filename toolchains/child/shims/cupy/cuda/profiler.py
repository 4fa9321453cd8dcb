"""Starting and stopping a profiler: there is none."""

from __future__ import annotations


def start() -> None:
    """Nothing."""


def stop() -> None:
    """Nothing."""
