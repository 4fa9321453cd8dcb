"""Marks for a profiler: there is none."""

from __future__ import annotations

available = False


def Mark(*_: object) -> None:
    """Nothing."""


def MarkC(*_: object) -> None:
    """Nothing."""


def RangePush(*_: object) -> None:
    """Nothing."""


def RangePushC(*_: object) -> None:
    """Nothing."""


def RangePop() -> None:
    """Nothing."""


def RangeStart(*_: object) -> int:
    """Nothing."""
    return 0


def RangeEnd(*_: object) -> None:
    """Nothing."""
