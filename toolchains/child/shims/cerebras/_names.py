"""Texts about names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str:
    """` (did you mean …?)`, or nothing."""
    close = get_close_matches(name, list(known), 1)
    return f' (did you mean "{close[0]}"?)' if close else ""


def listed(names: Iterable[str]) -> str:
    """Names in quotes; at most 12."""
    every = [f'"{name}"' for name in names]
    return ", ".join(every[:12]) + (", …" if len(every) > 12 else "") if every else "nothing"
