"""`cupy.exceptions`: NumPy's."""

from __future__ import annotations

from numpy.exceptions import (
    AxisError,
    ComplexWarning,
    ModuleDeprecationWarning,
    RankWarning,
    TooHardError,
    VisibleDeprecationWarning,
)  # fmt: skip

__all__ = [
    "AxisError", "ComplexWarning", "ModuleDeprecationWarning", "RankWarning", "TooHardError",
    "VisibleDeprecationWarning",
]  # fmt: skip
