"""Not emulated."""

from __future__ import annotations

# Imported by its public name, it has no package above it to take an exception from.
raise ImportError("not emulated: cupyx.scipy", name="cupyx.scipy")
