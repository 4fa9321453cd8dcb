"""The Cerebras SDK's host API, over the simulated wafer. Only what is here is emulated."""

from __future__ import annotations

from . import appliance, geometry, sdk
from .appliance.pb.sdk import sdk_common_pb2
from .sdk import client, sdk_utils
from .sdk.debug import debug_util
from .sdk.runtime import sdkruntimepybind

__all__ = [
    "appliance",
    "client",
    "debug_util",
    "geometry",
    "sdk",
    "sdk_common_pb2",
    "sdk_utils",
    "sdkruntimepybind",
]
