"""The device."""

from __future__ import annotations

from .._device import Device

__all__ = ["Device", "get_compute_capability", "get_device_id"]


def get_compute_capability() -> str:
    """Such as "90"."""
    return Device().compute_capability


def get_device_id() -> int:
    """The only one."""
    return 0
