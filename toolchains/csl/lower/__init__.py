"""Lowering: the typed tree of a tile to instructions and memory of the wafer's core."""

from .code_class import lower_tile
from .places import PlaceTable

__all__ = ["PlaceTable", "lower_tile"]
