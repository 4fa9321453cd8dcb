"""Messages of compilers. Imports nothing, so that a compiler's process starts fast."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Diagnostic:
    """One message of a compiler, a run or a check, with the place in the agent's own files."""

    severity: str
    """error | warning | note"""
    message: str
    file: str | None = None
    line: int | None = None
    """1-based."""
    column: int | None = None
    """1-based."""
    source: str | None = None
    """Text of that line."""
