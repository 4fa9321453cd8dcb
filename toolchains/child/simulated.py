"""A submission's device in this process: the SDK of a wafer, whose machine the server runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import shims
from .device import Need
from .shims.cerebras import _link


class Simulated:
    """Implements `device.Device`: arrays are NumPy's."""

    def __init__(self, need: Need) -> None:
        """need: carries requests to the machine."""
        shims.install("cerebras")
        _link.CONNECTION.link = _Asking(need)

    def given(self, values: tuple[object, ...], *, descending: bool) -> tuple[object, ...]:  # noqa: ARG002
        """See `Device.given`."""
        return values

    def taken(self, function: str, result: object) -> object:  # noqa: ARG002
        """See `Device.taken`."""
        return result


class _Asking:
    """Implements the SDK's `Link` over the way to the server."""

    def __init__(self, need: Need) -> None:
        self._need = need

    def exchange(
        self, header: Mapping[str, Any], payload: bytes
    ) -> tuple[Mapping[str, Any], bytes]:
        """See `Link.exchange`."""
        return _link.unpack(self._need(_link.pack(header, payload)))
