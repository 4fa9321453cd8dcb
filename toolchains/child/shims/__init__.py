"""Modules that a submission imports by the names they have where the hardware is."""

from __future__ import annotations

import importlib
import sys


def install(name: str) -> None:
    """Make `import NAME` find the package of that name in this folder, with all its modules."""
    own = f"{__name__}.{name}"
    importlib.import_module(own)
    for found, module in list(sys.modules.items()):
        if found == own or found.startswith(f"{own}."):
            sys.modules[name + found.removeprefix(own)] = module
