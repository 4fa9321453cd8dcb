"""What is left of a program after it ran: traces of <debug>, and variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._errors import SdkRuntimeError
from ..._link import CONNECTION
from ..._runtime import read_symbol


class debug_util:
    """Looks at the machine of the SdkRuntime that ran a folder's program last.

    Coordinates are those of the fabric: a PE's in the program plus --fabric-offsets.
    """

    def __init__(self, bindir: str | Path, *args: Any, **kwargs: Any) -> None:
        about = CONNECTION.last.get(str(bindir))
        if about is None:
            raise SdkRuntimeError(f"no SdkRuntime has run {bindir} in this program")
        self._about = about

    def read_trace(self, col: int, row: int, key: str) -> list[Any]:
        """What was recorded under a key, oldest first."""
        x, y = self._local(col, row)
        machine = self._about["machine"]
        answer, _ = CONNECTION.ask({"do": "traces", "machine": machine, "x": x, "y": y, "key": key})
        return list(answer["values"])

    def get_symbol(self, col: int, row: int, symbol: str, dtype: Any) -> npt.NDArray[Any]:
        """A variable by its name in CSL."""
        return read_symbol(self._about, *self._local(col, row), symbol, dtype)

    def get_symbol_rect(
        self, rectangle: tuple[tuple[int, int], tuple[int, int]], symbol: str, dtype: Any
    ) -> npt.NDArray[Any]:
        """A variable of each PE of ((column, row), (width, height)): shape (width, height, n)."""
        (col, row), (width, height) = rectangle
        every = [
            [self.get_symbol(col + x, row + y, symbol, dtype) for y in range(height)]
            for x in range(width)
        ]
        return np.array(every)

    def _local(self, col: int, row: int) -> tuple[int, int]:
        x, y = self._about["offset"]
        return int(col) - x, int(row) - y
