"""Exceptions of the emulated SDK.

RuntimeError
├── SdkRuntimeError   the host program asks for what can't be done
├── ProgramHalted     the program on the wafer made a mistake, or goes no further
├── MachineError      the simulator can't be reached
└── NotEmulatedError  the SDK has this, the emulation does not
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class SdkRuntimeError(RuntimeError):
    """The host program asks for what can't be done."""


class ProgramHalted(RuntimeError):
    """The program on the wafer made a mistake, or goes no further; `halt` has the details."""

    def __init__(self, text: str, halt: Mapping[str, Any]) -> None:
        super().__init__(text)
        self.halt = halt


class MachineError(RuntimeError):
    """The simulator can't be reached."""


class NotEmulatedError(RuntimeError):
    """The SDK has it, this emulation has not."""

    def __init__(self, name: str, advice: str = "") -> None:
        """name: as a program spells it."""
        super().__init__(f"not emulated: {name}" + (f" ({advice})" if advice else ""))
