"""The compiler as its box runs it."""

from __future__ import annotations

import subprocess
import sys


def test_compiling_needs_no_numba() -> None:
    """A box shows the compiler numpy and our packages only, and loading numba takes a moment."""
    text = (
        "import sys\nfrom toolchains.csl.building import main\n"
        "print([m for m in ('numba', 'llvmlite') if m in sys.modules])"
    )

    told = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)

    assert told.stdout == "[]\n"
