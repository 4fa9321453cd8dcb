"""Coordinates."""

from __future__ import annotations

from . import geometry

__all__ = ["geometry"]
