"""What a call of a simulated kernel took of its device."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DeviceUse:
    """Of one call; counted by the simulator, in a process that the submission can't reach."""

    cycles: int
    """While programs of the device ran or streams moved; copies by the host are left out."""
    columns: int
    """Of the rectangle of PEs that the program used."""
    rows: int
    words_in: int
    """32-bit words that the host copied or streamed to the device."""
    words_out: int
    clock_hz: float
    fabric: tuple[int, int] = (0, 0)
    """Columns and rows of PEs of the whole device."""
    model: str = ""
    """The simulator's settings that the cycles depend on."""
