"""What backends are made of: each has a function `backend(parts) -> Toolchain`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from toolchains.children.pool import Pool
from toolchains.peaks import Peaks


@dataclass(frozen=True)
class Parts:
    """Of the machine, shared by all backends of a server."""

    pool: Pool
    peaks: Peaks
    memory_bytes: int
    """Address space that a child may use."""
    tripwires: bool = True
    """False runs what they would refuse: the other defences must hold without them."""
    cache: Path | None = None
    """Folder where what was compiled outlives this server."""
