"""What a program runs on: here always the simulator."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from ._errors import SdkRuntimeError


class SdkTarget(Enum):
    """A wafer's generation."""

    WSE2 = "wse2"
    WSE3 = "wse3"


class SimfabConfig:
    """Of the simulator; its settings change nothing here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        del args, kwargs


@dataclass(frozen=True)
class SdkExecutionPlatform:
    """What `get_platform` gives."""

    target: SdkTarget


def get_simulator(
    config: SimfabConfig | None = None, target: SdkTarget = SdkTarget.WSE3
) -> SdkExecutionPlatform:
    """The simulator of a generation."""
    del config
    return SdkExecutionPlatform(target)


def get_platform(
    cmaddr: str | None = None,
    config: SimfabConfig | None = None,
    target: SdkTarget = SdkTarget.WSE3,
) -> SdkExecutionPlatform:
    """The simulator; an address of a CS system is an error."""
    if cmaddr:
        raise SdkRuntimeError(
            f"cmaddr={cmaddr!r}: there is no CS system here, only the simulator; leave it out"
        )
    return get_simulator(config, target)
