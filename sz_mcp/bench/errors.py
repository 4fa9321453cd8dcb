"""What can be wrong with a bench, one class per cause that the caller treats differently.

SettingsError
└── SpecError      the spec can't be used; the message has file, line and what to write
Exception
├── CellFailed     an agent could not work; the cell is recorded as failed, the bench goes on
└── CellStopped    a budget is spent, or nothing got better for long
"""

from __future__ import annotations

from sz_mcp.errors import SettingsError


class SpecError(SettingsError):
    """A spec that can't be used."""


class CellFailed(Exception):
    """An agent could not work on a cell; the message says why."""


class CellStopped(Exception):
    """A cell ended before its agent did; the message says which limit was reached."""
