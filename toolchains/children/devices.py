"""Device nodes that a child which drives a GPU needs, and no others."""

from __future__ import annotations

from pathlib import Path

_NVIDIA = ("/dev/nvidiactl", "/dev/nvidia-uvm")
"""Control of the driver, and unified memory, which the CUDA runtime opens at once."""
_AMD = ("/dev/kfd",)
"""The compute driver, one node for all devices."""
_FIRST_RENDER_NODE = 128
"""Numbers of /dev/dri/renderD* begin here (Documentation/gpu/drm-uapi.rst)."""


def nvidia_nodes(index: int) -> tuple[str, ...]:
    """Of one NVIDIA device, by its minor number."""
    return (*_NVIDIA, f"/dev/nvidia{index}")


def amd_nodes(index: int) -> tuple[str, ...]:
    """Of one AMD device, by the order of its render node."""
    return (*_AMD, f"/dev/dri/renderD{_FIRST_RENDER_NODE + index}")


def device_nodes(devices: tuple[str, ...]) -> tuple[str, ...]:
    """The same, as they are given to a child.

    Raises:
        ValueError: one is no character device below /dev.
    """
    for name in devices:
        path = Path(name)
        if path.parts[:2] != ("/", "dev") or ".." in path.parts or not path.is_char_device():
            raise ValueError(f"{name} is no device node of this machine")
    return devices
