"""How copies are laid out."""

from __future__ import annotations

from enum import IntEnum


class MemcpyDataType(IntEnum):
    """Bits of an element on the device; on the host each takes 32."""

    MEMCPY_16BIT = 0
    MEMCPY_32BIT = 1


class MemcpyOrder(IntEnum):
    """Order of a host's array of height h, width w and l elements of each PE."""

    ROW_MAJOR = 0
    """(h, w, l), l fastest."""
    COL_MAJOR = 1
    """(l, w, h), h fastest."""
