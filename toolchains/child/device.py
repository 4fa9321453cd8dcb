"""What a submission computes on, if not the processor: a GPU or a wafer, emulated or simulated."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Protocol, cast

from . import wire

Need = Callable[[bytes], bytes]
"""Asks the server for something compiled."""


class Device(Protocol):
    """Carries arguments to a device and results back."""

    def given(self, values: tuple[object, ...], *, descending: bool) -> tuple[object, ...]:
        """The arguments of a call, arrays on the device; descending: how its threads then run."""
        ...

    def taken(self, function: str, result: object) -> object:
        """What a call returned, as NumPy arrays. Raises ContractError."""
        ...


def device(asked: int, need: Need) -> Device | None:
    """What the server asked for; None for a submission whose arrays are NumPy's."""
    if asked & wire.WAFER:
        simulated = importlib.import_module(".simulated", __package__)
        return cast(Device, simulated.Simulated(need))
    if not asked & (wire.CUDA | wire.HIP):
        return None
    # Most children are for the processor, and importing this takes a moment.
    emulated = importlib.import_module(".emulated", __package__)
    return cast(Device, emulated.Emulated(asked, need))
