"""The runtime's API."""

from __future__ import annotations

from ..._enums import MemcpyDataType, MemcpyOrder
from ..._errors import NotEmulatedError
from ..._layout import Color, Edge, Route, RoutingPosition, SdkLayout, get_edge_routing
from ..._platform import (
    SdkExecutionPlatform,
    SdkTarget,
    SimfabConfig,
    get_platform,
    get_simulator,
)
from ..._runtime import SdkRuntime, Task

__all__ = [
    "Color",
    "Edge",
    "MemcpyDataType",
    "MemcpyOrder",
    "Route",
    "RoutingPosition",
    "SdkExecutionPlatform",
    "SdkLayout",
    "SdkRuntime",
    "SdkTarget",
    "SimfabConfig",
    "Task",
    "get_edge_routing",
    "get_platform",
    "get_simulator",
]


def __getattr__(name: str) -> object:
    """Say of what the SDK has that it isn't here."""
    if name == "get_system":
        raise NotEmulatedError(
            "cerebras.sdk.runtime.sdkruntimepybind.get_system", "get_platform gives the simulator"
        )
    raise AttributeError(f"cerebras.sdk.runtime.sdkruntimepybind has no {name}")
