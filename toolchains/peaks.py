"""What this machine's memory can do for one thread: copy, read and write bandwidth at a size."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

_REPEATS = 7
_MIN_SECONDS = 200e-6
"""Shorter passes are repeated within one measurement, so that the clock's grain does not count."""


@dataclass(frozen=True)
class Bandwidth:
    """Best of several passes over arrays of `nbytes`, in GB (1e9 bytes) of array per second."""

    nbytes: int
    copy_gbps: float
    read_gbps: float
    write_gbps: float


@numba.njit(nogil=True, cache=True)
def _sum(words: npt.NDArray[np.uint64]) -> np.uint64:
    total = np.uint64(0)
    for i in range(words.size):
        total += words[i]
    return total


class Peaks:
    """Measures once per size and remembers. Thread-safe."""

    def __init__(self) -> None:
        self._known: dict[int, Bandwidth] = {}
        self._lock = threading.Lock()

    def at(self, nbytes: int) -> Bandwidth:
        """Bandwidth at `nbytes` rounded up to a power of two of at least 4 KiB; measured alone."""
        size = max(4096, 1 << (max(nbytes, 1) - 1).bit_length())
        with self._lock:
            if size not in self._known:
                self._known[size] = _measure(size)
            return self._known[size]


def _measure(nbytes: int) -> Bandwidth:
    source = np.arange(nbytes // 8, dtype=np.uint64)
    target = np.zeros_like(source)
    _sum(source[:8])

    def copy() -> None:
        np.copyto(target, source)

    def read() -> None:
        _sum(source)

    def write() -> None:
        target.fill(1)

    return Bandwidth(nbytes, *(_best(nbytes, work) for work in (copy, read, write)))


def _best(nbytes: int, work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    passes = 1 + int(_MIN_SECONDS / max(time.perf_counter() - start, 1e-9))
    best = float("inf")
    for _ in range(_REPEATS):
        start = time.perf_counter()
        for _ in range(passes):
            work()
        best = min(best, (time.perf_counter() - start) / passes)
    return nbytes / best / 1e9
