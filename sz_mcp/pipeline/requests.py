"""What an evaluation is asked: the field and bound, and who watches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from toolchains.base import Cancellation

SUITE = "suite"
"""Field name that stands for the suite of hard cases."""


@dataclass(frozen=True)
class Request:
    """One evaluation."""

    field: str
    """Name of a field, or `suite` (verify only)."""
    mode: str = "rel"
    bound: float = 1e-3
    repeats: int = 7
    threads: int = 1
    metrics: bool = False
    """Whether error metrics of the field are wanted too."""


def _ignore(_fraction: float, _message: str) -> None:
    return


@dataclass(frozen=True)
class Watch:
    """Who waits for an evaluation: may cancel it, and hears of its progress."""

    cancellation: Cancellation = field(default_factory=Cancellation)
    progress: Callable[[float, str], None] = _ignore
    """Fraction done (0 to 1) and what is going on; called from the worker thread."""
