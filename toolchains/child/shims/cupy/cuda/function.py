"""Compiled kernels and modules."""

from __future__ import annotations

from .._launch import Module
from .._raw import Function

__all__ = ["Function", "Module"]
