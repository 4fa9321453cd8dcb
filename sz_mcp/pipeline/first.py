"""What a kernel made of a field that its processes saw for the first time (`afresh`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class First:
    """What a kernel made of a field that it saw for the first time."""

    stream_bytes: int
    """Of the field itself."""
    fresh_bytes: int
    """Of content made from it."""
    cpu_seconds: Mapping[str, float]
    """Function → CPU time of one call on such content."""

    def at_best(self, other: First) -> First:
        """Of two, what speaks more for the kernel."""
        return First(
            min(self.stream_bytes, other.stream_bytes),
            min(self.fresh_bytes, other.fresh_bytes),
            {f: min(s, other.cpu_seconds[f]) for f, s in self.cpu_seconds.items()},
        )
