"""The runtime's API."""

from __future__ import annotations

from ..._enums import MemcpyDataType, MemcpyOrder
from ..._errors import NotEmulatedError
from ..._runtime import SdkRuntime, Task

__all__ = ["MemcpyDataType", "MemcpyOrder", "SdkRuntime", "Task"]

_KNOWN = frozenset(
    {"Color", "Edge", "Route", "RoutingPosition", "SdkExecutionPlatform", "SdkLayout", "SdkTarget"}
    | {"SimfabConfig", "get_edge_routing", "get_platform", "get_simulator", "get_system"}
)


def __getattr__(name: str) -> object:
    """Say of what the SDK has that it isn't here."""
    if name in _KNOWN:
        raise NotEmulatedError(
            f"cerebras.sdk.runtime.sdkruntimepybind.{name}", "write a layout block in CSL instead"
        )
    raise AttributeError(f"cerebras.sdk.runtime.sdkruntimepybind has no {name}")
