"""stdout and stderr of a child: a memfd of fixed size that swallows what does not fit."""

from __future__ import annotations

import io
import os
import sys


class BoundedText(io.TextIOBase):
    """Text to a file descriptor of fixed size; past its end writing silently stops.

    The descriptor is a memory file sealed against growing, so that prints need no reader to drain
    them and can't fill memory; the kernel must not fail because it printed too much.
    """

    encoding = "utf-8"

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """The descriptor, for libraries that write below Python."""
        return self._fd

    def write(self, text: str) -> int:
        """Write what fits."""
        try:
            os.write(self._fd, str(text).encode("utf-8", "backslashreplace"))
        except OSError:
            return len(text)
        return len(text)


def redirect() -> None:
    """Make print, warnings and tracebacks go to the bounded streams."""
    sys.stdout = BoundedText(1)
    sys.stderr = BoundedText(2)
