"""What can't be asked for."""

from __future__ import annotations


class BoundError(ValueError):
    """A bound that can't be asked for, or can't be derived from this data."""
