"""Enums that the appliance's host programs import from here."""

from __future__ import annotations

from ...._enums import MemcpyDataType, MemcpyOrder

__all__ = ["MemcpyDataType", "MemcpyOrder"]
