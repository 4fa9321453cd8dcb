"""Content for timed requests that no kernel has seen, and the check of what came back from it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np

from kernels.fresh import fresh_variant
from kernels.records import Array, Comparison, Field
from kernels.verify import compare
from toolchains.children.cores import Workers

HARD = (np.nan, np.inf, -np.inf, 3e38, -1e35, 1e-45, -0.0)
"""Values as the suite's hard cases hold them."""


class Content:
    """Variants of one field; work on several arrays is spread over the cores."""

    def __init__(self, field: Field, abs_bound: float, workers: Workers | None = None) -> None:
        self._field, self._abs_bound = field, abs_bound
        self._workers = workers or Workers("content")

    def of(self, field: Field, abs_bound: float) -> Content:
        """Variants of another field or bound, by the same threads."""
        return Content(field, abs_bound, self._workers)

    def fill(self, arrays: Sequence[Array]) -> None:
        """Write a different variant into each array, which has the field's shape and dtype."""
        self._workers.map(self._vary, arrays, [secrets.randbits(63) for _ in arrays])

    def fill_hard(self, arrays: Sequence[Array]) -> None:
        """Likewise, and over a few elements of each, anywhere, one of HARD each."""
        self.fill(arrays)
        for array in arrays:
            flat = array.reshape(-1)
            for value in HARD[: flat.size]:
                flat[secrets.randbelow(flat.size)] = value

    def compared(self, originals: Sequence[Array], decoded: Sequence[Array]) -> list[Comparison]:
        """Every array against its original, every element against the bound."""
        return self._workers.map(self._compare, originals, decoded)

    def close(self) -> None:
        """Stop the threads."""
        self._workers.close()

    def _vary(self, out: Array, seed: int) -> None:
        data, fill = self._field.data, self._field.info.fill_value
        fresh_variant(data, fill, self._abs_bound, seed, out)

    def _compare(self, original: Array, decoded: Array) -> Comparison:
        return compare(original, decoded, self._abs_bound)
