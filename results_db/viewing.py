"""Who looks at the ledger, and which kernels their owners let others see.

A viewer sees the rows of its own agent, those of shared kernels, and the scores of all others; no
viewer at all is the operator, who sees everything. A kernel is shared by an empty file named after
it, so that every server of the home knows at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from results_db.files import LedgerFiles

_KERNEL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Viewer:
    """An agent that may not see everything."""

    agent: str
    session: str | None = None
    """The only one of its sessions that it sees; None: all of them."""


class Shared:
    """The shared kernels of one home. Thread-safe and process-safe."""

    def __init__(self, home: Path) -> None:
        self._folder = LedgerFiles(home).shared

    def add(self, kernel_id: str) -> None:
        """Let everybody see a kernel and what its owner measured of it."""
        if not _KERNEL_ID.fullmatch(kernel_id):
            raise ValueError(f"not a kernel_id: {kernel_id!r}")
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / kernel_id).touch()

    def remove(self, kernel_id: str) -> None:
        """Share a kernel no longer; nothing happens if it is not shared."""
        if kernel_id in self:
            (self._folder / kernel_id).unlink(missing_ok=True)

    def __contains__(self, kernel_id: str) -> bool:
        return _KERNEL_ID.fullmatch(kernel_id) is not None and (self._folder / kernel_id).exists()

    def all(self) -> list[str]:
        """Every shared kernel."""
        try:
            names = [path.name for path in self._folder.iterdir()]
        except FileNotFoundError:
            return []
        return sorted(name for name in names if _KERNEL_ID.fullmatch(name))
